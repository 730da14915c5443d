// For each cell of a stream the point that it runs through, from the middle of the cell, half its width in cells, and
// where it comes from and goes to; a width of 0 where there is none.
#include "braids.glsl"
#include "river_point.glsl"
#include "river_depth.glsl"
#include "standing_depth.glsl"

uniform sampler2D surveyed_flow;  // cubic metres a second
uniform sampler2D surveyed_way;   // 1 + the number of the neighbour, 0 where it ends, less where it parts
uniform sampler2D surface;
uniform sampler2D water;          // depth in metres
uniform float found_beside;       // cells beside those that are looked at, in which a place finds their streams
uniform vec2 bars;                // half widths to which bars of wide rivers reach; cells where there are none
// How wide rivers are drawn straighter than they run, see app/picture/passes/flow_map.py.
uniform vec2 wide_from;
uniform int evened_over;
uniform int straightened_over;
uniform float hardly_higher;
uniform vec2 farthest;

out vec4 result;

const int SEEPS_AWAY = 16;  // cells before the end of a stream on dry land over which its water goes into the ground
const float WHOLE = 3.0;
const int TAPERS = 14;
// Cells from the middle: in the bed that carried the water, and not beside it. Wider rivers are their own bed.
const float FARTHEST = 0.25;
const float LOSES = 0.6;  // of a thread's water, the least that a river loses from which it parts
const float FARTHEST_BEGIN = 0.9;  // cells from its first point to where a thread begins: see river_code.glsl

bool is_wet(ivec2 cell) {
    return standing_depth(water, surface, cell) > 0.0;
}

int way_at(ivec2 cell) {
    return int(floor(layer(surveyed_way, cell) + 0.5));
}

// How much of its water a stream still has in a cell, from where it goes on by so many of them to an end on dry land.
float not_seeped_away(ivec2 cell, int towards) {
    for (int steps = 0; steps < SEEPS_AWAY; ++steps) {
        if (is_wet(cell)) return 1.0;
        if (towards == 0) return is_at_edge(cell) ? 1.0 : (float(steps) + 0.5) / float(SEEPS_AWAY);
        cell += ivec2(towards_neighbour(towards - 1));
        if (!is_on_map(cell)) return 1.0;
        towards = next_of(way_at(cell));
    }
    return 1.0;
}

// 1 + the number of the neighbour that brings most of the water of a stream, if that is more than the `smallest`; or 0.
int brings_most(ivec2 cell, float smallest) {
    int from = 0;
    float most = smallest;
    for (int number = 1; number <= 8; ++number) {
        ivec2 there = cell + ivec2(towards_neighbour(number - 1));
        float brings = layer(surveyed_flow, there);
        if (is_on_map(there) && next_of(way_at(there)) == opposite(number - 1) + 1 && brings > most) {
            from = number;
            most = brings;
        }
    }
    return from;
}

// The mean of the middles of cells up and down a stream, from that of its cell; the farther ones count less. Beside it in
// the last two numbers that over a longer way, as far as it has one.
vec4 evened(ivec2 cell, float smallest) {
    vec4 sum = vec4(0.0);
    ivec2 up = cell, down = cell;
    for (int step = 1; step <= straightened_over; ++step) {
        int from = brings_most(up, smallest), towards = next_of(way_at(down));
        // Near its ends.
        if (from == 0 || towards == 0) return step > evened_over ? sum.xyxy / float((evened_over + 1) * (evened_over + 1)) : vec4(0.0);
        up += ivec2(towards_neighbour(from - 1));
        down = clamp(down + ivec2(towards_neighbour(towards - 1)), ivec2(0), ivec2(frame.map.xy) - 1);
        vec2 away = vec2(up + down - 2 * cell);
        sum.xy += float(max(evened_over + 1 - step, 0)) * away;
        sum.zw += float(straightened_over + 1 - step) * away;
    }
    return sum / vec2((evened_over + 1) * (evened_over + 1), (straightened_over + 1) * (straightened_over + 1)).xxyy;
}

vec2 no_longer_than(vec2 way, float most) {
    return way * min(1.0, most / max(length(way), 1e-6));
}

// Where a stream gathers it is as narrow as its first water; with WHOLE times as much it has the width of its discharge. What
// is left of one that had as much narrows over so many cells.
float gathered(ivec2 cell, int way, float flow, float smallest) {
    float whole = smoothstep(1.0, WHOLE, flow / smallest);
    for (int steps = 0; steps < TAPERS && flow > smallest && whole < 1.0; ++steps) {
        if (way < 0 || layer(surveyed_flow, cell) >= WHOLE * smallest) return mix(1.0, whole, float(steps) / float(TAPERS));
        int from = brings_most(cell, smallest);
        if (from == 0) break;
        cell += ivec2(towards_neighbour(from - 1));
        way = way_at(cell);
    }
    return whole;
}

// The point that a stream runs through in a cell, and half its width, where it comes `from` a neighbour: see `brings_most`.
vec3 point_at(ivec2 at, int way, float smallest, int from) {
    float flow = layer(surveyed_flow, at);
    int towards = next_of(way);
    if (flow > smallest) flow *= not_seeped_away(at, towards);
    // By the law of kernels/hydraulic_geometry.py.
    float half_width = frame.streams.y * sqrt(max(flow, 0.0)) * gathered(at, way, flow, smallest);
    // In steps from cell to cell there are eight directions. Between the two that lead on, others come out straight.
    vec2 point = vec2(0.0);
    if (from > 0 && towards > 0) point = 0.25 * (towards_neighbour(from - 1) + towards_neighbour(towards - 1));
    point = no_longer_than(point, FARTHEST);
    float wide = way > 0 ? smoothstep(wide_from.x, wide_from.y, half_width) : 0.0;
    if (wide > 0.0) {
        vec4 other = evened(at, smallest);
        vec2 near = no_longer_than(other.xy, farthest.x);
        float found = float(river_reach) + found_beside - max(half_width, bars.x * half_width - bars.y);
        vec2 straighter = no_longer_than(other.zw, clamp(found, farthest.x, farthest.y));
        vec2 uv = (vec2(at) + 0.5) / frame.map.xy;
        float rise = abs(textureLod(surface, uv + straighter / frame.map.xy, 0.0).x - texelFetch(surface, at, 0).x);
        float low = hardly_higher * depth_at_width(2.0 * half_width * frame.map.z);
        point = mix(point, mix(near, straighter, min(low / max(rise, 1e-6), 1.0)), wide);
    }
    return vec3(point, half_width);
}

// 1 + the number of the neighbour from which a thread parts that goes `towards` another, or 0. There a river loses as much
// water as the thread has; among many threads it is a higher cell from which most water comes.
int parts_from(ivec2 cell, int towards, float smallest) {
    int from = 0, loses_most = 0;
    float height = texelFetch(surface, cell, 0).x, most = 0.0, lost = LOSES * layer(surveyed_flow, cell);
    for (int number = 1; number <= 8; ++number) {
        vec2 step_to = towards_neighbour(number - 1);
        ivec2 there = cell + ivec2(step_to);
        float flow = layer(surveyed_flow, there), brings = flow * (texelFetch(surface, there, 0).x - height) / length(step_to);
        if (number == towards || !is_on_map(there) || flow <= smallest) continue;
        if (brings > most) {
            most = brings;
            from = number;
        }
        int on = next_of(way_at(there));
        float loses = flow - (on > 0 ? layer(surveyed_flow, there + ivec2(towards_neighbour(on - 1))) : flow);
        if (loses > lost) {
            lost = loses;
            loses_most = number;
        }
    }
    return loses_most > 0 ? loses_most : from;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float smallest = exp2(frame.streams.x);
    int way = way_at(at);
    float least = way < 0 ? SEEPING * smallest : smallest;
    int from = brings_most(at, least);
    vec3 point = point_at(at, way, least, from);
    if (way < 0 && from == 0 && point.z > 0.0) {
        from = parts_from(at, next_of(way), least);
        if (from > 0) {
            // A river that is drawn straighter runs beside its cells: what parts from it begins at it.
            ivec2 there = at + ivec2(towards_neighbour(from - 1));
            vec2 to_river = towards_neighbour(from - 1) + point_at(there, way_at(there), smallest, brings_most(there, smallest)).xy - point.xy;
            point.xy += to_river * max(1.0 - FARTHEST_BEGIN / max(length(to_river), 1e-6), 0.0);
        }
    }
    result = vec4(in_16ths(point.xy), point.z, ways_coded(way, from));
}
