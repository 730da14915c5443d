// Joints and beds: slabs between those of one set, and the blocks into which three sets part rock.
#include "map.glsl"

// Of which slab a place is, where they are from a half to one and a half as thick as they are in the mean; how far
// it is from its lower and from its upper side.
vec3 slab_at(float at, float seed) {
    float pair = floor(0.5 * at), up = at - 2.0 * pair, parted = 0.5 + hash(vec2(pair, seed));
    return up > parted ? vec3(2.0 * pair + 1.0, up - parted, 2.0 - up) : vec3(2.0 * pair, up, parted - up);
}

// The ways across the sets in east, up, south: beds, and two of steep joints, not quite at right angles.
mat3 across_sets() {
    return mat3(frame.beds.xyz, vec3(0.84, -0.19, 0.51), vec3(-0.47, 0.12, 0.87));
}
const vec3 SPACED = vec3(0.62, 1.0, 1.45);

struct Block {
    vec3 below, above;  // how far it is from both sides in each set, in blocks
    float own;          // a number of its own, from 0 to 1
    float bed;          // one of its bed
};

// The block at a place across the sets, in blocks. Later joints end at earlier ones, as where rock breaks.
Block block_at(vec3 here, float seed) {
    vec3 bed = slab_at(here.x, seed);
    float of_bed = hash(vec2(bed.x, 3.7));
    vec3 first = slab_at(here.y + 31.0 * of_bed, bed.x);
    float of_first = hash(vec2(first.x, 41.0 * of_bed));
    vec3 second = slab_at(here.z + 31.0 * of_first, first.x + 17.0 * bed.x);
    return Block(vec3(bed.y, first.y, second.y), vec3(bed.z, first.z, second.z), hash(vec2(second.x, 61.0 * of_first)), of_bed);
}
