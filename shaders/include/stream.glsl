// Running water, which lies in its bed as a part of the ground: its outline, its surface and how white it is.
#include "braids.glsl"
#include "drawn_out.glsl"
#include "river_depth.glsl"
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
const vec2 BESIDE_WAY = vec2(0.55, 0.85);  // cosines of the angle from a stream to where the ground sinks, on its bank and in its bed
const float FALLS_BEGIN = 0.22, FALLS = 0.85;  // slopes of the bed on which water whitens
const float REACHES = 46.0;  // cells along the noise that tells pools from riffles, and on which side bars lie
const float SMOOTH_BANKS = 2.0;  // level of the noise in them, whose finest grains would fray them
const float WANDERS = 0.9;   // cells by which that noise leads a stream astray where the land is gentle
const vec2 LEAVES_BED = vec2(0.7, 1.3);  // slopes over which water leaves it
const vec2 STEEP = vec2(0.08, 0.70);  // slopes of the bed from which on water runs faster, and where it is narrowest
const float NARROWED = 0.62, RIFFLES_WIDER = 0.20, BENDS_WIDER = 0.16, RIFFLES_SHALLOWER = 0.55;
const float GRAVEL_HIDES = 0.8;  // of the ground below a bar
const float BANKS_DEEP = 1.25;  // of the mean depth, in the middle: banks of a river are steep, and its edges lines
const float OWN_BED = 0.25, THREAD_BED = 0.6;  // part of the greatest depth at which a bed of stones and sand hides the ground
const float SLOW_RIFFLES = 0.4;  // of what is told between pools and riffles, where a river hardly falls
const float SINKS_OVER = 3.0;  // cells of its way over which it is told how a bed sinks: from cell to cell it does in steps
const float REACH_LOST = 0.7;  // cells by which streams wind beside the cells in which they are looked for
const float DEPTH_FROM_AFAR = 0.5;  // metres
const float BAR = 0.85, BAR_BESIDE = 0.9, MARGIN = 0.22;  // of half the width: bars in it, beside it, and on the other bank
const float BAR_SOFT = 0.7;  // half widths over which the broadest ends on land
const vec2 BENDS = vec2(0.08, 0.30);  // how sharp they are, from which on bars lie in them
const float BENDS_MAKE_BARS = 2.6, BARS_BY_CHANCE = 1.4;  // how broad bars are for bends and, in straight reaches, for noise
const vec2 ROLLS_OFF = vec2(0.45, 0.8);  // slopes of the ground on which gravel begins to be lost, and none lies
const vec2 BESIDE_STREAM = vec2(5.0, 3.0);  // half widths of it, and pixels, beyond which neither banks nor bars reach
const float SOAKED_BANK = 0.25;    // of the dark rim of threads of a belt, whose gravel is soaked already
// In a belt: how much shallower and wider riffles are than pools, cells over which they come, and what makes a whole one.
const float RIFFLES = 3.0, RIFFLES_SPREAD = 2.4, RIFFLES_APART = 31.0, WHOLE_RIFFLE = 0.16;
const vec2 TRICKLES = vec2(0.10, 0.80);  // half widths of threads in pixels, from which on they are seen, and as dark as they are
const float THIN_EDGE = 0.32;  // part of the greatest depth from which on threads of a belt hide their gravel

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
    float riffle; // from −1 in a pool to 1 in a riffle
    float bar;    // how broad the bar on its right is, to 1; that on its left below 0
    float room;   // the place beside it where it can be told, in half widths
    float own;    // from 0 at its rims, where it runs over the ground that is there, to 1 where it has a bed of its own
    float wide;   // half its width in metres
};

struct Stream {
    float white;
    float tone;   // how much lighter or darker than the mean, where it has been stirred
    vec2 slope;   // of its surface
    float gravel; // how much of the place is a bar
    float dry;    // how far that has drained
    float shoal;  // how much of its depth is left beside one
    float stones; // how much lighter or darker than the mean its bed is
};

// Threads part where a river carries more than it can, so their water is milky.
float silt_of(vec4 known) {
    return smoothstep(0.0, MILKY_SHARE, length(known.yz) - 1.0);
}

// From so far that a stream is part of a pixel.
Course course_from_afar(vec4 known) {
    float cover = running_part(known.x);
    return Course(cover, cover, DEPTH_FROM_AFAR, known.yz, 0.0, 0.0, 0.0, silt_of(known), 0.0, 0.0, 0.0, 1.0, 0.5 * cover * frame.map.z);
}

// `slope` is that of the ground, `known` what the map of flow says of the place, `step_of` how far pixels are from each
// other, in cells: to the right and up in the picture. `widest` is the most that a pixel can span.
Course course_at(vec2 cells, vec2 slope, vec4 known, mat2 step_of, float widest, sampler2D surface, sampler2D noise) {
    float pixel = min(max(length(step_of[0]), length(step_of[1])), widest);
    vec2 across = vec2(-known.z, known.y);
    float span = min(length(across * step_of), widest);
    bool asked = known.x > 0.0 && span < stream_far;
    // Banks are never straight.
    vec2 bend = textureLod(noise, cells / 7.0, max(noise_level(pixel / 7.0, noise), SMOOTH_BANKS)).yz - 0.5;
    vec2 place = cells + 0.12 * bend;
#if FINE_WATER == 1
    vec4 reach = textureLod(noise, cells / REACHES, 3.0) - 0.5;
    place += WANDERS * (1.0 - smoothstep(0.05, 0.3, length(slope))) * reach.wx;
#else
    const vec4 reach = vec4(0.0);
#endif
    float turns;
    River river = river_at(place, asked, turns);
    float share = length(known.yz) - 1.0, pools = 0.0;
    bool in_belt = false;
    if (asked && share > LEAST_SHARE) {
        vec2 along = normalize(textureLod(flow, cells / frame.map.xy, SMOOTH_WAY).yz);
        pools = textureLod(noise, cells.yx / RIFFLES_APART, 2.0).x - 0.5;
        vec2 straight = unwound(cells, noise);
        float bank = river.away - river.half_width;
        for (int number = 0; number < CHANNELS; ++number) {
            Channel channel = channel_at(straight, along, share, number);
            float away = abs(channel.aside), from = bank;
            if (channel.half_width <= 0.0) continue;
            channel.half_width *= max(1.0 - RIFFLES_SPREAD * pools, 0.4);
            bank = joined_banks(bank, away - channel.half_width, JOIN * min(APART[number], 2.0 * channel.half_width + 0.1));
            if (away - channel.half_width > from) continue;
            river = River(away, channel.half_width, along, cells - channel.aside * vec2(-along.y, along.x));
            turns = 0.0;
            place = cells;
            in_belt = true;
        }
        if (in_belt) river.away = max(bank + river.half_width, 0.0);
    }
    across = vec2(-river.along.y, river.along.x);
    span = asked ? clamp(length(across * step_of), 1e-4, widest) : stream_far;
    if (!in_belt) river.away *= 1.0 - 0.5 * (bend.x + bend.y);
    Course course = course_from_afar(known);
    float nearness = asked ? 1.0 - smoothstep(0.6 * stream_far, stream_far, span) : 0.0;
    // Riffles are wide and shallow, pools narrow and deep; where the bed is steep water runs faster, and is narrow.
    float fall = max(-dot(slope, river.along), 0.0), steep = smoothstep(STEEP.x, STEEP.y, fall);
    // Water lies level across: no higher on its banks than a shallow stream is deep.
    vec2 middle = river.middle - place + cells;
    // So far from a stream there is nothing of it.
    bool told = asked && !in_belt && (nearness < 1.0 || river.away < BESIDE_STREAM.x * river.half_width + BESIDE_STREAM.y * span);
    float bed = told ? elevation_at(surface, middle / frame.map.xy) : 0.0, rise = 0.0, sinks = fall;
    if (told) rise = (elevation_at(surface, cells / frame.map.xy) - bed) / frame.map.z;
#if FINE_WATER == 1
    // As its bed sinks: banks, which sink to a side, would tell another fall in each straight piece of its way.
    if (told) sinks = max(bed - elevation_at(surface, (middle + SINKS_OVER * river.along) / frame.map.xy), 0.0) / (SINKS_OVER * frame.map.z);
#endif
    float carries = smoothstep(0.0, 0.02, sinks) * (1.0 - smoothstep(0.3, 0.8, sinks));
    float reaches = clamp(4.0 * reach.x, -1.0, 1.0);
    course.riffle = in_belt ? clamp(-pools / WHOLE_RIFFLE, -1.0, 1.0) : reaches * mix(SLOW_RIFFLES, 1.0, carries);
    float room = (float(river_reach) - REACH_LOST) / max(river.half_width, 1e-6);
    if (!in_belt) river.half_width *= mix(1.0, NARROWED, steep) * (1.0 + RIFFLES_WIDER * reaches + BENDS_WIDER * min(abs(turns), 1.0));
    // Threads of a belt that are too narrow to be seen fade, as there are many.
    float drawn = in_belt ? river.half_width : seen_half_width(river, span);
    float level = 1.0 - smoothstep(0.25, 0.5, (rise - 0.25 * span) / drawn);
    float width = 2.0 * river.half_width * frame.map.z;
    float riffled = in_belt ? 1.0 + RIFFLES * pools : 1.0 - RIFFLES_SHALLOWER * course.riffle;
    float depth = depth_at_width(width) * riffled;
    // In a trench too narrow for it, it stands as high as its cross-section needs, between walls that are as steep.
    float needed = width * depth / (frame.map.z * frame.map.z);
    level = max(level, 1.0 - smoothstep(0.8, 1.2, max(rise * river.away / max(needed, 1e-6), rise / drawn)));
    course.cover = mix(course.cover, (in_belt ? covered_across(river.away, river.half_width, span) : river_cover(river, span)) * level, nearness);
    // Ground is damp beside it, here more and there less; less of a pixel where this is wider than that.
    float damp = river.half_width * (0.7 + 1.8 * (bend.x + 0.5)) + span;
    float part = river.half_width / max(river.half_width, span);
    course.bank = mix(course.bank, (1.0 - smoothstep(-0.2 * damp, damp, river.away - river.half_width)) * part, nearness);
    if (in_belt) course.bank *= SOAKED_BANK;
    float relative = river.away / drawn, shallow = max(1.0 - relative * relative, 0.0);
    // Threads of a belt have no banks: they thin out over gravel that they soak.
    if (in_belt) course.cover *= mix(1.0, smoothstep(0.0, THIN_EDGE, shallow) * smoothstep(TRICKLES.x, TRICKLES.y, river.half_width / span), nearness);
    course.depth = mix(DEPTH_FROM_AFAR, depth * (in_belt ? 1.6 * shallow * shallow : BANKS_DEEP * sqrt(shallow)), nearness);
    course.own = mix(1.0, smoothstep(0.0, in_belt ? THREAD_BED : OWN_BED, shallow), nearness);
    course.along = mix(known.yz, river.along, nearness);
    course.near = nearness * smoothstep(1.0, 3.0, (in_belt ? 1.5 : 1.0) * river.half_width / span);
    course.aside = sign(dot(place - river.middle, across)) * relative;
    // Bars lie inside bends, also of slow rivers; where it runs straight, on one side and then on the other.
    float in_bends = BENDS_MAKE_BARS * turns * smoothstep(BENDS.x, BENDS.y, abs(turns)) * (1.0 - smoothstep(0.3, 0.8, sinks));
    course.bar = clamp(in_bends + BARS_BY_CHANCE * reach.w * carries * (1.0 - smoothstep(0.0, 0.25, abs(turns))), -1.0, 1.0) * course.near;
    if (abs(course.aside) > 1.3 + 2.0 * MARGIN + BAR_BESIDE) course.bar = 0.0;  // beyond any
    course.room = room * level;
    course.cover *= 1.0 - smoothstep(LEAVES_BED.x, LEAVES_BED.y, fall);  // it falls in a sheet before the wall
    course.wide = mix(course.wide, river.half_width * frame.map.z, nearness);
    return course;
}

// Where it runs into a lake of this depth, in metres, below 0 beside it, it clears and the lake covers it.
void end_in_lake(inout Course course, float depth) {
    float dry = 1.0 - smoothstep(0.3, 2.5, depth);
    course.still = smoothstep(-0.5, 2.5, depth);
    course.cover *= dry;
    course.bank *= dry;
    course.bar *= 1.0 - course.still;
}

// The slope of the water along its way. Where the ground sinks more to a side, it is a bank and tells little of that.
float fall_along(vec2 ground_slope, vec2 along) {
    float fall = max(-dot(ground_slope, along), 0.0);
    return fall * smoothstep(BESIDE_WAY.x, BESIDE_WAY.y, fall / max(length(ground_slope), 1e-6));
}

// From 0 where water runs quietly to 1 where it falls.
float rapids(vec2 ground_slope, vec2 along) {
    return smoothstep(FALLS_BEGIN, FALLS, fall_along(ground_slope, along));
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
    float fall = fall_along(ground_slope, course.along);
    Stream stream = Stream(0.0, 1.0 + 0.9 * ripples.x, vec2(0.0), 0.0, 0.0, 1.0, 1.0);
    float broken = 0.18 + 0.15 * course.silt + 0.7 * rapid, foam = ripples.x;
#if FINE_WATER == 1
    float stones = 2.0 * (textureLod(noise, cells / 3.1, noise_level(pixel / 3.1, noise)).x - 0.5);
    foam += 0.25 * stones;  // water breaks over them
#endif
    stream.white = 0.85 * rapid * smoothstep(0.16 - 0.34 * rapid, 0.30, foam + 0.12 * rapid);
#if FINE_WATER == 1
    stream.stones = 1.0 + 0.9 * stones;
    // A bar reaches into the water and out of it, and its rims are uneven; a cut bank has but a margin of gravel.
    float side = course.aside * sign(course.bar), broad = abs(course.bar);
    float inner = side - (1.0 - BAR * broad) + 0.09 * stones;
    float outer = min(1.0 + MARGIN + BAR_BESIDE * broad, course.room) + 0.30 * stones;
    float bar = smoothstep(-0.04, 0.04, inner) * clamp((outer - side) / (0.12 + BAR_SOFT * broad), 0.0, 1.0);
    float rim = min(1.0 + 2.0 * MARGIN, course.room) + 0.3 * stones;
    float margin = smoothstep(0.90, 0.97, -side) * clamp((rim + side) / 0.12, 0.0, 1.0);
    stream.gravel = GRAVEL_HIDES * max(bar, margin) * smoothstep(0.02, 0.35, broad);
    stream.gravel *= 1.0 - smoothstep(ROLLS_OFF.x, ROLLS_OFF.y, length(ground_slope));
    stream.dry = smoothstep(0.02, 0.40, max(inner, 2.0 * (-side - 1.0)) + 0.15 * stones);
    stream.shoal = mix(1.0, clamp(0.10 - 1.6 * inner, 0.0, 1.0), smoothstep(0.0, 0.1, broad));
    float riffle = course.near * max(course.riffle, 0.0) * smoothstep(0.02, 0.12, fall) * (1.0 - rapid);
    // Threads of a braided river are shallow wherever their bed is not a pool.
    riffle = max(riffle, course.silt * course.near * max(course.riffle, 0.0) * (1.0 - course.aside * course.aside));
    broken += 0.30 * riffle - 0.08 * course.near * max(-course.riffle, 0.0);
    stream.white = max(stream.white, (0.40 + 0.15 * course.silt) * riffle * smoothstep(0.08, 0.45, foam));
#endif
    stream.slope = -fall * course.along + broken * ripples.yz;
    float runs = 1.0 - course.still;
    stream.slope *= runs;
    stream.white *= runs;
    stream.tone = mix(1.0, stream.tone, runs);
    return stream;
}

// The same from so far that the ripples are finer than a pixel.
Stream stream_from_afar(Course course, vec2 ground_slope) {
    float rapid = rapids(ground_slope, course.along);
    Stream stream = Stream(0.0, 1.0, vec2(0.0), 0.0, 0.0, 1.0, 1.0);
    stream.slope = -fall_along(ground_slope, course.along) * course.along;
    stream.white = 0.85 * rapid * smoothstep(0.16 - 0.34 * rapid, 0.30, 0.12 * rapid) * (1.0 - course.still);
    return stream;
}

Stream mixed(Stream one, Stream other, float part) {
    return Stream(mix(one.white, other.white, part), mix(one.tone, other.tone, part), mix(one.slope, other.slope, part),
                  mix(one.gravel, other.gravel, part), mix(one.dry, other.dry, part), mix(one.shoal, other.shoal, part),
                  mix(one.stones, other.stones, part));
}
