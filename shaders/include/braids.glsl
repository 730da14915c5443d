// Rivers that part. Where threads run side by side in all cells, these are too coarse to tell one from the other: the
// water of a cell is spread over threads that part and join around bars, as wide as their share makes them.
#include "layer.glsl"
#include "neighbours.glsl"
#include "river.glsl"
#include "waves_across.glsl"

// Of the discharge of the smallest stream that is seen: what less than that runs in a thread seeps through its gravel.
const float SEEPING = 0.25;
const vec2 BELT = vec2(0.52, 0.72);  // of the cells around one that have threads
const float WIDEST_SHARE = 0.6;
const vec2 BELT_SHARE = vec2(0.03, 0.16);
const float THREADS_BROAD = 2.6;  // beside a river in one bed with the same water: threads are shallow
// Channels of a belt are of three sizes: how far they are from each other, in cells, and how much of the water they have.
const int CHANNELS = 3;
const float APART[CHANNELS] = float[CHANNELS](4.6, 1.7, 0.65);
const float GATHERED[CHANNELS] = float[CHANNELS](0.60, 0.28, 0.12);
const float WAVES_OF_CHANNELS = 2.0;  // of the lattice: channels go on some times as far as they are apart
const vec2 CHANNELS_UNLIKE = vec2(0.6, 0.7);  // in how far they are apart, and in their way
const float CALM = 0.35;  // sums of waves that are lower say how far a line is by their height
// How unlike channels are in their water, where they go on and where they lie side by side. Some have none: old ones.
const float FILLED = 2.4, FILLED_BESIDE = 2.6;
const float LEAST_FILLED[CHANNELS] = float[CHANNELS](0.7, -2.0, -2.0);
// How much channels wind, and over how many cells.
const float WINDS = 2.6, WINDING = 21.0;

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
            belt.share += weight * 2.0 * THREADS_BROAD * frame.streams.y * sqrt(passes);
            if (next_of(way) > 0) belt.along += weight * passes * normalize(towards_neighbour(next_of(way) - 1));
        }
    }
    belt.part = smoothstep(BELT.x, BELT.y, belt.part);
    // Where few threads run there is no belt.
    belt.share = min(belt.share * belt.part * smoothstep(BELT_SHARE.x, BELT_SHARE.y, belt.share), WIDEST_SHARE);
    belt.along /= max(length(belt.along), 1e-9);
    return belt;
}

// A channel of a belt beside a place.
struct Channel {
    float aside;       // of its middle, in cells
    float half_width;  // of its water, in cells; 0 or less in an old one
    float filled;      // beside the mean of all; 0 or less in an old one
};

// Where a place would lie if channels ran straight.
vec2 unwound(vec2 cells, sampler2D noise) {
    return cells + WINDS * (textureLod(noise, cells / WINDING, 3.0).yz - 0.5);
}

// The nearest of the channels of a belt that are as far from each other as those of a number. They lie where the sum of
// waves has no height: lines without ends. Those of one number cross those of the other, and so threads part and join.
Channel channel_at(vec2 place, vec2 along, float share, int number) {
    vec2 across = vec2(-along.y, along.x);
    float wave_length = 2.0 * APART[number];
    vec2 at = place / (wave_length * WAVES_OF_CHANNELS) + 7.3 * float(number);
    vec4 waves = summed_waves(at, across, WAVES_OF_CHANNELS, CHANNELS_UNLIKE);
    float clear = length(waves.xy);
    waves.xy /= max(clear, CALM);
    float filled = 1.0 + FILLED * (waves.z - 0.5) + FILLED_BESIDE * (waves.w - 0.5) * waves.x;
    filled = max(filled, LEAST_FILLED[number]) * smoothstep(0.2 * CALM, 1.8 * CALM, clear);
    float aside = asin(clamp(waves.y, -1.0, 1.0)) / TAU * wave_length;
    // What runs in some cells side by side, gathered in one channel, is as wide as the root of their number.
    return Channel(aside, share * sqrt(GATHERED[number] * APART[number]) * filled / (1.0 + abs(filled)), filled);
}

// The part of a pixel, so many cells wide, that water covers whose middle is so far away. What is narrower fades.
float covered_across(float away, float half_width, float pixel) {
    return clamp((min(half_width, away + 0.5 * pixel) - max(-half_width, away - 0.5 * pixel)) / pixel, 0.0, 1.0);
}
