// Relief in 8 bits, as levels have it that save work: heights and slopes up to a span, and 0 to the bit.
uniform float relief_span;  // in cells, and in slopes

vec3 packed_relief(vec3 relief) {
    return (128.0 + clamp(relief / relief_span, -1.0, 1.0) * 127.0) / 255.0;
}

vec3 unpacked_relief(vec3 texel) {
    return (texel * 255.0 - 128.0) * (relief_span / 127.0);
}
