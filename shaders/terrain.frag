// Ground, lit by sun and sky.
#include "ground.glsl"
#include "overlay.glsl"
#include "water.glsl"
#include "waves.glsl"

#ifndef WAVES
#define WAVES 1
#endif

#ifndef WATER
#define WATER 1
#endif

uniform sampler2D airborne;
uniform sampler2D water;  // depth in metres

in vec3 position;
in vec3 air_kept;
in vec3 air_added;

out vec4 colour;

void main() {
    vec2 uv = map_uv(position.xz);
    vec2 cells = position.xz / frame.map.z;
    vec4 place = texture(surface, uv);
    vec3 seen = texture(light, uv).xyz;
    float hollowness = seen.z - 0.5;
    vec4 fine = fine_detail(cells);
    vec4 coarse = coarse_detail(cells);

    vec2 slope = place.yz * frame.map.w;
    float steepness = apparent_steepness(place);
    Ground ground = ground_material(cells, place, steepness, hollowness, fine, coarse);
#if WATER == 1
    float submerged = smoothstep(0.0, 0.35 * frame.water.x, textureLod(water, uv, 0.0).x * frame.map.w);
    ground.albedo = mix(ground.albedo, bed_material(fine, coarse), 0.9 * submerged);
    ground.rockiness *= 1.0 - 0.6 * submerged;
#endif
    vec3 albedo = with_overlay(ground.albedo, uv, place);

#if WAVES == 1
    float away = textureLod(coast, uv, 0.0).x;
    vec2 pixel = vec2(fwidth(place.x), max(length(dFdx(cells)), length(dFdy(cells))));
    bool by_the_water = away < 0.0 && away > -BEACH_CELLS;
    Beach beach = Beach(0.0, 0.0, 0.0);
    if (by_the_water) {
        Shore shore = shore_at(position.xz);
        float height = max(-shore.depth, 0.0);
        beach = beach_at(position.xz, shore, height, pixel);
        // Waves bring sand, and grind what they reach to it.
        float high = height / max(1.3 * frame.beach.x, 1e-4) + 0.5 * (fine.x - 0.5) + 0.7 * (coarse.x - 0.5);
        float sandy = (1.0 - smoothstep(0.5, 1.3, high)) * (1.0 - smoothstep(0.35, 0.75, steepness + 0.4 * (fine.w - 0.5)));
        albedo = mix(albedo, mix(SAND, BEACH_SAND, 0.5 + fine.x - 0.5), sandy);
        ground.rockiness *= 1.0 - 0.7 * sandy;
        albedo *= mix(1.0, WET_GROUND, beach.wet);
    }
#endif

    // Relief finer than a cell: slopes of the noise, which its mipmaps fade with distance.
    vec2 bumps = (fine.yz - 0.5) * ground.rockiness * (1.5 + 1.6 * steepness) + (coarse.zy - 0.5) * 0.25;
#if DETAIL_SCALES > 1
    vec4 grain = texture(detail, cells / 1.31);
    bumps += (grain.yz - 0.5) * ground.rockiness * 1.2;
    albedo *= mix(0.80 + 0.40 * grain.w, 1.0, 0.7 * ground.sand);
#endif
#if DESERT == 1
    bumps = bumps * (1.0 - 0.75 * ground.sand) + ripples(cells, place.yz, detail) * ground.sand;
#endif
    vec3 normal = normalize(vec3(-(slope.x + bumps.x), 1.0, -(slope.y + bumps.y)));

    float sun = max(dot(normal, frame.sun.xyz), 0.0) * seen.x;
    vec3 bounce = vec3(0.30, 0.24, 0.17) * (1.0 - normal.y) * (0.25 + 0.75 * seen.x) * 0.35;
    vec3 radiance = albedo * (frame.sun_light.rgb * sun + (sky_light(normal) + bounce) * seen.y);
#if DESERT == 1
    radiance += frame.sun_light.rgb * glitter(cells, normal, normalize(frame.camera.xyz - position)) * ground.sand * sun;
    vec3 sand_light = DRIFTING_SAND * (frame.sun_light.rgb * seen.x * 0.45 + sky_light(vec3(0.0, 1.0, 0.0)) * seen.y);
    radiance = mix(radiance, sand_light, drifting(cells, textureLod(airborne, uv, 0.0).x, detail));
#endif
#if WAVES == 1
    if (by_the_water) {
#if FINE_WATER == 1
        vec3 to_eye = normalize(frame.camera.xyz - position);
        // Wet sand mirrors a little, the water on it more.
        vec3 smooth_normal = normalize(mix(normal, vec3(0.0, 1.0, 0.0), 0.6 * beach.covered));
        float mirror = water_fresnel(max(dot(smooth_normal, to_eye), 0.0), 0.01)
                     * max(beach.covered, 0.5 * beach.wet * beach.wet);
        radiance = mix(radiance, mix(HORIZON, ZENITH, 0.3) * seen.y, mirror);
#endif
        vec3 light_here = frame.sun_light.rgb * max(frame.sun.y, 0.0) * seen.x + sky_light(vec3(0.0, 1.0, 0.0)) * seen.y;
        radiance = mix(radiance, FOAM * light_here, beach.foam);
    }
#endif
    colour = vec4(radiance * air_kept + air_added, 1.0);
}
