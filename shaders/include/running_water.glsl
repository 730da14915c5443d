// Streams as a film on the ground.
#include "film.glsl"
#include "water.glsl"
#include "stream.glsl"
#include "overlay.glsl"

const float STIRRED = 0.04;  // broken water mirrors the sky also to an eye above it
// What comes back from water that carries the flour of rocks, and how much of that a metre holds.
const vec3 MILK = vec3(0.118, 0.182, 0.182);
const vec3 DEEP_MILK = vec3(0.058, 0.118, 0.124);  // the same in deep threads, which bring back less light from their gravel
const vec2 MILK_DEEPENS = vec2(0.15, 0.9);  // metres of depth
const float SILT_TURBIDITY = 0.5;
const vec3 GRAVEL = vec3(0.238, 0.205, 0.152);
const vec3 WET_GRAVEL = vec3(0.150, 0.139, 0.118);  // the bed of a river that carries it
const float WET_STONES = 0.60, WET_BANK = 0.70;  // of the light that dry ones give back
const float SOAKED = 0.55, THIN_MIRROR = 0.2;  // of that gravel below the thin edges of threads, and of the sky that they mirror
const float OPEN_SKY = 0.6;  // of what its bed does not see, which the surface of a wide stream does
const float POOL_ROUGHNESS = 0.002, RIFFLE_ROUGHNESS = 0.03;
const float STREAM_TURBIDITY = 0.45;

// Ice grows from the banks of a stream into it, and snow lies on what has grown together. °C at which it begins and is at its
// broadest, metres of it on each bank then, and how uneven its rim is.
const vec2 FREEZES = vec2(0.0, -7.0);
const float SHELF = 3.0, SHELF_UNEVEN = 0.35;
const vec3 RIVER_ICE = vec3(0.560, 0.620, 0.660);
const float ICE_SHOWS = 0.45;  // of it, under snow and where there is none
const vec3 FRAZIL = vec3(0.250, 0.300, 0.330);  // grains of ice that drift in the open water between
const float FRAZIL_HIDES = 0.45;

// Freezes a stream as far as it is cold, and returns how much of the pixel is ice.
float freeze(inout Course course, float cold, float uneven) {
    float shelf = SHELF * cold * (1.0 + SHELF_UNEVEN * uneven);
    float open = clamp(1.0 - shelf / max(course.wide, 1e-3), 0.0, 1.0), rim = 0.2 * min(shelf, 1.0) + 1e-3;
    float water = mix(open, smoothstep(-rim, 0.0, open - min(abs(course.aside), 1.0)) * smoothstep(0.0, 0.1, open), course.near);
    float ice = course.cover * (1.0 - water);
    course.cover -= ice;
    course.bank *= water;
    return ice;
}

// `seen` is how much of sun and sky the place sees.
Film running_water(Course course, Stream stream, vec3 position, vec3 seen) {
    float cold = smoothstep(-FREEZES.x, -FREEZES.y, frame.rain.z * position.y / frame.map.w - frame.streams.w);
    float ice = freeze(course, cold, stream.stones - 1.0);
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 normal = wave_normal(stream.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = max(water_fresnel(facing, mix(POOL_ROUGHNESS, RIFFLE_ROUGHNESS, 0.5 + 0.5 * course.riffle)), STIRRED);
    // Where threads thin out over their gravel there is more of that, and wet, than of the sky.
    mirror *= mix(1.0, THIN_MIRROR, course.silt * (1.0 - course.own));
    vec3 daylight = light_on_water(seen);
    vec3 turbidity = mix(vec3(mix(STREAM_TURBIDITY, SILT_TURBIDITY, course.silt)), LAKE_TURBIDITY, course.still);
    vec3 through = water_transmission(course.depth * stream.shoal, turbidity, facing) * (1.0 - mirror);
    vec3 bed = mix(mix(STREAM_BED, WET_STONES * GRAVEL, 0.5), WET_GRAVEL, course.silt) * stream.stones * course.own;
    vec3 milk = mix(MILK, DEEP_MILK, course.near * smoothstep(MILK_DEEPENS.x, MILK_DEEPENS.y, course.depth));
    vec3 colour = (water_scattering(mix(DEEP_LAKE, milk, course.silt), through, daylight) * stream.tone + bed * through * daylight)
                + mirror * mirrored_sky(water_reflected(to_eye, normal), 0.0, mix(seen.y, 1.0, OPEN_SKY * course.near), daylight);
#if FINE_WATER == 1
    colour += 0.25 * frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, 0.02);
#endif
    colour = mix(colour, FOAM * daylight, stream.white);
    colour = mix(colour, FRAZIL * daylight, FRAZIL_HIDES * cold);
    vec3 gravel = GRAVEL * mix(WET_STONES, 1.0, stream.dry) * stream.stones * daylight;
    stream.gravel *= 1.0 - cold;
    vec3 added = mix(colour * course.cover + ICE_SHOWS * ice * RIVER_ICE * daylight, gravel, stream.gravel);
    vec3 below = course.cover * through * mix(WET_BANK, SOAKED, course.silt) * (1.0 - course.own) * (1.0 - stream.white) * (1.0 - FRAZIL_HIDES * cold);
    float beside = (1.0 - course.cover - ICE_SHOWS * ice) * mix(1.0, WET_BANK, course.bank);
    return Film(added, (below + beside) * (1.0 - stream.gravel));
}
