// The front of a dust storm: the line to which its dust has come, and the shadow of the wall that stands over it. Lengths
// are sides of the map.
#include "map.glsl"
#include "sky.glsl"

const float FRONT_REACH = 0.75;       // to either side of the middle
const float WALL_HEIGHT = 0.17;       // of its highest parts
const vec2 WALL_BEGINS = vec2(-0.05, 0.04);  // behind the line
const float WALL_THICK = 0.10;        // over which its dust thins, behind the line
const float WALL_DEPTH = 80.0;        // optical depth of its densest dust
const float MOST_DEPTH = 1.7;         // light is thrown on within: no shadow is deeper
const int SHADOW_SAMPLES = 6;

// How far the line is ahead of its mean, at a place across the wind: it bulges.
float front_bulges(float aside) {
    return 0.03 * sin(11.0 * aside + 2.0) + 0.02 * sin(29.0 * aside);
}

// How far behind the line a place lies, negative before it.
float behind_front(vec2 from_middle) {
    return frame.air.w + front_bulges(dot(from_middle, vec2(-frame.wind.y, frame.wind.x))) - dot(from_middle, frame.wind.xy);
}

// What part of the sunlight comes past the wall of dust: less of blue.
vec3 sun_past_front(vec3 position) {
    vec2 from_middle = (position.xz - 0.5 * map_extent()) / frame.heights.w;
    float above = max(position.y - frame.air.z, 0.0) / frame.heights.w;
    float reach = max(WALL_HEIGHT - above, 0.0) / max(frame.sun.w, 0.12), depth = 0.0;
    vec2 toward = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    for (int i = 0; i < SHADOW_SAMPLES; ++i) {
        float part = (float(i) + 0.5) / float(SHADOW_SAMPLES);
        vec2 at = from_middle + part * reach * toward;
        float aside = dot(at, vec2(-frame.wind.y, frame.wind.x)), behind = behind_front(at);
        float top = WALL_HEIGHT * (0.72 + 0.18 * sin(19.0 * aside + 1.0) + 0.10 * sin(43.0 * aside));
        float high = above + part * (WALL_HEIGHT - above);
        depth += smoothstep(WALL_BEGINS.x, WALL_BEGINS.y, behind) * exp(-max(behind, 0.0) / WALL_THICK)
               * (1.0 - smoothstep(0.45 * top, top, high)) * (1.0 - smoothstep(0.8 * FRONT_REACH, FRONT_REACH, abs(aside)));
    }
    depth *= WALL_DEPTH * min(2.0 * frame.dust.z, 1.0) * reach / float(SHADOW_SAMPLES);
    depth = MOST_DEPTH * (1.0 - exp(-depth / MOST_DEPTH));
    return exp(-depth * DUST_EXTINCTION);
}
