// Seeds of the flooding: next to the coast, its point that is nearest to the middle of the cell.
#include "coastline.glsl"

uniform sampler2D segments;
uniform sampler2D other_segments;

out vec2 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec2 best = NO_SEED, course;
    float best_length = 1e9;
    for (int south = -1; south <= 0; ++south) {
        for (int east = -1; east <= 0; ++east) {
            ivec2 square = cell + ivec2(east, south);
            if (any(lessThan(square, ivec2(0)))) continue;
            take_nearer(best, best_length, course, gl_FragCoord.xy, square, texelFetch(segments, square, 0));
            take_nearer(best, best_length, course, gl_FragCoord.xy, square, texelFetch(other_segments, square, 0));
        }
    }
    result = best;
}
