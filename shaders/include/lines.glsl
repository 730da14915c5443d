// Lines through the middles of cells, smooth at any distance. A cell of the map holds 16 × the line's order + the number
// of the neighbour that it leads to (8: none), or 0 where there is no line.
#include "neighbours.glsl"

float distance_to_segment(vec2 place, vec2 begin, vec2 along) {
    vec2 away = place - begin;
    float part = clamp(dot(away, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
    return length(away - part * along);
}

// The order of the widest line at a place (in cells) and how much of the pixel it covers. Half of a line's width is
// `base` and `growth` for each order, in cells, but no line is thinner than a pixel: small ones fade instead, the more so
// the more of them meet in a pixel.
vec2 nearest_line(sampler2D lines, vec2 place, float pixel, float base, float growth) {
    // Whatever passes the square between the middles of four cells begins or ends in one of them.
    ivec2 first = ivec2(floor(place - 0.5));
    ivec2 last = ivec2(frame.map.xy) - 1;
    vec2 found = vec2(1.0, 0.0);
    for (int corner = 0; corner < 4; corner++) {
        ivec2 cell = clamp(first + ivec2(corner & 1, corner >> 1), ivec2(0), last);
        int code = int(texelFetch(lines, cell, 0).x + 0.5);
        float order = float(code >> 4);
        float half_width = base + growth * order;
        float drawn = max(half_width, 0.6 * pixel);
        float away = distance_to_segment(place, vec2(cell) + 0.5, towards_neighbour(min(code & 15, 8)));
        float covered = 1.0 - smoothstep(drawn - 0.5 * pixel, drawn + 0.5 * pixel, away);
        covered *= min(1.0, 0.35 + half_width / drawn) * step(1.0, order);
        covered *= clamp(1.0 + 0.6 * (order - 1.0 - log2(max(pixel, 1.0))), 0.0, 1.0);
        if (covered > found.y) found = vec2(order, covered);
    }
    return found;
}
