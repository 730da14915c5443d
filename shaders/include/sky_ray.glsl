// Where pixels of a picture look into the sky, and where the clouds of those pixels are.
#include "frame.glsl"

uniform vec2 scene_size;  // in pixels

// Of a place in the scene, in pixels: the sky begins where the table ends, below the level of the eye.
vec3 sky_direction(vec2 pixel) {
    vec3 ray = (frame.rays * vec4(pixel / scene_size * 2.0 - 1.0, 1.0, 0.0)).xyz;
    return normalize(vec3(ray.x, ray.y + dot(ray.xz, frame.sunward.zw), ray.z));
}

// The first pixel of the picture's clouds that lies in the part of it that is drawn, with one around it.
vec2 clouds_origin() {
    return floor(0.5 * frame.part.xy) - 1.0;
}
