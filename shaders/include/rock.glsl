// How bare rock looks: faces that weather for long beside others that broke off lately, lichens, rust, and water that seeps
// down; and the bodies that massive rock is made of: sheets that dip, of several kinds, with dikes through them.
#include "slabs.glsl"

const vec3 FRESH = vec3(1.22, 1.13, 1.00), AGED = vec3(0.56, 0.575, 0.59);  // beside rock of a middle age
const vec3 WARM = vec3(1.12, 1.0, 0.84), COOL = vec3(0.89, 0.98, 1.07);  // of bodies of many cells
const vec3 WEATHERED_IN_MEAN = vec3(0.82, 0.795, 0.75);  // what such faces come to from afar
const vec3 RUST = vec3(1.14, 0.86, 0.60);
const vec3 SEEPS = vec3(0.42, 0.43, 0.45);
const vec3 LICHEN = vec3(0.098, 0.100, 0.084), PALE_LICHEN = vec3(0.270, 0.255, 0.205);
const float LICHEN_HIDES = 0.42, CRACKS_DARK = 0.40;
const float OWN_AGE = 4.2, OWN_RUST = 1.5;  // how much faces beside each other differ, for each slope between them

const vec3 ACROSS_SHEETS[3] = vec3[3](vec3(0.38, 0.88, -0.29), vec3(0.30, 0.90, -0.32), vec3(0.83, 0.22, 0.51));  // the last of dikes
const vec3 BODIES_WIDE = vec3(31.0, 7.3, 53.0);  // cells
const float BODY_WIDE = 9.0;
const vec3 BODIES_BEND = vec3(1.8, 2.2, 0.5);    // of their width, for each of the noise
const vec3 BODIES_DIFFER = vec3(1.0, 0.6, 0.0);
const vec2 BODIES_SOFT = vec2(0.05, 0.14);  // of their width: contacts
const float BODIES_PALER = 0.48, BODIES_WARMER = 0.34, DIKES_WIDE = 0.055;
const vec3 DIKE = vec3(0.50, 0.54, 0.58);
// Above the sea: where spray keeps rock dark with a film of algae, then lichens, in metres, and how uneven that is.
const float SPRAY_REACHES = 16.0, LICHENS_REACH = 30.0, REACHES_UNEVEN = 1.4;
const vec3 SEA_FILM = vec3(0.30, 0.31, 0.31), SEA_LICHEN = vec3(1.22, 0.90, 0.42);

const float ZONES_WIDE = 6.1, JOINTED_ZONES = 0.26, EVEN_WALLS = 0.2, ROCK_GRAIN = 0.8;

// A face of rock, by what is known of where it lies. Noises are around 0.
struct Face {
    vec2 tilt;     // beside the slope that it is a part of: to the east and south
    float leans;   // how much steeper than that slope, relative to it
    float shaded;  // 1 to the north, -1 to the south
    float block;   // how far it stands out of those around
    float zone, other_zone;  // noises of many cells
    float hollow;  // how deep in a gully, or on a rib below 0
    float seep;    // a noise in lines down the fall
};

// The colour of a sheet, beside that of the rock, by its number.
vec3 sheet_colour(float number, float scale) {
    float own = hash(vec2(number, 71.0 + scale)), hue = fract(own * 23.0) - 0.5;
    return vec3(1.0) + BODIES_DIFFER[int(scale)] * (BODIES_PALER * (own - 0.5) + BODIES_WARMER * hue * vec3(1.0, 0.05, -1.0));
}

// The colour of massive rock beside its mean, at a place in cells. Noise around 0 bends its sheets; they merge into pixels,
// which are so many cells wide.
vec3 bodies_of_rock(vec3 at, float bend, float pixel) {
    vec3 colour = vec3(1.0);
    for (int scale = 0; scale < 2; ++scale) {
        float wide = BODIES_WIDE[scale];
        vec3 sheet = slab_at(dot(at, ACROSS_SHEETS[scale]) / wide + BODIES_BEND[scale] * bend, 11.0 + float(scale));
        float soft = BODIES_SOFT[scale] + pixel / wide, near = min(sheet.y, sheet.z);
        vec3 other = sheet_colour(sheet.x + (sheet.y < sheet.z ? -1.0 : 1.0), float(scale));
        vec3 own = mix(sheet_colour(sheet.x, float(scale)), other, 0.5 - 0.5 * smoothstep(0.0, soft, near));
        colour *= mix(own, vec3(1.0), smoothstep(0.2, 0.6, pixel / wide));
    }
    vec3 dike = slab_at(dot(at, ACROSS_SHEETS[2]) / BODIES_WIDE.z + BODIES_BEND.z * bend, 29.0);
    float wide = DIKES_WIDE * step(0.5, hash(vec2(dike.x, 5.0))), soft = 0.015 + pixel / BODIES_WIDE.z;
    return colour * mix(vec3(1.0), DIKE, smoothstep(wide + soft, wide - soft, dike.y) * min(wide / soft, 1.0));
}

// The same of sheets of one width, for levels that save work.
vec3 body_of_rock(vec3 at, float bend) {
    return sheet_colour(slab_at(dot(at, ACROSS_SHEETS[0]) / BODY_WIDE + BODIES_BEND.x * bend, 11.0).x, 0.0);
}

// Rock by the sea, at so many metres above it; noise around 0 says how uneven that is.
vec3 by_sea(vec3 rock, float above, float uneven) {
    float at = above / max(1.0 + REACHES_UNEVEN * uneven, 0.3);
    float lichens = smoothstep(0.6 * SPRAY_REACHES, SPRAY_REACHES, at) * (1.0 - smoothstep(SPRAY_REACHES, LICHENS_REACH, at)) * smoothstep(-0.05, 0.15, uneven);
    return rock * mix(vec3(1.0), SEA_FILM, 1.0 - smoothstep(0.35 * SPRAY_REACHES, SPRAY_REACHES, at)) * mix(vec3(1.0), SEA_LICHEN, lichens);
}

// Albedo of rock, from that of its kind. Steep faces break off before lichens have grown on them; these like the shade.
// Water seeps in gullies, and leaves iron beside its way.
vec3 weathered(vec3 rock, Face face) {
    float age = 0.85 * face.zone + 0.6 * face.block - 0.35 * face.leans + OWN_AGE * dot(face.tilt, vec2(0.080, -0.062));
    float aged = smoothstep(-0.20, 0.20, age);
    rock *= mix(FRESH, AGED, aged) * mix(WARM, COOL, smoothstep(-0.18, 0.18, face.other_zone - 0.4 * face.zone));
    float rusty = smoothstep(0.06, 0.30, face.other_zone + 0.5 * face.seep + OWN_RUST * dot(face.tilt, vec2(0.055, 0.075)));
    rock *= mix(vec3(1.0), RUST, rusty * (1.0 - 0.4 * aged));
    float grown = aged * smoothstep(-0.10, 0.42, 0.30 * face.shaded + 0.6 * face.other_zone - 1.8 * face.block + 0.15 * face.hollow);
    vec3 lichen = mix(LICHEN, PALE_LICHEN, smoothstep(0.10, 0.22, face.block - 0.5 * face.zone));
    rock = mix(rock, lichen, LICHEN_HIDES * grown);
    float wet = smoothstep(0.10, 0.26, face.seep + 0.35 * face.hollow + 0.30 * face.zone - 0.12);
    float shattered = smoothstep(0.0, 0.16, face.other_zone);
    rock *= 1.0 - CRACKS_DARK * shattered * smoothstep(0.05, 0.22, -face.block);
    return rock * mix(vec3(1.0), SEEPS, wet);
}
