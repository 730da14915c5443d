// Running water on the ground: what is added to its colour, and what is kept of it.
#include "water.glsl"
#include "stream.glsl"
#include "overlay.glsl"
#include "detail.glsl"

uniform sampler2D surface;
uniform sampler2D light;
uniform sampler2D water;  // depth of what stands, in metres

in vec3 position;
in vec3 air_kept;
in vec3 air_added;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const float STIRRED = 0.07;  // broken water mirrors the sky also to an eye above it

void main() {
    vec2 uv = map_uv(position.xz);
    vec2 cells = position.xz / frame.map.z;
    float pixel = length(fwidth(cells));
    // Software renderers gain from an early end, and from no branch.
    if (texture(flow, uv).x < 0.6 * BANK) discard;
    float size = stream_size(cells, uv, detail);
    float cover = stream_cover(size, pixel);
    // Where it runs into a lake, the lake covers it.
    cover *= 1.0 - smoothstep(0.0, 0.35 * frame.water.x, textureLod(water, uv, 0.0).x * frame.map.w);
    if (cover <= 0.0) discard;

    vec4 place = textureLod(surface, uv, 0.0);
    Stream stream = stream_at(size, cells, uv, place.yz * frame.map.w, surface, detail);
    cover *= 1.0 - water_left_out(uv, place, pixel);

    vec3 seen = textureLod(light, uv, 0.0).xyz;
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 normal = wave_normal(stream.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = max(water_fresnel(facing, 0.01), STIRRED);
    vec3 daylight = light_on_water(seen);
    vec3 through = water_transmission(stream.depth, facing) * (1.0 - mirror);
    vec3 colour = water_scattering(through, daylight) * stream.tone
                + mirror * mirrored_sky(water_reflected(to_eye, normal), seen.y, daylight);
#if FINE_WATER == 1
    colour += 0.15 * frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, 0.02);
#endif
    colour = mix(colour, FOAM * daylight, stream.white) * cover;
    vec3 keep = mix(vec3(1.0), through * (1.0 - stream.white), cover);
    added = vec4(colour * air_kept + (1.0 - keep) * air_added, 1.0);
    kept = vec4(keep, 0.0);
}
