// The tile that fractures_height.frag has drawn, for reading: its height and slopes about 0.5, in parts of their spans,
// and how far it stands out of what is around it.
uniform sampler2D heights;  // with mipmaps
uniform vec4 spans;  // mean height; of the height, the slopes and the last, what goes from 0 to 1

out vec4 result;

float height_at(ivec2 texel) {
    ivec2 size = textureSize(heights, 0);
    return texelFetch(heights, (texel + size) % size, 0).x;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec2 size = vec2(textureSize(heights, 0));
    vec2 rise = vec2(height_at(at + ivec2(1, 0)) - height_at(at - ivec2(1, 0)),
                     height_at(at + ivec2(0, 1)) - height_at(at - ivec2(0, 1)));
    float height = height_at(at), around = textureLod(heights, gl_FragCoord.xy / size, 4.0).x;
    result = 0.5 + vec4((height - spans.x) / spans.y, 0.5 * rise * size / spans.z, (height - around) / spans.w);
}
