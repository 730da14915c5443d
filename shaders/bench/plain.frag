// The ground with the least that makes a picture of it: the light of the map, a texture of detail, and fog.
#include "map.glsl"
#include "detail.glsl"

uniform sampler2D light;

in vec3 position;
in vec3 air_kept;
in vec3 air_added;

out vec4 colour;

void main() {
    vec3 seen = texture(light, map_uv(position.xz)).xyz;
    vec4 fine = texture(detail, position.xz / frame.map.z / 12.0);
    vec3 radiance = fine.xyz * (frame.sun_light.rgb * seen.x + seen.y);
    colour = vec4(radiance * air_kept + air_added, 1.0);
}
