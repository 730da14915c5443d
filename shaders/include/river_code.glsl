// Points in and beside a cell as numbers that a texture keeps whole: two in 24 bits, in 32nds of a cell. A stream runs through
// a point that lies up to two cells from the middle of its cell, in 16ths; half way to the next is told from there, and is
// the same place for both.

vec2 in_16ths(vec2 point) {
    return round(point * 16.0) / 16.0;
}

float coded(vec2 one, vec2 other) {
    ivec4 steps = clamp(ivec4(round(vec4(one, other) * 32.0)) + 32, 0, 63);
    return float(((steps.x * 64 + steps.y) * 64 + steps.z) * 64 + steps.w);
}

vec4 decoded(float code) {
    int steps = int(code);
    return (vec4(steps >> 18, (steps >> 12) & 63, (steps >> 6) & 63, steps & 63) - 32.0) / 32.0;
}

const float WIDTH_STEPS = 4096.0;  // of a cell; what is left of a float's 24 bits says how a stream bends

// Half the width of a stream in cells, less than 4096, and how it bends, from −1 to 1, as one number above 0.
float with_bend(float half_width, float bend) {
    return max(round(half_width * WIDTH_STEPS), 1.0) + 0.5 + 0.49 * clamp(bend, -1.0, 1.0);
}

vec2 width_and_bend(float code) {
    return vec2(floor(code) / WIDTH_STEPS, (fract(code) - 0.5) / 0.49);
}
