// The least phase by way of cells at a distance: where waves from two coasts meet, those that need less time have come.
uniform sampler2D phases;
uniform int reach;  // cells

out vec2 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = textureSize(phases, 0) - 1;
    result = texelFetch(phases, cell, 0).xy;
    if (result.y < 0.0) return;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 way = reach * ivec2(east, south), other = cell + way;
            if (way == ivec2(0) || any(lessThan(other, ivec2(0))) || any(greaterThan(other, last))) continue;
            vec2 there = texelFetch(phases, other, 0).xy;
            if (there.y < 0.0) continue;
            float phase = there.x + 0.5 * (there.y + texelFetch(phases, cell, 0).y) * length(vec2(way));
            if (phase >= result.x) continue;
            // Not over land
            if (reach > 1 && texelFetch(phases, cell + way / 2, 0).y < 0.0) continue;
            if (reach > 2 && texelFetch(phases, cell + way / 4, 0).y < 0.0) continue;
            if (reach > 2 && texelFetch(phases, cell + 3 * way / 4, 0).y < 0.0) continue;
            result.x = phase;
        }
    }
}
