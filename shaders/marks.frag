// What snowballs and braided rivers left behind, as the ground shows it: how sandy it is, how bare, and how lately the
// gravel was moved; and how deep snow lies.
#include "map.glsl"

uniform sampler2D wear;     // metres
uniform sampler2D deposit;  // metres
uniform sampler2D reworked; // from 0 to 1
uniform sampler2D snow;     // metres of water
uniform sampler2D surface;  // elevation in metres, its slopes to the east and south
uniform float strength;     // of sand and bare rock, from 0 to 1
uniform vec2 wind;          // the way it blows

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

// Wind takes snow from rises and from strips along its way, and lays it down in hollows and in their lee.
const vec2 STRIPS = vec2(760.0, 150.0);  // metres along the wind and across it
const float NARROWEST = 2.2;             // cells
const float STRIPS_WIND = 0.8;           // how far they wind
const float UNEVENLY = 1.6;              // how much some strips are swept more than others
const float SWEEPS_SIDES = 0.22, SWEEPS_RISES = 2.0;  // of a slope of 1 that faces it; of a rise, in parts of its reach
const float RISES_OVER = 4.0;            // cells
const vec2 SWEPT = vec2(0.42, 0.86);     // of all that, from which on it takes snow, and all but some
const vec2 LEFT = vec2(0.10, 0.05);      // parts of it, on plains and on slopes
const vec2 PLAINS = vec2(0.08, 0.30);    // slopes

// From 0 to 1, smooth over cells 1 wide.
float waves(vec2 at) {
    vec2 corner = floor(at), part = smoothstep(0.0, 1.0, at - corner);
    vec2 north = vec2(hash(corner), hash(corner + vec2(1.0, 0.0))), south = vec2(hash(corner + vec2(0.0, 1.0)), hash(corner + 1.0));
    vec2 mixed = mix(north, south, part.y);
    return mix(mixed.x, mixed.y, part.x);
}

// The part of the snow that wind leaves at a place.
float left_by_wind() {
    vec2 at = uv * frame.map.xy * frame.map.z, texel = RISES_OVER / frame.map.xy;
    vec2 wide = max(STRIPS, NARROWEST * frame.map.z);
    vec2 along = vec2(dot(at, wind), dot(at, vec2(-wind.y, wind.x))) / wide;
    along.y += STRIPS_WIND * (waves(0.7 * along.xy * vec2(1.0, 0.4) + 31.0) + 0.5 * waves(1.9 * along + 7.0) - 0.75);
    float strips = 0.5 * waves(along) + 0.3 * waves(vec2(1.9, 2.1) * along + 17.0) + 0.2 * waves(vec2(0.35, 0.3) * along + 53.0);
    vec4 here = textureLod(surface, uv, 0.0);
    float around = 0.25 * (textureLod(surface, uv + vec2(texel.x, 0.0), 0.0).x + textureLod(surface, uv - vec2(texel.x, 0.0), 0.0).x
                         + textureLod(surface, uv + vec2(0.0, texel.y), 0.0).x + textureLod(surface, uv - vec2(0.0, texel.y), 0.0).x);
    float rise = clamp((here.x - around) / (RISES_OVER * frame.map.z), -0.1, 0.1);
    float sweeps = 0.5 + UNEVENLY * (strips - 0.5) + SWEEPS_SIDES * clamp(dot(here.yz, wind), -0.6, 0.6) + SWEEPS_RISES * rise;
    float least = mix(LEFT.x, LEFT.y, smoothstep(PLAINS.x, PLAINS.y, length(here.yz)));
    return pow(least, smoothstep(SWEPT.x, SWEPT.y, sweeps));
}

// How much of the four cells at a corner lies under snow, of which the wind has left such a part.
float hidden_around(vec2 corner, float left) {
    return dot(1.0 - exp(-left * textureGather(snow, corner, 0) / HIDES), vec4(0.25));
}

// How much of the ground does, blurred as traces are: not the depth is, or a deep drift would be a square that hides
// its neighbours.
float hidden_by_snow() {
    vec2 texel = 0.5 / frame.map.xy;
    vec2 across = vec2(texel.x, -texel.y);
    float left = left_by_wind();
    return 0.25 * (hidden_around(uv + texel, left) + hidden_around(uv - texel, left) + hidden_around(uv + across, left) + hidden_around(uv - across, left));
}

void main() {
    float taken = blurred(wear) / frame.map.z, given = blurred(deposit) / frame.map.z;  // in cells
    float balance = (given - taken) / (given + taken + 0.02);
    float sandy = strength * smoothstep(0.10, 0.90, given) * smoothstep(-0.05, 0.60, balance);
    float bare = strength * smoothstep(0.30, 1.60, taken) * smoothstep(0.15, 0.80, -balance);
    result = vec4(sandy, bare, plain_of_river(), hidden_by_snow());
}
