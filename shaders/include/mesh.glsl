// The mesh of the ground without vertex data: nodes of a quadtree over the map, whose vertices move onto those of the
// next coarser grid with distance, so that nodes of different detail meet without cracks (Strugar 2009).
#include "mesh_detail.glsl"

uniform int quads;  // along a side of a node

in vec4 node;  // first column and row, cells between vertices, distance at which the node has become its coarser self

invariant gl_Position;  // ground and walls share vertices

vec3 grid_point(sampler2D surface, vec2 cell, float coarseness) {
    cell = clamp(cell, vec2(0.0), frame.map.xy - 1.0);
    float height = mesh_height_at(surface, cell, coarseness);
    return vec3((cell.x + 0.5) * frame.map.z, height, (cell.y + 0.5) * frame.map.z);
}

// The vertex at a corner of a quad, counted from the node's first.
vec3 mesh_vertex(sampler2D surface, vec2 corner) {
    vec2 cell = clamp(node.xy + corner * node.z, vec2(0.0), frame.map.xy - 1.0);
    float morph = morph_at((cell + 0.5) * frame.map.z, node.w);
    float coarseness = coarseness_of(node.z) + morph;
    vec3 place = grid_point(surface, cell, coarseness);
    vec2 odd = mod(corner, 2.0);
    if (morph == 0.0 || odd == vec2(0.0)) return place;
    vec3 coarse = grid_point(surface, node.xy + (corner - odd) * node.z, coarseness);
    return morph < 1.0 ? mix(place, coarse, morph) : coarse;
}
