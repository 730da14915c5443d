// How detailed the mesh of the ground is at a place, and how high it lies there: see select_nodes in
// app/picture/passes/mesh.py.
#include "map.glsl"

#ifndef DISPLACED
#define DISPLACED 0  // 1: the mesh has the form of the relief that is finer than the map
#endif

#if DISPLACED == 1
#include "between_cells.glsl"

uniform sampler2D relief;  // height in cells, its slopes to the east and south
#endif

// Distance from the camera as the nodes were chosen by it: the height counts only outside of the span of all heights.
float node_distance(vec2 east_south) {
    float beyond = max(max(frame.heights.x - frame.camera.y, frame.camera.y - frame.heights.y), 0.0);
    return length(vec3(east_south - frame.camera.xz, beyond));
}

// How far a vertex has moved onto the next coarser grid; `whole` is the distance at which it has arrived there.
float morph_at(vec2 east_south, float whole) {
    return smoothstep(0.86, 0.99, node_distance(east_south) / whole);
}

// The binary logarithm of the cells between vertices, to the bit.
float coarseness_of(float stride) {
    return floor(log2(stride) + 0.5);
}

#if DISPLACED == 1
// How far the mesh lies above the map in picture space where it is so coarse: no finer than it can show.
float relief_height(vec2 cell, float coarseness) {
    float level = coarseness + log2(float(textureSize(relief, 0).x) / frame.map.x);
    return textureLod(relief, (cell + 0.5) / frame.map.xy, max(level, 0.0)).x * frame.map.z;
}
#endif

// Diagonals that cross at heights that differ by more cells are seen to: see app/picture/passes/mesh.py.
const float TWISTED = 0.5;

// Whether a square of the mesh, at a place in cells from the middle of the first, lies between four cells whose
// diagonals are so far apart. It has a vertex in its middle, and others are divided from south-west to north-east.
bool is_twisted(sampler2D surface, vec2 cell) {
    vec4 corners = textureGather(surface, (min(floor(cell), frame.map.xy - 2.0) + 1.0) / frame.map.xy, 0);
    return 0.5 * abs(corners.w + corners.y - corners.z - corners.x) >= TWISTED * frame.map.z;
}

// The height of the mesh in picture space, at a place in cells from the middle of the first, where it is so coarse.
float mesh_height_at(sampler2D surface, vec2 cell, float coarseness) {
    cell = clamp(cell, vec2(0.0), frame.map.xy - 1.0);
#if DISPLACED == 1
    float height = fract(cell) == vec2(0.0) ? texelFetch(surface, ivec2(cell), 0).x : smooth_height(surface, cell);
    return height * frame.map.w + relief_height(cell, coarseness);
#else
    if (fract(cell) == vec2(0.0)) return texelFetch(surface, ivec2(cell), 0).x * frame.map.w;
    return elevation_at(surface, (cell + 0.5) / frame.map.xy) * frame.map.w;
#endif
}
