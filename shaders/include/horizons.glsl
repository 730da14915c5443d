// The horizons around places, in a texture with a tile of the map for each of some directions.

#include "frame.glsl"

const float HORIZON_TURNS = float(HORIZON_TILES.x * HORIZON_TILES.y);  // directions

// Places on the compass from 0 to 4, without a function of angles: along the sides of a square that stands on its corner.
float turn_of(vec2 direction) {
    float way = 1.0 - direction.x / max(abs(direction.x) + abs(direction.y), 1e-6);
    return direction.y < 0.0 ? 4.0 - way : way;
}

vec2 direction_of(float turn) {
    float east = turn <= 2.0 ? 1.0 - turn : turn - 3.0, south = 1.0 - abs(east);
    return normalize(vec2(east, turn <= 2.0 ? south : -south));
}

// The slope up to the horizon, and how far away it is, in longer sides of the map.
vec2 packed_horizon(vec2 horizon) {
    return sqrt(vec2(horizon.x / (1.0 + horizon.x), min(horizon.y, 1.0)));
}

vec2 unpacked_horizon(vec2 texel) {
    vec2 part = texel * texel;
    return vec2(part.x / max(1.0 - part.x, 1e-3), part.y);
}
