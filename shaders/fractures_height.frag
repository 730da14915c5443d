// Fractured rock, as a tile: blocks of three sizes with plane faces, in tiles of side 1. Its height is in tiles, too.
#include "detail.glsl"
#include "hash.glsl"

uniform float texels;  // along a side

out float result;

const int SIZES = 3;
const float BLOCKS[SIZES] = float[](9.0, 23.0, 58.0);  // along a side
const float STANDS_OUT[SIZES] = float[](1.0, 0.75, 0.5);  // beside their width: the faces of large blocks stay planes
const float TURNS[SIZES] = float[](0.78, 1.2, 1.57);  // radians: joints of large ones are about at right angles
const float BENDS[SIZES] = float[](0.25, 0.4, 0.7);   // blocks by which edges are not straight
const float TILT = 0.62, TOP = 0.28;  // how far their tops lean, and stand apart; beside a block's width
const float SIDES = 3.2;  // slope
const float MASSIVE = 0.4;  // how far smaller blocks stand out of large ones that are not shattered

// Tilted tops, and sides that meet in cracks: the highest of what the blocks around have here; and how shattered it is.
vec2 rock(vec2 at, float blocks, float turns) {
    vec2 square = floor(at), highest = vec2(-1e9, 0.0);
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            vec2 lattice = square + vec2(column, row), own = mod(lattice, blocks) + 3.0 * blocks;
            vec4 place = hash4(own), form = hash4(own + 401.0);
            vec2 away = at - lattice - place.xy;
            float aside = 2.0 * place.z - 1.0, turn = turns * aside * aside * aside;
            vec2 half_side = 0.22 + 0.38 * vec2(place.w, fract(7.0 * (place.w + form.w)));
            vec2 turned = abs(mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * away);
            vec2 out_of = turned - half_side;
            float beside = max(max(out_of.x, out_of.y), 0.0);
            float height = TOP * (2.0 * form.z - 1.0) + TILT * dot(2.0 * form.xy - 1.0, away) - SIDES * beside;
            if (height > highest.x) highest = vec2(height, form.w);
        }
    }
    return vec2(highest.x / blocks, highest.y);
}

void main() {
    vec2 uv = gl_FragCoord.xy / texels;
    vec2 bend = vec2(textureLod(detail, uv, 3.0).w, textureLod(detail, uv + 0.37, 3.0).w) - 0.5;
    result = 0.0;
    float shattered = 1.0;
    for (int size = 0; size < SIZES; ++size) {
        vec2 here = rock(uv * BLOCKS[size] + BENDS[size] * bend, BLOCKS[size], TURNS[size]);
        result += STANDS_OUT[size] * shattered * here.x;
        shattered *= mix(MASSIVE, 1.0, smoothstep(0.3, 0.8, here.y));
    }
}
