// Whether a river ends in standing water in a block of cells, so wide as its plume reaches: few cells are near one.
#include "river_mouth.glsl"

uniform sampler2D rivers;

out vec4 result;

void main() {
    ivec2 first = ivec2(gl_FragCoord.xy) * PLUME_REACH;
    bool some = false;
    for (int cell = 0; cell < PLUME_REACH * PLUME_REACH; ++cell) {
        some = some || is_mouth(rivers, first + ivec2(cell % PLUME_REACH, cell / PLUME_REACH));
    }
    result = vec4(some);
}
