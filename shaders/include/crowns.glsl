// What is known of crowns of trees in all shaders.

const float SIDE_OF_CROWNS = 1.15;  // the area that is seen of one from the side, beside that seen from above

// The area that crowns hide or shade on level ground, beside that seen from above, for a slope of the line of sight or
// of the light: like that of ellipsoids.
float slanted_crowns(float slope) {
    return length(vec2(slope, SIDE_OF_CROWNS)) / max(slope, 0.02);
}
