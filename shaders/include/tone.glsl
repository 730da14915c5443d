// From linear light to what a screen shows.

const vec3 LUMINANCE = vec3(0.2126, 0.7152, 0.0722);
const float VIVID = 0.98;       // contrast makes colours more vivid than the curve greys them
const float HUES_APART = 0.12;  // by how much plants, sky and water, which have less red than green, lose more of it
const float BRIGHTENED = 0.9, DARK = 0.0024;  // how much brighter the darkest are; square of the light that is so by half
const float BRIGHT = 0.6;       // from which on channels bleach
const float BLEACHED_APART = 0.75;  // how much of that
const float WARM_HUE_KEPT = 0.85;   // of that of light which is all red: bleached on each channel, sand would turn yellow

// Fit of the ACES curve by Narkowicz (2015).
vec3 filmic(vec3 x) {
    return min((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 1.0);
}

// The curve of a film, which keeps colours in the dark: on each channel its foot would turn every shadow into cobalt. In
// strong light, where a film bleaches, it acts on the channels, too.
vec3 toned(vec3 radiance) {
    float light = max(dot(radiance, LUMINANCE), 1e-5);
    radiance.r += HUES_APART * min(radiance.r - radiance.g, 0.0);
    radiance = max(mix(vec3(light), radiance, VIVID), 0.0);
    float shown = light + BRIGHTENED * DARK * light / (DARK + light * light), bright = min(light / BRIGHT, 1.0);
    float curve = shown * (2.51 * shown + 0.03) / (shown * (2.43 * shown + 0.59) + 0.14);
    vec3 bleached = mix(min(radiance * (curve / light), 1.0), filmic(radiance), BLEACHED_APART * bright * bright);
    float warm = max(radiance.r - radiance.b, 0.0), most = max(radiance.r, 1e-5);
    float between = mix(bleached.b, bleached.r, clamp((radiance.g - radiance.b) / max(warm, 1e-5), 0.0, 1.0));
    bleached.g = mix(bleached.g, min(between, bleached.g), WARM_HUE_KEPT * warm / most);
    return bleached;
}

// The sRGB curve by three square roots, within a fifth of a level of 8 bits, and far cheaper than a power (Taylor 2014).
vec3 to_srgb(vec3 linear) {
    vec3 root = sqrt(linear), fourth = sqrt(root), eighth = sqrt(fourth);
    return clamp(0.662002687 * root + 0.684122060 * fourth - 0.323583601 * eighth - 0.0225411470 * linear, 0.0, 1.0);
}

// The sRGB curve s, with more contrast in the middle of what a screen shows: s + s (1 − s) (s − 0.43). By two square roots,
// within three quarters of a level of 8 bits.
vec3 contrasted_srgb(vec3 linear) {
    vec3 root = sqrt(linear), fourth = sqrt(root);
    return clamp(root * (3.32766572 * fourth - 0.07100853) - 0.02491419 * fourth - 2.22879018 * linear, 0.0, 1.0);
}
