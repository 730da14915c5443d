// What has moved since the shore was found: discards cells where nothing has that would be seen.
uniform sampler2D heights;        // ground, level of the water
uniform sampler2D known_heights;  // as they were then
uniform float cell_size;

out vec4 result;

const float UNSEEN = 0.002;      // of a cell: on a beach of one in ten the coast moves by a fiftieth
const float PART_OF_DEPTH = 0.03;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = textureSize(heights, 0) - 1;
    vec2 now = texelFetch(heights, cell, 0).xy, then = texelFetch(known_heights, cell, 0).xy;
    float depth = now.y - now.x, known_depth = then.y - then.x;
    bool by_water = depth > 0.0;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            vec2 there = texelFetch(heights, clamp(cell + ivec2(east, south), ivec2(0), last), 0).xy;
            by_water = by_water || there.y > there.x;
        }
    }
    float most = UNSEEN * cell_size + PART_OF_DEPTH * max(depth, 0.0);
    bool moved = (depth > 0.0) != (known_depth > 0.0) || abs(depth - known_depth) > most
              || by_water && abs(now.x - then.x) > most;
    if (!moved) discard;
    result = vec4(1.0);
}
