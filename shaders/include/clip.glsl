// Where a place is in what is drawn.
#include "frame.glsl"

const float FAR_OUT = 8.0;  // pictures from the middle of one, where a float has no room for subpixels

// In clip space, for a place (or, with w of 0, a direction) in picture space. It lies on the grid of subpixels of the
// whole picture, on which rasterisers put it anyway: the edges of triangles are the same in each part of it, up to sides
// of some 16 000 pixels.
vec4 clip_position(vec4 place) {
    vec4 clip = frame.view_projection * place;
    if (max(abs(clip.x), abs(clip.y)) < FAR_OUT * clip.w) {
        vec2 subpixel = floor(clip.xy / clip.w * frame.subpixels.xy + 0.5);
        clip.xy = subpixel / frame.subpixels.xy * clip.w;
    }
    clip.xy = clip.xy * frame.crop.xy + clip.w * frame.crop.zw;
    return clip;
}
