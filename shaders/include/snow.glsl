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
