// A sheet of falling water: clear at its lip, then white, in threads that fall ever faster.
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D detail;
uniform sampler2D light;

in vec3 position;
in vec4 falling;
in float sideways;
flat in float seed;
in float narrow;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const vec3 WHITE = vec3(0.88, 0.92, 0.95), CLEAR = vec3(0.16, 0.26, 0.27);
const float THREADS = 0.06;   // tiles of noise for a metre across
const float NARROW_FADES = 0.8;  // power of its share of the width that is drawn, by which a narrow sheet fades
const float LONG = 0.16;      // and for a second of falling
const float COARSEST = 3.0;   // image of the noise that is read
const float CONTRAST = 3.4;   // of threads, beside that of the noise

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
    float side = falling.x, seconds = falling.z, part = min(falling.w, 1.0), below = max(falling.w - 1.0, 0.0);
    float when = LONG * (seconds - frame.camera.w);
    vec4 coarse = threads(1.0, sideways, when), fine = threads(3.3, sideways, when);
    float thread = 0.55 * coarse.x + 0.45 * fine.w;
    // Its edges fray, and thin water comes apart; from afar it is one line.
    float whole = 1.0 - smoothstep(0.3, 1.0, narrow);
    float frayed = abs(side) + (0.12 + 0.55 * part) * (0.6 * coarse.y + 0.4 * fine.y - 0.35);
    float edge = 1.0 - smoothstep(0.62, 1.0, frayed);
    float torn = smoothstep(0.08, 0.42, thread + 0.25 * (1.0 - part));
    float near = edge * mix(1.0, mix(0.25, 1.0, torn), smoothstep(0.05, 0.4, part));
    float cover = mix(near, mix(0.62, 0.95, narrow) * (0.75 + 0.5 * coarse.x), whole);
    cover *= smoothstep(0.0, 0.03, part + 0.02) * (1.0 - 0.25 * smoothstep(0.92, 1.0, part));
    cover *= 1.0 - smoothstep(0.0, 1.0, below + 0.7 * (1.0 - whole) * (fine.x - 0.5) * smoothstep(0.0, 0.2, below));
    cover = clamp(cover, 0.0, 1.0) * pow(narrow, NARROW_FADES);
    if (cover <= 0.004) discard;

    float white = mix(smoothstep(0.02, 0.22, part + 0.25 * (thread - 0.5)), 1.0, whole);
    vec3 seen = textureLod(light, map_uv(position.xz), 0.0).xyz;
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 towards = normalize(vec3(to_eye.x, 0.35, to_eye.z));
    float sunny = 0.30 + 0.55 * max(dot(towards, frame.sun.xyz), 0.0);
    vec3 daylight = frame.sun_light.rgb * sunny * max(seen.x, 0.15) + sky_light(towards) * max(seen.y, 0.75);
    vec3 colour = mix(CLEAR, WHITE, white) * daylight * mix(0.34 + 0.60 * thread, 0.50 + 0.60 * coarse.x, whole);
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (colour * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
