// Streams as a film on the ground.
#include "film.glsl"
#include "water.glsl"
#include "stream.glsl"
#include "overlay.glsl"

const float STIRRED = 0.04;  // broken water mirrors the sky also to an eye above it
// What comes back from water that carries the flour of rocks, and how much of that a metre holds.
const vec3 MILK = vec3(0.112, 0.168, 0.180);
const float SILT_TURBIDITY = 1.3;
const vec3 GRAVEL = vec3(0.245, 0.218, 0.180);
const vec3 WET_GRAVEL = vec3(0.235, 0.218, 0.186);  // the bed of a river that carries it
const float WET_STONES = 0.60, WET_BANK = 0.70;  // of the light that dry ones give back
const float OPEN_SKY = 0.6;  // of what its bed does not see, which the surface of a wide stream does
const float POOL_ROUGHNESS = 0.002, RIFFLE_ROUGHNESS = 0.03;
const float STREAM_TURBIDITY = 0.45;

// `seen` is how much of sun and sky the place sees.
Film running_water(Course course, Stream stream, vec3 position, vec3 seen) {
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 normal = wave_normal(stream.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = max(water_fresnel(facing, mix(POOL_ROUGHNESS, RIFFLE_ROUGHNESS, 0.5 + 0.5 * course.riffle)), STIRRED);
    vec3 daylight = light_on_water(seen);
    float turbidity = mix(mix(STREAM_TURBIDITY, SILT_TURBIDITY, course.silt), LAKE_TURBIDITY, course.still);
    vec3 through = water_transmission(course.depth * stream.shoal, turbidity, facing) * (1.0 - mirror);
    vec3 bed = mix(mix(STREAM_BED, WET_STONES * GRAVEL, 0.5), WET_GRAVEL, course.silt) * stream.stones * course.own;
    vec3 colour = (water_scattering(mix(DEEP_LAKE, MILK, course.silt), through, daylight) * stream.tone + bed * through * daylight)
                + mirror * mirrored_sky(water_reflected(to_eye, normal), 0.0, mix(seen.y, 1.0, OPEN_SKY * course.near), daylight);
#if FINE_WATER == 1
    colour += 0.25 * frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, 0.02);
#endif
    colour = mix(colour, FOAM * daylight, stream.white);
    vec3 gravel = GRAVEL * mix(WET_STONES, 1.0, stream.dry) * stream.stones * daylight;
    vec3 added = mix(colour * course.cover, gravel, stream.gravel);
    vec3 below = course.cover * through * WET_BANK * (1.0 - course.own) * (1.0 - stream.white);
    return Film(added, (below + (1.0 - course.cover) * mix(1.0, WET_BANK, course.bank)) * (1.0 - stream.gravel));
}
