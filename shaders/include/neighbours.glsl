// The neighbours of a cell by their numbers, as in kernels/neighbours.py.
#include "map.glsl"

vec2 towards_neighbour(int number) {
    const vec2 STEPS[9] = vec2[9](
        vec2(0.0, -1.0), vec2(-1.0, 0.0), vec2(1.0, 0.0), vec2(0.0, 1.0),
        vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(-1.0, 1.0), vec2(1.0, 1.0), vec2(0.0)
    );
    return STEPS[number];
}

// 1 + the number of the neighbour that most water goes to, by a surveyed way, which is less than 0 where it parts; 0
// where it ends.
int next_of(int way) {
    return abs(way) > 8 ? 0 : abs(way);
}

int opposite(int number) {
    return number < 4 ? 3 - number : 11 - number;
}
