// The mesh of the ground without vertex data: nodes of a quadtree over the map, whose vertices move onto those of the
// next coarser grid with distance, so that nodes of different detail meet without cracks (Strugar 2009).
#include "map.glsl"

uniform int quads;  // along a side of a node

in vec4 node;  // first column and row, cells between vertices, distance at which the node has become its coarser self

invariant gl_Position;  // ground and walls share vertices

vec3 grid_point(sampler2D surface, vec2 cell) {
    cell = clamp(cell, vec2(0.0), frame.map.xy - 1.0);
    float height = texelFetch(surface, ivec2(cell), 0).x * frame.map.w;
    return vec3((cell.x + 0.5) * frame.map.z, height, (cell.y + 0.5) * frame.map.z);
}

// Distance from the camera as the nodes were chosen by it: the height counts only outside of the span of all heights.
float node_distance(vec3 place) {
    float beyond = max(max(frame.heights.x - frame.camera.y, frame.camera.y - frame.heights.y), 0.0);
    return length(vec3(place.xz - frame.camera.xz, beyond));
}

// The vertex at a corner of a quad, counted from the node's first.
vec3 mesh_vertex(sampler2D surface, vec2 corner) {
    vec3 place = grid_point(surface, node.xy + corner * node.z);
    float morph = smoothstep(0.86, 0.99, node_distance(place) / node.w);
    vec2 odd = mod(corner, 2.0);
    if (morph == 0.0 || odd == vec2(0.0)) return place;
    vec3 coarse = grid_point(surface, node.xy + (corner - odd) * node.z);
    return morph < 1.0 ? mix(place, coarse, morph) : coarse;
}
