// The surface of lakes and sea, laid over the ground: what is added to its colour, and what is kept of it.
#include "ground.glsl"
#include "overlay.glsl"
#include "standing.glsl"
#include "water.glsl"
#include "sea_chart.glsl"

#ifndef SEA
#define SEA 1
#endif

#ifndef WAVES
#define WAVES 1
#endif

uniform vec2 scene_size;        // in pixels
uniform sampler2D strata_rise;  // a single 0 where there are no strata

#ifndef FOG
#define FOG 0
#endif
#if FOG == 1
#include "fog.glsl"
#endif
#ifndef CLOUDS
#define CLOUDS 0  // 1: in the sky, 2: with their shadows
#endif
#if CLOUDS > 1
#include "clouds.glsl"
#endif

#ifndef PART
#define PART 0  // of the sea: 0 all of it, 1 on the map, 2 around it
#endif

#if SEA == 0
in vec2 map_place;
flat in float level;
#endif

const vec3 CREST_GLOW = vec3(0.013, 0.058, 0.052);
const float SHORE = 0.08;   // metres of depth over which water begins to be seen
const float FALL_OF_BED = 0.035;  // metres for each metre beyond the map
#if SEA == 1
const vec3 DEEP_WATER = DEEP_SEA;
const float TURBIDITY = SEA_TURBIDITY, WAVINESS = 1.0;
#else
const vec3 DEEP_WATER = DEEP_LAKE;
const float TURBIDITY = LAKE_TURBIDITY, WAVINESS = 0.45;
#endif

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

// How far a place lies within the map, in metres; negative outside.
float within_map(vec2 place) {
    vec2 low = place - 0.5 * frame.map.z, high = map_extent() - 0.5 * frame.map.z - place;
    return min(min(low.x, low.y), min(high.x, high.y));
}

// The colour of the bed around the map, which no ground is drawn for.
vec3 bed_without_land(vec2 place) {
#if SEA == 0
    return vec3(0.0);  // lakes lie on the map
#elif FINE_WATER == 1
    vec2 cells = place / frame.map.z;
    return bed_material(fine_detail(cells), coarse_detail(cells));
#else
    return bed_material(vec4(0.5), vec4(0.5));
#endif
}

// How much of sun and sky the surface sees, over a bed that sees so much through so many metres of water.
vec3 seen_by_surface(vec3 seen, vec3 from, float depth) {
    vec3 open = mix(vec3(1.0), seen, exp(-0.3 * depth));
#if FINE_WATER == 1
    // What stands between it and the sun.
    vec2 direction = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    vec2 entries = (step(direction, vec2(0.0)) * map_extent() - from.xz) / (direction + vec2(1e-6));
    float entry = max(max(entries.x, entries.y), 0.0);  // of the ray into the map
    float along = 1.2 * frame.map.z;
    open.x = 1.0;
    for (int i = 0; i < 48; ++i) {
        vec2 at = from.xz + direction * (entry + along);
        float clear = frame.sun.w - (ground_height(surface, at) - from.y) / (entry + along);
        if (within_map(at) > 0.0) open.x = min(open.x, clamp(clear / 0.06 + 0.5, 0.0, 1.0));
        if (open.x <= 0.0 || from.y + frame.sun.w * (entry + along) > frame.heights.y) break;
        along = 1.07 * along + 0.4 * frame.map.z;  // short steps: long ones would show as scallops
    }
#endif
    return open;
}

// What is mirrored from a direction: the sky, or land that hides it.
vec3 mirrored(vec3 from, vec3 direction, vec3 seen, vec3 light_here) {
#if FINE_WATER == 1
    vec3 mirror = clear_sky(direction);
    // What stands highest over the ray, over steps that are softened by their length: each alone would show as a band.
    float reach = 1.5 * frame.map.z, covered = 0.0;
    vec2 hides = vec2(0.0);
    for (int i = 0; i < 24 && covered < 1.0; ++i) {
        vec3 at = from + direction * reach;
        vec2 uv = map_uv(at.xz);
        if (at.y > frame.heights.y || any(greaterThan(abs(uv - 0.5), vec2(0.5)))) break;
        float cover = (textureLod(surface, uv, 0.0).x * frame.map.w - at.y) / (0.45 * reach) + 0.5;
        if (cover > covered) hides = at.xz;
        covered = max(covered, cover);
        reach *= 1.26;
    }
    if (covered > 0.0) {
        vec2 uv = map_uv(hides);
        vec4 place = textureLod(surface, uv, 0.0), noise = vec4(0.5);
        vec3 light_there = textureLod(light, uv, 0.0).xyz;
        float rise = textureLod(strata_rise, uv, 0.0).x, steepness = apparent_steepness(place);
        Ground ground = ground_material(hides / frame.map.z, place, rise, steepness, light_there.z - 0.5, noise, noise);
        vec3 normal = normalize(vec3(-place.y * frame.map.w, 1.0, -place.z * frame.map.w));
        vec3 lit = frame.sun_light.rgb * max(dot(normal, frame.sun.xyz), 0.0) * light_there.x
                 + sky_light(normal) * light_there.y;
        mirror = mix(mirror, ground.albedo * lit, smoothstep(0.0, 1.0, covered));
    }
    return mirror;
#else
    return mirrored_sky(direction, seen.y, light_here);
#endif
}

#if SEA == 0 && WAVES > 0
// 1 on lakes with waves; 0 on puddles, and so near to one that values are interpolated from there.
float lake_with_waves(vec2 uv) {
    return all(greaterThan(textureGather(nearshore, uv, 3), vec4(0.0))) ? 1.0 : 0.0;
}
#endif

void main() {
#if SEA == 1
    vec3 ray = (frame.rays * vec4(gl_FragCoord.xy / scene_size * 2.0 - 1.0, 1.0, 0.0)).xyz;
    float level = frame.water.w;
    float drop = level * frame.map.w - frame.camera.y;
    vec2 map_place = frame.camera.xz + ray.xz * (drop / (drop < 0.0 ? min(ray.y, -1e-7) : max(ray.y, 1e-7)));
#if PART == 0
    bool outside = within_map(map_place) <= 0.0;
#else
    const bool outside = PART == 2;
#endif
#else
    const bool outside = false;
#endif
    vec3 position = vec3(map_place.x, level * frame.map.w, map_place.y);
    vec2 uv = map_uv(map_place);
    float there = outside ? 1.0 : belongs(uv, level);
    float water = (level - textureLod(surface, uv, 0.0).x) * frame.map.w;  // metres of it
    float blur = fwidth(water);
    vec4 pixel = vec4(dFdx(map_place), dFdy(map_place));
    if (there <= 0.0) discard;

    vec3 to_eye = normalize(frame.camera.xyz - position);
    float steepness = max(abs(to_eye.y), 1e-3);
#if FINE_WATER == 1
    // The ray goes on under water, bent down, to where the bed has another depth.
    vec3 below = refract(-to_eye, vec3(0.0, 1.0, 0.0), 1.0 / 1.33);
    vec2 reached = map_place - below.xz / min(below.y, -0.1) * max(water, 0.0);
    float met = (level - textureLod(surface, map_uv(reached), 0.0).x) * frame.map.w;
    float depth = max(0.5 * (water + met), 0.0) / frame.map.w;
#else
    float depth = max(water, 0.0) / frame.map.w;
#endif
    float shore = smoothstep(0.0, SHORE * frame.map.w + blur, water + 0.5 * blur) * there;
    vec3 seen = textureLod(light, uv, 0.0).xyz;
#if SEA == 1
    // Around the map the bed falls away from its edge, and is one that nobody has drawn.
    float beyond = max(-within_map(map_place), 0.0) / frame.heights.w;
    depth += FALL_OF_BED * frame.heights.w * beyond * beyond / (beyond + 0.15);
#if PART == 2
    const float drawn = 0.0;
#else
    // The place of the bed that this pixel shows; where the bed falls away it is farther than it seems.
    vec2 path = -to_eye.xz / max(to_eye.y, 0.02);
    vec2 behind = map_place + path * max(water, 0.0);
    behind = map_place + path * max(water, level * frame.map.w - ground_height(surface, behind));
    float drawn = smoothstep(0.005, 0.05, min(within_map(behind), within_map(map_place)) / frame.heights.w);
#endif
    seen = mix(vec3(1.0), seen, exp(-30.0 * beyond));
    if (outside) shore = 1.0;
#else
    float drawn = 1.0;
#endif

    seen = seen_by_surface(seen, position, depth);
#if CLOUDS > 1
    seen.x *= sun_past_clouds(position);
#endif
    Waves waves = water_waves(map_place, depth, WAVINESS);
#if WAVES == 1
    float foam = 0.0, crest = 0.0;
    if (!outside) {
        Shore coming = shore_at(map_place);
#if SEA == 0
        coming.strength *= lake_with_waves(uv);
#endif
        if (coming.strength > 0.0) {
            Wave wave = wave_at(map_place, coming, pixel);
            waves.slope += wave.slope;
            waves.roughness += wave.roughness;
            foam = foam_at(map_place, coming, wave, max(length(pixel.xy), length(pixel.zw)) / frame.map.z);
            crest = max(wave.height, 0.0) / max(0.5 * frame.waves.w, 1e-6) * (0.4 + 0.6 * smoothstep(0.2, 0.8, wave.breaking));
        }
    }
#endif
    vec3 normal = wave_normal(waves.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = water_fresnel(facing, waves.roughness);
    vec3 daylight = light_on_water(seen);
    vec3 through = water_transmission(depth, TURBIDITY, steepness) * (1.0 - mirror);
    vec3 colour = water_scattering(DEEP_WATER, through, daylight)
                + (drawn < 1.0 ? bed_without_land(map_place) * daylight * through * (1.0 - drawn) : vec3(0.0))
                + mirror * mirrored(position, water_reflected(to_eye, normal), seen, daylight)
                + frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, waves.roughness);
    vec3 keep = through * drawn;
#if WAVES > 1
    // A drawing is flat: no light, no depth.
    colour = sea_chart(map_place, pixel) * 0.62 / frame.sun_light.a;
    keep = vec3(0.0);
    // Puddles are not on it.
    shore = step(0.5, shore);
#if SEA == 0
    shore *= lake_with_waves(uv);
#endif
#elif WAVES == 1
    // Through crests comes light from behind.
    float from_behind = 0.35 + 0.65 * pow(max(-dot(to_eye.xz, frame.sun.xz), 0.0), 2.0);
    colour += CREST_GLOW * crest * from_behind * frame.sun_light.rgb * seen.x * (1.0 - mirror);
    colour = mix(colour, FOAM * daylight, foam);
    keep *= 1.0 - foam;
#endif

    float hidden = left_out_for_overlay(uv, textureLod(surface, uv, 0.0));
    colour = below_overlay(colour) * (1.0 - hidden);
    keep = mix(keep, vec3(1.0), hidden);
    // The way lies on the water. On the bed, which shows elsewhere, it would be a gap.
    float way = way_on_water(uv, length(fwidth(map_place)) / frame.map.z);
    colour = mix(colour, COURSE_COLOUR * daylight, way);
    keep *= 1.0 - way;
    keep = mix(vec3(1.0), keep, shore);
    colour *= shore;

    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
#if FOG == 1
    add_fog(position, air_kept, air_added);
#endif
    colour = colour * air_kept + (1.0 - keep) * air_added;
#if SEA == 1
    // Far out the sea passes into the sky, without an edge.
    float far = smoothstep(0.0, 1.0, 1.0 - 6.0 * frame.heights.w / max(distance(position, frame.camera.xyz), 6.0 * frame.heights.w));
    vec3 horizon = horizon_colour(-to_eye);
    colour = mix(colour, horizon, far);
    keep *= 1.0 - far;
#endif
    added = vec4(colour, 1.0);
    kept = vec4(keep, 0.0);
}
