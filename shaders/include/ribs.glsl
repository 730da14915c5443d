// Ribs and gullies that run down slopes of rock: octaves of waves across the way that water takes.
#include "map.glsl"

const float TAU = 6.28318531;
const int RIB_OCTAVES = 3;
const float WIDEST = 9.0;   // cells from rib to rib
const float FINER = 0.46;   // each octave beside the one before
const float STEEPNESS = 0.62;  // of a rib's flanks, beside the slope that it runs down
const float STEEPEST = 0.9;
const float BLOCKS_TILE = 37.0;  // cells
const float MASSIFS_TILE = 211.0;  // by which they are shattered, and bent by so many cells
const float BENT = 30.0;
const float BLOCKS_RISE = 0.08;  // of the tile, that its heights span
const float RIBS = 2.0;     // of an octave in a square of its lattice: ribs are some times as long as wide

vec2 hash2(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * vec3(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.xx + q.yz) * q.zy);
}

// Waves across a slope, from −1 to 1, and how they change along `across`, in radians. Each square of a lattice has a
// wave of its own length, way and height, and they are blended as phases are, so that crests join and fork.
vec2 waves(vec2 at, vec2 across) {
    vec2 square = floor(at);
    vec2 along = vec2(-across.y, across.x);
    vec2 sum = vec2(0.0);
    float height = 0.0, weights = 1e-3;
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            vec2 lattice = square + vec2(column, row);
            vec2 away = at - lattice - hash2(lattice);
            vec2 own = hash2(lattice + 57.0);
            float near = max(1.0 - dot(away, away) * 0.8, 0.0);
            near *= near;
            float phase = TAU * RIBS * (0.6 + 0.8 * own.x) * dot(away, across + (own.y - 0.5) * along);
            sum += near * vec2(cos(phase), sin(phase));
            height += near * fract(own.x * 7.0 + own.y * 5.0);
            weights += near;
        }
    }
    return vec2(sum.x, -sum.y) * (0.15 + 1.1 * height / weights) / max(length(sum), 0.08);
}

// How high ribs are beside their width: loose material lies smooth, and gentle ground has no gullies.
float rib_strength(float steepness, float loose) {
    return STEEPNESS * smoothstep(0.08, 0.45, steepness) * exp(-loose / (3.0 * frame.ground_look.z)) * min(steepness, STEEPEST);
}

// One octave, on a slope that falls against `rise` in the mean: height in cells, and its slopes to the east and south.
vec3 ribs(vec2 cells, int octave, float width, vec2 rise, float strength) {
    vec2 across = vec2(-rise.y, rise.x) / max(length(rise), 1e-4);
    vec2 wave = waves(cells / (width * RIBS) + 17.3 * float(octave), across);
    return strength * vec3(width / TAU * wave.x, wave.y * across);
}
