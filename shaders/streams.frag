// Running water on the ground: what is added to its colour, and what is kept of it.
#include "running_water.glsl"
#include "detail.glsl"

uniform sampler2D surface;
uniform sampler2D light;
uniform sampler2D water;  // depth of what stands, in metres

in vec3 position;
in vec3 air_kept;
in vec3 air_added;

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

void main() {
    vec2 uv = map_uv(position.xz);
    vec2 cells = position.xz / frame.map.z;
    float pixel = length(fwidth(cells));
    // Software renderers gain from an early end, and from no branch.
    if (texture(flow, uv).x < NO_STREAM) discard;
    float size = stream_size(cells, uv, detail);
    float cover = stream_cover(size, pixel);
    // Where it runs into a lake, the lake covers it.
    cover *= 1.0 - smoothstep(0.0, 0.35 * frame.water.x, textureLod(water, uv, 0.0).x * frame.map.w);
    if (cover <= 0.0) discard;

    vec4 place = textureLod(surface, uv, 0.0);
    Stream stream = stream_at(size, cells, uv, place.yz * frame.map.w, surface, detail);
    cover *= 1.0 - water_left_out(uv, place, pixel);
    Film film = running_water(stream, cover, position, textureLod(light, uv, 0.0).xyz);
    added = vec4(film.added * air_kept + (1.0 - film.kept) * air_added, 1.0);
    kept = vec4(film.kept, 0.0);
}
