// What is seen of water that runs from so far that a pixel is a cell, which way it runs, and closeness of water that
// stands.
#include "river.glsl"

uniform sampler2D surface;
uniform sampler2D water;  // depth in metres

out vec4 result;

const float PIXEL = 0.85;  // cells: between cells the cover is smoothed once more

const float BESIDE = 1e-3;  // so little is not seen, and says that there is a stream nearby

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = ivec2(frame.map.xy) - 1;
    float dry = 0.0, nearby = 0.0;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 at = clamp(cell + ivec2(east, south), ivec2(0), last);
            float weight = float((2 - abs(east)) * (2 - abs(south))) / 16.0;
            // A layer that the world does not have is a single 0.
            float depth = texelFetch(water, min(at, textureSize(water, 0) - 1), 0).x * frame.map.w / frame.water.x;
            dry += weight * (1.0 - smoothstep(0.1, 0.4, depth));
            nearby = max(nearby, texelFetch(rivers, at, 0).x);
        }
    }
    vec2 downhill = -texelFetch(surface, cell, 0).yz;
    vec2 along = downhill / max(length(downhill), 1e-6);
    float cover = 0.0;
    River river = river_at(vec2(cell) + 0.5, nearby > 0.0 || river_reach > 1);
    if (river.half_width > 0.0) {
        cover = max(river_cover(river, PIXEL), BESIDE);
        along = river.along;
    }
    result = vec4(cover, along, 1.0 - dry);
}
