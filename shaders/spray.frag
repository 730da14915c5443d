// A puff of spray, which the sun shines through.
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D detail;
uniform sampler2D light;

in vec3 position;
in vec2 in_square;
flat in float seed;
flat in float dense;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const float TILE = 0.11;    // tiles of noise for the radius of a puff
const float CONTRAST = 3.0; // beside that of the noise

void main() {
    // Soft at its rim whatever the noise does: the square that it is drawn on does not show.
    vec4 wisps = textureLod(detail, TILE * in_square + seed + vec2(0.0, 0.012 * frame.camera.w), 2.0);
    float rim = max(1.0 - dot(in_square, in_square), 0.0), billows = clamp(0.5 + CONTRAST * (0.7 * wisps.w + 0.3 * wisps.x - 0.5), 0.0, 1.0);
    float cover = min(dense * rim * rim * (0.35 + 1.3 * billows), 1.0);
    if (cover <= 0.002) discard;
    vec3 from_eye = normalize(position - frame.camera.xyz);
    float forward = max(dot(from_eye, frame.sun.xyz), 0.0);
    vec3 seen = textureLod(light, map_uv(position.xz), 0.0).xyz;
    float sunny = 0.45 + 0.55 * forward * forward * forward;
    vec3 colour = 0.9 * (frame.sun_light.rgb * sunny * max(seen.x, 0.1) * 0.55 + sky_light(vec3(0.0, 1.0, 0.0)) * max(seen.y, 0.5));
    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (colour * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
