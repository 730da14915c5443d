// How detailed the mesh of the ground is at a place, and how high it lies there: see select_nodes in
// app/picture/passes/mesh.py.
#include "map.glsl"

#ifndef DISPLACED
#define DISPLACED 0  // 1: the mesh has the form of the relief that is finer than the map
#endif

#if DISPLACED == 1
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
// The height between two, by the slopes at both. Where these are too steep for what lies between, less of them: at the
// foot of a cliff the ground would dip, and on a shelf under water rise out of it (Fritsch and Carlson 1980).
float between(float first, float last, float first_slope, float last_slope, float ahead, float rise, float fall) {
    float most = 3.0 * (last - first) / frame.map.z;
    vec2 slopes = clamp(vec2(first_slope, last_slope), min(most, 0.0), max(most, 0.0));
    return mix(first, last, ahead) + slopes.x * rise + slopes.y * fall;
}

// Between cells the map is a surface with the heights and the slopes that it has in their middles (Ferguson 1964), and
// as elevation_at has it where those four dam a channel or notch a crest.
float smooth_height(sampler2D surface, vec2 cell) {
    ivec2 low = ivec2(cell), high = min(low + 1, ivec2(frame.map.xy) - 1);
    vec2 t = cell - vec2(low), t2 = t * t, t3 = t2 * t;
    vec2 ahead = 3.0 * t2 - 2.0 * t3, rise = (t3 - 2.0 * t2 + t) * frame.map.z, fall = (t3 - t2) * frame.map.z;
    vec3 nw = texelFetch(surface, low, 0).xyz, ne = texelFetch(surface, ivec2(high.x, low.y), 0).xyz;
    vec3 sw = texelFetch(surface, ivec2(low.x, high.y), 0).xyz, se = texelFetch(surface, high, 0).xyz;
    float north = between(nw.x, ne.x, nw.y, ne.y, ahead.x, rise.x, fall.x);
    float south = between(sw.x, se.x, sw.y, se.y, ahead.x, rise.x, fall.x);
    float height = between(north, south, mix(nw.z, ne.z, ahead.x), mix(sw.z, se.z, ahead.x), ahead.y, rise.y, fall.y);
    if (any(equal(low, high))) return height;
    float over = over_mean(surface, (vec2(low) + 1.0) / frame.map.xy, vec4(sw.x, se.x, ne.x, nw.x));
    // The slopes have lifted the middle a part of the way, or farther.
    float lifted = 0.0625 * frame.map.z * (nw.y + sw.y - ne.y - se.y + nw.z + ne.z - sw.z - se.z);
    float missing = over > 0.0 ? clamp(over - lifted, 0.0, over) : clamp(over - lifted, over, 0.0);
    return height + missing * part_of_middle(t, over * (nw.x + se.x - ne.x - sw.x) > 0.0);
}

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
