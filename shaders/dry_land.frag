// What flow.frag finds far from any water.
#include "downhill.glsl"

uniform sampler2D surface;
uniform float nowhere_near;  // metres over the water, that stand for all that is far from any

out vec4 result;

void main() {
    result = vec4(0.0, downhill_from(surface, ivec2(gl_FragCoord.xy)), -nowhere_near);
}
