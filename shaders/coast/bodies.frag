// Where water stands, and where it is the sea's: 1, or 0. Mipmaps tell how much of the surroundings is water.
uniform sampler2D water;        // depth, 0 where dry
uniform sampler2D water_level;
uniform float sea_level;

out vec2 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    bool wet = texelFetch(water, cell, 0).x > 0.0;
    result = vec2(wet, wet && texelFetch(water_level, cell, 0).x == sea_level);
}
