// Where rain and snow fall: below the thick parts of the clouds, and more on high ground where the climate says so.
#include "map.glsl"
#include "clouds.glsl"
#include "snow.glsl"

uniform sampler2D surface;

const float MELTS_OVER = 3.0;  // degrees, from snow alone to rain alone

// How much falls on a place, from 0 to 1.
float rain_at(vec2 east_south) {
    vec2 outside = max(abs(east_south / map_extent() - 0.5) - 0.5, 0.0);
    float on_map = 1.0 - smoothstep(0.0, has_sea() ? 0.25 : 0.02, max(outside.x, outside.y));
    float height = ground_height(surface, clamp(east_south, vec2(0.0), map_extent()));
    float by_height = 1.0 + frame.rain.w * (relative_height(height) - 1.0);
    float begin = clouds_begin(east_south);
    float below = smoothstep(0.0, 0.10, cloud_field(east_south, 3.0, begin) - begin);
    return frame.rain.x * on_map * by_height * below;
}

// How much of it is snow, by how warm it is at a height in picture space.
float snow_part(float height) {
    float warm = frame.rain.y - frame.rain.z * height / frame.map.w;
    return 1.0 - smoothstep(-0.5 * MELTS_OVER, 0.5 * MELTS_OVER, warm - 1.0);
}
