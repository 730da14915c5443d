// The courses of streams: smooth curves from cell to cell, as wide as they are in metres.
#include "map.glsl"
#include "river_code.glsl"

// For each cell: half the width of its stream in cells and how it bends, 0 where there is none; its point, and from there
// where it leaves; where the widest two come in; where the third does, and how wide this one and the second are beside the
// stream; where only one comes in, how wide that is.
uniform sampler2D rivers;
uniform int river_reach;  // cells to either side that have to be looked at for the widest

const int PIECES = 4;         // of a curve within a cell, each of them straight
// Narrow streams are spread over so many pixels, so that they move calmly; they cover as much of them together.
const float FOOTPRINT = 1.8;

struct River {
    float away;        // from its middle, in cells
    float half_width;  // in cells
    vec2 along;        // the way it flows
    vec2 middle;       // of it beside the place, in cells
};

// The stream nearest to a place, in cells; none where nobody is `asked`: software renderers skip the loop. `bend` is from
// −1 where streams around turn sharply to their left to 1 where they do to their right.
River river_at(vec2 place, bool asked, out float bend) {
    River river = River(1e3, 0.0, vec2(1.0, 0.0), place);
    float weights = 1e-6, around = float(river_reach) + 0.5;
    bend = 0.0;
    ivec2 own = ivec2(floor(place)), last = ivec2(frame.map.xy) - 1, beside = ivec2(-river_reach);
    int count = asked ? (2 * river_reach + 1) * (2 * river_reach + 1) : 0;
    for (int k = 0; k < count; ++k) {  // no division, which is slow in software
        ivec2 cell = clamp(own + beside, ivec2(0), last);
        beside = beside.x < river_reach ? beside + ivec2(1, 0) : ivec2(-river_reach, beside.y + 1);
        vec4 code = texelFetch(rivers, cell, 0);
        int streams = code.x <= 0.0 ? 0 : 1;
        for (int stream = 0; stream < streams; ++stream) {
            // In the loop, which ends at once in most cells.
            vec4 through = decoded(code.y), begins = decoded(code.z), third = decoded(code.w);
            streams = third.xy != through.zw ? 3 : begins.zw != through.zw ? 2 : 1;
            vec2 at = place - vec2(cell) - 0.5 - 2.0 * through.xy, end = through.zw;
            vec2 course = width_and_bend(code.x);
            if (stream == 0) {
                // The mean of the cells around goes on from each to the next, and a step aside of one alone is no bend.
                vec2 off = (place - vec2(cell) - 0.5) / around;
                float near = max(1.0 - dot(off, off), 0.0), weight = near * near * course.x;
                bend += weight * course.y;
                weights += weight;
            }
            vec2 begin = stream == 0 ? begins.xy : stream == 1 ? begins.zw : third.xy;
            float only = streams == 1 ? min(0.51 + 0.51 * third.z, 1.0) : 1.0;  // as the code is read back
            float part = stream == 0 ? only : 0.5 + 0.5 * (stream == 1 ? third.z : third.w);
            if (stream == 0 && begin == vec2(0.0)) part = 0.0;  // a spring
            vec2 from = begin;
            for (int piece = 1; piece <= PIECES; ++piece) {
                float t = float(piece) / float(PIECES);
                vec2 to = mix(begin * (1.0 - t), end * t, t);
                vec2 along = to - from;
                float s = clamp(dot(at - from, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
                vec2 aside = at - from - s * along;
                float away = length(aside);
                float half_width = course.x * mix(part, 1.0, (float(piece) - 1.0 + s) / float(PIECES));
                if (away - half_width < river.away - river.half_width && dot(along, along) > 0.0)
                    river = River(away, half_width, along, place - aside);
                from = to;
            }
        }
    }
    bend /= weights;
    river.along = normalize(river.along);
    return river;
}

// Half of the width in cells over which a stream is seen, where a pixel across it is so many cells wide.
float seen_half_width(River river, float pixel) {
    return max(river.half_width, 0.5 * pixel);
}

// The part of a pixel, so many cells wide across the stream, that it covers: the less, the narrower it is.
float river_cover(River river, float pixel) {
    float span = pixel * mix(FOOTPRINT, 1.0, smoothstep(0.5 * pixel, pixel, river.half_width));
    float covers = min(river.away + 0.5 * span, river.half_width) - max(river.away - 0.5 * span, -river.half_width);
    return clamp(covers / span, 0.0, 1.0);
}
