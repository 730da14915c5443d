// Spray at the foot of a fall, puffs that rise and drift with the wind, and foam on the water below.
#include "clip.glsl"
#include "map.glsl"

in vec3 place;
in vec2 corner;
in vec4 puff;  // radius in metres, how dense, whether it is foam, chance

out vec3 position;
out vec2 in_square;
flat out float seed;
flat out float dense;
flat out float foam;

const float LIVES = 5.0;  // seconds, of a puff
const float RISES = 1.1, DRIFTS = 0.7;  // radii, in that time
const float GROWS = 0.9;
const float BEFORE = 0.5;  // radii towards the eye

void main() {
    foam = puff.z;
    float age = fract(frame.camera.w / LIVES + puff.w), is_puff = 1.0 - foam;
    float radius = puff.x * (1.0 + is_puff * GROWS * (age - 0.5));
    vec3 middle = vec3(place.x, place.y * frame.map.w, place.z);
    middle.y += is_puff * RISES * puff.x * age;
    middle.xz += is_puff * DRIFTS * puff.x * age * frame.wind.xy;
    vec3 to_eye = normalize(frame.camera.xyz - middle);
    vec3 right = normalize(vec3(to_eye.z, 0.0, -to_eye.x) + vec3(1e-6, 0.0, 0.0)), up = cross(to_eye, right);
    // Foam lies on the water.
    right = mix(right, vec3(1.0, 0.0, 0.0), foam);
    up = mix(up, vec3(0.0, 0.0, 1.0), foam);
    position = middle + radius * (corner.x * right + corner.y * up);
    position += to_eye * min(BEFORE * radius, 0.5 * distance(middle, frame.camera.xyz));
    in_square = corner;
    seed = 19.0 * puff.w;
    float whole = 4.0 * age * (1.0 - age);  // none comes or goes at once
    dense = puff.y * mix(1.0, whole, is_puff) * smoothstep(0.5, 2.0, distance(middle, frame.camera.xyz) / radius);
    gl_Position = clip_position(vec4(position, 1.0));
}
