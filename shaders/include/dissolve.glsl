// A pattern over the pixels, from 0 to 1, in which a thing appears.

float dissolve_pattern() {
    return fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));  // Jimenez (2014)
}
