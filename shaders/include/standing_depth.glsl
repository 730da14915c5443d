// How much water stands in a cell.
#include "map.glsl"

// In metres. Before the first cycle it is not known, and its map a single texel: then the sea stands wherever it can.
float standing_depth(sampler2D water, sampler2D surface, ivec2 cell) {
    if (textureSize(water, 0) == ivec2(frame.map.xy)) return texelFetch(water, cell, 0).x;
    return max(frame.water.w - texelFetch(surface, cell, 0).x, 0.0);
}
