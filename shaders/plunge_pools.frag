// A pool at the foot of a fall: it boils where the water strikes it, and rings of foam run out from there and are carried
// off. Rock that spray keeps wet is dark, and shines aslant.
#include "water.glsl"

uniform sampler2D detail;
uniform sampler2D light;

in vec3 position;
in vec2 away;
in vec2 beside;
flat in float is_rock;
flat in float seed;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const float TILES = 0.035;        // of noise for a metre
const vec3 DEEP = vec3(0.016, 0.062, 0.066), BUBBLES = vec3(0.30, 0.43, 0.43);  // what comes back from it, and where it boils
const float RUNS = 1.1;           // metres in a second, of foam on its way out
const float RINGS_APART = 3.4;    // metres
const float PERIOD = 4.0;         // seconds for which a pattern of foam runs before it is another
const float TO_WALL = 0.6;       // of the way to the rim, from where water strikes, behind the sheet
const float CONTRAST = 2.4;       // of foam, beside that of the noise
const vec3 WET = vec3(0.42, 0.40, 0.39);  // of the light that dry rock gives back
const float SOAKS = 14.0;         // metres from the water over which rock is ever less wet

// Noise that runs out from the foot, in two phases, so that it need not stretch.
vec4 running_out(vec2 at, float distance, float tiles) {
    float phase = frame.camera.w / PERIOD, part = fract(phase), later = fract(phase + 0.5);
    vec2 way = at / max(distance, 0.5);
    float level = log2(max(length(fwidth(at)) * tiles * float(textureSize(detail, 0).x), 1.0));
    float turn = floor(phase), other_turn = floor(phase + 0.5);
    vec4 one = textureLod(detail, tiles * (at - RUNS * PERIOD * part * way) + seed + 0.31 * turn, level);
    vec4 other = textureLod(detail, tiles * (at - RUNS * PERIOD * later * way) + seed + 0.17 + 0.31 * other_turn, level);
    float weight = 1.0 - abs(2.0 * part - 1.0);
    return 0.5 + (mix(other, one, weight) - 0.5) * inversesqrt(weight * weight + (1.0 - weight) * (1.0 - weight));
}

void main() {
    vec3 seen = textureLod(light, map_uv(position.xz), 0.0).xyz;
    vec3 to_eye = normalize(frame.camera.xyz - position);
    float distance = length(away);
    // From the foot to the rim, as far as the noise lets it.
    float shore = 1.0 - beside.x, out_to = beside.x * mix(1.0, TO_WALL, smoothstep(-0.2, -0.9, away.x / max(distance, 0.5)));
    vec4 coarse = running_out(away, distance, TILES), fine = running_out(away, distance, 3.7 * TILES), finest = running_out(away, distance, 11.0 * TILES);
    vec4 still = textureLod(detail, 1.3 * TILES * away + seed, 2.0);
    vec3 colour, through;
    float cover;
    if (is_rock > 0.5) {
        float soaked = 1.0 - smoothstep(0.25, 1.0, out_to + 0.9 * (still.x - 0.5) + 0.5 * (still.w - 0.5));
        cover = soaked * (1.0 - smoothstep(0.4 * SOAKS, SOAKS, abs(beside.y)));
        // What runs down it mirrors the sky.
        float shines = smoothstep(0.45, 0.8, still.w);
        colour = 0.05 * shines * plain_sky(vec3(0.0, 0.5, 0.0)) * max(seen.y, 0.3);
        through = WET;
    } else {
        cover = smoothstep(0.0, 0.22, shore + 0.35 * (still.x - 0.5) - 0.04) * smoothstep(-0.5, -0.1, beside.y);
        float boils = 1.0 - smoothstep(0.05, 0.75, out_to + 0.5 * (coarse.x - 0.5) + 0.3 * (fine.w - 0.5));
        float ring = distance - RUNS * frame.camera.w + 4.0 * (coarse.w - 0.5);
        vec2 way = away / max(distance, 0.5);
        float runs_out = smoothstep(1.0, 0.3, out_to);
        vec2 slope = 0.10 * runs_out * way * cos(6.2832 * ring / RINGS_APART) + (0.10 + 0.5 * boils) * (fine.yz - 0.5);
        vec3 normal = wave_normal(slope);
        float facing = clamp(dot(normal, to_eye), 0.02, 1.0), mirror = water_fresnel(facing, 0.008);
        vec3 daylight = light_on_water(vec3(max(seen.x, 0.05), max(seen.y, 0.4), 0.0));
        colour = mix(DEEP, BUBBLES, 0.75 * boils * boils) * daylight;
        colour = mix(colour, mirrored_sky(water_reflected(to_eye, normal), 0.0, 0.8, daylight), mirror * (1.0 - 0.7 * boils));
        // Foam: whole where it boils, then lace, then what is carried off in flakes.
        float lace = 0.5 + CONTRAST * (0.75 * fine.x + 0.25 * fine.w - 0.5), bubbly = 0.5 + CONTRAST * (finest.x - 0.5);
        float lies = 1.05 - 2.3 * out_to + 0.9 * (coarse.w - 0.5);
        float foam = smoothstep(0.10, 1.30, lace + lies - 0.45) * smoothstep(1.05, 0.7, out_to) * clamp(0.55 + 0.6 * bubbly + boils, 0.0, 1.0);
        colour = mix(colour, light_from_foam(0.85 * FOAM, foam, normal, vec3(max(seen.x, 0.05), max(seen.y, 0.5), 0.0)), 0.92 * foam);
        through = vec3(0.0);
    }
    if (cover <= 0.004) discard;
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    vec3 stays = 1.0 - cover * (1.0 - through);
    added = vec4(cover * colour * air_kept + (1.0 - stays) * air_added, 0.0);
    kept = vec4(stays, 1.0);
}
