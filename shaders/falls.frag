// A sheet of falling water: clear at its lip, then white, in strands that come apart and spray.
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
const float STRANDS = 2.6;    // times as many strands as threads, which ledges part and hold in place
const float DRAWN = 0.010;    // tiles of noise for a metre of a strand
const vec2 PARTS = vec2(2.0, 22.0);  // metres of falling after which a sheet begins to part, and has parted into strands
const float SPREADS = 0.8;    // by which strands have come apart at the foot
const vec3 SHADED = vec3(0.55, 0.63, 0.68);  // of thin water and of what lies between strands, beside what is white
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
    // Ledges part the sheet into strands, which stay in place while water runs along them.
    float parted = smoothstep(PARTS.x, PARTS.y, falling.y) * smoothstep(0.03, 0.45, part);
    float across = STRANDS * THREADS * sideways / (1.0 + SPREADS * part) + 0.02 * coarse.y;
    float texels = float(textureSize(detail, 0).x) * max(fwidth(across), 1e-6);
    vec4 held = textureLod(detail, vec2(across + seed, DRAWN * falling.y), clamp(log2(texels), 1.0, COARSEST));
    float strand = clamp(0.5 + CONTRAST * (held.w - 0.5), 0.0, 1.0);
    // Its edges fray, and thin water comes apart; from afar it is one line.
    float whole = 1.0 - smoothstep(0.3, 1.0, narrow);
    float frayed = abs(side) + (0.12 + 0.55 * part) * (0.6 * coarse.y + 0.4 * fine.y - 0.35);
    float edge = 1.0 - smoothstep(mix(0.62, 0.78, parted), 1.0, frayed);
    float middle = 1.0 - pow(min(abs(side), 1.0), mix(6.0, 1.5, parted));
    float thick = mix(0.5 + thread + 0.25 * (1.0 - part), middle * (2.3 * strand + 0.7 * thread - 0.75), parted);
    float near = edge * mix(1.0, smoothstep(0.10, 0.75, thick), smoothstep(0.05, 0.3, part)) * mix(1.0, 0.85, parted);
    float cover = mix(near, mix(0.62, 0.95, narrow) * (0.75 + 0.5 * coarse.x), whole);
    cover *= smoothstep(0.0, 0.03, part + 0.02) * (1.0 - 0.5 * smoothstep(0.85, 1.0, part));
    cover *= 1.0 - smoothstep(0.0, 1.0, below + 0.7 * (1.0 - whole) * (fine.x - 0.5) * smoothstep(0.0, 0.2, below));
    cover = clamp(cover, 0.0, 1.0) * pow(narrow, NARROW_FADES);
    if (cover <= 0.004) discard;

    float white = mix(smoothstep(0.02, 0.22, part + 0.25 * (thread - 0.5)), 1.0, whole);
    vec3 seen = textureLod(light, map_uv(position.xz), 0.0).xyz;
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 towards = normalize(vec3(to_eye.x, 0.35, to_eye.z));
    float sunny = 0.30 + 0.55 * max(dot(towards, frame.sun.xyz), 0.0);
    vec3 daylight = frame.sun_light.rgb * sunny * max(seen.x, 0.15) + sky_light(towards) * max(seen.y, 0.75);
    // Thick strands shade what lies between them.
    vec3 strands = mix(SHADED, vec3(1.0), smoothstep(0.4, 1.6, thick)) * (0.34 + 0.60 * thread);
    vec3 colour = mix(CLEAR, WHITE, white) * daylight * mix(strands, vec3(0.50 + 0.60 * coarse.x), whole);
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (colour * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
