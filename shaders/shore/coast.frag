// From the nearest seed of each cell to the nearest point of the coast: distance, negative on land, and the way inland.
#include "coastline.glsl"

uniform sampler2D seeds;
uniform sampler2D segments;
uniform sampler2D other_segments;
uniform float no_coast;  // the distance where there is none

out vec4 result;  // distance in cells; the unit vector inland (east, south); how much room waves have to grow

// Whether this cell or one beside it is water without waves. Between those with and without, values are interpolated.
bool beside_puddle(ivec2 cell) {
    ivec2 last = textureSize(seeds, 0) - 1;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 beside = clamp(cell + ivec2(east, south), ivec2(0), last);
            if (texelFetch(bodies, beside, 0).x > 0.5 && !has_waves(beside)) return true;
        }
    }
    return false;
}

void main() {
    vec2 place = gl_FragCoord.xy;
    bool wet = texelFetch(bodies, ivec2(place), 0).x > 0.5;
    float side = wet ? 1.0 : -1.0;
    float waves = beside_puddle(ivec2(place)) ? 0.0 : room_for_waves(ivec2(place));
    vec2 seed = texelFetch(seeds, ivec2(place), 0).xy;
    if (seed == NO_SEED) {
        result = vec4(side * no_coast, 0.0, 0.0, waves);
        return;
    }
    // Seeds are points of the coast's segments: the segments around may come nearer.
    vec2 best = seed, course = vec2(0.0);
    float best_length = 1e9;
    ivec2 middle = ivec2(floor(seed - 0.5)), last = textureSize(seeds, 0) - 1;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 square = clamp(middle + ivec2(east, south), ivec2(0), last);
            take_nearer(best, best_length, course, place, square, texelFetch(segments, square, 0));
            take_nearer(best, best_length, course, place, square, texelFetch(other_segments, square, 0));
        }
    }
    vec2 inland = best_length > 1e-4 ? side * (best - place) / best_length : vec2(0.0);
    if (inland == vec2(0.0)) {  // the middle of the cell lies on the coast: across it, to where there is less water
        vec2 across = normalize(vec2(-course.y, course.x) + vec2(1e-9, 0.0)), size = vec2(textureSize(bodies, 0));
        float ahead = textureLod(bodies, (place + across) / size, 0.0).x;
        float behind = textureLod(bodies, (place - across) / size, 0.0).x;
        inland = ahead <= behind ? across : -across;
    }
    // Also the least water is water
    result = vec4(side * max(best_length, 1e-6), normalize(inland), waves);
}
