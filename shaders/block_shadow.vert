// The part of the table that the block's shadow can fall on: its outline, drawn out away from the sun.
#include "clip.glsl"
#include "map.glsl"

void main() {
    vec2 low = vec2(0.5 * frame.map.z), high = map_extent() - low;
    vec2 out_of_sun = -frame.sun.xz * (frame.heights.y - frame.heights.z) / max(frame.sun.y, 1e-3);
    // Six corners, in turn, for a shadow to the south-east; for another, the map is turned over.
    vec2 drawn_out = abs(out_of_sun), side = high - low, at;
    switch (gl_VertexID) {
        case 0: at = vec2(0.0); break;
        case 1: at = vec2(side.x, 0.0); break;
        case 2: at = vec2(side.x, 0.0) + drawn_out; break;
        case 3: at = side + drawn_out; break;
        case 4: at = vec2(0.0, side.y) + drawn_out; break;
        default: at = vec2(0.0, side.y); break;
    }
    vec2 place = mix(low + at, high - at, lessThan(out_of_sun, vec2(0.0)));
    gl_Position = clip_position(vec4(place.x, frame.heights.z, place.y, 1.0));
}
