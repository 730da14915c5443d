// What the ground is made of at a place, and how it takes the light.
#include "map.glsl"
#include "sky.glsl"
#include "sand.glsl"

#ifndef DESERT
#define DESERT 1
#endif

#ifndef MARKS
#define MARKS 1
#endif

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 1
#endif

uniform sampler2D surface;
uniform sampler2D light;   // sun visibility, sky visibility, hollowness
uniform sampler2D detail;  // tiling noise: height, its two slopes, another height

#if MARKS == 1
uniform sampler2D marks;   // of snowballs: sand, bare rock, running water, damp banks
#endif

const vec3 LUSH_DARK = vec3(0.060, 0.088, 0.026);
const vec3 LUSH_LIGHT = vec3(0.140, 0.150, 0.052);
const vec3 DRY_GRASS = vec3(0.250, 0.205, 0.110);
const vec3 ROCK_LOW = vec3(0.190, 0.162, 0.140);
const vec3 ROCK_HIGH = vec3(0.315, 0.270, 0.222);
const vec3 SCREE = vec3(0.330, 0.284, 0.226);
const vec3 SAND = vec3(0.365, 0.298, 0.198);
const vec3 SILT = vec3(0.235, 0.190, 0.128);
const vec3 STREAM_BED = vec3(0.045, 0.062, 0.058);
const vec3 BED_SAND = vec3(0.225, 0.190, 0.138);
const vec3 BED_SILT = vec3(0.128, 0.112, 0.084);
const vec3 SNOW = vec3(0.860, 0.890, 0.930);

struct Ground {
    vec3 albedo;
    float rockiness;  // how strongly fine relief shows
    float sand;  // how much of it is dry sand
    float water;  // how much of it is running water
};

// Noise of about a cell, and of a part of it where the picture is good enough to show it: turned against each other, so
// that no tile repeats in step with the other.
vec4 fine_detail(vec2 cells) {
#if DETAIL_SCALES == 1
    return texture(detail, cells / 12.0);
#else
    vec2 turned = mat2(0.80, 0.60, -0.60, 0.80) * cells;
    return 0.5 * texture(detail, cells / 18.7) + 0.5 * texture(detail, turned / 5.3);
#endif
}

// Patches of many cells.
vec4 coarse_detail(vec2 cells) {
    return texture(detail, cells.yx / 173.0 + 0.37);
}

// How steep the ground looks: where heights are exaggerated, materials follow only a part of it, or all would be rock.
float apparent_steepness(vec4 place) {
    return length(place.yz) * mix(1.0, frame.map.w, 0.45);
}

// What lies under water: sand and, in patches, silt.
vec3 bed_material(vec4 fine, vec4 coarse) {
    float silt = clamp(0.55 + 1.5 * (coarse.w - 0.5) + 1.1 * (coarse.x - 0.5) + 0.5 * (fine.w - 0.5), 0.0, 1.0);
    return mix(BED_SAND, BED_SILT, silt) * (0.88 + 0.24 * fine.x);
}

Ground ground_material(vec2 cells, vec4 place, float steepness, float hollowness, vec4 fine, vec4 coarse) {
    float altitude = clamp((place.x * frame.map.w - frame.heights.x) / max(frame.heights.y - frame.heights.x, 1e-3), 0.0, 1.0);
    float ripple = fine.x - 0.5, patches = coarse.x - 0.5, tone = coarse.w - 0.5;

    // Rock lies in bands by height, which the noise bends.
    float bands = 0.5 + 0.5 * sin(altitude * 46.0 + patches * 7.0 + ripple * 2.0);
    vec3 rock = mix(ROCK_LOW, ROCK_HIGH, clamp(0.25 + 0.5 * bands + ripple * 0.9, 0.0, 1.0));

    // Grass: lush in hollows and low down, dry on crests and high up.
    float lush = clamp(0.62 + 1.5 * hollowness - 0.55 * altitude + patches * 1.1 + ripple * 0.35, 0.0, 1.0);
    vec3 meadow = mix(LUSH_LIGHT, LUSH_DARK, clamp(lush * 1.2 - 0.1 + tone * 0.6, 0.0, 1.0));
    vec3 grass = mix(DRY_GRASS, meadow, smoothstep(0.12, 0.62, lush));
    grass *= 1.0 + 0.5 * ripple;

    float green = frame.ground_look.y * (1.0 - smoothstep(0.50, 0.95, steepness + ripple * 0.30 + patches * 0.22));
    vec3 soil = mix(ROCK_HIGH, DRY_GRASS, 0.55) * (1.0 + 0.4 * ripple);
    float bare = smoothstep(0.30, 0.72, steepness + ripple * 0.30 + patches * 0.22);
    float water = 0.0, damp_banks = 0.0, put_down = 0.0;
#if MARKS == 1
    // Grass does not hold where much is worn or put down; the noise frays the edges of all that.
    vec2 frayed = vec2(1.0 + 0.9 * ripple + 0.5 * patches, 1.0 + 0.4 * ripple);
    vec4 mark = clamp(texture(marks, cells / frame.map.xy) * frayed.xxyy, 0.0, 1.0);
    green *= 1.0 - 0.85 * max(mark.x, mark.y);
    bare = max(bare, 0.80 * mark.y);
    put_down = mark.x;
    // On steep flanks water falls in threads finer than a cell: they look damp.
    water = smoothstep(0.40, 0.60, mark.z) * (1.0 - smoothstep(0.45, 0.80, steepness));
    damp_banks = mark.w;
#endif
    vec3 base = mix(soil, rock, bare);
    vec3 albedo = mix(base, grass, smoothstep(0.15, 0.75, green + ripple * 0.25));

    // Loose material covers what is under it as it gets thicker: scree where steep, sand and silt where flat.
    float cover = smoothstep(0.25, 0.80, max(1.0 - exp(-place.w / frame.ground_look.z), put_down) + ripple * 0.25);
    // Flat fill is sand and darker silt in patches and braids; grass comes back where it is hollow and old grass is near.
    float damp = clamp(0.45 + 1.6 * tone + 0.8 * patches + 1.2 * hollowness, 0.0, 1.0);
    vec3 fill = mix(SAND, SILT, damp);
    fill = mix(fill, LUSH_LIGHT * 1.15, 0.75 * frame.ground_look.y * smoothstep(0.02, 0.40, patches + ripple * 0.5 + 0.12));
    vec3 loose = mix(fill, SCREE, smoothstep(0.10, 0.45, steepness + patches * 0.2)) * (0.90 + 0.5 * ripple);
#if DESERT == 1
    loose = mix(loose, dune_sand(fine, coarse), frame.wind.z);
#endif
    albedo = mix(albedo, loose, cover);

    albedo = mix(albedo * (1.0 - 0.45 * damp_banks), STREAM_BED, water);
    float snow = smoothstep(0.0, 0.06, altitude - frame.ground_look.x + patches * 0.10 + ripple * 0.05)
               * (1.0 - smoothstep(0.55, 1.0, steepness + ripple * 0.2));
    snow *= 1.0 - water;
    albedo = mix(albedo, SNOW, snow);
    float sand = cover * frame.wind.z * (1.0 - snow);
    return Ground(albedo, mix(mix(0.45, 1.0, bare), 0.35, max(cover * 0.6, snow)) * (1.0 - 0.8 * sand) * (1.0 - 0.9 * water), sand, water);
}
