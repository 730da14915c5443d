// Where the ground is that each pixel shows, for shaders that draw it later.
in vec3 position;
in float strata_top;

out vec4 place;

void main() {
    place = vec4(position.xz, strata_top, 0.0);
}
