// A map as the mean over two texels each way.
uniform sampler2D map;

in vec2 uv;
out vec4 smoothed;

void main() {
    vec2 half_texel = 0.5 / vec2(textureSize(map, 0));
    vec2 other = vec2(half_texel.x, -half_texel.y);
    smoothed = 0.25 * (textureLod(map, uv + half_texel, 0.0) + textureLod(map, uv - half_texel, 0.0)
                     + textureLod(map, uv + other, 0.0) + textureLod(map, uv - other, 0.0));
}
