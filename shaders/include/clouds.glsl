// Clouds that drift over the land, and their shadows: one field of noise, which both read.
#include "frame.glsl"
#include "detail.glsl"

// How thick clouds are over a place, about 0.5 in the mean; there are some where it is above `frame.clouds.w`.
float cloud_field(vec2 east_south, float level_of_detail) {
    vec2 at = east_south * frame.clouds.z - frame.cloud_drift.xy;
    return 0.75 * textureLod(detail, at, level_of_detail).w
         + 0.25 * textureLod(detail, 3.7 * at + 0.31, level_of_detail + 1.9).x;
}

// How much of the sun comes past the clouds to a place.
float sun_past_clouds(vec3 position) {
    vec2 at = position.xz + frame.sun.xz * (max(frame.clouds.x - position.y, 0.0) / max(frame.sun.y, 0.1));
    return 1.0 - frame.cloud_drift.w * smoothstep(-0.03, 0.13, cloud_field(at, 3.0) - frame.clouds.w);
}
