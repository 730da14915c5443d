// Clouds that drift over the land, and their shadows: one field of noise, which both read.
#include "frame.glsl"
#include "detail.glsl"

// Of the noise: how much larger its tile is for clusters, and by how much more it must be for a cloud between them.
const float CLUSTERS = 0.21, SPARSE = 0.3;

// The thickness from which on there are clouds over a place: less where the wind brings rain, and within clusters.
float clouds_begin(vec2 east_south) {
    vec2 from_middle = east_south - 0.5 * frame.map.xy * frame.map.z;
    float along = clamp(2.0 * dot(from_middle, frame.wind.xy) / frame.heights.w, -1.0, 1.0);
    vec4 more = frame.cloud_line;
    float cluster = textureLod(detail, CLUSTERS * (east_south * frame.clouds.z - frame.cloud_drift.xy) + 0.17, 1.0).w;
    return frame.clouds.w + SPARSE * (0.5 - cluster) - (more.x + along * (more.y + along * (more.z + along * more.w)));
}

// How thick clouds are over a place, about 0.5 in the mean; there are some where it is above `clouds_begin`. Where it
// is no more than `least` whatever their fine waves are, these are not read, and it is some value up to that.
float cloud_field(vec2 east_south, float level_of_detail, float least) {
    vec2 at = east_south * frame.clouds.z - frame.cloud_drift.xy;
    float thick = 0.75 * textureLod(detail, at, level_of_detail).w;
    if (thick + 0.25 <= least) return thick;
    return thick + 0.25 * textureLod(detail, 3.7 * at + 0.31, level_of_detail + 1.9).x;
}

// How thick clouds are before the sun, beside the thinnest that take some of it, as seen from a place. That is smooth:
// it can be told for each vertex, where none is `skipped` that takes nothing.
float clouds_before_sun(vec3 position, bool skipped) {
    vec2 at = position.xz + frame.sun.xz * (max(frame.clouds.x - position.y, 0.0) / max(frame.sun.y, 0.1));
    float thinnest = clouds_begin(at) - 0.03;
    return cloud_field(at, 3.0, skipped ? thinnest : -1.0) - thinnest;
}

// How much of the sun comes past clouds that are so thick.
float past_clouds(float thickness) {
    return 1.0 - frame.cloud_drift.w * smoothstep(0.0, 0.16, thickness);
}

// How much of it comes to a place.
float sun_past_clouds(vec3 position) {
    return past_clouds(clouds_before_sun(position, true));
}
