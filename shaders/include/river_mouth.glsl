// Where rivers end in standing water. Their water can be told from it over PLUME_REACH cells.
#include "layer.glsl"
#include "neighbours.glsl"
#include "standing_depth.glsl"

#ifndef PLUME_REACH
#define PLUME_REACH 1  // set by app/picture/passes/flow_map.py
#endif

uniform sampler2D surface;
uniform sampler2D water;         // depth in metres
uniform sampler2D surveyed_way;  // 1 + the number of the neighbour, less than 0 where it parts

// The way to where a river goes on from a cell; 0 where it ends, or parts.
ivec2 way_on(ivec2 cell) {
    int towards = int(floor(layer(surveyed_way, cell) + 0.5));
    return towards > 0 ? ivec2(towards_neighbour(towards - 1)) : ivec2(0);
}

const float SAME_LEVEL = 0.01;  // metres

// The level of what stands there.
float level_beyond(ivec2 cell) {
    ivec2 next = clamp(cell + way_on(cell), ivec2(0), ivec2(frame.map.xy) - 1);
    return texelFetch(surface, next, 0).x + standing_depth(water, surface, next);
}

// Whether it is the last dry cell of a river that is seen.
bool is_mouth(sampler2D rivers, ivec2 cell) {
    ivec2 way = way_on(cell), last = ivec2(frame.map.xy) - 1;
    if (way == ivec2(0) || cell != clamp(cell, ivec2(0), last) || texelFetch(rivers, cell, 0).x <= 0.0) return false;
    return standing_depth(water, surface, cell) <= 0.0
        && standing_depth(water, surface, clamp(cell + way, ivec2(0), last)) > 0.0;
}
