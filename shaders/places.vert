// The ground, where nothing but its place is asked for.
#include "mesh.glsl"

uniform sampler2D surface;

out vec3 position;

void main() {
    int side = quads + 1;
    position = mesh_vertex(surface, vec2(gl_VertexID % side, gl_VertexID / side));
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
