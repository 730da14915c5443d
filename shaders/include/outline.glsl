// Which surface a pixel shows, in alpha beside its light: tone.frag smooths the outlines between surfaces by it. Over the
// pixels of a plane it changes evenly, as the inverse of the distance does. What meets the ground at an edge, as water and
// walls do, has it with the other sign; sky and table have 0. Land around a block goes on with the ground's.
#include "frame.glsl"

float outline_key() {
    return frame.heights.w * gl_FragCoord.w;
}

// The same for a pixel that is not drawn in its place.
float outline_key_at(vec3 place) {
    mat4 clip = frame.view_projection;
    return frame.heights.w / dot(vec4(clip[0].w, clip[1].w, clip[2].w, clip[3].w), vec4(place, 1.0));
}
