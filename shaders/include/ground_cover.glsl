// What stands on the ground and is finer than a cell, in metres, so that it tells the size of the land: bushes, tufts,
// stones and pebbles. Each fades before it is finer than a pixel.
#include "scattered.glsl"

// How thick they stand, from 0 to 1.
struct GroundCover {
    float bushes;
    float tufts;
    float stones;
    vec3 bush;  // albedo
    vec3 tuft;
};

const GroundCover NO_COVER = GroundCover(0.0, 0.0, 0.0, vec3(0.0), vec3(0.0));

const float BUSHES_APART = 8.0, TUFTS_APART = 1.2, STONES_APART = 1.9, PEBBLES_APART = 0.31, CRUMBS_APART = 0.08;  // metres
const float PLANT_BULGES = 0.8, STONE_BULGES = 0.8;  // slope at the rim
const float SHADE_SUN = 0.75, SHADE_SKY = 0.35;  // part of the light that their shade takes
const float TONES = 0.4, BLADES = 1.6;
const float FRAYED = 0.06;
const float STONES_LOBED = 0.35, PLANTS_LOBED = 0.8;

vec3 with_bodies(vec3 albedo, Bodies bodies, vec3 own, float bulge, inout vec2 bumps, inout vec3 seen) {
    seen.x *= 1.0 - SHADE_SUN * bodies.shade;
    seen.y *= 1.0 - SHADE_SKY * bodies.shade;
    bumps -= bulge * bodies.cover * bodies.lean;
    return mix(albedo, own * (1.0 + TONES * bodies.tone), bodies.cover);
}

// `pixel` is the size of a pixel in cells, `fray` a noise around 0, by which outlines are not round.
vec3 with_ground_cover(vec3 albedo, GroundCover cover, vec2 cells, float pixel, vec2 fray, inout vec2 bumps, inout vec3 seen) {
    vec2 at = cells * frame.map.z, shadow = -frame.sun.xz / max(frame.sun.y, 0.05);
    shadow *= min(1.0, LONGEST_SHADOW / max(length(shadow), 1e-3));
    float size = pixel * frame.map.z;
    vec3 stone = mix(albedo, vec3(1.1 * dot(albedo, vec3(0.30, 0.55, 0.15))), 0.45);
    Bodies stones = bodies_at(at / STONES_APART + FRAYED * fray, cover.stones, size / STONES_APART, 0.6 * shadow, STONES_LOBED);
    albedo = with_bodies(albedo, stones, stone, STONE_BULGES, bumps, seen);
    Bodies bushes = bodies_at(at / BUSHES_APART + FRAYED * fray, cover.bushes, size / BUSHES_APART, shadow, PLANTS_LOBED);
    albedo = with_bodies(albedo, bushes, cover.bush, PLANT_BULGES, bumps, seen);
    // Bushes are made of tufts of leaves, and these of leaves, which are as large as pebbles.
    float tufted = max(cover.tufts, bushes.cover);
    vec3 plant = mix(cover.tuft, 1.15 * cover.bush, bushes.cover) * (1.0 + BLADES * fray.y);
    Bodies tufts = bodies_at(at / TUFTS_APART + FRAYED * fray, tufted, size / TUFTS_APART, 0.8 * shadow, PLANTS_LOBED);
    albedo = with_bodies(albedo, tufts, plant, PLANT_BULGES, bumps, seen);
    float leafy = max(tufts.cover, bushes.cover);
    vec3 finest = mix(stone, 1.2 * plant, leafy);
    float pebbles = mix(min(1.8 * cover.stones, 1.0), 1.0, leafy), crumbs = min(4.0 * cover.stones, 1.0) * (1.0 - leafy);
    albedo = with_bodies(albedo, bodies_at(at / PEBBLES_APART, pebbles, size / PEBBLES_APART, 0.6 * shadow, STONES_LOBED), finest, STONE_BULGES, bumps, seen);
    return with_bodies(albedo, bodies_at(at / CRUMBS_APART, crumbs, size / CRUMBS_APART, 0.6 * shadow, STONES_LOBED), mix(albedo, finest, 0.5), STONE_BULGES, bumps, seen);
}
