// From linear light to the screen.
#include "developed.glsl"

#ifndef OUTLINES
#define OUTLINES 0  // 1: pixels at the outline of a surface are marked in depth, for outlines.frag
#endif

uniform sampler2D scene;
uniform bool brightness_in_alpha;  // where FXAA follows; a finished picture is opaque

out vec4 colour;

#if OUTLINES == 1
const float BEND = 0.016;  // of the sizes of the keys, from which on two surfaces meet

// Whether the key changes other than evenly from pixel to pixel. The pixels in the same square of two by two are known by
// the derivatives, the others around by one gather: in software a second would cost as much as all else here.
bool at_outline(float key) {
    vec2 inwards = 2.0 - 4.0 * fract(0.5 * gl_FragCoord.xy);  // 1 where its other pixel is above or on the right
    vec4 around = textureGather(scene, (gl_FragCoord.xy - 0.5 * inwards) / vec2(textureSize(scene, 0)), 3);
    float bend = dot(around, vec4(1.0)) - 4.0 * key + 2.0 * dot(inwards, vec2(dFdx(key), dFdy(key)));
    return abs(bend) > BEND * (dot(abs(around), vec4(1.0)) + abs(key));
}
#endif

void main() {
    vec4 seen = texelFetch(scene, ivec2(gl_FragCoord.xy), 0);
    vec3 shown = developed(seen.rgb, gl_FragCoord.xy / vec2(textureSize(scene, 0)));
    // Half a level of noise hides the steps of 8 bits in the sky.
    vec2 p = gl_FragCoord.xy + frame.part.xy;
    float noise = fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))) - 0.5;
    shown += noise / 255.0;
    colour = vec4(shown, brightness_in_alpha ? dot(shown, vec3(0.299, 0.587, 0.114)) : 1.0);
#if OUTLINES == 1
    gl_FragDepth = float(at_outline(seen.a));
#endif
}
