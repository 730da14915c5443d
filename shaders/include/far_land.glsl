// Land around the map of a block, in the haze: a plain, and behind it ranges, the higher the more relief the map has.
#include "map.glsl"
#include "sky.glsl"
#include "detail.glsl"

uniform sampler2D lit_land;  // its mean is the colour of the plain
uniform float far_land;      // how much of it is seen: less from higher above, where the block is a model on a table
uniform float land_relief;   // of the land, in longer sides of the map
uniform float highest_range; // slope up to the top of the highest, from the end of the table

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 3
#endif

const int RANGES = 4, RANGE_OCTAVES = DETAIL_SCALES == 1 ? 2 : 3;
// Of the ranges, from the nearest: height in parts of the highest, massifs around the eye, and distance as the haze
// tells it.
const vec4 RANGE_HIGH = vec4(0.40, 0.58, 0.78, 1.0), RANGE_MASSIFS = vec4(19.0, 23.0, 21.0, 25.0);
const vec4 RANGE_AWAY = vec4(1.0, 1.9, 3.0, 4.4);
const vec2 ROLLING_TO_RUGGED = vec2(0.03, 0.10);  // relief, in sides, of rolling hills and of peaks
const float FLANK = 1.25;          // fall from a peak, in heights, to where the next massif begins
const vec2 ROUND = vec2(0.5, 0.04);  // of the crests of rolling hills and of peaks, in massifs
const float HILLS_SEEN = 0.33;     // of what the haze lets through
const float FOOT_IN_HAZE = 0.6;   // of the height of a range: the haze on the plain behind which it stands
const float LOWEST = 0.1;          // of a range, of its height
const float SPURS = 0.7;          // by how much they go to the side, of what they come down
const float FLANKS_LIT = 0.6;      // by how much flanks towards the sun are lighter than others
const float FOOT_SEEN = 0.5;      // of the land at the foot of ranges, of what the haze lets through
const float HIGHEST_OF_RELIEF = 1.6;  // the highest range, in parts of the relief
const float SNOW_ALBEDO = 0.8, SNOW_SOFT = 0.12, SNOW_IN_SHADE = 0.1;  // the latter in heights of a range
const float PLAIN_TILE = 1.7;      // sides of a tile of the noise of the plain
const float BESIDE = 0.5;          // sides of the map beside it, within which the plain is like its border
const float BESIDE_BLURRED = 4.0;  // level of the mipmap there
const float PLAIN_FADES = 0.7;     // of the way to the end of the table
const float TAU = 6.28318531;

// The highest of the peaks around a place in a row of `count` of them that closes: each falls to both sides, less
// steeply further down. Its height, and which way the flank there faces, from -1 to 1.
vec2 peaks(float place, float count, float seed, float blunt) {
    float first = floor(place);
    vec2 highest = vec2(0.0);
    for (int i = -1; i <= 1; ++i) {
        float cell = first + float(i), random = hash(vec2(mod(cell, count), seed));
        float away = cell + 0.15 + 0.7 * fract(random * 57.0) - place, far = sqrt(away * away + blunt * blunt);
        float high = 0.25 + 0.75 * random - FLANK * (far - blunt) / (1.0 + 0.3 * far);
        if (high > highest.x) highest = vec2(high, away / far * max(1.0 - 1.2 * far, 0.0));
    }
    return highest;
}

// The same of a range, at a place around the eye from 0 to 1: crests finer than some pixels fade.
vec2 range_line(float around, float massifs, float rugged, float pixel) {
    vec2 range = vec2(0.0);
    float size = 0.72, count = massifs, blunt = mix(ROUND.x, ROUND.y, rugged);
    for (int i = 0; i < RANGE_OCTAVES; ++i) {
        vec2 of_size = size * (1.0 - smoothstep(0.06, 0.2, count * pixel)) * vec2(1.0, 1.0 + float(i));
        range += of_size * peaks(around * count, count, massifs + float(i), blunt);
        size *= mix(0.2, 0.28, rugged);
        count *= 3.0;
    }
    range.x *= 0.72 + 0.28 * sin(TAU * 3.0 * around + massifs);
    return vec2(max(range.x, LOWEST), range.y);
}

// The mean colour of the land.
vec3 mean_land() {
    vec4 mean = textureLod(lit_land, vec2(0.5), 16.0);
    return mean.rgb / max(mean.a, 1e-3);
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

// Colour of the end of the plain, from which ranges rise: that of the haze where they are too low to hide a line.
vec3 end_of_plain(vec3 horizon) {
    return mix(horizon, 0.85 * mean_land(), FOOT_SEEN * ruggedness() * exp(-frame.air.x * frame.heights.w * RANGE_AWAY.y));
}

// Ranges behind the end of the plain, in a direction from the eye: their colour, times how much they hide, which is
// last.
// `pixel` is how far the direction moves from pixel to pixel.
vec4 far_ranges(vec3 direction, vec3 horizon, float pixel) {
    float dip = length(frame.sunward.zw), side = frame.heights.w;
    float above = direction.y / max(dot(direction.xz, frame.sunward.zw / dip), 1e-4) + dip;
    if (above < -pixel || above > highest_range + pixel) return vec4(0.0);
    float rugged = ruggedness();
    float around = atan(direction.x, -direction.z) / TAU + 0.5, turn = pixel / TAU;
    float to_sun = frame.sunward.x * direction.z - frame.sunward.y * direction.x;  // to the left of it
    vec3 land = mean_land(), foot = end_of_plain(horizon);
    vec3 snow = SNOW_ALBEDO * (0.5 * frame.sun_light.rgb * frame.sun.y + sky_light(vec3(0.0, 1.0, 0.0)));
    // Low hills are no more than a darker haze.
    float clear = mix(HILLS_SEEN, 1.0, rugged);
    vec4 seen = vec4(0.0);
    for (int i = RANGES - 1; i >= 0; --i) {
        float high = highest_range * RANGE_HIGH[i];
        if (above > high + pixel) continue;
        float spur = (i % 2 == 0 ? SPURS : -SPURS) * above / TAU;
        vec2 range = range_line(around + spur, RANGE_MASSIFS[i], rugged, turn);
        // Snow lies above the same height as on the map, lower on spurs that face away from the sun.
        float line = frame.ground_look.x / HIGHEST_OF_RELIEF * highest_range + SNOW_IN_SHADE * high * to_sun * range.y;
        float snowy = smoothstep(line - SNOW_SOFT * high, line + SNOW_SOFT * high, above);
        vec3 lit = mix(land, snow, snowy) * (0.75 + FLANKS_LIT * rugged * to_sun * range.y);
        vec3 shown = mix(horizon, lit, clear * exp(-frame.air.x * side * RANGE_AWAY[i]));
        // Haze lies thickest at the foot of each, where the plain ends in it, and sets it off from the one behind it.
        shown = mix(foot, shown, smoothstep(0.0, FOOT_IN_HAZE * high, above));
        seen = mix(seen, vec4(shown, 1.0), smoothstep(-pixel, pixel, high * range.x - above));
    }
    return seen * far_land;
}
