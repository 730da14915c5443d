uniform sampler2D lit_land;  // light that the land sends on, times its area; that area

// The mean colour of the land.
vec3 mean_land() {
    vec4 mean = textureLod(lit_land, vec2(0.5), 16.0);
    return mean.rgb / max(mean.a, 1e-3);
}
