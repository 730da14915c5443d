// Joins the layers into one map: elevation, its slopes to the east and south, and sediment.
#include "frame.glsl"

uniform sampler2D bedrock;
uniform sampler2D sediment;

out vec4 result;

float elevation(ivec2 cell) {
    cell = clamp(cell, ivec2(0), ivec2(frame.map.xy) - 1);
    return texelFetch(bedrock, cell, 0).x + texelFetch(sediment, cell, 0).x;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    // Weights of Scharr (2000): slopes that do not depend on how the ground is turned to the grid.
    float nw = elevation(cell + ivec2(-1, -1)), n = elevation(cell + ivec2(0, -1)), ne = elevation(cell + ivec2(1, -1));
    float w = elevation(cell + ivec2(-1, 0)), e = elevation(cell + ivec2(1, 0));
    float sw = elevation(cell + ivec2(-1, 1)), s = elevation(cell + ivec2(0, 1)), se = elevation(cell + ivec2(1, 1));
    float east = (3.0 * (ne + se - nw - sw) + 10.0 * (e - w)) / (32.0 * frame.map.z);
    float south = (3.0 * (sw + se - nw - ne) + 10.0 * (s - n)) / (32.0 * frame.map.z);
    result = vec4(elevation(cell), east, south, texelFetch(sediment, cell, 0).x);
}
