// How far relief that is finer than the map may stand out of it, from 0 to 1: not at water's edge nor in streams, which
// lie on the map.
#include "map.glsl"
#include "standing_depth.glsl"
#include "running_part.glsl"

uniform sampler2D surface;
uniform sampler2D water;  // depth in metres
uniform sampler2D flow;   // cover of streams; a single 0 where nothing runs

out float result;

const int REACH = 2;        // cells from water
const float LIES_LOW = 2.0; // cells over it, or below
const float COVERED = 0.10;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = ivec2(frame.map.xy) - 1;
    float height = texelFetch(surface, cell, 0).x;
    result = 1.0;
    for (int south = -REACH; south <= REACH; ++south) {
        for (int east = -REACH; east <= REACH; ++east) {
            ivec2 at = clamp(cell + ivec2(east, south), ivec2(0), last);
            float ground = texelFetch(surface, at, 0).x;
            float depth = standing_depth(water, surface, at);
            float above = abs(height - ground - depth) * frame.map.w / frame.map.z;
            float away = length(vec2(east, south));
            if (depth > 0.0) result = min(result, max(smoothstep(0.3, LIES_LOW, above), smoothstep(1.0, float(REACH) + 0.5, away)));
        }
    }
    float cover = 0.0;
    for (int k = 0; k < 9; ++k) {
        cover = max(cover, running_part(textureLod(flow, (vec2(cell + ivec2(k % 3, k / 3)) - 0.5) / frame.map.xy, 0.0).x));
    }
    result *= 1.0 - smoothstep(0.0, COVERED, cover);
}
