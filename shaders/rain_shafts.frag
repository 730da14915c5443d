// A shaft of rain or snow: grey against the sky, pale against the land, in threads that sink.
#include "rain.glsl"
#include "sky.glsl"

in vec3 position;
in vec2 in_square;
flat in float seed;
flat in float thick;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const float DENSEST = 0.34;  // part of what is behind that the middle of one shaft hides

void main() {
    float sinks = mix(0.05, 0.012, snow_part(position.y)) * frame.camera.w;
    float threads = textureLod(detail, vec2(0.11 * in_square.x + seed, 0.02 * in_square.y + 0.1 * sinks), 1.5).w;
    float veils = textureLod(detail, vec2(0.03 * in_square.x + seed + 0.4, 0.02 * in_square.y + 0.05 * sinks), 2.0).x;
    float middle = 1.0 - in_square.x * in_square.x;
    float ends = smoothstep(0.0, 0.12, in_square.y) * (1.0 - smoothstep(0.75, 1.0, in_square.y));
    float cover = DENSEST * thick * middle * middle * ends * clamp(0.2 + 2.2 * (threads - 0.5) + 3.0 * (veils - 0.35), 0.0, 1.0);

    vec3 from_eye = normalize(position - frame.camera.xyz);
    float forward = max(dot(from_eye, frame.sun.xyz), 0.0);
    vec3 light = 0.55 * sky_light(vec3(0.0, 0.5, 0.0)) + frame.sun_light.rgb * 0.16 * forward * forward * forward;
    light *= mix(0.8, 1.2, snow_part(position.y));
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (light * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
