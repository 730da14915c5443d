// Light that the land throws at what faces it.
#include "map.glsl"

uniform sampler2D bounce;  // on a place where all that it faces is land: see bounced_roots

const float BRIGHTEST_BOUNCE = 4.0;

// Light as numbers from 0 to 1, which need few bits.
vec3 bounced_roots(vec3 light) {
    return sqrt(clamp(light / BRIGHTEST_BOUNCE, 0.0, 1.0));
}

// On a place on the map.
vec3 bounced_light_at(vec2 uv) {
    vec3 roots = textureLod(bounce, uv, 0.0).rgb;
    return BRIGHTEST_BOUNCE * roots * roots;
}
