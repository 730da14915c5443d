// Where the water's surface meets the ground, as segments in each square between four cells (Lorensen and Cline 1987, in
// the plane). The water goes on level from its last wet cell to where the ground between it and its dry neighbour is as high.
#include "coastline.glsl"

uniform sampler2D heights;  // ground, level of the water

layout(location = 0) out vec4 segment;
layout(location = 1) out vec4 other_segment;  // where the coast passes a square twice

struct Corner {
    vec2 place;    // in the square
    float ground;
    float level;
    bool wet;
    bool waves;
};

Corner corner(ivec2 square, ivec2 offset) {
    ivec2 cell = square + offset;
    vec2 here = texelFetch(heights, cell, 0).xy;
    bool wet = texelFetch(bodies, cell, 0).x > 0.5;
    return Corner(vec2(offset), here.x, here.y, wet, wet && has_waves(cell));
}

bool crosses(Corner a, Corner b) {
    return a.waves && !b.wet || b.waves && !a.wet;
}

vec2 crossing(Corner a, Corner b) {
    if (!a.wet) {
        Corner dry = a;
        a = b;
        b = dry;
    }
    float depth = max(a.level - a.ground, 1e-6);
    return mix(a.place, b.place, depth / (depth + max(b.ground - a.level, 0.0)));
}

void main() {
    ivec2 square = ivec2(gl_FragCoord.xy);
    segment = other_segment = NO_SEGMENT;
    if (any(greaterThanEqual(square, textureSize(heights, 0) - 1))) return;  // no square begins at the last cells
    Corner nw = corner(square, ivec2(0, 0)), ne = corner(square, ivec2(1, 0));
    Corner sw = corner(square, ivec2(0, 1)), se = corner(square, ivec2(1, 1));
    bool north = crosses(nw, ne), east = crosses(ne, se), south = crosses(sw, se), west = crosses(nw, sw);
    if (north && east && south && west) {
        // The ground's mesh joins south-west and north-east: the coast goes around the other two corners.
        segment = vec4(crossing(nw, ne), crossing(nw, sw));
        other_segment = vec4(crossing(ne, se), crossing(sw, se));
        return;
    }
    vec2 ends[4];
    int count = 0;
    if (north) ends[count++] = crossing(nw, ne);
    if (east) ends[count++] = crossing(ne, se);
    if (south) ends[count++] = crossing(sw, se);
    if (west) ends[count++] = crossing(nw, sw);
    if (count == 2) segment = vec4(ends[0], ends[1]);
}
