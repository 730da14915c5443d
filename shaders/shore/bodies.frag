// Where water stands, and where it is the sea's: 1, or 0. Mipmaps tell how much of the surroundings is water. Beside it a
// copy of the heights, as all that follows is worked out over frames, in which the layers can change.
uniform sampler2D surface;      // elevation first
uniform sampler2D water;        // depth, 0 where dry
uniform sampler2D water_level;
uniform float sea_level;

layout(location = 0) out vec2 bodies;
layout(location = 1) out vec2 heights;  // ground, level of the water

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    bool wet = texelFetch(water, cell, 0).x > 0.0;
    heights = vec2(texelFetch(surface, cell, 0).x, texelFetch(water_level, cell, 0).x);
    bodies = vec2(wet, wet && heights.y == sea_level);
}
