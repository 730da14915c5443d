// What flow.frag blurs: for each cell how much of a stream it is, how much of it is not under water that stands, and the
// momentum of what flows, to the east and south.
#include "map.glsl"

uniform sampler2D discharge;
uniform sampler2D momentum_east;
uniform sampler2D momentum_south;
uniform sampler2D water;  // depth in metres
uniform sampler2D surveyed_flow;  // relative to the smallest stream that is seen

out vec4 result;

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

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    // What passes through a lake is no stream, not even on its banks; a puddle in its bed does not end one.
    float depth = layer(water, at) * frame.map.w / frame.water.x;
    float land = 1.0 - smoothstep(0.1, 0.4, depth);
    vec2 momentum = vec2(layer(momentum_east, at), layer(momentum_south, at));
    float size = max(stream_size(layer(discharge, at), frame.streams.x), stream_size(layer(surveyed_flow, at), 0.0));
    result = vec4(size, land, momentum);
}
