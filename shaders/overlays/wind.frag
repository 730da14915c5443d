// The wind near the ground beside the prevailing one: to the east and to the south.
#include "frame.glsl"

uniform sampler2D wind_field_south;
uniform sampler2D wind_field_east;
uniform bool known;  // without a field it is the prevailing one everywhere

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec2 wind = frame.wind.xy;
    if (known) wind = vec2(texelFetch(wind_field_east, cell, 0).x, texelFetch(wind_field_south, cell, 0).x);
    result = vec4(wind, 0.0, 0.0);
}
