// Trees near enough to be seen as bodies: one shape for each instance, turned and scaled.
#include "clip.glsl"
#include "tree.glsl"

#ifndef SHADOWS
#define SHADOWS 1  // 0: none, 1: of trees near the camera, 2: they are drawn
#endif

#if SHADOWS > 0
uniform mat4 shadow_matrix;
#endif

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 1
#endif

uniform vec2 limits;  // heights in pixels: of the level that is finer than this one; of the level that is coarser

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

in vec3 place;    // in the shape, a unit high
in vec3 outward;
in float open;
in float leaves;  // 0: wood, 1: a crown; between them blades of grass
in vec2 spray;   // place in a square that is cut out as leaves, from -1 to 1; 0 in what is solid

out vec3 position;
out vec3 normal;
out vec3 inside;   // place in the shape, moved by something that is the tree's own
out vec2 sun_in;   // past the land and into the crown; past other trees where their shadows are not drawn
out vec3 lit_place;
out vec2 light_in;  // sky; leaves or wood
out vec2 in_spray;
#if DETAIL_SCALES > 1
out vec3 in_crown;  // from its middle, 1 at its rim
flat out vec3 through_crown;  // the way to the sun, as in_crown
#endif
out vec3 air_kept;
out vec3 air_added;
flat out vec3 albedo;
flat out float bare;   // how much of its leaves it has lost, 0 to 1
flat out float shown;  // part of the pixels that it is drawn in, as it appears
flat out float snowy;  // how much snow lies on its boughs

const float LEANS = 0.11;  // of its height, that its top is at most aside of its foot
const float OWN_SHAPE = 0.095;  // of its height, that parts of a crown are at most out of the place in its shape
const vec3 MIDDLE = vec3(0.0, 0.55, 0.0);  // of crowns
const float WIDER = 1.15;  // crowns as they are grown, beside their shape
const float LEAN = 0.030;  // of its height, that its top is bent by the wind
const float SWAY = 0.010;  // and that it moves to either side of that

// How far the wind moves a place so high in a tree, to the east and south, as a part of its height.
vec2 bent_by_wind(float high, vec2 chances) {
    float moved = LEAN * (0.6 + 0.8 * chances.x);
#if SHADOWS < 2
    // In a loop of the sea by whole swings, so that it closes.
    float swings = round(frame.loop.x * (0.22 + 0.10 * chances.y));
    moved += SWAY * sin(6.2831853 * (swings * frame.loop.y + chances.x));
#endif
    return moved * high * high * frame.wind.xy;
}

// No crown is as its shape is: boughs reach farther here and less far there, and its top is aside.
vec3 grown_shape(vec3 place, vec2 chances) {
    vec3 own = 6.2831853 * vec3(chances, fract(5.3 * chances.x + 2.9 * chances.y)), turns = vec3(5.1, 6.3, 4.7);
    vec3 waves = sin(turns * place.yzx + own) - 0.6 * sin(turns * MIDDLE.yzx + own);  // the whole hardly moves
    float crown = smoothstep(0.02, 0.30, place.y);
    vec3 moved = OWN_SHAPE * crown * waves * vec3(1.0, 0.5, 1.0);
    return place + moved * clamp(2.2 * length(place.xz), 0.15, 1.0);
}

void main() {
    vec2 chances = chances_of(cell);
    vec3 foot = foot_of(cell);
    float height = tree_height(chances.x);
#if SHADOWS < 2
    float pixels = tree_pixels(foot, height);
    // The finer level appears over this one, which goes when that is whole: crowns have no holes meanwhile.
    shown = limits.x > 0.0 && finer_share(pixels, limits.x) >= 1.0 ? 0.0 : finer_share(pixels, limits.y);
    if (shown <= 0.0) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
#endif
    float angle = 6.2831853 * chances.y;
    vec2 turn = vec2(cos(angle), sin(angle));
    mat2 turned = mat2(turn.x, turn.y, -turn.y, turn.x);
    float width = width_of(chances);
    vec3 shape = leaves > 0.9 ? grown_shape(place, chances) : place;
    vec3 body = vec3(turned * shape.xz * width, shape.y).xzy;
    body.xz += LEANS * place.y * turn * (2.0 * fract(13.7 * chances.x) - 1.0);
    body.xz += bent_by_wind(max(place.y, 0.0), chances);
    position = foot + height * body;
#if SHADOWS == 2
    gl_Position = shadow_matrix * vec4(position, 1.0);
#else
    normal = normalize(vec3(turned * outward.xz, outward.y * width).xzy);
    in_spray = spray;
#if DETAIL_SCALES > 1
    float wide = WIDER * crown_radius[int(growth.x + 0.5)], half_high = 0.5 - 0.5 * crown_base[int(growth.x + 0.5)];
    in_crown = vec3(turned * shape.xz / wide, (shape.y - 1.0 + half_high) / half_high).xzy;
    through_crown = normalize(frame.sun.xyz / vec3(wide * width, half_high, wide * width));
#endif
    inside = body + vec3(chances, 0.0).xzy * 17.0;
    vec4 seen = textureLod(light, map_uv(foot.xz), 0.0);
#if CLOUDS > 1
    seen.x *= sun_past_clouds(foot);
#endif
    sun_in = vec2(seen.x * mix(0.35, 1.18, open), mix(seen.w, 1.0, clamp(place.y, 0.0, 1.0)));
    lit_place = position + 0.07 * height * frame.sun.xyz;  // no crown is in its own shadow by a hair
    light_in = vec2(seen.y * mix(0.42, 1.0, open), leaves);
    albedo = leaf_colour(chances, seen.z - 0.5);
    bare = max(0.92 * dead_part(growth.z), 0.6 * shed_part(chances) * foliage.a);
#if SNOWY == 1
    snowy = snow_on_boughs(cell, chances);
#else
    snowy = 0.0;
#endif
    air_before(position, air_kept, air_added);
#if FOG == 1
    add_fog(position, air_kept, air_added);
#endif
    gl_Position = clip_position(vec4(position, 1.0));
#endif
}
