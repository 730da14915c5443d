// A grid without vertex data: one node of a quadtree over the map, whose vertices move to the next coarser grid with
// distance, so that nodes of different detail meet without cracks (Strugar 2009).
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D surface;
uniform int quads;  // along a side of a node

in vec4 node;  // first column and row, cells between vertices, distance at which the node has become its coarser self

out vec3 position;
out vec3 air_kept;   // the air is smooth: once for each vertex is enough
out vec3 air_added;

vec2 clamped(vec2 cell) {
    return clamp(cell, vec2(0.0), frame.map.xy - 1.0);
}

float elevation(vec2 cell) {
    return texelFetch(surface, ivec2(cell), 0).x * frame.map.w;
}

void main() {
    int side = quads + 1;
    vec2 corner = vec2(gl_VertexID % side, gl_VertexID / side);
    vec2 cell = clamped(node.xy + corner * node.z);
    float height = elevation(cell);

    vec3 place = vec3((cell.x + 0.5) * frame.map.z, height, (cell.y + 0.5) * frame.map.z);
    float morph = smoothstep(0.86, 0.99, distance(place, frame.camera.xyz) / node.w);
    vec2 odd = mod(corner, 2.0);
    if (morph > 0.0 && odd != vec2(0.0)) {
        // Odd vertices slide onto the edge or diagonal of the coarser triangle that they lie on.
        vec2 before = clamped(cell - odd * node.z), after = clamped(cell + odd * node.z);
        vec2 first = odd == vec2(1.0) ? vec2(before.x, after.y) : before;
        vec2 second = odd == vec2(1.0) ? vec2(after.x, before.y) : after;
        float t = odd.x > 0.0 ? (cell.x - before.x) / max(after.x - before.x, 1e-6)
                              : (cell.y - before.y) / max(after.y - before.y, 1e-6);
        height = mix(height, mix(elevation(first), elevation(second), t), morph);
    }
    position = vec3(place.x, height, place.z);
    air_before(position, air_kept, air_added);
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
