// The map from above, with the overlay.
#include "ground.glsl"
#include "overlay.glsl"
#include "stream.glsl"
#include "water.glsl"
#include "tone.glsl"
#include "sea_chart.glsl"

#ifndef WAVES
#define WAVES 1
#endif

#ifndef CANOPY
#define CANOPY 1
#endif

#ifndef WIND_AND_SAND
#define WIND_AND_SAND 0  // 1: in place of the ground and its overlay
#endif

#if CANOPY == 1
#include "canopy.glsl"
#endif

uniform sampler2D wind_path;
uniform sampler2D water;
uniform vec2 size;        // in samples
uniform bool lit;         // as the scene is; else colours stay what they stand for
uniform bool plain_ground;   // in grey, so that the water is all that is seen
uniform bool with_water;
uniform bool overlay_hides;  // water under it

const vec3 STREAMS = vec3(0.200, 0.560, 0.860);  // where water is all that is seen
const vec3 POOLS = vec3(0.020, 0.075, 0.210);
const vec3 BROKEN_WATER = vec3(0.110, 0.175, 0.205);  // streams as the scene has them: bed and sky
const float NARROW_SEEN = 0.35;  // power of the part of a cell that streams cover, so that narrow ones are seen as well
const vec3 MIRRORED_SKY = vec3(0.013, 0.030, 0.055);
const vec3 FROM_NORTH_WEST = vec3(-0.5091, 0.6942, -0.5091);

in vec2 uv;
out vec4 colour;

void main() {
    vec2 at = vec2(gl_FragCoord.x, size.y - gl_FragCoord.y) / size;
    vec4 place = textureLod(surface, at, 0.0);
    vec3 seen = textureLod(light, at, 0.0).xyz;
    vec2 slope = place.yz * frame.map.w;
#if WIND_AND_SAND == 1
    float thickness = 1.0 - exp(-2.0 * place.w / max(0.5 * (frame.heights.y - frame.heights.x) / frame.map.w, 1e-6));
    vec3 albedo = mix(vec3(0.10, 0.095, 0.09), DUNE_SAND_PALE, thickness);
    albedo = mix(albedo, vec3(0.16, 0.42, 0.72), 0.8 * smoothstep(0.02, 0.6, textureLod(wind_path, at, 0.0).x));
#else
    vec4 noise = vec4(0.5);
    Ground ground = ground_material(at * frame.map.xy, place, strata_top_at(at), apparent_steepness(place), seen.z - 0.5, noise, noise, NO_RELIEF);
#if CANOPY == 1
    Canopy crowns = canopy_at(at);
    ground.albedo = mix(ground.albedo, 0.65 * crowns.leaves, 1.0 - exp(-4.0 * crowns.area));
#endif
    float pixel_cells = frame.map.x / size.x;
    vec3 albedo = with_flow_path(with_overlay(ground.albedo, at, place, pixel_cells), at, pixel_cells, 1.0);
#endif
    if (plain_ground) albedo = mix(vec3(0.16, 0.15, 0.12), vec3(dot(albedo, vec3(0.3, 0.6, 0.1))), 0.2);
    float seen_water = with_water ? 1.0 : 0.0;
    if (overlay_hides) seen_water *= 1.0 - left_out_for_overlay(at, place);
    float river = 0.0, pool = 0.0;
    vec3 wet = albedo;
    if (with_water) {
        float depth = textureLod(water, at, 0.0).x;
        bool sea = place.x < frame.water.w;
        vec3 through = water_transmission(depth, sea ? SEA_TURBIDITY : LAKE_TURBIDITY, 1.0);
        vec3 deep = water_scattering(sea ? DEEP_SEA : DEEP_LAKE, through, vec3(1.0));
        vec3 pools = plain_ground ? POOLS : albedo * through + deep + MIRRORED_SKY;
        river = seen_water * pow(running_part(texture(flow, at).x), NARROW_SEEN);
        pool = seen_water * smoothstep(0.0, 0.3, depth);
        wet = mix(plain_ground ? STREAMS : BROKEN_WATER, pools, pool);
#if WIND_AND_SAND == 0 && FLOW_PATH == 1
        wet = mix(wet, FLOW_PATH_COLOUR, flow_path_line(at, pixel_cells));
#endif
        slope *= 1.0 - pool;
    }
    // Light from the north-west, as on printed maps, whatever the sun of the scene does.
    vec3 normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    float facing = max(dot(normal, FROM_NORTH_WEST), 0.0);
    float shade = (0.35 + 0.85 * facing) * 1.9;
    vec3 daylight = (frame.sun_light.rgb * 0.75 * facing + sky_light(normal)) * frame.sun_light.a;
    vec3 of_ground = lit ? toned(albedo * daylight * seen.y) : clamp(albedo * shade * seen.y, 0.0, 1.0);
    vec3 of_water = plain_ground ? clamp(wet * shade * seen.y, 0.0, 1.0) : toned(wet * daylight * seen.y);
    vec3 shown = to_srgb(mix(of_ground, of_water, max(river, pool)));

#if WAVES > 0
    if (with_water && textureLod(water, at, 0.0).x > 0.0 && texelFetch(nearshore, ivec2(at * frame.map.xy), 0).w > 0.0) {
        vec2 east_south = at * map_extent();
        vec4 step_of = vec4(map_extent().x / size.x, 0.0, 0.0, map_extent().y / size.y);
#if WAVES > 1
        shown = mix(shown, to_srgb(sea_chart(east_south, step_of)), seen_water);
#else
        Shore shore = shore_at(east_south);
        Wave wave = wave_at(east_south, shore, step_of);
        float foam = foam_at(east_south, shore, wave, step_of.x / frame.map.z);
        vec3 foamy = mix(shown * (1.0 - 2.5 * dot(wave.slope, vec2(0.55))), vec3(0.92), foam);
        shown = mix(shown, foamy, seen_water);
#endif
    }
#endif
    colour = vec4(shown, 1.0);
}
