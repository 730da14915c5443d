// The surface of water that runs: its level in each cell, and how that falls.
#include "map.glsl"

uniform sampler2D water_level;  // of each cell, in metres; the ground where it is dry
uniform sampler2D water;        // its depth in metres, 0 where it is dry

bool is_wet(ivec2 cell) {
    return texelFetch(water, cell, 0).x > 0.0;
}

ivec2 on_map(ivec2 cell) {
    return clamp(cell, ivec2(0), ivec2(frame.map.xy) - 1);
}

// Whether any of the four cells has water of which this is the first, in row and column.
bool is_wet_square(ivec2 first) {
    return is_wet(on_map(first)) || is_wet(on_map(first + ivec2(1, 0))) || is_wet(on_map(first + ivec2(0, 1)))
        || is_wet(on_map(first + 1));
}

// Whether a cell lies beside a calm sea, or where the map ends in the sea. Both are drawn as one flat surface.
bool meets_sea(ivec2 cell) {
    ivec2 last = ivec2(frame.map.xy) - 1;
    float bed = texelFetch(water_level, cell, 0).x - texelFetch(water, cell, 0).x;
    if (bed >= frame.water.w) return false;
    if (any(equal(cell, ivec2(0))) || any(equal(cell, last))) return true;
    for (int i = 0; i < 9; ++i)
        if (texelFetch(water_level, on_map(cell + ivec2(i % 3 - 1, i / 3 - 1)), 0).x == frame.water.w) return true;
    return false;
}

// The level of a cell. Where it meets the sea it has the sea's, so that there is no gap. Beside water a dry one has that
// of the water, as far as its ground is not below it: so a shore lies where the ground rises over the water, and a front
// ends on the ground that it has not come to.
float running_level(ivec2 cell) {
    float own = texelFetch(water_level, cell, 0).x;
    if (is_wet(cell)) return meets_sea(cell) ? frame.water.w : own;
    vec2 sum = vec2(0.0);
    for (int i = 0; i < 9; ++i) {
        ivec2 other = on_map(cell + ivec2(i % 3 - 1, i / 3 - 1));
        if (is_wet(other)) sum += vec2(texelFetch(water_level, other, 0).x, 1.0);
    }
    return sum.y > 0.0 ? min(sum.x / sum.y, own) : own;
}

// How steeply it rises to the east and south, among cells with water up to so many cells away.
vec2 running_fall(ivec2 cell, int reach) {
    vec2 rise = vec2(0.0);
    for (int side = 0; side < 2; ++side) {
        ivec2 step = reach * ivec2(1 - side, side), low = on_map(cell - step), high = on_map(cell + step);
        if (!is_wet(low)) low = cell;
        if (!is_wet(high)) high = cell;
        float apart = float((high - low)[side]);
        if (apart > 0.0 && is_wet(cell))
            rise[side] = (texelFetch(water_level, high, 0).x - texelFetch(water_level, low, 0).x) / (apart * frame.map.z);
    }
    return rise;
}
