// Slopes of soft rock without plants, as in badlands: creep of wet clay rounds what is small, and rain cuts gullies and
// rills straight down, whose sides meet in a V, with rounded divides between. Lengths in metres.
#include "ribs.glsl"

const float ROUNDED_OVER = 4.2;   // radius of the ring by which the form without small bumps is told; another is twice as wide
const float ROUNDED = 0.9;        // how much of small bumps creep takes
const int GULLY_OCTAVES = 2;
const float WIDEST_GULLY = 11.0, GULLIES_FINER = 0.42;
const float GULLY_SIDES = 1.35;   // slope of their sides, beside that of the slope
const vec2 HELD_TOGETHER = vec2(1.3, 2.1);   // slopes of walls, in which even such rock is in blocks
const float JOINING = 0.35, FINER_FLATTER = 1.0;  // how far finer ones turn to wider ones; their sides beside those
const float STEEPEST_RILLED = 0.95;
const vec2 GULLIES_FROM = vec2(0.10, 0.45);  // slopes
const vec2 GULLIES_FADE = vec2(3.0, 5.0);    // texels in a width
const float LONG_GULLIES = 3.4;   // waves in a square of their lattice
const vec2 GULLIES_UNLIKE = vec2(0.55, 0.30);
const float BLUNT = 0.22;         // of the V, from 0 to 1

// How much of soft rock on a slope, under loose material in metres, weathers so.
float weathers_to_clay(vec2 slope, float loose) {
    return (1.0 - smoothstep(HELD_TOGETHER.x, HELD_TOGETHER.y, length(slope))) * exp(-loose / (3.0 * frame.ground_look.z));
}

// Height from -1, along its bottom, to 1, on a divide, of V-shaped gullies, and its slopes in parts of their width.
vec3 gullies_at(vec2 at, float seed, vec2 rise) {
    vec2 across = vec2(-rise.y, rise.x) / max(length(rise), 1e-4);
    vec4 waves = summed_waves(at / LONG_GULLIES + 17.3 * seed, across, LONG_GULLIES, GULLIES_UNLIKE);
    vec2 wave = waves.xy / max(length(waves.xy), 0.08);
    float up = sqrt(0.5 * (1.0 - wave.x) + BLUNT * BLUNT), own = mix(0.55, 1.15, waves.z);
    return own * vec3(2.0 * up - 1.2, across * (0.5 * TAU * wave.y / up));
}

// The form of the ground without small bumps, in metres, and its slopes.
vec3 rounded_form(sampler2D surface, vec2 cell, float here) {
    float sum = here, weights = 1.0;
    vec2 rise = vec2(0.0);
    for (int ring = 1; ring <= 2; ++ring) {
        float radius = float(ring) * ROUNDED_OVER / frame.map.z, weight = ring == 1 ? 0.75 : 0.35;
        for (int k = 0; k < 6; ++k) {
            float turn = TAU * (float(k) + 0.5 * float(ring)) / 6.0;
            vec2 way = vec2(cos(turn), sin(turn));
            float height = textureLod(surface, (cell + radius * way) / frame.map.xy, 0.0).x;
            sum += weight * height;
            rise += 0.5 * height * way / (3.0 * radius * frame.map.z);
            weights += weight;
        }
    }
    return vec3(sum / weights, rise);
}
