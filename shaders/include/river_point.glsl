// What the passes that find the courses of streams share: where a cell lies, and its ways as one number.
#include "map.glsl"

bool is_on_map(ivec2 cell) {
    return all(greaterThanEqual(cell, ivec2(0))) && all(lessThan(cell, ivec2(frame.map.xy)));
}

bool is_at_edge(ivec2 cell) {
    return any(equal(cell, ivec2(0))) || any(equal(cell, ivec2(frame.map.xy) - 1));
}

// Where a stream goes to and comes from, as one number: the surveyed way, which is less than 0 where it parts, and
// 1 + the number of the neighbour that brings most of its water, or 0.
const int WAYS = 16;

float ways_coded(int way, int from) {
    return float(from * 2 * WAYS + way + WAYS);
}

int way_of(float code) {
    return int(code) % (2 * WAYS) - WAYS;
}

int from_of(float code) {
    return int(code) / (2 * WAYS);
}
