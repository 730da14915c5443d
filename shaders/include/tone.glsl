// From linear light to what a screen shows.

const vec3 LUMINANCE = vec3(0.2126, 0.7152, 0.0722);
const float VIVID = 1.08;         // a little more colour makes up for what the curve greys
const float BRIGHT = 0.6;         // from which on channels bleach
const float BLEACHED_APART = 0.55;  // how much of that

// Fit of the ACES curve by Narkowicz (2015).
vec3 filmic(vec3 x) {
    return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

// The curve of a film, which keeps colours in the dark: on each channel its foot would turn every shadow into cobalt. In
// strong light, where a film bleaches, it acts on the channels, too.
vec3 toned(vec3 radiance) {
    float light = max(dot(radiance, LUMINANCE), 1e-5);
    radiance = max(mix(vec3(light), radiance, VIVID), 0.0);
    float curve = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14);
    return mix(min(radiance * (curve / light), 1.0), filmic(radiance), BLEACHED_APART * smoothstep(0.0, BRIGHT, light));
}

// The sRGB curve by three square roots, within a fifth of a level of 8 bits, and far cheaper than a power (Taylor 2014).
vec3 to_srgb(vec3 linear) {
    vec3 root = sqrt(linear), fourth = sqrt(root), eighth = sqrt(fourth);
    return clamp(0.662002687 * root + 0.684122060 * fourth - 0.323583601 * eighth - 0.0225411470 * linear, 0.0, 1.0);
}
