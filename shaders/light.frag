// Light that depends on the map alone: how much of the sun and of the sky each cell sees, and how hollow its place is.
#include "map.glsl"
#include "crowns.glsl"

// The light has that of the relief which is finer than the map, for ground that is drawn without. 1: of its ribs alone,
// 2: of all of it, from its map.
#ifndef RELIEF
#define RELIEF 0
#endif
#if RELIEF == 2
#include "relief.glsl"
uniform sampler2D relief;
const float TAU = 6.28318531;
#elif RELIEF == 1
#include "ribs.glsl"
#include "benches.glsl"
uniform sampler2D burden;  // what raises the ground beside rock and sediment; one texel where nothing does
uniform float amount;
uniform int octaves;  // as texels can show them
#else
const float TAU = 6.28318531;
#endif

uniform sampler2D surface;
uniform vec2 cells_per_texel;
uniform int sun_steps;
uniform int sky_directions;
uniform int sky_steps;

#ifndef CANOPY
#define CANOPY 1
#endif

#ifndef SHADE
#define SHADE 0  // 1: up to which height shadows reach, too
#endif

#if CANOPY == 1
uniform sampler2D canopy;
uniform float tree_height;  // of a full-grown tree, cells
#endif

layout(location = 0) out vec4 result;
#if SHADE == 1
layout(location = 1) out vec4 shade;
#endif

// March towards the sun; the least clearance over the ground along the way, softened as the sun has a width. Where
// nothing else is known of shadows, their edges are no sharper than a texel of a cell can show, or they would have its
// teeth: from one cell to the next the slope to what is so far away differs by this.
float sun_visibility(vec2 cell, float height) {
    vec2 direction = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    float sun_slope = frame.sun.w;
#if SHADE == 1
    float reach = 0.6 + 0.8 * hash(cell);
    const float softest = 0.035;
#else
    float reach = 1.0;
#endif
    float seen = 1.0;
    float step_length = 0.6;
    for (int i = 0; i < sun_steps; ++i) {
        vec2 at = cell + direction * reach;
        if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, frame.map.xy))) break;
        float length_m = reach * frame.map.z;
        if (height + sun_slope * length_m > frame.heights.y) break;
        float slope = (textureLod(surface, at / frame.map.xy, 0.0).x * frame.map.w - height) / length_m;
#if SHADE == 0
        float softest = max(0.035, sun_slope / reach);
#endif
        seen = min(seen, clamp((sun_slope - slope) / softest * 0.5 + 0.5, 0.0, 1.0));
        if (seen <= 0.0) break;
        reach += step_length;
        step_length = step_length * 1.045 + 0.02;
    }
    return seen;
}

#if SHADE == 1
const float AT_ONCE = 1.5;  // cells: what is nearer is ground that turns away from the sun, and has no shadow of its own

// The height over a place up to which it lies in shadow, in picture space, and how far away is what casts that. Unlike
// what the place itself sees, both are smooth where shadows fall on cliffs. Far from the ground it does not count; but for
// water, whose surface can lie there, in the third.
vec3 shadow_height(vec2 cell, float height, float steepness) {
    vec2 direction = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    float most = (1.5 + steepness) * frame.map.z;
    vec2 found = vec2(height - most, AT_ONCE * frame.map.z);
    float reach = AT_ONCE, step_length = 0.6;
    for (int i = 0; i < sun_steps; ++i) {
        vec2 at = cell + direction * reach;
        float length_m = reach * frame.map.z, above = frame.sun.w * length_m;
        if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, frame.map.xy)) || frame.heights.y - above < found.x) break;
        float shadow = textureLod(surface, at / frame.map.xy, 0.0).x * frame.map.w - above;
        if (shadow > found.x) found = vec2(shadow, length_m);
        reach += step_length;
        step_length = step_length * 1.045 + 0.02;
    }
    return vec3(min(found.x, height + most), found.y, found.x);
}
#endif

// The part of the sky that is not behind the horizon, over some directions, starting from the cell's own tilt.
float sky_visibility(vec2 cell, float height, vec2 tilt) {
    float turn = hash(cell + 7.3);
    float open = 0.0;
    for (int k = 0; k < sky_directions; ++k) {
        float angle = (float(k) + turn) * TAU / float(sky_directions);
        vec2 direction = vec2(cos(angle), sin(angle));
        float horizon = max(dot(tilt, direction), 0.0);
        float reach = 1.0;
        for (int i = 0; i < sky_steps; ++i) {
            vec2 at = cell + direction * reach;
            float rise = textureLod(surface, at / frame.map.xy, 0.0).x * frame.map.w - height;
            horizon = max(horizon, rise / (reach * frame.map.z));
            reach *= 1.38;
        }
        open += 1.0 / (1.0 + horizon * horizon);  // 1 - sin² of the horizon's angle
    }
    return open / float(sky_directions);
}

// How far the place lies below (+) or above (-) its wider surroundings, in slopes; 0.5 is neither.
float hollowness(vec2 cell, float height) {
    float around = 0.0;
    for (int k = 0; k < 12; ++k) {
        float angle = float(k) * TAU / 12.0;
        float reach = k % 2 == 0 ? 4.0 : 9.0;
        vec2 at = cell + reach * vec2(cos(angle), sin(angle));
        around += (textureLod(surface, at / frame.map.xy, 0.0).x * frame.map.w - height) / (reach * frame.map.z);
    }
    return clamp(around / 12.0 * 2.0 + 0.5, 0.0, 1.0);
}

#if CANOPY == 1
// The sunlight that comes to the ground through the crowns of trees, thinned as by a layer of leaves over each cell.
float sun_through_crowns(vec2 cell, float height) {
    const int STEPS = 12;
    vec2 direction = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    float sun_slope = frame.sun.w;
    float sun_rise = max(sun_slope, 1e-3);  // in cells for each cell
    float step_length = clamp(1.1 * tree_height / sun_rise, 0.8, 18.0) / float(STEPS);
    float thickness = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        float reach = (float(i) + 0.5) * step_length;
        vec2 uv = (cell + direction * reach) / frame.map.xy;
        vec4 crowns = textureLod(canopy, uv, 0.0);
        float area = crowns.x + crowns.y;
        float part = 1.0 / max(area, 1e-4);
        float top = tree_height * max(crowns.z * part, 0.05);
        float ground = textureLod(surface, uv, 0.0).x * frame.map.w;
        float above = (height - ground) / frame.map.z + sun_rise * reach;
        float leaves = area * slanted_crowns(sun_rise, crowns.y * part) * (1.0 - smoothstep(0.7, 1.1, above / top));
        thickness += leaves * sun_rise * step_length / top;
    }
    return exp(-thickness);
}
#endif

#if RELIEF > 0
const float GULLY_IS_HOLLOW = 0.25;  // for each cell that it is deep
const float BRIGHTEST_FLANK = 2.0;   // beside the ground that it stands on

// Flanks of ribs that turn from the sun have less of its light beside the ground that they stand on, and others more.
float sun_on_flank(vec2 slope, vec2 ribbed) {
    float plain = max(dot(normalize(vec3(-slope.x, 1.0, -slope.y)), frame.sun.xyz), 0.02);
    float lit = max(dot(normalize(vec3(-ribbed.x, 1.0, -ribbed.y)), frame.sun.xyz), 0.0);
    return min(lit / plain, BRIGHTEST_FLANK);
}
#endif

#if RELIEF == 1
const float GULLY_SEES_LESS = 0.9;  // for each cell that it is deep

// Gullies see less of the sky.
vec3 light_on_ribs(vec3 seen, vec2 cell, vec4 here) {
    here.w += textureLod(burden, cell / frame.map.xy, 0.0).x;
    Carved carved = carved_at(surface, cell, here, amount, octaves);
    vec2 slope = here.yz * frame.map.w, ribbed = slope + carved.slope;
    float lies = here.x + carved.height * frame.map.z / frame.map.w;
    float span = length(here.yz) * frame.map.z * max(cells_per_texel.x, cells_per_texel.y);
    Bench bench = bench_at(strata_top_at(cell / frame.map.xy), lies, length(slope), here.w, 0.0, span);
    ribbed *= 1.0 + min(amount, 1.0) * bench.steeper;
    float lies_over = carved.height + min(amount, 1.0) * bench.height;
    seen.x *= sun_on_flank(slope, ribbed);
    seen.y *= 1.0 + GULLY_SEES_LESS * clamp(lies_over, -0.6, 0.0);
    seen.z -= GULLY_IS_HOLLOW * lies_over;
    return seen;
}
#elif RELIEF == 2
const float AROUND_LOD = 3.0;   // mipmap of the relief that is the mean over some cells
const int SHADOW_STEPS = 6;
const float SHADOW_BEGINS = 0.45, SHADOW_GROWS = 1.45, SHADOW_SOFT = 0.25;  // cells
const float SEES_LESS = 1.7;  // of the sky, for each cell that it lies deeper than what is around
const float STREAKED = 0.40, WEATHERED = 0.25;  // of the tone of ground by streaks, of rock by how far it stands out

// What relief is there: height in cells, its slopes, streaks around 0. Where it has no span it is exact.
vec4 relief_at(vec2 cell, float lod) {
    vec4 texel = textureLod(relief, cell / frame.map.xy, lod);
    return vec4(relief_span > 0.0 ? unpacked_relief(texel.xyz) : texel.xyz, texel.w - 0.5);
}

// The sunlight that comes past ribs and ledges. The ground under them is a plane so near by.
float past_relief(vec2 cell, float height, vec2 slope, float lod) {
    vec2 toward = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    float gains = dot(slope, toward) - frame.sun.w, reach = SHADOW_BEGINS, hidden = -1.0;
    for (int i = 0; i < SHADOW_STEPS; ++i) {
        hidden = max(hidden, (relief_at(cell + reach * toward, lod).x - height + gains * reach) / sqrt(reach));
        reach *= SHADOW_GROWS;
    }
    return 1.0 - smoothstep(-0.3 * SHADOW_SOFT, 0.7 * SHADOW_SOFT, hidden);
}

// Gullies and feet of ledges see less of the sky. Streaks and weathered rock are tones of the ground: here they are those
// of its light.
vec3 light_on_relief(vec3 seen, vec2 cell, vec4 here) {
    float texels_per_cell = float(textureSize(relief, 0).x) / frame.map.x;
    float lod = max(log2(cells_per_texel.x * texels_per_cell), 0.0);
    vec4 rib = relief_at(cell, lod);
    vec2 slope = here.yz * frame.map.w;
    float steepness = length(here.yz), beside = rib.x - relief_at(cell, lod + AROUND_LOD).x;
    seen.x *= sun_on_flank(slope, slope + rib.yz) * past_relief(cell, rib.x, slope, lod);
    seen.y *= 1.0 + clamp(SEES_LESS * beside, -0.6, 0.15);
    seen.z -= GULLY_IS_HOLLOW * rib.x;
    float streak = STREAKED * rib.w * smoothstep(0.003, 0.06, steepness) * (1.0 - 0.85 * frame.wind.z);
    float rock = WEATHERED * clamp(rib.x, -1.0, 1.0) * smoothstep(0.25, 0.60, steepness);
    seen.xy *= 1.0 + streak + rock;
    return seen;
}
#endif

void main() {
    vec2 cell = gl_FragCoord.xy * cells_per_texel;
    vec4 here = textureLod(surface, cell / frame.map.xy, 0.0);
    float height = here.x * frame.map.w;
#if SHADE == 1
    shade = vec4(shadow_height(cell, height, length(here.yz) * frame.map.w), 0.0);
#endif
    vec3 seen = vec3(sun_visibility(cell, height), sky_visibility(cell, height, here.yz * frame.map.w), hollowness(cell, height));
#if RELIEF == 1
    seen = light_on_ribs(seen, cell, here);
#elif RELIEF == 2
    seen = light_on_relief(seen, cell, here);
#endif
    result = vec4(
        seen,
#if CANOPY == 1
        sun_through_crowns(cell, height)
#else
        1.0
#endif
    );
}
