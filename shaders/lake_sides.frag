// The cut through a lake at the edge of the map, as through a block of resin.
#include "water.glsl"
#include "standing.glsl"
#include "outline.glsl"

uniform sampler2D surface;

in vec3 position;
flat in vec3 normal;
flat in float level;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const float PATH = 3.0;  // metres of water that one looks through into the block, about

void main() {
    vec2 inside = clamp(position.xz, vec2(0.5 * frame.map.z), map_extent() - 0.5 * frame.map.z);
    vec2 uv = map_uv(inside);
    float below = level * frame.map.w - position.y;  // metres under the surface
    float line = fwidth(position.y);
    float there = belongs(uv, level) * smoothstep(-0.5 * line, 0.5 * line, position.y - ground_height(surface, inside));
    if (there <= 0.0) discard;

    vec3 to_eye = normalize(frame.camera.xyz - position);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    vec3 daylight = frame.sun_light.rgb * frame.sun.y + sky_light(vec3(0.0, 1.0, 0.0));
    vec3 deep = water_transmission(below / frame.map.w, LAKE_TURBIDITY, 1.0);  // of the light that comes from above
    float mirror = water_fresnel(facing, 0.0);
    vec3 through = water_transmission(PATH, LAKE_TURBIDITY, facing) * (1.0 - mirror);
    vec3 colour = water_scattering(DEEP_LAKE, through, daylight) * (0.35 + 0.65 * deep) * 1.6 + mirror * clear_sky(reflect(-to_eye, normal));
    // The edge of the surface catches the light.
    colour += 0.22 * daylight * (1.0 - smoothstep(0.0, 1.6 * line, below));
    vec3 keep = mix(vec3(1.0), through, there);

    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(colour * there * air_kept + (1.0 - keep) * air_added, -outline_key());
    kept = vec4(keep, 0.0);
}
