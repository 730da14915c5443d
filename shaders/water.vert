// Standing water: the sea is one plane to the horizon, a lake one rectangle, or one for each tile of the map that it lies in.
#include "clip.glsl"
#include "map.glsl"

#ifndef SEA
#define SEA 1
#endif

#ifndef PART
#define PART 0  // of the sea: 0 all of it, 1 on the map, 2 around it, to the horizon
#endif

#ifndef FINE_WATER
#define FINE_WATER 1
#endif

#ifndef RUNNING
#define RUNNING 0  // 1: water that runs, whose level is another in each cell
#endif

#if SEA == 1
invariant gl_Position;  // parts of the sea share an edge

// A corner of the map, in turn around it.
vec2 corner_of_map(int number) {
    vec2 inner = vec2(0.5 * frame.map.z), outer = map_extent() - inner;
    return vec2(number == 1 || number == 2 ? outer.x : inner.x, number > 1 ? outer.y : inner.y);
}

void main() {
#if PART == 0
    // Four triangles from the point under the camera to points at infinity.
    int corner = gl_VertexID % 3, side = gl_VertexID / 3 + corner - 1;
    vec4 place = vec4(frame.camera.x, frame.water.w * frame.map.w, frame.camera.z, 1.0);
    if (corner > 0) place = vec4(side % 2 == 0 ? side % 4 - 1 : 0, 0.0, side % 2 == 1 ? side % 4 - 2 : 0, 0.0);
#else
#if PART == 2
    // On each side of the map two triangles, with the points at infinity that lie out from its corners.
    int side = gl_VertexID / 6, vertex = gl_VertexID % 6;
    int number = (vertex == 1 || vertex == 2 || vertex == 4 ? side + 1 : side) % 4;
    bool infinite = vertex == 2 || vertex > 3;
#else
    int number = gl_VertexID < 3 ? gl_VertexID : gl_VertexID == 3 ? 0 : gl_VertexID - 2;
    const bool infinite = false;
#endif
    vec2 at = infinite ? sign(corner_of_map(number) - 0.5 * map_extent()) : corner_of_map(number);
    vec4 place = vec4(at.x, infinite ? 0.0 : frame.water.w * frame.map.w, at.y, infinite ? 0.0 : 1.0);
#endif
    gl_Position = clip_position(place);
}
#else
in vec4 rectangle;  // first column and row, how many more it extends over
#if RUNNING == 0
in float level_of_lake;  // metres
#endif

out vec2 map_place;

#if RUNNING == 1
#include "running.glsl"
#include "froude.glsl"

out float level;
out vec2 fall;
out vec2 broad_fall;
#if FINE_WATER == 1
out float comes_with;  // m/s of the water that comes there

uniform sampler2D froude;
#endif

const int BROAD = 5;  // cells: the way of a flood is not that of each of its waves
#if FINE_WATER == 1
const float COMES_FROM = 2.0;  // cells upstream
#endif

void main() {
    // Two triangles for each square between four cells.
    int square = gl_VertexID / 6, corner = gl_VertexID % 6, side = int(rectangle.z);
    ivec2 step = ivec2(corner == 1 || corner == 2 || corner == 4, corner == 2 || corner == 4 || corner == 5);
    ivec2 first = ivec2(rectangle.xy) + ivec2(square % side, square / side);
    ivec2 cell = on_map(first + step);
    map_place = (vec2(cell) + 0.5) * frame.map.z;
    level = running_level(cell);
    fall = running_fall(cell, 1);
    broad_fall = running_fall(cell, BROAD);
#if FINE_WATER == 1
    ivec2 upstream = on_map(cell + ivec2(round(COMES_FROM * broad_fall / max(length(broad_fall), 1e-6))));
    comes_with = speed_of(texelFetch(froude, upstream, 0).x, texelFetch(water, upstream, 0).x);
#endif
    gl_Position = clip_position(vec4(map_place.x, level * frame.map.w, map_place.y, 1.0));
    // Between four dry cells there is no water, though the ground that is drawn there may lie below all of them.
    if (!is_wet_square(first)) gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
}
#else
flat out float level;

void main() {
    vec2 cell = rectangle.xy + rectangle.zw * vec2(gl_VertexID % 2, gl_VertexID / 2);
    map_place = (cell + 0.5) * frame.map.z;
    level = level_of_lake;
    gl_Position = clip_position(vec4(map_place.x, level * frame.map.w, map_place.y, 1.0));
}
#endif
#endif
