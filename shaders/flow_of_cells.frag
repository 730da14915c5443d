// What flow.frag blurs: for each cell how much of a stream it is, how much of it is not under water that stands, and the
// momentum of what flows, to the east and south.
#include "map.glsl"

uniform sampler2D discharge;
uniform sampler2D momentum_east;
uniform sampler2D momentum_south;
uniform sampler2D water;  // depth in metres
uniform sampler2D surveyed_flow;  // relative to the smallest stream that is seen

out vec4 result;

const int REACH = 3;  // cells to either side that a river may spread over
const float FAINTEST = 0.25;  // what the smallest stream that is seen is beside the widest

// 1 for the widest stream, FAINTEST for the `smallest`, a logarithm: by magnitudes, as widths of rivers are read.
float stream_size(float flow, float smallest) {
    if (flow <= 0.0) return 0.0;
    float above = log2(flow) - smallest;
    return above > 0.0 ? FAINTEST + (1.0 - FAINTEST) * min(above * frame.streams.y, 1.0)
                       : FAINTEST * max(1.0 + 0.5 * above, 0.0);
}

// A layer that the world does not have is a single 0.
float layer(sampler2D layer, ivec2 cell) {
    return texelFetch(layer, min(cell, textureSize(layer, 0) - 1), 0).x;
}

// How much of the river at a cell runs in it, and not beside it: a river on a wide floor is the thread that carries most,
// however many cells drops touch.
float thread(ivec2 at, vec2 momentum, float here) {
    float speed = length(momentum);
    if (speed <= 0.0) return 1.0;
    vec2 across = vec2(-momentum.y, momentum.x) / speed;
    float most = here;
    for (int k = 1; k <= REACH; ++k) {
        ivec2 away = ivec2(round(across * float(k)));
        most = max(most, max(layer(discharge, clamp(at + away, ivec2(0), textureSize(discharge, 0) - 1)),
                             layer(discharge, clamp(at - away, ivec2(0), textureSize(discharge, 0) - 1))));
    }
    float part = here / most;
    return part * part * part * part;  // as sizes go by magnitudes
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    // What passes through a lake is no stream, not even on its banks; a puddle in its bed does not end one.
    float depth = layer(water, at) * frame.map.w / frame.water.x;
    float land = 1.0 - smoothstep(0.1, 0.4, depth);
    vec2 momentum = vec2(layer(momentum_east, at), layer(momentum_south, at));
    float flow = layer(discharge, at);
    flow *= thread(at, momentum, flow);
    float size = max(stream_size(flow, frame.streams.x), stream_size(layer(surveyed_flow, at), 0.0));
    result = vec4(size, land, momentum);
}
