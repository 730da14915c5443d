// What relief_height.frag has drawn: height in cells, its slopes to the east and south, and streaks.
#include "map.glsl"
#include "relief.glsl"

#ifndef RELIEF
#define RELIEF 2  // 1: in 8 bits
#endif

uniform sampler2D heights;
uniform float texels_per_cell;

out vec4 result;

float height_at(ivec2 texel) {
    return texelFetch(heights, clamp(texel, ivec2(0), textureSize(heights, 0) - 1), 0).x;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec2 rise = vec2(height_at(at + ivec2(1, 0)) - height_at(at - ivec2(1, 0)),
                     height_at(at + ivec2(0, 1)) - height_at(at - ivec2(0, 1)));
    vec3 relief = vec3(height_at(at), 0.5 * rise * texels_per_cell);
#if RELIEF == 1
    relief = packed_relief(relief);
#endif
    result = vec4(relief, texelFetch(heights, at, 0).y);
}
