// The planes that massive rock has for faces: one for each square of a lattice over the map, which touches the ground at a
// place in the square and is turned towards one of the ways that joints run.
#include "map.glsl"
#include "planes.glsl"

uniform sampler2D surface;
uniform float wide;  // cells of a square

out vec4 result;  // height in metres at its place; slopes to the east and south; a number of its own

void main() {
    vec2 square = floor(gl_FragCoord.xy) - BEYOND;
    vec2 cell = place_of_plane(square, wide) * wide, apart = AROUND * wide / frame.map.xy, uv = cell / frame.map.xy;
    float middle = textureLod(surface, uv, 0.0).x;
    float east = textureLod(surface, uv + vec2(apart.x, 0.0), 0.0).x, west = textureLod(surface, uv - vec2(apart.x, 0.0), 0.0).x;
    float south = textureLod(surface, uv + vec2(0.0, apart.y), 0.0).x, north = textureLod(surface, uv - vec2(0.0, apart.y), 0.0).x;
    vec2 slope = vec2(east - west, south - north) / (2.0 * AROUND * wide * frame.map.z);
    vec4 own = hash4(square + 7.0 * wide);
    result = vec4(mix(middle, 0.25 * (east + west + south + north), 0.35), along_joints(slope * frame.map.w, own.xy) / frame.map.w, own.w);
}
