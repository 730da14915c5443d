// Where water stands, and where it is the sea's: 1, or 0. Mipmaps tell how much of the surroundings is water. Beside it a
// copy of the heights, as all that follows is worked out over frames, in which the layers can change.
uniform sampler2D surface;      // elevation first
uniform sampler2D water;        // depth, 0 where dry
uniform sampler2D water_level;
uniform float sea_level;
uniform bool level_is_known;    // before the first cycle it is not: then the sea stands wherever it can

layout(location = 0) out vec2 bodies;
layout(location = 1) out vec2 heights;  // ground, level of the water

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    float ground = texelFetch(surface, cell, 0).x;
    bool wet = level_is_known ? texelFetch(water, cell, 0).x > 0.0 : ground < sea_level;
    heights = vec2(ground, level_is_known ? texelFetch(water_level, cell, 0).x : max(ground, sea_level));
    bodies = vec2(wet, wet && heights.y == sea_level);
}
