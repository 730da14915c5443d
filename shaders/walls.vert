// The sides of the block: a strip along one edge of the map, from the ground down to the base.
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D surface;
uniform int side;  // 0 north, 1 east, 2 south, 3 west

out vec3 position;
out vec3 air_kept;   // the air is smooth: once for each vertex is enough
out vec3 air_added;
flat out vec3 normal;
out float ground;    // height of the ground above this place
out float sediment;  // thickness there, in picture space

void main() {
    int along = gl_VertexID / 2;
    bool top = gl_VertexID % 2 == 0;
    ivec2 last = ivec2(frame.map.xy) - 1;
    ivec2 cell;
    switch (side) {
        case 0: cell = ivec2(last.x - along, 0); normal = vec3(0.0, 0.0, -1.0); break;
        case 1: cell = ivec2(last.x, last.y - along); normal = vec3(1.0, 0.0, 0.0); break;
        case 2: cell = ivec2(along, last.y); normal = vec3(0.0, 0.0, 1.0); break;
        default: cell = ivec2(0, along); normal = vec3(-1.0, 0.0, 0.0); break;
    }
    vec4 place = texelFetch(surface, cell, 0);
    ground = place.x * frame.map.w;
    sediment = place.w * frame.map.w;
    position = vec3((float(cell.x) + 0.5) * frame.map.z, top ? ground : frame.heights.z, (float(cell.y) + 0.5) * frame.map.z);
    air_before(position, air_kept, air_added);
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
