// Rivers that part. Where threads run side by side in all cells, these are too coarse to tell one from the other: the
// water of a cell is spread over threads that part and join around bars, as wide as their share makes them.
#include "layer.glsl"
#include "neighbours.glsl"
#include "river.glsl"
#include "waves_across.glsl"

// Of the discharge of the smallest stream that is seen: what less than that runs in a thread seeps through its gravel.
const float SEEPING = 0.25;
const vec2 BELT = vec2(0.52, 0.72);  // of the cells around one that have threads
const float WIDEST_SHARE = 0.42;
const vec2 BELT_SHARE = vec2(0.03, 0.16);
const float THREADS_BROAD = 3.0;  // beside a river in one bed with the same water: threads are shallow
// Channels of a belt are of three sizes: how far they are from each other, in cells, and how much of the water they have.
const int CHANNELS = 3;
const float APART[CHANNELS] = float[CHANNELS](4.6, 1.7, 0.65);
const float GATHERED[CHANNELS] = float[CHANNELS](0.38, 0.44, 0.18);
const float WAVES_OF_CHANNELS = 2.4;  // of the lattice: channels go on some times as far as they are apart
// In how far they are apart, and in their way: the less, the fewer of them end.
const vec2 CHANNELS_UNLIKE[CHANNELS] = vec2[CHANNELS](vec2(0.19, 0.33), vec2(0.28, 0.48), vec2(0.35, 0.6));
const float DIRECTIONS = 16.0;  // in which waves of all squares agree
// How unlike channels are in their water, and how little those of each size have. They narrow to a trickle and widen again;
// only the smallest run dry: old ones.
const float FILLED = 3.0;
const float FILLED_MEAN[CHANNELS] = float[CHANNELS](1.0, 1.0, 0.3);  // most of the smallest are old, or they would comb all bars
const float LEAST_FILLED[CHANNELS] = float[CHANNELS](0.45, 0.10, -1.2);
const float SWELLS[CHANNELS] = float[CHANNELS](1.3, 2.2, 2.6);  // at most so much water, beside the mean
const vec2 TURNS_BACK = vec2(0.25, 0.92);  // cosines of the angle to the way, over which one that turns back into the next ends
const float WIDENED = 1.2;  // as their edges are thin
const vec2 DISAGREE = vec2(0.10, 0.50);  // heights of waves beside those that all agree, over which a channel thins out
const float JOIN = 0.30;  // of the distance of the next smaller channels, over which banks are rounded where threads meet
// How much channels wind, and over how many cells.
const float WINDS = 4.2, WINDING = 21.0;

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
    return cells + WINDS * (textureLod(noise, cells / WINDING, 4.0).yz - 0.5);
}

// How far a place is from where a value is 0, by the value, its slope and how sharply it bends at most: also between two
// lines of no height, and where they come together.
float away_from_none(float value, float slope, float bends) {
    float high = abs(value);
    return sign(value) * 2.0 * high / max(slope + sqrt(slope * slope + 2.0 * bends * high), 1e-6);
}

// The nearest of the channels of a belt that are as far from each other as those of a number. They lie where a sum of waves
// across the way has no height, each square of a lattice having a wave of its own. Where the way bends little these agree:
// then they are lines without ends, which come together and go apart. Those of one number cross those of the other, and so threads part and join.
Channel channel_at(vec2 place, vec2 along, float share, int number) {
    vec2 across = vec2(-along.y, along.x);
    float square = 2.0 * APART[number] * WAVES_OF_CHANNELS;
    vec2 at = place / square + 7.3 * float(number), corner = floor(at), rises = vec2(0.0), sum = vec2(0.0);
    float turns = TAU * WAVES_OF_CHANNELS, value = 0.0, clear = 0.0, weights = 1e-3;
    float turn = atan(along.y, along.x) * DIRECTIONS / TAU, agrees = floor(turn), part = smoothstep(0.3, 0.7, turn - agrees);
    vec2 angles = (vec2(agrees, agrees + 1.0) / DIRECTIONS + 0.25) * TAU;
    mat2 acrosses = mat2(cos(angles.x), sin(angles.x), cos(angles.y), sin(angles.y));
    for (int k = 0; k < 9; ++k) {
        vec2 lattice = corner + vec2(k % 3, k / 3) - 1.0, own = hash2(lattice + 57.0);
        vec2 away = at - lattice - hash2(lattice);
        float near = max(1.0 - dot(away, away), 0.0), weight = near * near;
        vec2 way = turns * (1.0 + CHANNELS_UNLIKE[number].x * (own.x - 0.5)) * (across + CHANNELS_UNLIKE[number].y * (own.y - 0.5) * along);
        vec2 phases = dot(away, way) + turns * ((at - away) * acrosses);
        float high = mix(sin(phases.x), sin(phases.y), part), beside = mix(cos(phases.x), cos(phases.y), part);
        value += weight * high;
        clear += weight * beside;
        rises += weight * beside * way - 4.0 * near * high * away;
        sum += weight * vec2(fract(own.x * 7.0 + own.y * 5.0), 1.0);
    }
    weights += sum.y;
    float bends = turns * turns * max(length(vec2(value, clear)), 0.15 * weights);
    float aside = away_from_none(value, length(rises), bends) * square;
    float filled = clamp(FILLED_MEAN[number] + FILLED * (sum.x / weights - 0.5) + 0.5 * clear / weights, LEAST_FILLED[number], SWELLS[number]);
    filled *= smoothstep(TURNS_BACK.x, TURNS_BACK.y, abs(dot(rises, across)) / max(length(rises), 1e-6));
    // Where waves do not agree a channel ends: it thins out before.
    filled *= smoothstep(DISAGREE.x, DISAGREE.y, length(vec2(value, clear)) / weights);
    // What runs in some cells side by side, gathered in one channel, is as wide as the root of their number.
    return Channel(aside, WIDENED * share * sqrt(GATHERED[number] * APART[number]) * filled / (1.0 + abs(filled)), filled);
}

// The nearer of two banks, rounded where they come together over so many cells.
float joined_banks(float one, float other, float over) {
    float part = max(over - abs(one - other), 0.0) / over;
    return min(one, other) - 0.25 * part * part * over;
}

// The part of a pixel, so many cells wide, that water covers whose middle is so far away. What is narrower fades.
float covered_across(float away, float half_width, float pixel) {
    return clamp((min(half_width, away + 0.5 * pixel) - max(-half_width, away - 0.5 * pixel)) / pixel, 0.0, 1.0);
}
