// Joins the layers into one map: elevation, its slopes to the east and south, and sediment.
#include "frame.glsl"

uniform sampler2D bedrock;
uniform sampler2D sediment;
uniform sampler2D burden;  // what else raises the ground

#ifndef WITH_BURDEN
#define WITH_BURDEN 1  // 0: nothing else does
#endif

out vec4 result;

float elevation(ivec2 cell) {
    float height = texelFetch(bedrock, cell, 0).x + texelFetch(sediment, cell, 0).x;
#if WITH_BURDEN == 1
    height += texelFetch(burden, cell, 0).x;
#endif
    return height;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    // At the edges of the map, slopes are taken between the cell and its one neighbour.
    ivec2 low = max(cell - 1, ivec2(0)), high = min(cell + 1, ivec2(frame.map.xy) - 1);
    // Weights of Scharr (2000): slopes that do not depend on how the ground is turned to the grid.
    float nw = elevation(low), n = elevation(ivec2(cell.x, low.y)), ne = elevation(ivec2(high.x, low.y));
    float w = elevation(ivec2(low.x, cell.y)), e = elevation(ivec2(high.x, cell.y));
    float sw = elevation(ivec2(low.x, high.y)), s = elevation(ivec2(cell.x, high.y)), se = elevation(high);
    vec2 rise = vec2(3.0 * (ne + se - nw - sw) + 10.0 * (e - w), 3.0 * (sw + se - nw - ne) + 10.0 * (s - n));
    vec2 slopes = rise / (16.0 * vec2(high - low) * frame.map.z);
    result = vec4(elevation(cell), slopes, texelFetch(sediment, cell, 0).x);
}
