// The ground that a pixel shows, and what the map says of it: interpolated over the mesh, or, where DEFERRED is 1, read
// from the texture `places`, into which the mesh has been drawn before. In software a triangle of a few pixels makes
// its shader run for many more around it; in the texture each pixel is there once.
#include "map.glsl"
#include "sky.glsl"

#ifndef DEFERRED
#define DEFERRED 0
#endif

#if DEFERRED == 0
in vec3 position;
in vec3 air_kept;
in vec3 air_added;
in vec3 bounced;

vec4 find_place(sampler2D surface) {
    return texture(surface, map_uv(position.xz));
}

float pixel_of(float difference) {
    return difference;
}

float drawn_height() {
    return position.y;
}
#else
#include "bounce.glsl"

uniform sampler2D places;  // metres to the east and south
uniform float widest_pixel;  // metres of ground in a pixel, for each metre that it is away

const float STRAIGHT_DOWN = 1e-3;

vec3 position;
vec3 air_kept;
vec3 air_added;
vec3 bounced;

vec4 find_place(sampler2D surface) {
    vec2 east_south = texelFetch(places, ivec2(gl_FragCoord.xy), 0).xy, uv = map_uv(east_south);
    bounced = bounced_light_at(uv);
    vec4 place = textureLod(surface, uv, 0.0);
    position = vec3(east_south.x, place.x * frame.map.w, east_south.y);
    air_before(position, air_kept, air_added);
    return place;
}

// The height of the mesh, which has relief that is finer than the map: where the ray of the pixel meets its place. Of what
// lies straight below the camera that would not be told exactly.
float drawn_height() {
    vec2 in_part = 2.0 * gl_FragCoord.xy / vec2(textureSize(places, 0)) - 1.0;
    vec3 ray = (frame.rays * vec4((in_part - frame.crop.zw) / frame.crop.xy, 1.0, 0.0)).xyz;
    float level = dot(ray.xz, ray.xz);
    if (level < STRAIGHT_DOWN * dot(ray, ray)) return position.y;
    return frame.camera.y + ray.y * dot(position.xz - frame.camera.xz, ray.xz) / level;
}

// The size of a pixel in cells, which differs so much from its neighbours. Along the outline of a hill they show other
// places, and would make it far too large.
float pixel_of(float difference) {
    return min(difference, widest_pixel * distance(frame.camera.xyz, position) / frame.map.z);
}
#endif
