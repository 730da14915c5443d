// A sheet of falling water: smooth and clear at its lip, then white, then a veil with threads in it that fall in pulses
// and turn into spray.
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D detail;
uniform sampler2D light;

in vec3 position;
in vec4 falling;
in float sideways;
flat in float seed;
flat in float low;  // 1 where it falls over a step of its bed, and not free
in float narrow;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const vec3 WHITE = vec3(0.88, 0.92, 0.95), CLEAR = vec3(0.075, 0.165, 0.165);
const float SKY_IN_LIP = 0.35;  // of the light that comes back from what is smooth
const float THREADS = 0.05;   // tiles of noise for a metre across
const float LONG = 0.16;      // and for a second of falling
const float PULSES = 1.3;     // times as many pulses as threads, across
const vec2 BREAKS = vec2(0.5, 5.0);    // metres of falling over which a sheet whitens
const vec2 PARTS = vec2(4.0, 30.0);    // and over which it comes apart to a veil
const vec3 SHADED = vec3(0.60, 0.69, 0.74);  // of thin water, beside what is white
const float COARSEST = 3.0;   // image of the noise that is read
const float CONTRAST = 3.0;   // of threads, beside that of the noise
// How broad threads of foam are on a low fall, and how white it is between them, where its stream is seen below; and how
// narrow one is, beside what is drawn of it, that is not seen from afar.
const vec2 FOAM_ON_LOW = vec2(0.35, 0.70), LOW_SEEN = vec2(0.35, 0.9);
const float BETWEEN_FOAM = 0.6;
// Parts of the sheet where what splashes up begins to hide it, and hides most, and where it is all in the pool; and how far.
const vec3 SPLASHES = vec3(0.72, 0.955, 0.995);
const float SPLASH = 0.85;
const float VEIL = 0.38;      // opacity of what has come off them

// Threads of water, from 0 to 1, so many times as fine as the broadest: what has fallen for so long stays together, and
// stretches as it gets faster.
vec4 threads(float times, float metres, float when) {
    vec2 at = vec2(times * THREADS * metres + times * seed, times * when);
    float texels = float(textureSize(detail, 0).x) * times * THREADS;
    float level = log2(max(texels * max(fwidth(metres), 1e-4), 1.0));
    vec4 noise = textureLod(detail, at, min(level, COARSEST));  // a line far away is still seen to fall
    return clamp(0.5 + CONTRAST * (noise - 0.5), 0.0, 1.0);
}

void main() {
    float side = falling.x, metres = falling.y, seconds = falling.z, part = min(falling.w, 1.0), below = max(falling.w - 1.0, 0.0);
    float when = LONG * (seconds - frame.camera.w);
    // Threads come apart as the sheet spreads.
    float across = sideways / (1.0 + 0.8 * part);
    vec4 coarse = threads(1.0, across, when), fine = threads(3.3, across, when), finest = threads(8.0, across, 0.35 * when);
    vec4 pulse = threads(PULSES, across, 0.8 * when);
    float thread = 0.35 * coarse.x + 0.35 * fine.w + 0.30 * finest.x;
    // It breaks first where threads are thin: tongues of clear water reach down between those that are white.
    float breaks = smoothstep(BREAKS.x, BREAKS.y, metres + (3.0 * (fine.x - 0.5) + 5.0 * (coarse.w - 0.5)) * smoothstep(0.0, 1.0, metres));
    float parted = smoothstep(PARTS.x, PARTS.y, metres) * smoothstep(0.03, 0.45, part);
    // From afar it is one line, which fades to its sides.
    float whole = 1.0 - smoothstep(0.35, 1.0, narrow), aside = min(abs(side), 1.0);
    float frayed = aside + (0.06 + 0.60 * parted) * (0.5 * coarse.y + 0.5 * fine.y - 0.45);
    float edge = 1.0 - smoothstep(mix(0.80, 0.55, parted), 1.0, frayed);
    edge *= 1.0 - smoothstep(0.9, 1.0, aside);
    float thick = mix(1.0, (1.0 - 0.45 * aside * aside) * (0.85 * thread + 1.3 * pulse.w - 0.42), parted);
    float near = edge * mix(1.0, clamp(0.10 + 1.0 * thick, 0.0, 1.0), parted) * mix(1.0, 0.94, breaks);
    // Between its threads is what has come off them.
    near = max(near, VEIL * parted * (1.0 - aside * aside) * (0.5 + 0.5 * coarse.x));
    float cover = mix(near, 2.0 * (1.0 - aside) * min(narrow, 0.5) * (0.75 + 0.5 * coarse.x), whole);
    cover *= mix(1.0, mix(BETWEEN_FOAM, 1.0, smoothstep(FOAM_ON_LOW.x, FOAM_ON_LOW.y, 0.6 * thread + 0.5 * pulse.w)) * smoothstep(0.0, 0.12, part) * smoothstep(LOW_SEEN.x, LOW_SEEN.y, narrow), low);
    // Its last water is spray, and what splashes up from the pool is before it.
    cover *= smoothstep(-0.020, -0.012, part) * (1.0 - 0.55 * smoothstep(0.70, 1.0, part));
    float foot = part + 0.05 * (fine.w - 0.5) + 0.03 * (pulse.x - 0.5);
    float splash = (1.0 - aside * aside) * smoothstep(SPLASHES.x, SPLASHES.y, foot) * (1.0 - low) * (1.0 - whole);
    cover = max(cover, SPLASH * splash) * (1.0 - smoothstep(SPLASHES.y, SPLASHES.z, foot) * (1.0 - low));
    cover *= 1.0 - smoothstep(0.0, 1.0, below + 0.7 * (1.0 - whole) * (fine.x - 0.5) * smoothstep(0.0, 0.2, below));
    cover = clamp(cover, 0.0, 1.0);
    if (cover <= 0.004) discard;

    float white = mix(breaks, 1.0, max(whole, low));
    vec3 seen = textureLod(light, map_uv(position.xz), 0.0).xyz;
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 towards = normalize(vec3(to_eye.x, 0.35, to_eye.z));
    float sunny = 0.30 + 0.55 * max(dot(towards, frame.sun.xyz), 0.0);
    vec3 daylight = frame.sun_light.rgb * sunny * max(seen.x, 0.15) + sky_light(towards) * max(seen.y, 0.75);
    // Thick threads shade what lies between them.
    vec3 shade = mix(SHADED, vec3(1.0), smoothstep(0.25, 0.95, thick)) * (0.55 + 0.45 * thread);
    shade = mix(shade, vec3(0.85 + 0.3 * fine.w), splash);
    vec3 smooth_water = CLEAR * daylight * (0.85 + 0.3 * coarse.x) + SKY_IN_LIP * plain_sky(vec3(to_eye.x, 0.6, to_eye.z)) * max(seen.y, 0.5) * smoothstep(0.3, 0.8, coarse.w);
    vec3 colour = mix(smooth_water, WHITE * daylight * mix(shade, vec3(0.55 + 0.50 * coarse.x), whole), white);
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (colour * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
