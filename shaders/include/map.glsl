// From places to map textures. `surface` holds elevation (m), its slopes to the east and south, and sediment (m).
#include "frame.glsl"

vec2 map_extent() {
    return frame.map.xy * frame.map.z;
}

vec2 map_uv(vec2 east_south) {
    return east_south / map_extent();
}

// What each of the four cells around a place has of what filtering mixes there, in the order of textureGather:
// south-west, south-east, north-east, north-west.
vec4 gather_weights(vec2 uv) {
    vec2 part = fract(uv * frame.map.xy - 0.5);
    return vec4((1.0 - part.x) * part.y, part.x * part.y, part.x * (1.0 - part.y), (1.0 - part.x) * (1.0 - part.y));
}

// Elevation in picture space.
float ground_height(sampler2D surface, vec2 east_south) {
    return textureLod(surface, map_uv(east_south), 0.0).x * frame.map.w;
}

// How far the middle between four cells lies over their mean, in metres. Heights that are mixed in a square dam every
// channel one cell wide that runs diagonally, and notch every crest: which of two crossing diagonals goes through, the
// cells around tell, as where triangles are fitted to data (Dyn, Levin, Rippa 1990). `corners` are the heights of the
// four as textureGather gives them, `middle` is where they meet.
float over_mean(sampler2D surface, vec2 middle, vec4 corners) {
    vec2 texel = 1.0 / frame.map.xy;
    float around = 0.25 * (textureLod(surface, middle + vec2(1.5 * texel.x, 0.0), 0.0).x
                         + textureLod(surface, middle - vec2(1.5 * texel.x, 0.0), 0.0).x
                         + textureLod(surface, middle + vec2(0.0, 1.5 * texel.y), 0.0).x
                         + textureLod(surface, middle - vec2(0.0, 1.5 * texel.y), 0.0).x);
    float most = 0.25 * abs(corners.w + corners.y - corners.z - corners.x);
    return clamp(2.0 * (dot(corners, vec4(0.25)) - around), -most, most);
}

// The part of that at a place between the four: it is straight along the diagonal from north-west to south-east, which
// `falls` on maps, or along the other, and 0 on the sides.
float part_of_middle(vec2 part, bool falls) {
    vec2 along = falls ? part : vec2(part.x, 1.0 - part.y);
    return 4.0 * min(along.x * (1.0 - along.y), along.y * (1.0 - along.x));
}

// Elevation in metres between the middles of cells, where channels and crests that run diagonally stay whole.
float elevation_at(sampler2D surface, vec2 uv) {
    vec2 at = clamp(uv * frame.map.xy - 0.5, vec2(0.0), frame.map.xy - 1.0);
    vec2 low = min(floor(at), frame.map.xy - 2.0), part = at - low;
    vec2 middle = (low + 1.0) / frame.map.xy;
    vec4 corners = textureGather(surface, middle, 0);  // south-west, south-east, north-east, north-west
    float over = over_mean(surface, middle, corners);
    bool falls = over * (corners.w + corners.y - corners.z - corners.x) > 0.0;
    float mixed = mix(mix(corners.w, corners.z, part.x), mix(corners.x, corners.y, part.x), part.y);
    return mixed + over * part_of_middle(part, falls);
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
