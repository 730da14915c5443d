// The courses of streams for each cell, as include/river.glsl reads them: from half way to the cells that bring water,
// by the cell's own point, to half way to the cell that it goes to. Threads among many are no lines.
#include "braids.glsl"
#include "river_point.glsl"

uniform sampler2D points;  // of river_points.frag
uniform sampler2D surveyed_flow;  // cubic metres a second
uniform sampler2D surveyed_way;   // 1 + the number of the neighbour, less than 0 where it parts

out vec4 result;

#ifndef BENDS
#define BENDS 1  // 0: where nobody asks how streams bend
#endif

const float FIRST_WIDTH = 0.25;  // of a thread where it parts from another, beside its own
const int RISES = 4;  // cells below a spring over which a stream widens to its discharge
#if BENDS == 1
// How a stream bends is told between cells so far up and down of it, as a mean over some of its cells. The sine of the
// angle there, from which on it bends as sharply as can be told.
const int LOOKS = 4, EVENED = 2, REACH = LOOKS + EVENED;
const float SHARPEST = 0.6;
#endif
const int BEFORE = 2;         // cells from the end of a stream to where it goes on below a pool
const float AS_WIDE = 0.6;

// The point half way between that of this cell and that of a neighbour.
vec2 half_way(vec2 own, int number, vec4 other) {
    return 0.5 * (own + towards_neighbour(number) + other.xy);
}

// The cell that brings most of a stream's water; where none does, the same cell.
ivec2 upstream(ivec2 cell) {
    int from = from_of(texelFetch(points, cell, 0).w);
    ivec2 there = from > 0 ? cell + ivec2(towards_neighbour(from - 1)) : cell;
    return texelFetch(points, there, 0).z > 0.0 ? there : cell;
}

ivec2 downstream(ivec2 cell) {
    vec4 own = texelFetch(points, cell, 0);
    int towards = own.z > 0.0 ? next_of(way_of(own.w)) : 0;
    ivec2 next = towards > 0 ? cell + ivec2(towards_neighbour(towards - 1)) : cell;
    return is_on_map(next) ? next : cell;
}

// From the first cell of a stream to where another ends that brings its water, as through a pool: one that is about as
// wide, and that it does not run to itself. 0 where there is none, which is a spring.
ivec2 to_end_before(ivec2 first) {
    ivec2 own[BEFORE + 2], found = ivec2(0);
    own[0] = first;
    for (int step = 1; step < BEFORE + 2; ++step) own[step] = downstream(own[step - 1]);
    float least = AS_WIDE * texelFetch(points, first, 0).z, nearest = 1e3;
    for (int k = 0; k < (2 * BEFORE + 1) * (2 * BEFORE + 1); ++k) {
        ivec2 away = ivec2(k % (2 * BEFORE + 1), k / (2 * BEFORE + 1)) - BEFORE, there = first + away;
        bool is_own = false;
        for (int step = 0; step < BEFORE + 2; ++step) is_own = is_own || there == own[step];
        if (is_own || !is_on_map(there) || texelFetch(points, there, 0).z < least || length(vec2(away)) >= nearest) continue;
        nearest = length(vec2(away));
        found = away;
    }
    return found;
}

// The part of its width that a stream has some cells below its spring.
float risen(int cells) {
    return sqrt(min((float(cells) + 1.0) / float(RISES), 1.0));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy), last = ivec2(frame.map.xy) - 1;
    vec4 own = texelFetch(points, at, 0);
    result = vec4(0.0);
    if (own.z <= 0.0) return;
    int way = way_of(own.w), towards = next_of(way) - 1;
    vec2 end = own.xy;
    if (towards >= 0) {
        vec4 next = texelFetch(points, clamp(at + ivec2(towards_neighbour(towards)), ivec2(0), last), 0);
        end = half_way(own.xy, towards, next);
        if (next.z <= 0.0) end = towards_neighbour(towards);  // into the water where it ends, and not to its rim
    }
    // The three widest that come in.
    vec3 widths = vec3(0.0);
    vec2 begins[3] = vec2[3](end, end, end);
    for (int number = 0; number < 8; ++number) {
        ivec2 there = at + ivec2(towards_neighbour(number));
        if (!is_on_map(there)) continue;
        vec4 other = texelFetch(points, there, 0);
        if (other.z <= 0.0 || next_of(way_of(other.w)) != opposite(number) + 1) continue;
        vec2 begin = half_way(own.xy, number, other);
        if (other.z > widths.x) {
            widths = vec3(other.z, widths.xy);
            begins = vec2[3](begin, begins[0], begins[1]);
        } else if (other.z > widths.y) {
            widths = vec3(widths.x, other.z, widths.y);
            begins = vec2[3](begins[0], begin, begins[1]);
        } else if (other.z > widths.z) {
            widths.z = other.z;
            begins[2] = begin;
        }
    }
    ivec2 first = at;
    int below = 0;  // cells below its spring, or more
    while (below < RISES) {
        ivec2 higher = upstream(first);
        if (higher == first) break;
        first = higher;
        ++below;
    }
    float bend = 0.0;
#if BENDS == 1
    ivec2 course[2 * REACH + 1];
    course[REACH] = at;
    for (int step = 1; step <= REACH; ++step) {
        course[REACH - step] = upstream(course[REACH - step + 1]);
        course[REACH + step] = downstream(course[REACH + step - 1]);
    }
    for (int middle = LOOKS; middle <= LOOKS + 2 * EVENED; ++middle) {
        vec2 came = vec2(course[middle] - course[middle - LOOKS]), goes = vec2(course[middle + LOOKS] - course[middle]);
        bend += (came.x * goes.y - came.y * goes.x) / max(length(came) * length(goes), 1.0);
    }
    bend /= SHARPEST * float(2 * EVENED + 1);
#endif
    // A thread parts from another, a river may come in over the edge, or go on below a pool: those have no springs.
    ivec2 before = ivec2(0);
    if (way >= 0 && below < RISES) before = to_end_before(first);
    bool springs = way >= 0 && !is_at_edge(first) && before == ivec2(0);
    float rises = springs ? risen(below) : 1.0;
    vec3 parts = min(widths / own.z, 1.0);
    if (springs) parts.x = min(parts.x * risen(below - 1) / rises, 1.0);
    if (widths.x == 0.0) {
        int parent = from_of(own.w);
        begins[0] = before == ivec2(0) ? own.xy : clamp(vec2(before), -1.0, 1.0);
        if (parent > 0) begins[0] = towards_neighbour(parent - 1) + texelFetch(points, at + ivec2(towards_neighbour(parent - 1)), 0).xy;
    }
    // Where one comes in, or none, the place of the second's width says how wide the only one is where it begins.
    if (widths.y == 0.0) parts.y = widths.x > 0.0 ? parts.x : before == ivec2(0) ? FIRST_WIDTH : 1.0;
    float alone = way < 0 ? 1.0 - belt_at(surveyed_flow, surveyed_way, at).part : 1.0;
    float code = alone > 0.0 ? with_bend(own.z * alone * rises, bend) : 0.0;
    vec2 point = own.xy;
    result = vec4(code, coded(0.5 * point, end - point), coded(begins[0] - point, begins[1] - point), coded(begins[2] - point, parts.yz * 2.0 - 1.0));
}
