// Land around the map of a block, in the haze: a plain, and behind it ranges, the higher the more relief the map has.
#include "map.glsl"
#include "sky.glsl"
#include "detail.glsl"
#include "mean_land.glsl"

uniform float far_land;      // how much of it is seen: less from higher above, where the block is a model on a table
uniform float land_relief;   // of the land, in longer sides of the map
uniform float highest_range; // slope up to the top of the highest, from the end of the table
uniform float highest_of_relief;  // height of the highest, in parts of the relief

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 3
#endif

const int RANGES = 3, RANGE_OCTAVES = DETAIL_SCALES == 1 ? 2 : DETAIL_SCALES == 2 ? 3 : 4;
// Of the ranges, from the nearest: height in parts of the highest, massifs around the eye, and distance in sides, as the
// haze tells it.
const vec3 RANGE_HIGH = vec3(0.44, 0.68, 1.0), RANGE_MASSIFS = vec3(47.0, 41.0, 29.0), RANGE_AWAY = vec3(4.5, 6.5, 9.5);
const vec2 ROLLING_TO_RUGGED = vec2(0.03, 0.10);  // relief, in sides, of rolling hills and of peaks
const float FLANK = 1.25;          // fall from a peak, in heights, to where the next massif begins
const vec2 ROUND = vec2(0.5, 0.04);  // of the crests of rolling hills and of peaks, in massifs
const float HILLS_SEEN = 0.45;     // of what the haze lets through
const float HAZE_OF_FOOT = 6.0, HAZE_THINS = 0.235;  // at the foot of a range: its optical depth, and scale height in ranges
const float LOWEST = 0.1;          // of a range, of its height
const float SNOW_ALBEDO = 0.8, SNOW_SOFT = 0.25;  // the latter in heights of a range
const float PLAIN_TILE = 1.7;      // sides of a tile of the noise of the plain
const float BESIDE = 0.5;          // sides of the map beside it, within which the plain is like its border
const float BESIDE_BLURRED = 4.0;  // level of the mipmap there
const float PLAIN_FADES = 0.3;     // of the way to the end of the table
const float OF_SKY = 0.6;          // of the haze before ranges, that has the colour of the sky behind them
const float SPURS = 0.3, SPURS_LONG = 0.05, SPURS_SHADE = 0.8;  // tiles of noise in a massif, and in its height; contrast
const float TAU = 6.28318531;

// The height of the highest of the peaks around a place in a row of `count` of them that closes: each falls to both
// sides, less steeply further down.
float peaks(float place, float count, float seed, float blunt) {
    float first = floor(place), highest = 0.0;
    for (int i = -1; i <= 1; ++i) {
        float cell = first + float(i), random = hash(vec2(mod(cell, count), seed));
        float away = cell + 0.15 + 0.7 * fract(random * 57.0) - place, far = sqrt(away * away + blunt * blunt);
        highest = max(highest, 0.25 + 0.75 * random - FLANK * (far - blunt) / (1.0 + 0.3 * far));
    }
    return highest;
}

// The same of a range, at a place around the eye from 0 to 1: crests finer than some pixels fade.
float range_line(float around, float massifs, float rugged, float pixel) {
    float size = 0.72, count = massifs, blunt = mix(ROUND.x, ROUND.y, rugged), range = 0.0;
    for (int i = 0; i < RANGE_OCTAVES; ++i) {
        range += size * (1.0 - smoothstep(0.06, 0.2, count * pixel)) * peaks(around * count, count, massifs + float(i), blunt);
        size *= mix(0.26, 0.34, rugged);
        count *= 3.0;
    }
    return max(range * (0.72 + 0.28 * sin(TAU * 3.0 * around + massifs)), LOWEST);
}

// The plain under the block, at a place that moves by `pixel` from pixel to pixel, `away` from the block in sides of the
// map: of the colour of the land that it goes on from, further out of all land, with patches of fields and of rock.
vec3 plain_land(vec2 place, float pixel, float away) {
    float blurred = mix(BESIDE_BLURRED, 16.0, smoothstep(0.0, BESIDE, away));
    vec4 land = textureLod(lit_land, clamp(map_uv(place), 0.0, 1.0), blurred);
    float tiles = 1.0 / (PLAIN_TILE * frame.heights.w), patches = log2(max(pixel * tiles * 512.0, 4.0));
    return land.rgb / max(land.a, 1e-3) * (0.74 + 0.6 * textureLod(detail, place * tiles, patches).x);
}

// How much haze hides the plain at a place: all of it, where the table ends.
float haze_at(vec2 place) {
    vec2 away = place - frame.camera.xz;
    float part = dot(away, frame.sunward.zw) / max(frame.camera.y - frame.heights.z, 1e-3);
    float hidden = smoothstep(PLAIN_FADES, 1.0, part);
    return hidden * hidden;
}

// How rugged the land is, from 0 to 1.
float ruggedness() {
    return smoothstep(ROLLING_TO_RUGGED.x, ROLLING_TO_RUGGED.y, land_relief);
}

// Ranges behind the end of the plain, in a direction from the eye: their colour, times how much they hide, which is
// last.
// `pixel` is how far the direction moves from pixel to pixel, `horizon` the colour of haze, and `behind` that of the sky.
vec4 far_ranges(vec3 direction, vec3 horizon, vec3 behind, float pixel) {
    float dip = length(frame.sunward.zw), side = frame.heights.w;
    float above = direction.y / max(dot(direction.xz, frame.sunward.zw / dip), 1e-4) + dip;
    if (above < -pixel || above > highest_range + pixel) return vec4(0.0);
    float rugged = ruggedness();
    float around = atan(direction.x, -direction.z) / TAU + 0.5, turn = pixel / TAU;
    vec3 up = vec3(0.0, 1.0, 0.0), land = mean_land();
    vec3 snow = SNOW_ALBEDO * (0.5 * frame.sun_light.rgb * frame.sun.y + sky_light(up));
    // Low hills are no more than a darker haze.
    float clear = mix(HILLS_SEEN, 1.0, rugged);
    vec4 seen = vec4(0.0);
    for (int i = RANGES - 1; i >= 0; --i) {
        float high = highest_range * RANGE_HIGH[i];
        if (above > high + pixel) continue;
        float crest = high * range_line(around, RANGE_MASSIFS[i], rugged, turn);
        // Snow lies above the same height as on the map.
        float line = frame.ground_look.x / highest_of_relief * highest_range;
        vec3 lit = mix(land, snow, smoothstep(line - SNOW_SOFT * high, line + SNOW_SOFT * high, above));
        // Haze thins from its foot up, without a top, and sets it off from the one behind it.
        float foot = HAZE_OF_FOOT * exp(-max(above, 0.0) / (HAZE_THINS * high));
        vec3 kept = exp(-(frame.air.x * side * RANGE_AWAY[i] + foot) * HAZE_HUES);
#if DETAIL_SCALES > 2
        // Spurs and gullies run down from its crest, bright and dark by where the sun stands.
        vec2 at = vec2(SPURS * RANGE_MASSIFS[i] * around, SPURS_LONG * (above - 0.5 * crest) / high);
        vec4 spurs = textureLod(detail, at, log2(max(SPURS * RANGE_MASSIFS[i] * turn * 512.0, 1.0))) - 0.5;
        float from_side = dot(frame.sun.xz, vec2(-direction.z, direction.x));
        lit *= max(1.0 + SPURS_SHADE * (sign(from_side) * spurs.y * (0.5 + abs(from_side)) + 0.5 * spurs.x), 0.2);
#endif
        vec3 shown = mix(mix(horizon, behind, OF_SKY), lit, clear * kept);
        seen = mix(seen, vec4(shown, 1.0), smoothstep(-pixel, pixel, crest - above));
    }
    return seen * far_land;
}
