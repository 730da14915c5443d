// From places to map textures. `surface` holds elevation (m), its slopes to the east and south, and sediment (m).
#include "frame.glsl"

vec2 map_extent() {
    return frame.map.xy * frame.map.z;
}

vec2 map_uv(vec2 east_south) {
    return east_south / map_extent();
}

// Elevation in picture space.
float ground_height(sampler2D surface, vec2 east_south) {
    return textureLod(surface, map_uv(east_south), 0.0).x * frame.map.w;
}

// Whether the world lies in a sea, and not on a table.
bool has_sea() {
    return frame.water.w > -1e29;
}

// A number in [0, 1) that looks random, for each cell or pixel.
float hash(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * 0.1031);
    q += dot(q, q.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}
