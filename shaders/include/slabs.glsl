// Slabs between joints of one set.
#include "map.glsl"

// Of which slab a place is, where they are from a half to one and a half as thick as they are in the mean; how far
// it is from the nearer of its sides, below 0 if that is the lower one.
vec2 slab_at(float at, float seed) {
    float pair = floor(0.5 * at), up = at - 2.0 * pair, parted = 0.5 + hash(vec2(pair, seed));
    bool upper = up > parted;
    vec2 sides = upper ? vec2(up - parted, 2.0 - up) : vec2(up, parted - up);
    return vec2(2.0 * pair + float(upper), sides.x < sides.y ? -sides.x : sides.y);
}
