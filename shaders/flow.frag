// Where water runs and what it wets: for each cell how much of a stream it is, the way it flows, and closeness of water
// that stands. Blurred over the neighbours, so that no cells are seen.
#include "map.glsl"

uniform sampler2D surface;
uniform sampler2D cells;  // of flow_of_cells.frag

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = ivec2(frame.map.xy) - 1;
    float size = 0.0, dry = 0.0;
    vec2 momentum = vec2(0.0);
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            vec4 there = texelFetch(cells, clamp(cell + ivec2(east, south), ivec2(0), last), 0);
            float weight = float((2 - abs(east)) * (2 - abs(south))) / 16.0;
            float land = there.y * weight;
            size += land * there.x;
            dry += land;
            momentum += weight * there.zw;
        }
    }
    // Where nobody knows the momentum, water flows downhill.
    vec2 downhill = -texelFetch(surface, cell, 0).yz;
    vec2 flow = dot(momentum, momentum) > 1e-20 ? normalize(momentum) : downhill / max(length(downhill), 1e-6);
    result = vec4(size / max(dry, 1e-3), flow, 1.0 - dry);
}
