// The smooth surface of a mesh that is finer than the map.
#include "map.glsl"

// The height between two, by the slopes at both. Where these are too steep for what lies between, less of them: at the
// foot of a cliff the ground would dip, and on a shelf under water rise out of it (Fritsch and Carlson 1980).
float between(float first, float last, float first_slope, float last_slope, float ahead, float rise, float fall) {
    float most = 3.0 * (last - first) / frame.map.z;
    vec2 slopes = clamp(vec2(first_slope, last_slope), min(most, 0.0), max(most, 0.0));
    return mix(first, last, ahead) + slopes.x * rise + slopes.y * fall;
}

// Between cells the map is a surface with the heights and the slopes that it has in their middles (Ferguson 1964), and
// as elevation_at has it where those four dam a channel or notch a crest.
float smooth_height(sampler2D surface, vec2 cell) {
    ivec2 low = ivec2(cell), high = min(low + 1, ivec2(frame.map.xy) - 1);
    vec2 t = cell - vec2(low), t2 = t * t, t3 = t2 * t;
    vec2 ahead = 3.0 * t2 - 2.0 * t3, rise = (t3 - 2.0 * t2 + t) * frame.map.z, fall = (t3 - t2) * frame.map.z;
    vec3 nw = texelFetch(surface, low, 0).xyz, ne = texelFetch(surface, ivec2(high.x, low.y), 0).xyz;
    vec3 sw = texelFetch(surface, ivec2(low.x, high.y), 0).xyz, se = texelFetch(surface, high, 0).xyz;
    float north = between(nw.x, ne.x, nw.y, ne.y, ahead.x, rise.x, fall.x);
    float south = between(sw.x, se.x, sw.y, se.y, ahead.x, rise.x, fall.x);
    float height = between(north, south, mix(nw.z, ne.z, ahead.x), mix(sw.z, se.z, ahead.x), ahead.y, rise.y, fall.y);
    if (any(equal(low, high))) return height;
    float over = over_mean(surface, (vec2(low) + 1.0) / frame.map.xy, vec4(sw.x, se.x, ne.x, nw.x));
    // The slopes have lifted the middle a part of the way, or farther.
    float lifted = 0.0625 * frame.map.z * (nw.y + sw.y - ne.y - se.y + nw.z + ne.z - sw.z - se.z);
    float missing = over > 0.0 ? clamp(over - lifted, 0.0, over) : clamp(over - lifted, over, 0.0);
    return height + missing * part_of_middle(t, over * (nw.x + se.x - ne.x - sw.x) > 0.0);
}
