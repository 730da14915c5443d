// The sea as a drawing: white lines around the coast, or one of the steps on the way to the finished sea. WAVES tells
// which: 2 lines, 3 cells of the nearest coast, 4 distance and direction to it, 5 a plain wave.
#include "waves.glsl"

#if WAVES == 3 || WAVES == 4
uniform sampler2D coast;  // distance in cells, the way inland
#endif

const vec3 CHART_SEA = vec3(0.047, 0.135, 0.325);
const vec3 CHART_LINE = vec3(0.95, 0.97, 1.0);
const vec3 CHART_FAR_LINE = vec3(0.30, 0.48, 0.80);
const vec3 BEYOND = vec3(0.020, 0.030, 0.045);
const float CELL_OF_COAST = 6.0;  // cells of the map
const float DRAWN_FRONTS = 3.6;     // waves that have one

// Linear colours. `pixel` as in wave_at.
vec3 sea_chart(vec2 east_south, vec4 pixel) {
    vec2 cells = east_south / frame.map.z;
#if WAVES > 2
    if (any(greaterThan(abs(map_uv(east_south) - 0.5), vec2(0.5)))) return BEYOND;
#endif
    Shore shore = shore_at(east_south);
#if WAVES == 3
    vec4 nearest = texelFetch(coast, clamp(ivec2(cells), ivec2(0), ivec2(frame.map.xy) - 1), 0);
    vec2 cell_of = floor((floor(cells) + 0.5 + nearest.x * nearest.yz) / CELL_OF_COAST);
    float tone = hash(cell_of), shade = 0.35 + 0.65 * hash(cell_of + 17.3);
    return shade * (0.08 + 0.72 * clamp(abs(fract(tone + vec3(0.0, 0.667, 0.333)) * 6.0 - 3.0) - 1.0, 0.0, 1.0));
#elif WAVES == 4
    float near = exp(-5.0 * max(shore.away, 0.0) / max(frame.map.x, frame.map.y));
    vec2 inland = textureLod(coast, map_uv(east_south), 0.0).yz;
    return near * vec3(0.5 + 0.5 * inland, 0.35);
#elif WAVES == 5
    float wave = 0.5 + 0.5 * cos(shore.way + TWO_PI * frame.waves.y);
    return mix(CHART_SEA, CHART_LINE, wave * wave);
#else
    Wave wave = wave_at(east_south, shore, vec4(0.0));
    float from_crest = min(wave.age, 1.0 - wave.age) * TWO_PI / (wave.number * frame.map.z);  // cells
    float before = shore.way / TWO_PI;
    float per_pixel = max(length(pixel.xy), length(pixel.zw)) / frame.map.z;
    float last = 1.0 - smoothstep(DRAWN_FRONTS - 1.2, DRAWN_FRONTS, before);
    // Lines grow thin where the front ends.
    float width = 1.1 * smoothstep(0.25, 0.75, wave.strength) * last;
    float line = smoothstep(width + per_pixel, max(width - per_pixel, 0.0), from_crest) * step(0.02, width);
    float edge = smoothstep(0.9 + per_pixel, max(0.9 - per_pixel, 0.0), abs(shore.away));
    vec3 ink = mix(CHART_LINE, CHART_FAR_LINE, smoothstep(0.4, 2.2, before));
    return mix(mix(CHART_SEA, ink, line * mix(0.4, 1.0, last)), CHART_LINE, edge);
#endif
}
