// The front of a dust storm: billows in rows over the line to which its dust has come, each a square that faces the eye.
#include "clip.glsl"
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D surface;
uniform int billows;  // along the front
uniform int rows;     // one above the other

out vec3 position;
out vec2 in_square;      // from −1 to 1
flat out float seed;
flat out float dense;
out float above;         // the ground, in heights of the front

const float REACH = 0.75;  // of the front to either side, in sides of the map
const float TALL = 0.17;    // the front, in such
const float LEANS = 0.03;  // each row behind the one below, so that the foot is ahead

void main() {
    int number = gl_VertexID / 6, corner = gl_VertexID % 6, row = number % rows, place = number / rows;
    vec2 square = vec2(corner == 1 || corner == 2 || corner == 4 ? 1.0 : -1.0, corner == 2 || corner == 4 || corner == 5 ? 1.0 : -1.0);
    vec2 wind = frame.wind.xy, across = vec2(-wind.y, wind.x), middle = 0.5 * map_extent();
    float side = frame.heights.w;

    // From both ends towards the eye, so that the nearer are drawn over the farther.
    float eye = clamp(dot(frame.camera.xz - middle, across) / side, -REACH, REACH);
    float part = float(place / 2) / float(billows / 2);
    float aside = mix(place % 2 == 0 ? -REACH : REACH, eye, part);
    vec2 chances = vec2(hash(vec2(number, 3.0)), hash(vec2(7.0, number)));
    float tall = side * mix(0.034, 0.074, chances.x * chances.x);
    // The line bulges, and its upper rows hang back; none of them is level.
    float ahead = frame.air.w + 0.03 * sin(11.0 * aside + 2.0) + 0.02 * sin(29.0 * aside) - LEANS * float(row) + 0.04 * (chances.y - 0.5);
    vec2 at = middle + side * (aside * across + ahead * wind);
    vec2 outside = abs(at / middle - 1.0);
    float on_map = 1.0 - smoothstep(0.92, 1.06, max(outside.x, outside.y));
    float ground = mix(frame.heights.x, ground_height(surface, clamp(at, vec2(0.0), map_extent())), on_map);
    vec3 centre = vec3(at.x, ground + tall * (0.30 + float(row) * (0.55 + 0.7 * fract(7.0 * chances.y))), at.y);

    vec3 to_eye = normalize(frame.camera.xyz - centre), right = normalize(vec3(to_eye.z, 0.0, -to_eye.x) + vec3(1e-6, 0.0, 0.0));
    vec3 up = cross(to_eye, right);
    position = centre + tall * (1.25 * square.x * right + square.y * up);
    in_square = square;
    above = (position.y - ground) / (TALL * side);
    seed = 17.0 * chances.x;
    // None comes or goes at once, nor stands before the eye.
    dense = on_map * min(2.0 * frame.dust.z, 1.0) * (1.0 - 0.15 * float(row)) * smoothstep(1.5 * tall, 4.0 * tall, distance(centre, frame.camera.xyz));
    gl_Position = dense > 0.0 ? clip_position(vec4(position, 1.0)) : vec4(2.0, 2.0, 2.0, 1.0);
}
