// Where water runs and what it wets: for each cell how much of a stream it is, the way it flows, and closeness of water
// that stands. Blurred over the neighbours, so that no cells are seen.
#include "map.glsl"

uniform sampler2D surface;
uniform sampler2D discharge;
uniform sampler2D momentum_east;
uniform sampler2D momentum_south;
uniform sampler2D water;  // depth in metres

out vec4 result;

const float FAINTEST = 0.25;  // what the smallest stream that is seen is beside the widest

// 1 for the widest stream, FAINTEST for the smallest: by magnitudes, as widths of rivers are read.
float stream_size(float flow) {
    if (flow <= 0.0) return 0.0;
    float above = log2(flow) - frame.streams.x;
    return above > 0.0 ? FAINTEST + (1.0 - FAINTEST) * min(above * frame.streams.y, 1.0)
                       : FAINTEST * max(1.0 + 0.5 * above, 0.0);
}

// A layer that the world does not have is a single 0.
float layer(sampler2D layer, ivec2 cell) {
    return texelFetch(layer, min(cell, textureSize(layer, 0) - 1), 0).x;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = ivec2(frame.map.xy) - 1;
    float size = 0.0, dry = 0.0;
    vec2 momentum = vec2(0.0);
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 at = clamp(cell + ivec2(east, south), ivec2(0), last);
            float weight = float((2 - abs(east)) * (2 - abs(south))) / 16.0;
            // What passes through a lake is no stream, not even on its banks; a puddle in its bed does not end one.
            float depth = layer(water, at) * frame.map.w / frame.water.x;
            float land = (1.0 - smoothstep(0.1, 0.4, depth)) * weight;
            size += land * stream_size(layer(discharge, at));
            dry += land;
            momentum += weight * vec2(layer(momentum_east, at), layer(momentum_south, at));
        }
    }
    // Where nobody knows the momentum, water flows downhill.
    vec2 downhill = -texelFetch(surface, cell, 0).yz;
    vec2 flow = dot(momentum, momentum) > 1e-20 ? normalize(momentum) : downhill / max(length(downhill), 1e-6);
    result = vec4(size / max(dry, 1e-3), flow, 1.0 - dry);
}
