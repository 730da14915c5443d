// What flow.frag finds far from any water.
#include "downhill.glsl"
#include "wet_mark.glsl"

uniform sampler2D surface;
uniform float nowhere_near;  // metres over the water, that stand for all that is far from any

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = vec4(0.0, downhill_from(surface, cell), above_water(-nowhere_near, cell, nowhere_near));
}
