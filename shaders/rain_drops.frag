// A streak of rain, faint at its ends, or a flake of snow, which is round.
#include "sky.glsl"

in vec3 position;
in vec2 in_square;
flat in float cover;
flat in float flake;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

void main() {
    // The middle of a pixel at its edge can lie beside it.
    vec2 inside = max(1.0 - in_square * in_square, 0.0);
    float streak = inside.x * inside.y;
    float part = cover * mix(streak, 1.0 - smoothstep(0.3, 1.0, length(in_square)), flake);
    vec3 from_eye = normalize(position - frame.camera.xyz);
    float forward = max(dot(from_eye, frame.sun.xyz), 0.0);
    // Drops are bright as the sky that shines through them; flakes as snow.
    vec3 rain = 0.9 * horizon_colour(from_eye) + frame.sun_light.rgb * 0.10 * forward * forward;
    vec3 snow = 0.75 * sky_light(vec3(0.0, 1.0, 0.0)) + frame.sun_light.rgb * (0.12 + 0.2 * forward);
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(part * (mix(rain, snow, flake) * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - part), 1.0);
}
