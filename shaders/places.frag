// Where the ground is that each pixel shows, for shaders that draw it later.
in vec3 position;

out vec2 place;

void main() {
    place = position.xz;
}
