// A puff of spray, which the sun shines through, or foam on the pool below, which boils.
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D detail;
uniform sampler2D light;

in vec3 position;
in vec2 in_square;
flat in float seed;
flat in float dense;
flat in float foam;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const float SPRAY_TILE = 0.11, FOAM_TILE = 0.16;  // tiles of noise for the radius of a puff, and of foam
const float WELLS = 0.22;   // of its radius, by which foam runs out from the foot in a second
const float CONTRAST = 3.0; // of both, beside that of the noise

// Noise from 0 to 1 that runs out from the middle, in two phases, so that it need not stretch.
float boiling(vec2 at, float seconds) {
    float level = log2(max(fwidth(at.x) * FOAM_TILE * float(textureSize(detail, 0).x), 1.0)) + 0.5;
    float part = fract(seconds), later = fract(seconds + 0.5);
    float one = textureLod(detail, FOAM_TILE * at * (1.3 - part) + seed, level).x;
    float other = textureLod(detail, FOAM_TILE * at * (1.3 - later) + seed + 0.37, level).x;
    float weight = 1.0 - abs(2.0 * part - 1.0);
    return 0.5 + CONTRAST * (mix(other, one, weight) - 0.5) * inversesqrt(weight * weight + (1.0 - weight) * (1.0 - weight));
}

void main() {
    float away = length(in_square), cover;
    if (foam > 0.5) {
        float lace = boiling(in_square, WELLS * frame.camera.w);
        cover = dense * (1.0 - smoothstep(0.75, 1.0, away)) * smoothstep(0.0, 0.5, lace + 0.75 - 1.5 * away);
    } else {
        // Soft at its rim whatever the noise does: the square that it is drawn on does not show.
        vec4 wisps = textureLod(detail, SPRAY_TILE * in_square + seed + vec2(0.0, 0.012 * frame.camera.w), 2.0);
        float rim = max(1.0 - away * away, 0.0), billows = clamp(0.5 + CONTRAST * (0.7 * wisps.w + 0.3 * wisps.x - 0.5), 0.0, 1.0);
        cover = dense * rim * rim * (0.35 + 1.3 * billows);
    }
    cover = min(cover, 1.0);
    if (cover <= 0.003) discard;
    vec3 from_eye = normalize(position - frame.camera.xyz);
    float forward = max(dot(from_eye, frame.sun.xyz), 0.0);
    vec3 seen = textureLod(light, map_uv(position.xz), 0.0).xyz;
    float sunny = 0.45 + 0.55 * forward * forward * forward;
    vec3 colour = 0.9 * (frame.sun_light.rgb * sunny * max(seen.x, 0.1) * mix(0.55, 0.8, foam) + sky_light(vec3(0.0, 1.0, 0.0)) * max(seen.y, 0.5));
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (colour * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
