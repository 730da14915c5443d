// Rivers that part. Where threads run side by side in all cells, these are too coarse to tell one from the other: the
// water of a cell is spread over threads that part and join around bars, as wide as their share makes them.
#include "layer.glsl"
#include "neighbours.glsl"
#include "river.glsl"
#include "waves_across.glsl"

// Of the discharge of the smallest stream that is seen: what less than that runs in a thread seeps through its gravel.
const float SEEPING = 0.25;
const vec2 BELT = vec2(0.60, 0.95);  // of the cells around one that have threads
const float WIDEST_SHARE = 0.6;
// Some threads of a belt gather most of the water: how far they are from each other, in cells, and what they have.
const int THREADS = 2;
const float APART[THREADS] = float[THREADS](4.2, 1.5);
const float GATHERED[THREADS] = float[THREADS](0.65, 0.35);
const float CALM = 0.35;  // sums of waves that are lower say how far a line is by their height

struct Belt {
    float part;   // from 0 for a thread by itself to 1 among many
    float share;  // of the ground that would be water if each cell had a thread of its own
    vec2 along;
};

Belt belt_at(sampler2D surveyed_flow, sampler2D surveyed_way, ivec2 cell) {
    float smallest = SEEPING * exp2(frame.streams.x);
    Belt belt = Belt(0.0, 0.0, vec2(0.0));
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 at = cell + ivec2(east, south);
            int way = int(floor(layer(surveyed_way, at) + 0.5));
            float passes = layer(surveyed_flow, at), weight = 0.25 / float((1 + abs(south)) * (1 + abs(east)));
            if (way >= 0 || passes <= smallest) continue;
            belt.part += weight;
            belt.share += weight * 2.0 * frame.streams.y * sqrt(passes);
            if (next_of(way) > 0) belt.along += weight * passes * normalize(towards_neighbour(next_of(way) - 1));
        }
    }
    belt.part = smoothstep(BELT.x, BELT.y, belt.part);
    belt.share = min(belt.share * belt.part, WIDEST_SHARE);
    belt.along /= max(length(belt.along), 1e-9);
    return belt;
}

// The nearest of the threads of a belt that are as far from each other as those of a number. They lie where the sum of
// waves has no height: lines without ends. Those of one number cross those of the other, and so threads part and join.
River thread_at(vec2 place, vec2 along, float share, int number) {
    vec2 across = vec2(-along.y, along.x);
    float wave_length = 2.0 * APART[number];
    vec3 waves = summed_waves(place / (wave_length * WAVES_IN_SQUARE) + 7.3 * float(number), across);
    float phase = asin(clamp(waves.y / max(length(waves.xy), CALM), -1.0, 1.0));
    float aside = phase / TAU * wave_length;
    float half_width = 0.5 * share * sqrt(GATHERED[number] * APART[number]) * (0.45 + 0.75 * waves.z);
    return River(abs(aside), half_width, along, place - aside * across);
}
