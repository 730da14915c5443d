// A pattern over the pixels, from 0 to 1, in which a thing appears.
#include "frame.glsl"

float dissolve_pattern() {
    return fract(52.9829189 * fract(dot(gl_FragCoord.xy + frame.part.xy, vec2(0.06711056, 0.00583715))));  // Jimenez (2014)
}
