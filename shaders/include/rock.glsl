// How bare rock looks: faces that weather for long beside others that broke off lately, lichens, rust, and water that seeps
// down.

const vec3 FRESH = vec3(1.16, 1.10, 1.02), AGED = vec3(0.54, 0.555, 0.57);  // beside rock of a middle age
const vec3 WARM = vec3(1.07, 1.0, 0.90), COOL = vec3(0.94, 1.0, 1.07);  // of bodies of many cells
const vec3 WEATHERED_IN_MEAN = vec3(0.82, 0.795, 0.75);  // what such faces come to from afar
const vec3 RUST = vec3(1.10, 0.91, 0.73);
const vec3 SEEPS = vec3(0.42, 0.43, 0.45);
const vec3 LICHEN = vec3(0.098, 0.100, 0.084), PALE_LICHEN = vec3(0.270, 0.255, 0.205);
const float LICHEN_HIDES = 0.42, CRACKS_DARK = 0.40;
const float OWN_AGE = 4.2, OWN_RUST = 1.5;  // how much faces beside each other differ, for each slope between them

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
