// What is known of crowns of trees in all shaders.

// The area that is seen of one from the side, beside that seen from above.
const float SIDE_OF_CONIFERS = 1.7;
const float SIDE_OF_BROADLEAVES = 1.1;

// The area that crowns hide or shade on level ground, beside that seen from above, for a slope of the line of sight or
// of the light: like that of ellipsoids. `broad` is the part of them that others than conifers
// have.
float slanted_crowns(float slope, float broad) {
    return length(vec2(slope, mix(SIDE_OF_CONIFERS, SIDE_OF_BROADLEAVES, broad))) / max(slope, 0.02);
}

// How much of the leaves of a tree of this health, from 0 to 1, have the colour of the sick.
float sick_part(float health) {
    return 1.0 - smoothstep(0.03, 0.40, health);
}

// And how much of its leaves it has lost: by drought, drowned or buried.
float dead_part(float health) {
    return 1.0 - smoothstep(0.04, 0.22, health);
}
