// Relief in 8 bits, as levels have it that save work: heights and slopes up to a span, its amount, and 0 to the bit.
const float MOST_RELIEF = 2.0;  // amount, as far as its parameter goes

uniform float relief_span;  // in cells, and in slopes

vec4 packed_relief(vec4 relief) {
    vec4 part = relief / vec4(vec3(relief_span), MOST_RELIEF);
    return (128.0 + clamp(part, -1.0, 1.0) * 127.0) / 255.0;
}

vec4 unpacked_relief(vec4 texel) {
    return (texel * 255.0 - 128.0) * (vec4(vec3(relief_span), MOST_RELIEF) / 127.0);
}
