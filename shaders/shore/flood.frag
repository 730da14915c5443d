// One pass of jump flooding (Rong and Tan 2006): of the seeds that cells at a distance know, each cell takes the nearest.
#include "coastline.glsl"

uniform sampler2D seeds;
uniform int reach;  // cells

out vec2 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = textureSize(seeds, 0) - 1;
    vec2 best = NO_SEED;
    float best_square = 1e18;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 other = cell + reach * ivec2(east, south);
            if (any(lessThan(other, ivec2(0))) || any(greaterThan(other, last))) continue;
            vec2 seed = texelFetch(seeds, other, 0).xy;
            vec2 away = seed - gl_FragCoord.xy;
            float square = dot(away, away);
            if (seed != NO_SEED && square < best_square) {
                best = seed;
                best_square = square;
            }
        }
    }
    result = best;
}
