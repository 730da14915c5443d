// Running water, which lies in its bed as a part of the ground: its outline, its surface and how white it is.
#include "braids.glsl"
#include "drawn_out.glsl"
#include "running_part.glsl"

// Where a pixel is so many cells wide, ripples are not seen, and the courses of streams give way to their cover.
uniform float stream_far;
// Streams where a pixel is a cell, their way east and south, height of standing water over
// the ground in metres.
uniform sampler2D flow;

const float WHOLE_RIPPLES = 1.2;  // cells along a tile of ripples, which overlap
const float LEAST_SHARE = 0.02;    // of the ground, from where on threads of a belt are seen
const float MILKY_SHARE = 0.10;    // from which on their water is as milky as it gets
const float SMOOTH_WAY = 2.0;      // level of the smaller images of the map of flow, which has the way of a belt
const float STREAKS = 2.5;        // how much longer than wide ripples are
const float FALLS_BEGIN = 0.22, FALLS = 0.85;  // slopes of the bed on which water whitens
// Metres of depth in a stream of 1 m³/s, which is so wide, and how the depth of others grows with their discharge, as
// their width does with its root (Leopold and Maddock 1953).
const float DEPTH = 0.35, DEPTH_AT_WIDTH = 5.0, DEEPENING = 0.4;
const float BARS = 46.0;  // cells along the noise that says on which side bars lie
const float SOAKED_BANK = 0.25;    // of the dark rim of threads of a belt, whose gravel is soaked already
const float RIFFLES = 3.0, RIFFLES_APART = 31.0;  // how much shallower they are than pools, and cells over which they come
const vec2 SHALLOW = vec2(0.15, 0.45);  // metres of depth in which threads are riffles
const float DRAWN_DEPTH = 1.0;  // of lines that are only drawn so wide to be seen

// Where a stream is in a pixel.
struct Course {
    float cover;  // the part of the pixel
    float bank;   // how near it is, beside it
    float depth;  // in metres
    vec2 along;   // the way it flows
    float aside;  // from −1 on its left bank to 1 on its right
    float near;   // from 0 from afar to 1 where its banks can be seen
    float still;  // from 0 where it runs to 1 where it comes to rest in a lake
    float silt;   // from 0 for clear water to 1 for what runs in the threads of a braided river
};

struct Stream {
    float white;
    float tone;   // how much lighter or darker than the mean, where it has been stirred
    vec2 slope;   // of its surface
    float gravel; // how much of it is a bar
    float shoal;  // how much of its depth is left beside one
};

// In a stream so many metres wide.
float depth_at_width(float width) {
    return DEPTH * pow(max(width, 1e-3) / DEPTH_AT_WIDTH, 2.0 * DEEPENING);
}

// Threads part where a river carries more than it can, so their water is milky.
float silt_of(vec4 known) {
    return smoothstep(0.0, MILKY_SHARE, length(known.yz) - 1.0);
}

// From so far that a stream is part of a pixel. Lines stay as wide as they are drawn, and fade as narrower ones do.
Course course_from_afar(vec4 known, float pixel) {
    float wider = max(pixel, 1.0);
    return Course(min(known.x / WHOLE_LINE * sqrt(wider), 1.0), 0.0, DRAWN_DEPTH, known.yz, 0.0, 0.0, 0.0, silt_of(known));
}

// `known` is what the map of flow says of the place, `step_of` how far pixels are from each other, in cells: to the
// right and up in the picture. `widest` is the most that a pixel can span.
Course course_at(vec2 cells, vec4 known, mat2 step_of, float widest, sampler2D surface, sampler2D noise) {
    float pixel = min(max(length(step_of[0]), length(step_of[1])), widest);
    vec2 across = vec2(-known.z, known.y);
    float span = min(length(across * step_of), widest);
    bool asked = known.x > 0.0 && span < stream_far;
    // Banks are never straight.
    vec2 bend = textureLod(noise, cells / 7.0, noise_level(pixel / 7.0, noise)).yz - 0.5;
    River river = river_at(cells + 0.12 * bend, asked);
    float share = length(known.yz) - 1.0;
    bool in_belt = false;
    if (asked && share > LEAST_SHARE) {
        vec2 along = normalize(textureLod(flow, cells / frame.map.xy, SMOOTH_WAY).yz);
        vec2 place = unwound(cells, noise);
        for (int number = 0; number < CHANNELS; ++number) {
            Channel channel = channel_at(place, along, share, number);
            float away = abs(channel.aside);
            if (channel.half_width <= 0.0 || away - channel.half_width > river.away - river.half_width) continue;
            river = River(away, channel.half_width, along, cells - channel.aside * vec2(-along.y, along.x));
            in_belt = true;
        }
    }
    across = vec2(-river.along.y, river.along.x);
    span = asked ? clamp(length(across * step_of), 1e-4, widest) : stream_far;
    if (!in_belt) river.away *= 1.0 - 0.5 * (bend.x + bend.y);
    Course course = course_from_afar(known, pixel);
    float nearness = asked ? 1.0 - smoothstep(0.6 * stream_far, stream_far, span) : 0.0;
    // Threads of a belt that are too narrow to be seen fade, as there are many.
    float drawn = in_belt ? river.half_width : drawn_half_width(river, span);
    // Water lies level across: no higher on its banks than a shallow stream is deep.
    float rise = 0.0;
    if (asked && !in_belt) rise = (elevation_at(surface, cells / frame.map.xy) - elevation_at(surface, river.middle / frame.map.xy)) / frame.map.z;
    float level = 1.0 - smoothstep(0.25, 0.5, (rise - 0.25 * span) / drawn);
    float width = 2.0 * river.half_width * frame.map.z;
    float depth = depth_at_width(width);
    // Pools and riffles.
    if (in_belt) depth *= 1.0 + RIFFLES * (textureLod(noise, cells.yx / RIFFLES_APART, 2.0).x - 0.5);
    // In a trench too narrow for it, it stands as high as its cross-section needs, between walls that are as steep.
    float needed = width * depth / (frame.map.z * frame.map.z);
    level = max(level, 1.0 - smoothstep(0.8, 1.2, max(rise * river.away / max(needed, 1e-6), rise / drawn)));
    course.cover = mix(course.cover, (in_belt ? covered_across(river.away, river.half_width, span) : river_cover(river, span)) * level, nearness);
    float damp = max(0.8 * river.half_width, span);
    course.bank = nearness * (1.0 - smoothstep(0.0, damp, river.away - river.half_width)) * min(river.half_width / span, 1.0);
    if (in_belt) course.bank *= SOAKED_BANK;
    float relative = river.away / drawn;
    course.depth = depth * clamp(1.5 * (1.0 - relative * relative), 0.0, 1.5);
    course.depth = mix(DRAWN_DEPTH, course.depth, nearness * true_part(river, drawn));
    course.along = mix(known.yz, river.along, nearness);
    course.near = nearness * smoothstep(1.5, 4.0, (in_belt ? 2.0 : 1.0) * river.half_width / span);
    course.aside = dot(cells - river.middle, across) / drawn;
    return course;
}

// Where it runs into a lake of this depth, in metres, below 0 beside it, it clears and the lake covers it.
void end_in_lake(inout Course course, float depth) {
    float dry = 1.0 - smoothstep(0.3, 2.5, depth);
    course.still = smoothstep(-0.5, 2.5, depth);
    course.cover *= dry;
    course.bank *= dry;
}

// From 0 where water runs quietly to 1 where it falls.
float rapids(vec2 ground_slope, vec2 along) {
    return smoothstep(FALLS_BEGIN, FALLS, -dot(ground_slope, along));
}

// Ripples and streaks that run downstream: height, slopes along and across.
vec3 running_ripples(vec2 cells, float pixel, vec2 along, float rapid, sampler2D noise) {
    vec2 across = vec2(-along.y, along.x);
#if FINE_WATER == 1
    float speed = frame.streams.z * (1.0 + 2.0 * rapid);
#else
    float speed = frame.streams.z;
#endif
    float level = noise_level(pixel / 3.5, noise);
    vec4 ripple = drawn_out_noise(cells, along, WHOLE_RIPPLES, STREAKS, speed * frame.camera.w, 3.5, level, noise);
    return vec3(ripple.w, along * ripple.y + across * ripple.z);
}

Stream stream_at(Course course, vec2 cells, float pixel, vec2 ground_slope, sampler2D noise) {
    float rapid = rapids(ground_slope, course.along);
    vec3 ripples = running_ripples(cells, pixel, course.along, rapid, noise);
    float fall = max(-dot(ground_slope, course.along), 0.0);
    Stream stream;
    stream.slope = -fall * course.along + ripples.yz * (0.18 + 0.7 * rapid);
    stream.tone = 1.0 + mix(0.9, 0.4, course.silt) * ripples.x;
    stream.white = 0.85 * rapid * smoothstep(0.16 - 0.34 * rapid, 0.30, ripples.x + 0.12 * rapid);
    stream.gravel = 0.0;
    stream.shoal = 1.0;
#if FINE_WATER == 1
    // Where it carries, gravel lies in bars on one side and then on the other; between them it runs over shallows.
    vec4 bars = textureLod(noise, cells / BARS, 3.0) - 0.5;
    float carries = course.near * (1.0 - course.still) * smoothstep(0.001, 0.01, fall) * (1.0 - smoothstep(0.3, 0.8, fall));
    float broad = 0.75 * carries * smoothstep(0.10, 0.25, abs(bars.w));
    float stones = 2.0 * (textureLod(noise, cells / 3.1, noise_level(pixel / 3.1, noise)).x - 0.5);
    float beside = course.aside * sign(bars.w) - (1.0 - broad) + 0.15 * stones;
    stream.gravel = smoothstep(-0.08, 0.08, beside) * step(1e-3, broad);
    stream.tone = mix(stream.tone, 1.0 + 0.9 * stones, stream.gravel);
    stream.shoal = mix(1.0, clamp(0.10 - 1.6 * beside, 0.0, 1.0), step(1e-3, broad));
    float riffle = course.near * smoothstep(0.006, 0.05, fall) * smoothstep(0.03, 0.14, bars.x) * (1.0 - rapid);
    // Threads of a braided river are shallow wherever their bed is not a pool.
    riffle = max(riffle, course.silt * course.near * smoothstep(SHALLOW.y, SHALLOW.x, course.depth));
    stream.slope += 0.35 * riffle * ripples.yz;
    stream.white = max(stream.white, (0.45 - 0.15 * course.silt) * riffle * smoothstep(0.10, 0.30, ripples.x));
#endif
    float runs = 1.0 - course.still;
    stream.slope *= runs;
    stream.white *= runs;
    stream.tone = mix(1.0, stream.tone, runs);
    return stream;
}

// The same from so far that the ripples are finer than a pixel.
Stream stream_from_afar(Course course, vec2 ground_slope) {
    float rapid = rapids(ground_slope, course.along);
    Stream stream;
    stream.slope = -max(-dot(ground_slope, course.along), 0.0) * course.along;
    stream.tone = 1.0;
    stream.white = 0.85 * rapid * smoothstep(0.16 - 0.34 * rapid, 0.30, 0.12 * rapid) * (1.0 - course.still);
    stream.gravel = 0.0;
    stream.shoal = 1.0;
    return stream;
}

Stream mixed(Stream one, Stream other, float part) {
    return Stream(mix(one.white, other.white, part), mix(one.tone, other.tone, part), mix(one.slope, other.slope, part),
                  mix(one.gravel, other.gravel, part), mix(one.shoal, other.shoal, part));
}
