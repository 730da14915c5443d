// What snowballs and braided rivers left behind, as the ground shows it: how sandy it is, how bare, and how lately the
// gravel was moved; and how deep snow lies.
#include "map.glsl"

uniform sampler2D wear;     // metres
uniform sampler2D deposit;  // metres
uniform sampler2D reworked; // from 0 to 1
uniform sampler2D snow;     // metres of water
uniform float strength;     // of sand and bare rock, from 0 to 1

in vec2 uv;
out vec4 result;

// A 3×3 binomial blur in four reads between texels: single paths of balls are noise.
float blurred(sampler2D trace) {
    vec2 texel = 0.5 / frame.map.xy;
    vec2 across = vec2(texel.x, -texel.y);
    return 0.25 * (textureLod(trace, uv + texel, 0.0).x + textureLod(trace, uv - texel, 0.0).x
                 + textureLod(trace, uv + across, 0.0).x + textureLod(trace, uv - across, 0.0).x);
}

const float HIDES = 0.08;  // metres of water: a depth of snow that hides most of the ground

// How much of the four cells at a corner lies under snow.
float hidden_around(vec2 corner) {
    return dot(1.0 - exp(-textureGather(snow, corner, 0) / HIDES), vec4(0.25));
}

// How much of the ground does, blurred as traces are: not the depth is, or a deep drift would be a square that hides
// its neighbours.
float hidden_by_snow() {
    vec2 texel = 0.5 / frame.map.xy;
    vec2 across = vec2(texel.x, -texel.y);
    return 0.25 * (hidden_around(uv + texel) + hidden_around(uv - texel) + hidden_around(uv + across) + hidden_around(uv - across));
}

void main() {
    float taken = blurred(wear) / frame.map.z, given = blurred(deposit) / frame.map.z;  // in cells
    float balance = (given - taken) / (given + taken + 0.02);
    float sandy = strength * smoothstep(0.10, 0.90, given) * smoothstep(-0.05, 0.60, balance);
    float bare = strength * smoothstep(0.30, 1.60, taken) * smoothstep(0.15, 0.80, -balance);
    result = vec4(sandy, bare, blurred(reworked), hidden_by_snow());
}
