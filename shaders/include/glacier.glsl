// Ice as the ground shows it: firn, bare ice with crevasses, and debris.

// Ice beside 15 m more than it, firn, how open crevasses are, and rock on it: all from 0 to 1
uniform sampler2D glaciers;

const vec3 FIRN = vec3(0.800, 0.835, 0.880);
const vec3 ICE_GREY = vec3(0.300, 0.320, 0.325);
const vec3 ICE_BLUE = vec3(0.220, 0.295, 0.345);
const vec3 CREVASSE = vec3(0.060, 0.120, 0.170);
const vec3 TILL = vec3(0.145, 0.128, 0.112);
const float CREVASSES_APART = 0.9;  // cells between crevasses, at most
const float FIRN_OVER_LINE = 0.16;  // of the relief: how far above the snow line rock beside firn is
const vec2 FRAYED_TILL = vec2(0.25, 0.80);

// How much of the ground ice hides. From steep walls it has fallen, but for what is thick.
float ice_cover(vec4 glacier, float steepness, float ripple, float patches) {
    float least = mix(0.06, 0.45, smoothstep(0.45, 1.15, steepness + 0.35 * ripple + 0.45 * patches));
    return smoothstep(least, least + 0.14, glacier.x + 0.10 * ripple);
}

// How far above the snow line ground lies that looks out of ice, by what the ice beside it has: firn, or none.
float line_by_ice(vec4 glacier, float above_line, float uneven) {
    float told = mix(-0.10, max(above_line, FIRN_OVER_LINE + uneven), smoothstep(0.2, 0.8, glacier.y));
    return mix(above_line, told, smoothstep(0.05, 0.25, glacier.x));
}

// Crevasses that lie so far apart in height, in cells, thinner than what is between them.
float crevasse_lines(float height, float apart, float frayed, float pixel) {
    float phase = abs(fract(height / apart + frayed) - 0.5);
    return (1.0 - smoothstep(0.06, 0.17, phase)) * (1.0 - smoothstep(0.25, 0.70, pixel / apart));
}

// How much of the place is crevasse. They open across the way that ice flows, which is down: along its contours. How
// far these are apart follows the slope in steps of two, which fade into each other.
float crevasses(float height, float steepness, float ripple, float patches) {
    float octave = log2(max(steepness, 0.02)), whole = floor(octave);
    float pixel = fwidth(height), frayed = 0.9 * ripple + 1.5 * patches, apart = CREVASSES_APART * exp2(whole);
    float near = crevasse_lines(height, apart, frayed, pixel), far = crevasse_lines(height, 2.0 * apart, frayed, pixel);
    return mix(near, far, smoothstep(0.35, 0.65, octave - whole));
}

// The albedo of ice. `glacier` is what the map of glaciers tells there, `height` the elevation in cells.
vec3 ice_albedo(vec4 glacier, float height, float steepness, float ripple, float patches, float tone) {
    vec3 ice = mix(ICE_GREY, ICE_BLUE, clamp(0.30 + 1.3 * tone + 0.7 * patches + 0.7 * glacier.z, 0.0, 1.0));
    ice *= 1.0 + 0.4 * ripple;
    float firn = smoothstep(0.25, 0.75, glacier.y + 0.5 * patches + 0.25 * ripple);
    vec3 albedo = mix(ice, FIRN * (1.0 + 0.08 * ripple), firn);
    float dirt = glacier.w * (1.0 - firn);
    float till = smoothstep(FRAYED_TILL.x, FRAYED_TILL.y, dirt + 0.35 * ripple + 0.20 * tone);
    albedo = mix(albedo, TILL * (1.0 + 0.8 * ripple), max(0.45 * dirt, 0.92 * till));
    float open = glacier.z * (1.0 - 0.8 * till) * smoothstep(0.02, 0.10, steepness);
    open *= smoothstep(-0.15, 0.20, glacier.z - 0.45 + 1.2 * patches + 0.5 * tone);
    return mix(albedo, CREVASSE, 0.8 * open * crevasses(height, steepness, ripple, patches) * (1.0 - 0.45 * firn));
}
