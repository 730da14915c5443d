// The courses of streams: smooth curves from cell to cell, as wide as they are in metres.
#include "map.glsl"
#include "river_code.glsl"

// For each cell: half the width of its stream in cells, 0 where there is none; its point and where it leaves; where the
// widest two come in; where the third does, and how wide this one and the second are beside the stream; where only one
// comes in, how wide that is.
uniform sampler2D rivers;
uniform int river_reach;  // cells to either side that have to be looked at for the widest

const int PIECES = 4;         // of a curve within a cell, each of them straight
// As on maps, no stream is drawn narrower than so many pixels: by magnitudes, from the smallest that is seen to those of
// so many octaves more. Those that are narrower are as opaque, the smallest the least.
const float THINNEST = 1.1, BROADEST = 3.0, OCTAVES = 8.0, FAINTEST = 0.5;

struct River {
    float away;        // from its middle, in cells
    float half_width;  // in cells
    vec2 along;        // the way it flows
    vec2 middle;       // of it beside the place, in cells
};

// The stream nearest to a place, in cells; none where nobody is `asked`: software renderers skip the loop.
River river_at(vec2 place, bool asked) {
    River river = River(1e3, 0.0, vec2(1.0, 0.0), place);
    ivec2 first = ivec2(floor(place)) - river_reach, last = ivec2(frame.map.xy) - 1;
    int side = 2 * river_reach + 1, count = asked ? side * side : 0;
    for (int k = 0; k < count; ++k) {
        ivec2 cell = clamp(first + ivec2(k % side, k / side), ivec2(0), last);
        vec4 code = texelFetch(rivers, cell, 0);
        vec4 through = decoded(code.y), begins = decoded(code.z), third = decoded(code.w);
        int streams = code.x <= 0.0 ? 0 : third.xy != through.zw ? 3 : begins.zw != through.zw ? 2 : 1;
        vec2 at = place - vec2(cell) - 0.5;
        for (int stream = 0; stream < streams; ++stream) {
            vec2 begin = stream == 0 ? begins.xy : stream == 1 ? begins.zw : third.xy;
            float only = streams == 1 ? min(0.51 + 0.51 * third.z, 1.0) : 1.0;  // as the code is read back
            float part = stream == 0 ? only : 0.5 + 0.5 * (stream == 1 ? third.z : third.w);
            if (stream == 0 && begins.xy == through.xy) part = 0.0;  // a spring
            vec2 from = begin;
            for (int piece = 1; piece <= PIECES; ++piece) {
                float t = float(piece) / float(PIECES);
                vec2 to = mix(mix(begin, through.xy, t), mix(through.xy, through.zw, t), t);
                vec2 along = to - from;
                float s = clamp(dot(at - from, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
                vec2 aside = at - from - s * along;
                float away = length(aside);
                float half_width = code.x * mix(part, 1.0, (float(piece) - 1.0 + s) / float(PIECES));
                if (away - half_width < river.away - river.half_width && dot(along, along) > 0.0) {
                    river = River(away, half_width, along, place - aside);
                }
                from = to;
            }
        }
    }
    river.along = normalize(river.along);
    return river;
}

// How much of a stream is itself, and not widened to be seen, where a pixel across it is so many cells wide.
float true_part(River river, float drawn) {
    return min(river.half_width / drawn, 1.0);
}

// Half of the width that it is drawn with, in cells.
float drawn_half_width(River river, float pixel) {
    float octave = 2.0 * log2(max(river.half_width, 1e-6) / frame.streams.y) - frame.streams.x;
    return max(river.half_width, 0.5 * pixel * mix(THINNEST, BROADEST, clamp(octave / OCTAVES, 0.0, 1.0)));
}

// The part of a pixel, so many cells wide across the stream, that it covers.
float river_cover(River river, float pixel) {
    float octave = 2.0 * log2(max(river.half_width, 1e-6) / frame.streams.y) - frame.streams.x;
    float drawn = drawn_half_width(river, pixel);
    float seen = mix(FAINTEST, 1.0, clamp(octave / OCTAVES, 0.0, 1.0)) * clamp(1.0 + 0.5 * octave, 0.0, 1.0);
    return clamp((drawn - river.away) / pixel + 0.5, 0.0, 1.0) * mix(seen, 1.0, true_part(river, drawn));
}
