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
const float WET_BANK = 0.55;  // of the light that dry ground gives back

// `seen` is how much of sun and sky the place sees.
Film running_water(Course course, Stream stream, vec3 position, vec3 seen) {
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 normal = wave_normal(stream.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = max(water_fresnel(facing, 0.01), STIRRED);
    vec3 daylight = light_on_water(seen);
    float turbidity = mix(mix(RIVER_TURBIDITY, SILT_TURBIDITY, course.silt), LAKE_TURBIDITY, course.still);
    vec3 through = water_transmission(course.depth * stream.shoal, turbidity, facing) * (1.0 - mirror);
    vec3 colour = (water_scattering(mix(DEEP_LAKE, MILK, course.silt), through, daylight) + mix(STREAM_BED, WET_GRAVEL, course.silt) * through * daylight) * stream.tone
                + mirror * mirrored_sky(water_reflected(to_eye, normal), 0.0, seen.y, daylight);
#if FINE_WATER == 1
    colour += 0.15 * frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, 0.02);
#endif
    colour = mix(colour, FOAM * daylight, stream.white);
    colour = mix(colour, GRAVEL * stream.tone * daylight, stream.gravel);
    return Film(colour * course.cover, vec3((1.0 - course.cover) * mix(1.0, WET_BANK, course.bank)));
}
