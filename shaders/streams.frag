// Running water on the ground: what is added to its colour, and what is kept of it.
#include "running_water.glsl"
#include "detail.glsl"

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
    vec2 uv = map_uv(position.xz);
    vec2 cells = position.xz / frame.map.z;
    mat2 step_of = mat2(dFdx(cells), dFdy(cells));
    vec4 known = texture(flow, uv);
    // Software renderers gain from an early end, and from no branch.
    if (known.x <= 0.0) discard;
    vec4 place = textureLod(surface, uv, 0.0);
    vec2 slope = place.yz * frame.map.w;
    Course course = course_at(cells, slope, known, step_of, 1e9, surface, detail);
    end_in_lake(course, known.w);
    if (course.cover + course.bank + abs(course.bar) <= 0.0) discard;

    float pixel = max(length(step_of[0]), length(step_of[1]));
    float far = smoothstep(0.6 * stream_far, stream_far, pixel);
    Stream stream = mixed(stream_at(course, cells, pixel, slope, detail), stream_from_afar(course, slope), far);
    float left_out = water_left_out(uv, place, pixel);
    course.cover *= 1.0 - left_out;
    course.bank *= 1.0 - left_out;
    stream.gravel *= 1.0 - left_out;
    vec3 seen = textureLod(light, uv, 0.0).xyz;
#if CLOUDS > 1
    seen.x *= past_clouds(clouds);
#endif
    Film film = running_water(course, stream, position, seen);
    added = vec4(film.added * air_kept + (1.0 - film.kept) * air_added, 0.0);
    kept = vec4(film.kept, 1.0);
}
