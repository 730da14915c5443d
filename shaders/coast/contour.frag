// Where the water's surface meets the ground, as segments in each square between four cells (Lorensen and Cline 1987, in
// the plane). The water goes on level from its last wet cell to where the ground between it and its dry neighbour is as high.
#include "coast.glsl"

uniform sampler2D surface;      // elevation first
uniform sampler2D water;        // depth, 0 where dry
uniform sampler2D water_level;

layout(location = 0) out vec4 segment;
layout(location = 1) out vec4 other_segment;  // where the coast passes a square twice

struct Corner {
    vec2 place;   // in the square
    float ground;
    float depth;
    float level;
    bool waves;
};

Corner corner(ivec2 square, ivec2 offset) {
    ivec2 cell = square + offset;
    float depth = texelFetch(water, cell, 0).x;
    bool waves = depth > 0.0 && has_waves(cell);
    return Corner(vec2(offset), texelFetch(surface, cell, 0).x, depth, texelFetch(water_level, cell, 0).x, waves);
}

bool crosses(Corner a, Corner b) {
    return a.waves && b.depth <= 0.0 || b.waves && a.depth <= 0.0;
}

vec2 crossing(Corner a, Corner b) {
    if (a.depth <= 0.0) {
        Corner dry = a;
        a = b;
        b = dry;
    }
    return mix(a.place, b.place, a.depth / (a.depth + max(b.ground - a.level, 0.0)));
}

void main() {
    ivec2 square = ivec2(gl_FragCoord.xy);
    segment = other_segment = NO_SEGMENT;
    if (any(greaterThanEqual(square, textureSize(surface, 0) - 1))) return;  // no square begins at the last cells
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
