// Small trees: a point each, drawn as a square in which the crown's outline is found.
#include "clip.glsl"
#include "tree.glsl"

uniform vec2 limits;  // heights in pixels: of the level that is finer; where trees become a colour of the ground

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

out vec2 middle;         // of the square, from the foot, in half its sides
flat out vec4 outline;   // half width; top and foot of the crown, half height of its foot, in half the square's sides
flat out vec4 to_sun;    // in the square: right, up, towards the eye; how much of its leaves it has lost
flat out vec4 sun_part;  // radiance in full sun, air before it; whether it is a conifer
flat out vec3 sky_part;
flat out float hidden_below;  // part of the sun that other crowns hide from its foot
flat out vec3 air_added;
flat out vec4 own;       // its grain; light through its leaves; which way is up: up, towards the eye
#if SNOWY == 1
flat out vec4 snow;      // how much brighter snow is than its leaves; how much lies on its boughs
#endif
#ifndef SAMPLES
#define SAMPLES 0
#endif
#if SNOWY == 1 && SAMPLES > 0
flat out vec3 shadow;    // of it, from its foot: right, up; how dark it is
flat out vec3 snow_in_shadow;  // radiance
const float LONGEST_SHADOW = 1.3;  // heights of a tree
const vec3 SHADED_SNOW = vec3(0.58, 0.59, 0.61);
#endif
flat out vec4 lobes;     // the middles of two lobes of its crown; the third is beyond them

void main() {
    vec2 chances = chances_of(cell);
    vec3 foot = foot_of(cell);
    float height = tree_height(chances.x);
    float pixels = tree_pixels(foot, height);
    // One after the other they shrink away, as far as the ground takes over their colour.
    float remains = clamp((pixels / limits.y - 1.0) * 1.6 - 0.6 * chances.y, 0.0, 1.0);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 1.0;
    if (finer_share(pixels, limits.x) >= 1.0 || remains <= 0.0) return;
    height *= 0.55 + 0.45 * remains;

    bool broad = growth.x > 0.5;
    int shape = int(growth.x + 0.5);
    float base = height * crown_base[shape];
    float radius = height * crown_radius[shape] * width_of(chances);
    vec3 away = frame.camera.xyz - foot;
    float far = length(away);
    vec3 to_eye = away / far;
    vec3 right = normalize(vec3(to_eye.z, 0.0, -to_eye.x) + vec3(1e-6, 0.0, 0.0));
    vec3 up = cross(to_eye, right);
    float level = up.y, above = to_eye.y;  // cosine and sine of the angle that one looks down at

    // From below to above: the foot of the trunk, the near rim of the crown, its top.
    float half_foot = radius * abs(above);
    float bottom, top;
    if (broad) {
        float centre = 0.5 * (base + height) * level;
        float extent = length(vec2(0.5 * (height - base) * level, half_foot));
        bottom = centre - extent;
        top = centre + extent;
    } else {
        bottom = base * level;
        top = max(height * level, bottom + half_foot);
    }
    float lowest = min(broad ? bottom : bottom - half_foot, 0.0);
    vec2 low = vec2(-radius, lowest), high = vec2(radius, top);
#if SNOWY == 1 && SAMPLES > 0
    // On snow a tree would float without its shadow, which falls as the ground is steep.
    vec2 falls = -frame.sun.xz * height * min(1.0 / max(frame.sun.y, 0.05), LONGEST_SHADOW);
    vec2 slope = textureLod(surface, map_uv(foot.xz), 0.0).yz * frame.map.w;
    vec3 tip = vec3(falls.x, dot(falls, slope), falls.y);
    vec2 seen_tip = vec2(dot(tip, right), dot(tip, up));
    low = min(low, seen_tip);
    high = max(high, seen_tip);
#endif
    float side = max(high.x - low.x, high.y - low.y);
    // Before the ground at its foot, as half of the crown is.
    vec3 centre = foot + right * (0.5 * (low.x + high.x)) + up * (0.5 * (low.y + high.y)) + to_eye * (0.5 * height * max(above, 0.0));
    outline = vec4(radius, top, bottom, half_foot) / (0.5 * side);
    middle = (low + high) / side;

    vec4 seen = textureLod(light, map_uv(foot.xz), 0.0);
#if CLOUDS > 1
    seen.x *= sun_past_clouds(foot);
#endif
    vec3 air_kept;
    air_before(centre, air_kept, air_added);
#if FOG == 1
    add_fog(centre, air_kept, air_added);
#endif
    vec3 albedo = leaf_colour(chances, seen.z - 0.5);
#if SNOWY == 1
    snow = vec4(ON_BOUGHS / max(albedo, 0.01) - 1.0, snow_on_boughs(cell, chances));
#endif
#if SNOWY == 1 && SAMPLES > 0
    shadow = vec3(seen_tip / (0.5 * side), seen.x * snow.a);
    snow_in_shadow = SHADED_SNOW * sky_light(vec3(0.0, 1.0, 0.0)) * seen.y * air_kept;
#endif
    float against = max(-dot(to_eye, frame.sun.xyz), 0.0);
    float bare = max(0.92 * dead_part(growth.z), 0.6 * shed_part(chances) * foliage.a);
    to_sun = vec4(dot(frame.sun.xyz, right), dot(frame.sun.xyz, up), dot(frame.sun.xyz, to_eye), bare);
    float sun = (broad ? 1.06 : 0.90) * seen.x;
    hidden_below = 1.0 - seen.w;
    sun_part = vec4(albedo * frame.sun_light.rgb * sun * air_kept, broad ? 0.0 : 1.0);
    sky_part = albedo * (PASSED_ON * sky_light(vec3(0.0, 0.7, 0.0)) + FROM_GROUND * frame.sun.y * frame.sun_light.rgb * seen.x) * seen.y * air_kept;
    own = vec4(chances.x * 17.0, 0.12 + 0.26 * against * against, level, above);

    vec2 out_of_place = 0.42 * (vec2(fract(chances.x * 31.0), fract(chances.y * 23.0)) - 0.5);
    lobes = vec4(-0.36, -0.20, 0.38, -0.14) + vec4(out_of_place, out_of_place.yx);
    if (chances.y > 0.5) lobes.xz = -lobes.xz;

    gl_Position = clip_position(vec4(centre, 1.0));
    gl_PointSize = max(side * scale.y / distance(frame.camera.xyz, centre), 1.0);
}
