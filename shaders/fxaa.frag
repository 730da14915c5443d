// Smooths edges in a finished picture, after the idea of FXAA (Lottes 2009): blur along edges of brightness only.
uniform sampler2D picture;

in vec2 uv;
out vec4 colour;

void main() {
    vec2 texel = 1.0 / vec2(textureSize(picture, 0));
    vec4 centre = textureLod(picture, uv, 0.0);
    float nw = textureLod(picture, uv + vec2(-0.5, 0.5) * texel, 0.0).a;
    float ne = textureLod(picture, uv + vec2(0.5, 0.5) * texel, 0.0).a;
    float sw = textureLod(picture, uv + vec2(-0.5, -0.5) * texel, 0.0).a;
    float se = textureLod(picture, uv + vec2(0.5, -0.5) * texel, 0.0).a;
    float darkest = min(centre.a, min(min(nw, ne), min(sw, se)));
    float brightest = max(centre.a, max(max(nw, ne), max(sw, se)));
    if (brightest - darkest < max(0.03, brightest * 0.10)) {
        colour = vec4(centre.rgb, 1.0);
        return;
    }
    vec2 along = vec2((sw + se) - (nw + ne), (nw + sw) - (ne + se));
    float reduce = max((nw + ne + sw + se) * 0.03, 1.0 / 128.0);
    along = clamp(along / (min(abs(along.x), abs(along.y)) + reduce), -8.0, 8.0) * texel;
    vec3 near = 0.5 * (textureLod(picture, uv - along / 6.0, 0.0).rgb + textureLod(picture, uv + along / 6.0, 0.0).rgb);
    vec3 wide = 0.5 * near
              + 0.25 * (textureLod(picture, uv - along * 0.5, 0.0).rgb + textureLod(picture, uv + along * 0.5, 0.0).rgb);
    float brightness = dot(wide, vec3(0.299, 0.587, 0.114));
    colour = vec4(brightness < darkest || brightness > brightest ? near : wide, 1.0);
}
