// The ground, where nothing but its place is asked for.
#include "clip.glsl"
#include "mesh.glsl"

uniform sampler2D surface;

out vec3 position;

void main() {
    position = numbered_vertex(surface, gl_VertexID);
    gl_Position = clip_position(vec4(position, 1.0));
}
