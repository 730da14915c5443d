// Relief in 8 bits, as levels have it that save work: heights and slopes up to a span, and 0 to the bit.
const float RELIEF_SPAN = 2.0;

vec4 packed_relief(vec4 relief) {
    return (128.0 + clamp(relief / RELIEF_SPAN, -1.0, 1.0) * 127.0) / 255.0;
}

vec4 unpacked_relief(vec4 texel) {
    return (texel * 255.0 - 128.0) * (RELIEF_SPAN / 127.0);
}
