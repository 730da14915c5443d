// Points in and beside a cell as numbers that a texture keeps whole: two in 24 bits, in 32nds of a cell.

float coded(vec2 one, vec2 other) {
    ivec4 steps = clamp(ivec4(round(vec4(one, other) * 32.0)) + 32, 0, 63);
    return float(((steps.x * 64 + steps.y) * 64 + steps.z) * 64 + steps.w);
}

vec4 decoded(float code) {
    int steps = int(code);
    return (vec4(steps >> 18, (steps >> 12) & 63, (steps >> 6) & 63, steps & 63) - 32.0) / 32.0;
}
