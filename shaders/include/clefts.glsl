// Joints and beds: planes in three sets, which part rock into blocks. They cut the ground where they meet it, so that
// nothing is drawn out however steep it is.
#include "slabs.glsl"

const int CLEFT_SCALES = 4;
const float WIDEST_BLOCKS = 7.4;     // cells between joints; each scale beside the one before:
const float BLOCKS_FINER = 0.31;
const float CLEFT_OPEN = 0.05;       // of a block, to either side
const vec2 BLOCKS_FADE = vec2(0.14, 0.40);  // blocks in a pixel
const float FACES_TILT = 0.34, EDGES_TILT = 0.75, FACES_TONE = 0.26;
// From scale to scale the ways across turn, or all blocks would be one masonry.
const mat3 TURNS_ON = mat3(vec3(0.978, 0.035, -0.208), vec3(0.17, 0.80, 0.58), vec3(0.19, -0.60, 0.78));

struct Clefts {
    vec3 lean;   // by which its face leans from the slope that it is a part of: east, up, south
    float tone;  // of its own, around 0
    float open;  // from 0 to 1: how far a cleft gapes
};

// `at` is a place, `step_of` its screen-space derivatives: east, up, south, in cells. `shattered` says from 0 to 1 how broken
// the rock is there, `ragged` by how many blocks their sides are not planes.
Clefts clefts_at(vec3 at, vec3 ragged, mat2x3 step_of, float shattered) {
    Clefts all = Clefts(vec3(0.0), 0.0, 0.0);
    mat3 across = across_sets();
    float wide = WIDEST_BLOCKS, pixel = 0.7 * max(length(step_of[0]), length(step_of[1]));
    for (int scale = 0; scale < CLEFT_SCALES; ++scale) {
        float seen = 1.0 - smoothstep(BLOCKS_FADE.x, BLOCKS_FADE.y, pixel / wide);
        if (seen <= 0.0) break;
        vec3 size = wide * SPACED, here = (at * across) / size + ragged, blurred = (abs(step_of[0] * across) + abs(step_of[1] * across)) / size;
        Block block = block_at(here, float(scale));
        float own = block.own;
        vec3 away = min(block.below, block.above), outward = mix(vec3(1.0), vec3(-1.0), lessThan(block.below, block.above));
        // Some joints gape, others are closed.
        vec3 gapes = smoothstep(0.75 - shattered, 1.25 - shattered, fract(own * vec3(7.0, 11.0, 13.0)));
        vec3 broad = vec3(CLEFT_OPEN) + blurred;
        vec3 edge = (1.0 - smoothstep(0.25 * broad, broad, away)) * (CLEFT_OPEN / broad) * mix(vec3(0.2), vec3(1.0), gapes);
        vec3 tilt = fract(vec3(block.bed, own, own) * vec3(19.0, 29.0, 37.0)) - 0.5;
        tilt.x *= 2.0;
        all.lean += seen * (across * (EDGES_TILT * edge * outward + 2.0 * FACES_TILT * mix(0.25, 1.0, shattered) * tilt));
        all.tone += seen * FACES_TONE * (fract(mix(own, block.bed, step(0.4, own)) * 53.0) - 0.5);
        all.open = max(all.open, seen * max(max(edge.x, edge.y), edge.z));
        wide *= BLOCKS_FINER;
        across *= TURNS_ON;
    }
    return all;
}

// By how much a lean of a face changes the slope on the map, which is `slope` without it.
vec2 tilted_by(vec3 lean, vec2 slope) {
    vec3 normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    vec3 tilted = normalize(normal + lean - dot(lean, normal) * normal);
    vec2 change = -tilted.xz / max(tilted.y, 0.12) - slope;
    return change * min(1.0, 1.2 / max(length(change), 1e-3) * (1.0 + length(slope)));
}
