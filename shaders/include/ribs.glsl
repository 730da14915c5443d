// Ribs and gullies that run down slopes of rock: octaves of waves across the way that water takes.
#include "waves_across.glsl"

const int RIB_OCTAVES = 3;
const float WIDEST = 9.0;   // cells from rib to rib
const float FINER = 0.46;   // each octave beside the one before
const float STEEPNESS = 0.62;  // of a rib's flanks, beside the slope that it runs down
const float STEEPEST = 0.9;
const float BLOCKS_TILE = 37.0;  // cells
const float MASSIFS_TILE = 211.0;  // by which they are shattered, and bent by so many cells
const float BENT = 30.0;
const float BLOCKS_RISE = 0.08;  // of the tile, that its heights span

// How high ribs are beside their width: loose material lies smooth, and gentle ground has no gullies.
float rib_strength(float steepness, float loose) {
    return STEEPNESS * smoothstep(0.08, 0.45, steepness) * exp(-loose / (3.0 * frame.ground_look.z)) * min(steepness, STEEPEST);
}

// One octave, on a slope that falls against `rise` in the mean: height in cells, and its slopes to the east and south.
vec3 ribs(vec2 cells, int octave, float width, vec2 rise, float strength) {
    vec2 across = vec2(-rise.y, rise.x) / max(length(rise), 1e-4);
    vec2 wave = waves_across(cells / (width * WAVES_IN_SQUARE) + 17.3 * float(octave), across);
    return strength * vec3(width / TAU * wave.x, wave.y * across);
}
