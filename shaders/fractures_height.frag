// Fractured rock, as a tile: blocks of three sizes with plane faces, in tiles of side 1. Its height is in tiles, too.
#include "detail.glsl"
#include "hash.glsl"

uniform float texels;  // along a side

out float result;

const float BLOCKS[3] = float[](9.0, 23.0, 58.0);  // along a side
const float TILT = 0.45, TOP = 0.16;  // how far their tops lean, and stand apart; beside a block's width
const float SIDES = 1.4;  // slope

// Tilted tops, and sides that meet in cracks: the highest of what the blocks around have here.
float rock(vec2 at, float blocks) {
    vec2 square = floor(at);
    float height = -1e9;
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            vec2 lattice = square + vec2(column, row), own = mod(lattice, blocks) + 3.0 * blocks;
            vec4 place = hash4(own), form = hash4(own + 401.0);
            vec2 away = at - lattice - place.xy;
            float turn = 1.5708 * place.z;
            vec2 turned = abs(mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * away);
            float beside = max(max(turned.x, 1.3 * turned.y) - (0.15 + 0.25 * place.w), 0.0);
            height = max(height, TOP * (2.0 * form.z - 1.0) + TILT * dot(2.0 * form.xy - 1.0, away) - SIDES * beside);
        }
    }
    return height / blocks;
}

void main() {
    vec2 uv = gl_FragCoord.xy / texels;
    // Edges that are not straight.
    vec2 bend = vec2(textureLod(detail, uv, 3.0).w, textureLod(detail, uv + 0.37, 3.0).w) - 0.5;
    result = 0.0;
    for (int size = 0; size < 3; ++size) result += rock(uv * BLOCKS[size] + bend, BLOCKS[size]);
}
