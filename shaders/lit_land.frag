// What the ground sends on of the light that comes to it, seen from above and in no detail, times its area, which is in
// the last channel beside that on the map.
#include "ground.glsl"
#include "water.glsl"

#ifndef CANOPY
#define CANOPY 1
#endif
#if CANOPY > 0
#include "canopy.glsl"
#endif

#ifndef UNDER_WOODS
#define UNDER_WOODS 0
#endif
#if UNDER_WOODS == 1
#include "woods_in_light.glsl"
#endif

#ifndef PATCHY
#define PATCHY 0  // with the patches of many cells that the ground shows
#endif

#ifndef AFAR_RELIEF
#define AFAR_RELIEF 0
#endif
#if AFAR_RELIEF == 1
uniform sampler2D land_afar;    // relief finer than the map: its height in cells, the slopes of both, and streaks
const float RIBS_BARE_OF = 0.7;  // as a noise that is as fine tells rock from what lies on it
#endif

uniform sampler2D water;        // depth in metres
uniform sampler2D suspended;    // fine sediment in the water, metres of the bed; a single 0 where none is simulated

const float LEAST_DEPTH = 0.05;  // metres that share what water carries

in vec2 uv;

layout(location = 0) out vec4 result;
layout(location = 1) out vec4 look;  // roots of the albedo, and how much of the sky it sees

void main() {
    vec4 place = textureLod(surface, uv, 0.0), seen = textureLod(light, uv, 0.0), even = vec4(0.5);
    StrataTop top = strata_top_at(uv);
    vec2 cells = uv * frame.map.xy;
#if PATCHY == 1
    vec4 coarse = two_coarse_details(cells);
#else
    vec4 coarse = even;
#endif
    FineRelief finer = NO_RELIEF;
    float steepness = apparent_steepness(place);
#if AFAR_RELIEF == 1
    vec4 afar = textureLod(land_afar, uv, log2(max(dFdx(uv.x) * float(textureSize(land_afar, 0).x), 1.0)));
    finer.height = afar.x;
    finer.streak = afar.w - 0.5;
    even.x += RIBS_BARE_OF * clamp(afar.x, -1.5, 1.5);
    steepness = apparent_steepness(afar);
#endif
    vec3 albedo = ground_material(cells, place, top, steepness, seen.z - 0.5, even, coarse, finer).albedo;
#if CANOPY > 0
    Canopy crowns = canopy_at(uv);
    albedo = mix(albedo, 0.5 * crowns.leaves, 1.0 - exp(-2.0 * crowns.area));
    seen.x *= seen.w;
#endif
#if UNDER_WOODS == 1
    albedo = mix(albedo, WOODED_GROUND, WOODED_MOST * wooded_by(seen.w));
#endif
    float depth = textureLod(water, uv, 0.0).x;
    vec2 muddy = vec2(0.0);
    if (textureSize(suspended, 0).x > 1) {
        muddy = muddiness(log2(max(textureLod(suspended, uv, 0.0).x / max(depth, LEAST_DEPTH), 1e-6)));
    }
    vec3 through = water_transmission(depth, mix(LAKE_TURBIDITY, mix(RIVER_TURBIDITY, THICK_TURBIDITY, muddy.y), muddy.x), 1.0);
    vec3 deep = mix(DEEP_LAKE, mix(MUD, THICK_MUD, muddy.y), muddy.x);
    albedo = albedo * through + water_scattering(deep, through, vec3(1.0));
    look = vec4(sqrt(albedo), seen.y);
    vec3 normal = normalize(vec3(-place.yz * frame.map.w, 1.0).xzy);
    vec3 lit = frame.sun_light.rgb * max(dot(normal, frame.sun.xyz), 0.0) * seen.x + sky_light(normal) * seen.y;
    // Steep ground is more of what others face than the map has of it.
    float area = sqrt(1.0 + dot(place.yz, place.yz) * frame.map.w * frame.map.w);
    result = vec4(area * albedo * lit, area);
}
