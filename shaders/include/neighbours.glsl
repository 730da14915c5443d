// The neighbours of a cell by their numbers, as in kernels/neighbours.py.
#include "map.glsl"

vec2 towards_neighbour(int number) {
    const vec2 STEPS[9] = vec2[9](
        vec2(0.0, -1.0), vec2(-1.0, 0.0), vec2(1.0, 0.0), vec2(0.0, 1.0),
        vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(-1.0, 1.0), vec2(1.0, 1.0), vec2(0.0)
    );
    return STEPS[number];
}

int opposite(int number) {
    return number < 4 ? 3 - number : 11 - number;
}
