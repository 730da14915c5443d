// Where water stands, where it is the sea's, and where it is a lake's and all the cells around are, too: 1, or 0. Mipmaps
// tell how much of the surroundings is open water, for which puddles do not count, be they many. Beside it a copy of the
// heights, as all that follows is worked out over frames, in which the layers can change.
uniform sampler2D surface;      // elevation first
uniform sampler2D water;        // depth, 0 where dry
uniform sampler2D water_level;
uniform float sea_level;
uniform bool level_is_known;    // before the first cycle it is not: then the sea stands wherever it can

layout(location = 0) out vec4 bodies;
layout(location = 1) out vec2 heights;  // ground, level of the water

// The ground, and the level of the water that stands on it, or that of the ground again.
vec2 ground_and_level(ivec2 cell) {
    float ground = texelFetch(surface, cell, 0).x;
    return vec2(ground, level_is_known ? texelFetch(water_level, cell, 0).x : max(ground, sea_level));
}

bool is_wet(ivec2 cell, vec2 there) {
    return level_is_known ? texelFetch(water, cell, 0).x > 0.0 : there.x < sea_level;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = textureSize(surface, 0) - 1;
    heights = ground_and_level(cell);
    bool wet = is_wet(cell, heights), open = wet;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 beside = clamp(cell + ivec2(east, south), ivec2(0), last);
            vec2 there = ground_and_level(beside);
            open = open && is_wet(beside, there) && there.y == heights.y;
        }
    }
    bool sea = wet && heights.y == sea_level;
    bodies = vec4(wet, sea, open && !sea, 1.0);
}
