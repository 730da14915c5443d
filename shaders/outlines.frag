// Smooths the outlines of surfaces, in the pixels that tone.frag has marked. It follows the idea of morphological
// antialiasing (Reshetov 2009): a step of an outline stands for a slanted line. Steps are told by surfaces and not by
// brightness, so nothing within a surface is blurred.
#include "developed.glsl"

uniform sampler2D scene;

out vec4 colour;

const int SEARCH = 3;  // pairs of pixels that the end of a step is looked for in, to each side

// What an outline runs between: the key of this pixel and that of its neighbour on the other side. It runs level or
// upright; `lies` is 1 where the other side is above or on the right, else -1.
struct Outline {
    vec2 keys;
    bool level;
    float lies;
};

// The keys around a corner of pixels: of this side near and farther along the outline, and likewise of the other side.
// `goes` is the direction along it, 1 or -1.
vec4 keys_around(vec2 corner, Outline outline, float goes) {
    vec4 found = textureGather(scene, corner / vec2(textureSize(scene, 0)), 3);
    vec4 keys = outline.level ? found.wzxy : found.wxzy;
    keys = outline.lies < 0.0 ? keys.zwxy : keys;
    return goes < 0.0 ? keys.yxwz : keys;
}

// For how many pixels the step goes on from this edge of a pixel, and 1 where this side is what ends there, as the line
// crosses it.
vec2 end_of_step(vec2 edge, Outline outline, float goes) {
    vec2 along = outline.level ? vec2(goes, 0.0) : vec2(0.0, goes);
    float half_jump = 0.5 * abs(outline.keys.x - outline.keys.y);
    for (int i = 0; i < SEARCH; ++i) {
        vec4 next = keys_around(edge + along * (1.5 + 2.0 * float(i)), outline, goes);
        bvec2 ends = lessThan(abs(next.xy - next.zw), vec2(half_jump));
        if (any(ends)) {
            float last = ends.x ? next.x : next.y;
            bool crossed = abs(last - outline.keys.y) < abs(last - outline.keys.x);
            return vec2(2.0 * float(i) + (ends.x ? 0.0 : 1.0), float(crossed));
        }
    }
    return vec2(2.0 * float(SEARCH), 0.0);
}

// How much of this pixel lies beyond the line, which falls from half a pixel at the step's end to none in its middle.
float beyond_line(vec2 end, float length) {
    vec2 before_middle = max(0.5 * length - end.x - vec2(0.0, 1.0), 0.0);
    return end.y * (before_middle.x * before_middle.x - before_middle.y * before_middle.y) / (2.0 * length);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(scene, 0) - 1;
    vec2 texel = 1.0 / vec2(last + 1), uv = gl_FragCoord.xy * texel;
    vec4 low = textureGather(scene, vec2(here) * texel, 3), high = textureGather(scene, vec2(here + 1) * texel, 3);
    float key = low.y, left = low.x, below = low.z, above = high.x, right = high.z;
    bool level = abs(below + above - 2.0 * key) >= abs(left + right - 2.0 * key);
    vec2 sides = level ? vec2(below, above) : vec2(left, right), jumps = abs(sides - key);
    float lies = jumps.x > jumps.y ? -1.0 : 1.0;
    Outline outline = Outline(vec2(key, lies < 0.0 ? sides.x : sides.y), level, lies);

    vec2 to_other = level ? vec2(0.0, lies) : vec2(lies, 0.0);
    vec2 edge = vec2(here) + 0.5 + 0.5 * to_other;
    vec2 forth = end_of_step(edge, outline, 1.0), back = end_of_step(edge, outline, -1.0);
    float length = forth.x + back.x + 1.0;
    float part_of_other = beyond_line(forth, length) + beyond_line(back, length);
    ivec2 other = clamp(here + ivec2(to_other), ivec2(0), last);
    vec3 shown = developed(texelFetch(scene, here, 0).rgb, uv), beyond = developed(texelFetch(scene, other, 0).rgb, uv);
    colour = vec4(mix(shown, beyond, part_of_other), 1.0);
}
