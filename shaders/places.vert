// The ground, where nothing but its place is asked for.
#include "mesh.glsl"

uniform sampler2D surface;
uniform sampler2D strata_rise;  // a single 0 where there are no strata

out vec3 position;
out float strata_top;  // height in metres

void main() {
    int side = quads + 1;
    position = mesh_vertex(surface, vec2(gl_VertexID % side, gl_VertexID / side));
    strata_top = textureLod(strata_rise, map_uv(position.xz), 0.0).x;
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
