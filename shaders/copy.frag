// A finished picture in another size.
uniform sampler2D picture;

in vec2 uv;
out vec4 colour;

void main() {
    colour = vec4(textureLod(picture, uv, 0.0).rgb, 1.0);
}
