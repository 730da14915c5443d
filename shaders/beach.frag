// The beach on the ground: what is added to its colour, and what is kept of it.
#include "water.glsl"
#include "waves.glsl"
#include "overlay.glsl"

uniform sampler2D surface;
uniform sampler2D light;

in vec3 position;
in vec3 air_kept;
in vec3 air_added;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

const vec3 BEACH_SAND = vec3(0.440, 0.368, 0.255);
const float WET_GROUND = 0.52;   // of the light that dry ground gives back
const float BEACH_CELLS = 8.0;   // no beach is wider: see shore_blocks in app/passes/mesh.py

void main() {
    vec2 uv = map_uv(position.xz), cells = position.xz / frame.map.z;
    vec4 place = texture(surface, uv);
    vec2 pixel = vec2(fwidth(place.x), max(length(dFdx(cells)), length(dFdy(cells))));
    float away = textureLod(coast, uv, 0.0).x;
    if (away > 0.0 || away < -BEACH_CELLS) discard;
    // Lower ground is no beach, but lies behind a dam or below an outlet.
    float height = -textureLod(surf, uv, 0.0).w;
    if (height < 0.0) discard;
    Shore shore = shore_at(position.xz);
    float reach = frame.beach.x * shore.strength;
    if (height > 3.0 * reach) discard;

    Beach beach = beach_at(position.xz, shore, height, pixel);
    vec4 fine = texture(detail, cells / 12.0), coarse = texture(detail, cells.yx / 173.0 + 0.37);
    vec2 slope = place.yz * frame.map.w;
    // Waves bring sand, and grind what they reach to it.
    float high = height / max(1.3 * reach, 1e-4) + 0.5 * (fine.x - 0.5) + 0.7 * (coarse.x - 0.5);
    float sandy = smoothstep(0.05, 0.4, shore.strength) * (1.0 - smoothstep(0.5, 1.3, high))
                * (1.0 - smoothstep(0.35, 0.75, length(slope) + 0.4 * (fine.w - 0.5)));
    vec3 seen = textureLod(light, uv, 0.0).xyz;
    vec2 bumps = 0.35 * (fine.yz - 0.5);
    vec3 normal = normalize(vec3(-slope.x - bumps.x, 1.0, -slope.y - bumps.y));
    vec3 sand = BEACH_SAND * (0.85 + 0.3 * fine.x)
              * (frame.sun_light.rgb * max(dot(normal, frame.sun.xyz), 0.0) * seen.x + sky_light(normal) * seen.y);

    float dark = mix(1.0, WET_GROUND, beach.wet);
    vec3 colour = sand * sandy * dark;
    float keep = (1.0 - sandy) * dark;
#if FINE_WATER == 1
    // Wet sand mirrors a little, the water on it more.
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 smooth_normal = normalize(mix(normal, vec3(0.0, 1.0, 0.0), 0.6 * beach.covered));
    float mirror = water_fresnel(max(dot(smooth_normal, to_eye), 0.0), 0.01)
                 * max(beach.covered, 0.5 * beach.wet * beach.wet);
    colour = mix(colour, mix(HORIZON, ZENITH, 0.3) * seen.y, mirror);
    keep *= 1.0 - mirror;
#endif
    colour = mix(colour, FOAM * light_on_water(seen), beach.foam);
    keep *= 1.0 - beach.foam;
    float hidden = water_left_out(uv, place, pixel.y);
    colour *= 1.0 - hidden;
    keep = mix(keep, 1.0, hidden);
    added = vec4(colour * air_kept + (1.0 - keep) * air_added, 1.0);
    kept = vec4(vec3(keep), 0.0);
}
