// Land around the map of a block, in the haze: a plain, and behind it ranges, the higher the more relief the map has.
#include "map.glsl"
#include "sky.glsl"
#include "detail.glsl"

uniform sampler2D lit_land;  // its mean is the colour of the plain
uniform float far_land;      // how much of it is seen: less from higher above, where the block is a model on a table

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 3
#endif

const int RANGES = 4, RANGE_OCTAVES = DETAIL_SCALES == 1 ? 3 : 5;
// Of the ranges: how far before the end of the table they stand, in longer sides of the map, height in parts of its relief,
// peaks around the eye, and distance as the haze tells it.
const vec4 RANGE_BEFORE = vec4(0.60, 0.28, 0.0, 0.0), RANGE_HIGH = vec4(0.55, 0.80, 1.05, 1.60);
const vec4 RANGE_PEAKS = vec4(11.0, 13.0, 17.0, 23.0), RANGE_AWAY = vec4(1.0, 1.7, 2.8, 4.4);
const float LEAST_RELIEF = 0.015;  // sides of the map
const vec2 ROLLING_TO_RUGGED = vec2(0.03, 0.10);  // relief, in sides, of rolling hills and of peaks
const float FOOT_IN_HAZE = 0.55;   // of what the haze lets through at the top
const float HILLS_SEEN = 0.55;     // of what the haze lets through
const float FOOT_FADES = 0.35;     // of the height
const vec2 RIBS = vec2(21.0, 19.0);  // tiles of noise around the eye, and for each unit of slope
const float PLAIN_TILE = 1.7;      // sides of a tile of the noise of the plain
const float PLAIN_FADES = 0.6;     // of the way to the end of the table
const float TAU = 6.28318531;

// Height of a range in a direction of the compass, from 0 to 1: crests finer than a pixel (radians) fade.
float range_line(float compass, float peaks, float rugged, float pixel) {
    float high = 0.0, size = 0.5, waves = peaks, phase = 1.7 * peaks + sin(3.0 * compass + peaks);
    for (int i = 0; i < RANGE_OCTAVES; ++i) {
        float wave = sin(waves * compass + phase);
        high += size * mix(0.5 + 0.5 * wave, 1.0 - abs(wave), rugged) * (1.0 - smoothstep(0.15, 0.5, waves * pixel));
        size *= mix(0.34, 0.47, rugged);
        waves = floor(2.13 * waves);
        phase = 2.7 * phase + high;
    }
    return high * (0.65 + 0.35 * sin(2.0 * compass + peaks));
}

// The mean colour of the land.
vec3 mean_land() {
    vec4 mean = textureLod(lit_land, vec2(0.5), 16.0);
    return mean.rgb / max(mean.a, 1e-3);
}

// The plain under the block, at a place that moves by `pixel` from pixel to pixel, with patches of fields and of rock.
vec3 plain_land(vec2 place, float pixel) {
    float tiles = 1.0 / (PLAIN_TILE * frame.heights.w), patches = log2(max(pixel * tiles * 512.0, 4.0));
    return mean_land() * (0.70 + 0.6 * textureLod(detail, place * tiles, patches).x);
}

// How much haze hides the plain at a place: all of it, where the table ends.
float haze_at(vec2 place) {
    vec2 away = place - frame.camera.xz;
    float part = dot(away, frame.sunward.zw) / max(frame.camera.y - frame.heights.z, 1e-3);
    float hidden = smoothstep(PLAIN_FADES, 1.0, part);
    return hidden * hidden;
}

// Ranges on the plain and behind its end, in a direction from the eye: their colour, times how much they hide, which is last.
// `pixel` is how far the direction moves from pixel to pixel.
vec4 far_ranges(vec3 direction, vec3 horizon, float pixel) {
    float dip = length(frame.sunward.zw), side = frame.heights.w;
    float eye = (frame.camera.y - frame.heights.z) / side, end = eye / dip;
    float slope = direction.y / max(dot(direction.xz, frame.sunward.zw / dip), 1e-4);
    float relief = max((frame.heights.y - frame.heights.x) / side, LEAST_RELIEF);
    float rugged = smoothstep(ROLLING_TO_RUGGED.x, ROLLING_TO_RUGGED.y, relief);
    float compass = atan(direction.x, -direction.z);
    vec2 ribs = textureLod(detail, RIBS * vec2(compass / TAU, slope), log2(max(512.0 * RIBS.x / TAU * pixel, 1.0))).yz - 0.5;
    float to_sun = frame.sunward.x * direction.z - frame.sunward.y * direction.x;  // to the left of it
    vec3 lit = mean_land() * (0.75 + clamp(2.2 * (ribs.y - 1.5 * to_sun * ribs.x), -0.35, 0.35) * rugged);
    // Low hills are no more than a darker haze.
    float clear = mix(HILLS_SEEN, 1.0, rugged);
    vec4 seen = vec4(0.0);
    for (int i = RANGES - 1; i >= 0; --i) {
        float away = max(end - RANGE_BEFORE[i], 0.3), foot = -eye / away, high = relief * RANGE_HIGH[i] / away;
        if (slope > foot + high + pixel || slope < foot - pixel) continue;
        high *= range_line(compass, RANGE_PEAKS[i], rugged, pixel);
        float up = clamp((slope - foot) / max(high, 1e-4), 0.0, 1.0);
        float range = smoothstep(-pixel, pixel, foot + high - slope) * smoothstep(0.0, FOOT_FADES, up);
        // Haze lies thickest at the foot of each, and sets it off from the one behind it.
        float kept = clear * exp(-frame.air.x * side * RANGE_AWAY[i]) * mix(FOOT_IN_HAZE, 1.0, up);
        seen = mix(seen, vec4(mix(horizon, lit * mix(1.0, 0.7 + 0.15 * up, rugged), kept), 1.0), range);
    }
    return seen * far_land;
}
