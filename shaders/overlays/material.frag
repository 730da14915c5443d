// The number of what the ground of each cell is made of: the loose kind of which most lies there, or the rock, counted on
// from the last kind, where it is bare.
#include "frame.glsl"
#include "kinds.glsl"
#include "strata_top.glsl"

uniform sampler2D bedrock;
uniform sampler2D sediment;
uniform sampler2D rock_numbers;  // by depth below the top of the strata
uniform bool known;
uniform int kind_count;

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    float number = 0.0;
    if (known && texelFetch(sediment, cell, 0).x > 0.5 * frame.ground_look.z) {
        number = float(kinds_of(cell).first);
    } else if (known) {
        int steps = textureSize(rock_numbers, 0).x;
        float depth = texelFetch(strata_rise, cell, 0).x - texelFetch(bedrock, cell, 0).x;
        int at = clamp(int(depth * frame.strata.x * float(steps)), 0, steps - 1);
        number = float(kind_count) + (depth > 0.5 * INTRUDED ? 0.0 : texelFetch(rock_numbers, ivec2(at, 0), 0).x);
    }
    result = vec4(number, 0.0, 0.0, 0.0);
}
