// Streaks of rain and flakes of snow around the eye. Each has a place in the world that repeats from box to box, and falls
// with the time: when the eye moves they stay where they are.
#include "clip.glsl"
#include "rain.glsl"

uniform float pixel;  // the angle of one
uniform vec3 ahead;   // the way the eye looks

out vec3 position;
out vec2 in_square;   // from −1 to 1
flat out float cover;
flat out float flake;

const float BOX = 0.20;  // sides of the map
const float BEFORE_EYE = 0.38;  // of the box, from the eye to its middle
const float RAIN_FALLS = 0.22, SNOW_FALLS = 0.018;  // sides in a second
const float STREAK = 0.0045, FLAKE = 0.00022, THIN = 0.00005;  // sides

void main() {
    int number = gl_VertexID / 6, corner = gl_VertexID % 6;
    float side = frame.heights.w, box = BOX * side, seconds = frame.camera.w;
    vec3 chances = vec3(hash(vec2(number, 1.3)), hash(vec2(5.1, number)), hash(vec2(number, 9.7)));
    bool snow = number % 2 == 1;
    float falls = (snow ? SNOW_FALLS : RAIN_FALLS) * mix(0.8, 1.2, chances.z) * side;
    vec3 way = vec3(0.0, -falls, 0.0);
    way.xz = frame.wind.xy * side * (snow ? 0.012 : 0.05);
    // What the wind does to them is seen in how they slant: a way that it turned would move all of them at once.
    vec3 home = chances.yzx * box + vec3(0.0, -falls * seconds, 0.0);
    if (snow) home.xz += 0.004 * side * sin(vec2(1.1, 0.8) * seconds + 40.0 * chances.xy);
    vec3 centre = frame.camera.xyz + BEFORE_EYE * box * ahead;
    vec3 middle = centre + mod(home - centre + 0.5 * box, box) - 0.5 * box;

    float away = distance(middle, frame.camera.xyz), snowy = snow_part(middle.y);
    float there = rain_at(middle.xz) * (snow ? snowy : 1.0 - snowy);
    // None is seen at once, by the eye or by the sides of the box; nor in the clouds.
    there *= smoothstep(0.020, 0.045, away / side) * (1.0 - smoothstep(0.40 * box, 0.5 * box, distance(middle, centre)));
    there *= 1.0 - step(frame.clouds.x, middle.y);

    in_square = vec2(corner == 1 || corner == 2 || corner == 4 ? 1.0 : -1.0, corner == 2 || corner == 4 || corner == 5 ? 1.0 : -1.0);
    vec3 to_eye = (frame.camera.xyz - middle) / max(away, 1e-3), along = normalize(way);
    vec3 across = normalize(cross(to_eye, along) + vec3(1e-6, 0.0, 0.0));
    if (snow) along = cross(across, to_eye);
    // No thinner than a pixel: then less of it is seen.
    float real = (snow ? FLAKE : THIN) * side * mix(0.7, 1.3, chances.x), width = max(real, 0.7 * pixel * away);
    cover = there * min(real / width, 1.0) * (snow ? min(real / width, 1.0) : 1.0) * (snow ? 0.9 : 0.5);
    flake = snow ? 1.0 : 0.0;
    position = middle + width * in_square.x * across + (snow ? width : 0.5 * STREAK * side) * in_square.y * along;
    gl_Position = cover > 0.003 ? clip_position(vec4(position, 1.0)) : vec4(2.0, 2.0, 2.0, 1.0);
}
