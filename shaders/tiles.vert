// Squares of the target, behind all that has been drawn.
in vec2 corner;  // from -1 to 1

void main() {
    gl_Position = vec4(corner, 1.0, 1.0);
}
