// A sheet of falling water: never so narrow that a line of pixels would miss it, and before the ground that it runs down.
#include "clip.glsl"
#include "map.glsl"

uniform float pixel;  // the angle of one

in vec3 place;
in vec2 across;  // half of the width
in vec4 fall;  // how far to a side, metres fallen, seconds of falling, part of the sheet
in float chance;  // and 1 more where the fall is low

out vec3 position;
out vec4 falling;
out float sideways;  // metres from the middle
flat out float seed;
flat out float low;
out float narrow;    // how much of what is drawn there is

const float THINNEST = 3.6;   // pixels from side to side, over which a thin sheet fades
const float BEFORE = 1.0;     // cells towards the eye
const float BEFORE_FAR = 4.0; // pixels, where those are larger

void main() {
    position = vec3(place.x, place.y * frame.map.w, place.z);
    vec3 to_eye = frame.camera.xyz - position;
    float away = max(length(to_eye), 1e-3), real = max(length(across), 1e-4);
    float drawn = max(real, 0.5 * THINNEST * pixel * away);
    narrow = real / drawn;
    // Where one looks along its edge a wide line would be a thin one: a narrow sheet faces the eye.
    vec3 flat_across = vec3(across.x, 0.0, across.y) / real;
    vec3 facing = normalize(cross(vec3(0.0, 1.0, 0.0), to_eye) + vec3(1e-6, 0.0, 0.0));
    // Nor is a jet flat: from its side it is half as wide.
    if (dot(facing, flat_across) < 0.0) facing = -facing;
    vec3 way = mix(facing, flat_across, 0.7 * smoothstep(0.3, 1.0, narrow));
    position += fall.x * drawn * way;
    position += to_eye / away * min(max(BEFORE * frame.map.z, BEFORE_FAR * pixel * away), 0.3 * away);
    falling = fall;
    sideways = fall.x * real;
    low = step(1.0, chance);
    seed = 23.0 * (chance - low);
    gl_Position = clip_position(vec4(position, 1.0));
}
