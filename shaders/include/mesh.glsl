// The mesh of the ground without vertex data: nodes of a quadtree over the map, whose vertices move onto those of the
// next coarser grid with distance, so that nodes of different detail meet without cracks (Strugar 2009).
#include "mesh_detail.glsl"

#ifndef MIDDLES
#define MIDDLES 1  // 0: no quad has a vertex in its middle
#endif

uniform int quads;  // along a side of a node

in vec4 node;  // first column and row, cells between vertices, distance at which the node has become its coarser self

invariant gl_Position;  // ground and walls share vertices

vec3 grid_point(sampler2D surface, vec2 cell, float coarseness) {
    cell = clamp(cell, vec2(0.0), frame.map.xy - 1.0);
    float height = mesh_height_at(surface, cell, coarseness);
    return vec3((cell.x + 0.5) * frame.map.z, height, (cell.y + 0.5) * frame.map.z);
}

// The same of a corner of a quad.
vec3 corner_point(sampler2D surface, vec2 cell, float coarseness) {
#if DISPLACED == 0
    // No node is finer than the map: software would pay for all that is read between cells.
    cell = clamp(cell, vec2(0.0), frame.map.xy - 1.0);
    float height = texelFetch(surface, ivec2(cell), 0).x * frame.map.w;
    return vec3((cell.x + 0.5) * frame.map.z, height, (cell.y + 0.5) * frame.map.z);
#else
    return grid_point(surface, cell, coarseness);
#endif
}

// The vertex at a corner of a quad, counted from the node's first.
vec3 mesh_vertex(sampler2D surface, vec2 corner) {
    vec2 cell = clamp(node.xy + corner * node.z, vec2(0.0), frame.map.xy - 1.0);
    float morph = morph_at((cell + 0.5) * frame.map.z, node.w);
    float coarseness = coarseness_of(node.z) + morph;
    vec3 place = corner_point(surface, cell, coarseness);
    vec2 odd = mod(corner, 2.0);
    if (morph == 0.0 || odd == vec2(0.0)) return place;
    vec3 coarse = corner_point(surface, node.xy + (corner - odd) * node.z, coarseness);
    return morph < 1.0 ? mix(place, coarse, morph) : coarse;
}

// The vertex in the middle of a quad, by the quad's first corner.
vec3 middle_vertex(sampler2D surface, vec2 corner) {
    // On the diagonal from south-west to north-east it changes nothing.
    vec3 plain = 0.5 * (mesh_vertex(surface, corner + vec2(0.0, 1.0)) + mesh_vertex(surface, corner + vec2(1.0, 0.0)));
    vec2 first = node.xy + corner * node.z, cell = first + 0.5 * node.z;
    if (any(greaterThan(cell, frame.map.xy - 1.0)) || !is_twisted(surface, first)) return plain;
    float morph = morph_at((cell + 0.5) * frame.map.z, node.w);
    float coarseness = coarseness_of(node.z) + morph;
    vec3 place = grid_point(surface, cell, coarseness);
    if (morph == 0.0) return place;
    // Of the quads that come together in a coarser one, the last becomes it. That of cells has no middle.
#if DISPLACED == 0
    return mix(place, plain, morph);
#else
    bool becomes = node.z < 1.0 && mod(corner, 2.0) == vec2(1.0);
    return mix(place, becomes ? grid_point(surface, first, coarseness) : plain, morph);
#endif
}

// The vertices by their numbers: corners row by row, then middles, where quads have them.
vec3 numbered_vertex(sampler2D surface, int number) {
    int side = quads + 1;
#if MIDDLES == 0
    return mesh_vertex(surface, vec2(number % side, number / side));
#else
    int beyond = number - side * side;
    if (beyond < 0) return mesh_vertex(surface, vec2(number % side, number / side));
    return middle_vertex(surface, vec2(beyond % quads, beyond / quads));
#endif
}
