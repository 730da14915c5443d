// A puff of spray, which the sun shines through, or foam.
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

void main() {
    float drift = 0.03 * frame.camera.w;
    vec4 wisps = textureLod(detail, 0.045 * in_square + seed + vec2(0.0, drift * mix(0.3, 1.0, foam)), mix(2.0, 1.0, foam));
    float away = length(in_square * vec2(1.0, 1.15)) + 1.6 * (wisps.x - 0.5);
    float cover = dense * (1.0 - smoothstep(0.15, 0.95, away));
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
