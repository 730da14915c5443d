// The way that water takes from each cell: a step of length 1 to the east and south, or 0 where it leaves the land.
#include "lines.glsl"

uniform sampler2D flow_directions;
uniform bool known;

out vec4 result;

void main() {
    int number = known ? int(texelFetch(flow_directions, ivec2(gl_FragCoord.xy), 0).x + 0.5) - 1 : 8;
    vec2 way = towards_neighbour(number < 0 ? 8 : number);
    result = vec4(way / max(length(way), 1.0), 0.0, 0.0);
}
