// From linear light to what a screen shows.

// Fit of the ACES curve by Narkowicz (2015).
vec3 filmic(vec3 x) {
    return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

// The sRGB curve by three square roots, within a fifth of a level of 8 bits, and far cheaper than a power (Taylor 2014).
vec3 to_srgb(vec3 linear) {
    vec3 root = sqrt(linear), fourth = sqrt(root), eighth = sqrt(fourth);
    return clamp(0.662002687 * root + 0.684122060 * fourth - 0.323583601 * eighth - 0.0225411470 * linear, 0.0, 1.0);
}
