// The ground.
#include "mesh.glsl"
#include "sky.glsl"

uniform sampler2D surface;

out vec3 position;
out vec3 air_kept;   // the air is smooth: once for each vertex is enough
out vec3 air_added;

void main() {
    int side = quads + 1;
    position = mesh_vertex(surface, vec2(gl_VertexID % side, gl_VertexID / side));
    air_before(position, air_kept, air_added);
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
