// The ground.
#include "clip.glsl"
#include "mesh.glsl"
#include "sky.glsl"
#include "bounce.glsl"
#include "strata_top.glsl"

#ifndef FOG
#define FOG 0
#endif
#if FOG == 1
#include "fog.glsl"
#endif

#ifndef SHADE
#define SHADE 0
#endif
#if SHADE == 1
#include "shade.glsl"
out vec2 clear;  // height over the shadow; that over which it is soft
#endif

#ifndef CLOUDS
#define CLOUDS 0
#endif
#if CLOUDS > 1
#include "clouds.glsl"
out float clouds;  // before the sun
#endif

uniform sampler2D airborne;
out float in_air;  // sand, metres over a cell

uniform sampler2D surface;

out vec3 position;
out vec3 air_kept;   // the air is smooth: once for each vertex is enough
out vec3 air_added;
out float strata_top;  // height in metres
#if INTRUSIONS == 1
out float intruded;    // how much of the ground is of an intrusion
#endif
out vec3 bounced;      // light of the land on it, as smooth

void main() {
    position = numbered_vertex(surface, gl_VertexID);
    StrataTop top = strata_top_at(map_uv(position.xz));
    strata_top = top.height;
#if INTRUSIONS == 1
    intruded = top.intruded;
#endif
#if SHADE == 1
    vec2 uv = map_uv(position.xz), step_east = vec2(1.0 / frame.map.x, 0.0), step_south = vec2(0.0, 1.0 / frame.map.y);
    vec2 shadow = textureLod(shade, uv, 0.0).xy;
    vec4 around = vec4(textureLod(shade, uv + step_east, 0.0).x, textureLod(shade, uv - step_east, 0.0).x,
                       textureLod(shade, uv + step_south, 0.0).x, textureLod(shade, uv - step_south, 0.0).x);
    // Where a shadow ends beside its edge, the map knows that no better than to a cell.
    vec4 differs = abs(around - shadow.x);
    float unsure = 0.5 * max(max(differs.x, differs.y), max(differs.z, differs.w));
    float height = position.y;
#if DISPLACED == 1
    // The relief casts no shadows, and so is in none.
    height -= relief_height(position.xz / frame.map.z - 0.5, coarseness_of(node.z) + morph_at(position.xz, node.w));
#endif
    clear = vec2(height - shadow.x,
                 max(max(SUN_WIDTH * shadow.y, SOFTEST * frame.map.z), unsure));
#endif
#if CLOUDS > 1
    clouds = clouds_before_sun(position, false);
#endif
    bounced = bounced_light_at(map_uv(position.xz));
    in_air = textureLod(airborne, map_uv(position.xz), 0.0).x;
    air_before(position, air_kept, air_added);
#if FOG == 1
    add_fog(position, air_kept, air_added);
#endif
    gl_Position = clip_position(vec4(position, 1.0));
}
