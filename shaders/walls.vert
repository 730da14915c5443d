// The sides of the block: for each node of the ground at an edge of the map a strip, from the ground down to the base.
#include "clip.glsl"
#include "mesh.glsl"
#include "sky.glsl"
#include "strata_top.glsl"

uniform sampler2D surface;
uniform sampler2D burden;  // what raises the ground beside rock and sediment; one texel where nothing does

#ifndef ROOFS
#define ROOFS 0  // 1: intrusions have roofs
#endif
#if ROOFS == 1
uniform sampler2D intrusion_roof;  // metres below the top of the strata, more by INTRUDED outside of intrusions
out float roof;
#endif

in float side;  // 0 north, 1 east, 2 south, 3 west

out vec3 position;
out vec3 air_kept;   // the air is smooth: once for each vertex is enough
out vec3 air_added;
flat out vec3 normal;
out float ground;    // height of the ground above this place
out float lying;     // thickness of what lies on the rock there, in picture space
out float strata_top;  // height in metres
out float intruded;    // how much of the rock is of an intrusion
flat out int edge;     // as `side`

void main() {
    float along = float(gl_VertexID / 2), end = float(quads);
    vec2 corner;
    edge = int(side);
    switch (edge) {
        case 0: corner = vec2(along, 0.0); normal = vec3(0.0, 0.0, -1.0); break;
        case 1: corner = vec2(end, along); normal = vec3(1.0, 0.0, 0.0); break;
        case 2: corner = vec2(along, end); normal = vec3(0.0, 0.0, 1.0); break;
        default: corner = vec2(0.0, along); normal = vec3(-1.0, 0.0, 0.0); break;
    }
    position = mesh_vertex(surface, corner);
    ground = position.y;
    vec2 uv = map_uv(position.xz);
    lying = (textureLod(surface, uv, 0.0).w + textureLod(burden, uv, 0.0).x) * frame.map.w;
    StrataTop top = strata_top_at(uv);
    strata_top = top.height;
    intruded = top.intruded;
#if ROOFS == 1
    // As in `strata_top_at`; there it is an intrusion that comes up to the ground.
    vec4 roofs = textureGather(intrusion_roof, uv, 0);
    vec4 outside = step(0.5 * INTRUDED, roofs);
    vec2 part = fract(uv * vec2(textureSize(intrusion_roof, 0)) - 0.5);
    vec4 weights = vec4((1.0 - part.x) * part.y, part.x * part.y, part.x * (1.0 - part.y), (1.0 - part.x) * (1.0 - part.y));
    roof = dot(weights, roofs - INTRUDED * outside);
    intruded = 1.0 - dot(weights, outside);
#endif
    if (gl_VertexID % 2 == 1) position.y = frame.heights.z;
    air_before(position, air_kept, air_added);
    gl_Position = clip_position(vec4(position, 1.0));
}
