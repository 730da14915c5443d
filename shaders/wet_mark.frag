// How wet the ground still is that water has left, from 1 to 0, and how deep water stands.
#include "standing_depth.glsl"

uniform sampler2D water;    // depth in metres
uniform sampler2D surface;
uniform sampler2D before;   // what this found last
uniform float kept;         // part of the wetness that is left since then; below 0: nothing is known of it

out vec2 result;

const float DEEP = 0.05;  // metres of water that leave a mark: a shore that comes and goes by less has its own

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    float depth = standing_depth(water, surface, cell), mark = 0.0;
    if (kept >= 0.0 && depth <= 0.0) {
        vec2 was = texelFetch(before, cell, 0).xy;
        mark = kept * (was.y > DEEP ? 1.0 : was.x);
        if (mark < 0.01) mark = 0.0;
    }
    result = vec2(mark, depth);
}
