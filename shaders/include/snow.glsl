// How high ground lies in the relief of the land, and how much of it lies under snow.
#include "frame.glsl"

// From 0 at the lowest ground to 1 at the highest, by the height in picture space.
float relative_height(float height) {
    return clamp((height - frame.heights.x) / max(frame.heights.y - frame.heights.x, 1e-3), 0.0, 1.0);
}

// The part of ground that snow hides so far above its line, in parts of the relief: on what is steep it does not hold.
float snow_cover(float above_line, float steepness) {
    return smoothstep(0.0, 0.06, above_line) * (1.0 - smoothstep(0.55, 1.0, steepness));
}

// The part of ground that lying snow hides: `lies` is from 0 for none to 1 for deep snow, `uneven` a relief of the ground
// whose hollows it fills first. Thin snow does not hide what is steep.
float lying_snow(float lies, float steepness, float uneven) {
    float level = lies - 0.35 * smoothstep(0.7, 1.5, steepness) - uneven * (1.0 - 0.6 * lies);
    return smoothstep(0.10, 0.42, level) * smoothstep(0.01, 0.08, lies);
}
