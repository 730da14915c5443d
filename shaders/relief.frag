// What relief_height.frag has drawn: height in cells, its slopes to the east and south, and streaks.
#include "map.glsl"
#include "relief.glsl"
#include "between_cells.glsl"
#include "packed_streak.glsl"

#ifndef RELIEF
#define RELIEF 2  // 1: in 8 bits
#endif

uniform sampler2D heights;
uniform sampler2D surface;
uniform float texels_per_cell;

out vec4 result;

float height_at(ivec2 texel) {
    return texelFetch(heights, clamp(texel, ivec2(0), textureSize(heights, 0) - 1), 0).x;
}

float mapped_height(vec2 texel) {
    return smooth_height(surface, clamp(texel / texels_per_cell - 0.5, vec2(0.0), frame.map.xy - 1.0));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec2 rise = vec2(height_at(at + ivec2(1, 0)) - height_at(at - ivec2(1, 0)),
                     height_at(at + ivec2(0, 1)) - height_at(at - ivec2(0, 1)));
    vec3 relief = vec3(height_at(at), 0.5 * rise * texels_per_cell);
    vec2 told = streak_and_rounded(texelFetch(heights, at, 0).y);
    // Where bumps of the map are rounded, the slopes of the map would still light them.
    for (int k = 0; k < (told.y > 0.0 ? 1 : 0); ++k) {
        vec2 here = gl_FragCoord.xy, mapped = vec2(mapped_height(here + vec2(1.0, 0.0)) - mapped_height(here - vec2(1.0, 0.0)),
                                                   mapped_height(here + vec2(0.0, 1.0)) - mapped_height(here - vec2(0.0, 1.0)));
        vec2 slope = textureLod(surface, here / (texels_per_cell * frame.map.xy), 0.0).yz;
        relief.yz += told.y * frame.map.w * (0.5 * mapped * texels_per_cell / frame.map.z - slope);
    }
#if RELIEF == 1
    relief = packed_relief(relief);
#endif
    result = vec4(relief, told.x);
}
