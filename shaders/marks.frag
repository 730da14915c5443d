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

// Half the side in reads of a square over which the plain of a river is told, and cells from one to the next, each of
// which is between cells.
const int AROUND = 3;
const float APART = 2.3;
const vec2 OF_PLAIN = vec2(0.04, 0.76);  // of what was moved around a place, on the way from land to the plain of a river

// How lately a river moved its gravel here or around. The ground between its threads is its plain too, and the plain has
// one bank, not one for each cell that a thread has been in.
float plain_of_river() {
    if (textureSize(reworked, 0).x <= 1) return 0.0;
    float moved = 0.0, weights = 0.0;
    for (int south = -AROUND; south <= AROUND; ++south) {
        for (int east = -AROUND; east <= AROUND; ++east) {
            vec2 away = vec2(east, south) / float(AROUND + 1);
            float weight = max(1.0 - dot(away, away), 0.0);
            moved += weight * textureLod(reworked, uv + APART * vec2(east, south) / frame.map.xy, 0.0).x;
            weights += weight;
        }
    }
    return smoothstep(OF_PLAIN.x, OF_PLAIN.y, moved / weights);
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
    result = vec4(sandy, bare, plain_of_river(), hidden_by_snow());
}
