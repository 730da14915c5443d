// The beach on the ground: what is added to its colour, and what is kept of it.
#include "beach.glsl"
#include "overlay.glsl"

uniform sampler2D surface;
uniform sampler2D light;

in vec3 position;
in vec3 air_kept;
in vec3 air_added;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

#ifndef CLOUDS
#define CLOUDS 0  // 1: in the sky, 2: with their shadows
#endif
#if CLOUDS > 1
#include "clouds.glsl"
in float clouds;  // before the sun
#endif

void main() {
    vec2 uv = map_uv(position.xz), cells = position.xz / frame.map.z;
    mat2 step_of = mat2(dFdx(cells), dFdy(cells));
    float height = beach_height(uv);
    if (height < 0.0) discard;
    Shore shore = shore_at(position.xz);
    if (up_the_beach(height, -shore.away, shore.strength) > beach_rises) discard;
    vec4 place = textureLod(surface, uv, 0.0);
    vec2 rise = abs(frame.map.z * place.yz * step_of);
    vec2 pixel = vec2(rise.x + rise.y, max(length(step_of[0]), length(step_of[1])));

    vec3 seen = textureLod(light, uv, 0.0).xyz;
#if CLOUDS > 1
    seen.x *= past_clouds(clouds);
#endif
    vec3 to_eye = normalize(frame.camera.xyz - position);
    Film film = beach_film(position.xz, place.yz * frame.map.w, shore, height, pixel, seen, to_eye);
    float hidden = water_left_out(uv, place, pixel.y);
    film.added *= 1.0 - hidden;
    film.kept = mix(film.kept, vec3(1.0), hidden);
    added = vec4(film.added * air_kept + (1.0 - film.kept) * air_added, 0.0);
    kept = vec4(film.kept, 1.0);
}
