// Spray of a fall: puffs that are torn from its sheet and sink, and puffs that rise from its foot, all with the wind.
#include "clip.glsl"
#include "map.glsl"

in vec3 place;
in vec2 corner;
in vec4 puff;  // radius in metres, how dense, how it rises, chance

out vec3 position;
out vec2 in_square;
flat out float seed;
flat out float dense;

const float LIVES = 5.0;  // seconds, of a puff
const float RISES = 1.1, DRIFTS = 0.7;  // radii, in that time
const float GROWS = 0.9;
const float BEFORE = 0.5;  // radii towards the eye

void main() {
    float age = fract(frame.camera.w / LIVES + puff.w);
    float radius = puff.x * (1.0 + GROWS * (age - 0.5));
    vec3 middle = vec3(place.x, place.y * frame.map.w, place.z);
    middle.y += RISES * puff.z * puff.x * (puff.z > 0.0 ? age : age - 0.5);
    middle.xz += DRIFTS * puff.x * age * frame.wind.xy;
    vec3 to_eye = normalize(frame.camera.xyz - middle);
    vec3 right = normalize(vec3(to_eye.z, 0.0, -to_eye.x) + vec3(1e-6, 0.0, 0.0)), up = cross(to_eye, right);
    position = middle + radius * (corner.x * right + corner.y * up);
    position += to_eye * min(BEFORE * radius, 0.5 * distance(middle, frame.camera.xyz));
    in_square = corner;
    seed = 19.0 * puff.w;
    float whole = 4.0 * age * (1.0 - age);  // none comes or goes at once
    dense = puff.y * whole * smoothstep(0.5, 2.0, distance(middle, frame.camera.xyz) / radius);
    gl_Position = clip_position(vec4(position, 1.0));
}
