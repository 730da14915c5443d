// The surface as land far away shows it, as the mean over the cells of each texel; with relief finer than the map.
#ifndef RELIEF
#define RELIEF 0
#endif

uniform sampler2D surface;
uniform int taps;  // along a side of a texel, each the mean of two cells or of less
#if RELIEF == 1
uniform sampler2D relief;
#include "relief.glsl"
#endif

in vec2 uv;
out vec4 averaged;

void main() {
    vec2 texel = vec2(dFdx(uv.x), dFdy(uv.y)) / float(taps);
#if RELIEF == 1
    float level = max(log2(texel.x * float(textureSize(relief, 0).x)), 0.0);
#endif
    averaged = vec4(0.0);
    for (int i = 0; i < taps * taps; ++i) {
        vec2 at = uv + (vec2(i % taps, i / taps) + 0.5 - 0.5 * float(taps)) * texel;
        vec4 place = textureLod(surface, at, 0.0);
#if RELIEF == 1
        vec4 finer = textureLod(relief, at, level);
        finer.xyz = unpacked_relief(finer.xyz);
        place = vec4(finer.x, place.yz + finer.yz, finer.w);
#endif
        averaged += place;
    }
    averaged /= float(taps * taps);
}
