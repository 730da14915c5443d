// Dry sand: its colour, the ripples that wind draws across its way, grains that glitter, and sand that drifts.
#include "map.glsl"

const vec3 DUNE_SAND = vec3(0.490, 0.298, 0.148);
const vec3 DUNE_SAND_PALE = vec3(0.570, 0.385, 0.212);
const vec3 DRIFTING_SAND = vec3(0.680, 0.500, 0.310);

const float RIPPLE_LENGTH = 0.42;      // cells from crest to crest
const float MEGARIPPLE_LENGTH = 3.1;   // the coarse grains' longer ones
const float GRAINS = 40.0;             // glittering facets along a cell

vec3 dune_sand(vec4 fine, vec4 coarse) {
    return mix(DUNE_SAND, DUNE_SAND_PALE, clamp(0.5 + 1.1 * (coarse.w - 0.5) + 0.7 * (fine.x - 0.5), 0.0, 1.0));
}

// One train of ripples as a slope along the wind. It fades before it would be finer than a pixel.
float ripple_train(vec2 cells, float wavelength, float bend) {
    float phase = dot(cells, frame.wind.xy) / wavelength + bend;
    float fade = 1.0 - smoothstep(0.12, 0.34, fwidth(phase));
    return cos(6.28318531 * phase) * fade;
}

// Slopes of the ripples on sand that lies on `slope`; none on slip faces, where sand slides.
vec2 ripples(vec2 cells, vec2 slope, sampler2D noise) {
    float lies = 1.0 - smoothstep(0.38, 0.56, length(slope));
    // Crests wander and fork where the noise, without its finest waves, bends them.
    float bend = 1.9 * textureLod(noise, cells / 23.0, 4.0).x + 0.8 * textureLod(noise, cells.yx / 7.9, 4.0).w;
    float height = 0.14 * ripple_train(cells, RIPPLE_LENGTH, 1.5 * bend)
                 + 0.05 * ripple_train(cells, MEGARIPPLE_LENGTH, 0.6 * bend);
    return frame.wind.xy * height * lies;
}

// Sunlight that single grains throw into the eye.
float glitter(vec2 cells, vec3 normal, vec3 to_eye) {
    vec2 grain = floor(cells * GRAINS);
    float fade = 1.0 - smoothstep(0.3, 1.0, max(fwidth(cells.x), fwidth(cells.y)) * GRAINS);
    vec3 turn = vec3(hash(grain + 1.7), hash(grain + 5.1), hash(grain + 9.2)) - 0.5;
    vec3 facet = normalize(normal + 1.4 * turn);
    return pow(max(dot(reflect(-frame.sun.xyz, facet), to_eye), 0.0), 60.0) * step(0.80, hash(grain)) * fade;
}

// How much of the ground is hidden by the streamers that sand in the air (metres over a cell) makes.
float drifting(vec2 cells, float sand_in_air, sampler2D noise) {
    vec2 across = vec2(-frame.wind.y, frame.wind.x);
    vec2 along_across = vec2(dot(cells, frame.wind.xy), dot(cells, across));
    vec2 moved = along_across - vec2(9.0 * frame.camera.w, 0.0);
    float streamers = texture(noise, moved * vec2(0.006, 0.040)).x * 0.6 + texture(noise, moved * vec2(0.017, 0.110) + 0.3).w * 0.4;
    float dense = 1.0 - exp(-22.0 * sand_in_air);
    return frame.wind.w * dense * smoothstep(0.42, 0.75, streamers) * 0.75;
}
