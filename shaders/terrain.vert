// The ground.
#include "mesh.glsl"
#include "sky.glsl"

#ifndef FOG
#define FOG 0
#endif
#if FOG == 1
#include "fog.glsl"
#endif

uniform sampler2D surface;
uniform sampler2D strata_rise;  // a single 0 where there are no strata

out vec3 position;
out vec3 air_kept;   // the air is smooth: once for each vertex is enough
out vec3 air_added;
out float strata_top;  // height in metres

void main() {
    int side = quads + 1;
    position = mesh_vertex(surface, vec2(gl_VertexID % side, gl_VertexID / side));
    strata_top = textureLod(strata_rise, map_uv(position.xz), 0.0).x;
    air_before(position, air_kept, air_added);
#if FOG == 1
    add_fog(position, air_kept, air_added);
#endif
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
