// Pools at the feet of falls, and the rock beside these that their spray keeps wet.
#include "clip.glsl"
#include "map.glsl"

in vec3 place;
in vec2 from_foot;  // metres; on rock those of falling, and those beside the middle
in vec4 pool;  // beside the rim, which is 1; metres of water, or to it; whether it is rock; chance

out vec3 position;
out vec2 away;
out vec2 beside;  // the rim; metres of water, or to it
flat out float is_rock;
flat out float seed;

const float BEFORE = 0.6, BEFORE_ROCK = 1.5;  // cells towards the eye

void main() {
    position = vec3(place.x, place.y * frame.map.w, place.z);
    vec3 to_eye = frame.camera.xyz - position;
    float distance = max(length(to_eye), 1e-3);
    is_rock = pool.z;
    position += to_eye / distance * min(mix(BEFORE, BEFORE_ROCK, is_rock) * frame.map.z, 0.3 * distance);
    away = from_foot;
    beside = pool.xy;
    seed = 23.0 * pool.w;
    gl_Position = clip_position(vec4(position, 1.0));
}
