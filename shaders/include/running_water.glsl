// Streams as a film on the ground.
#include "film.glsl"
#include "water.glsl"
#include "stream.glsl"
#include "overlay.glsl"

const float STIRRED = 0.07;  // broken water mirrors the sky also to an eye above it
// Units of clear water that take as much light as a metre of a stream, which carries silt and is stirred, and as none.
const float MURKY = 5.0, SURFACE = 1.0;
const vec3 STREAM_BED = vec3(0.150, 0.128, 0.092);
const float WET_BANK = 0.55;  // of the light that dry ground gives back

// `seen` is how much of sun and sky the place sees.
Film running_water(Course course, Stream stream, vec3 position, vec3 seen) {
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 normal = wave_normal(stream.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = max(water_fresnel(facing, 0.01), STIRRED);
    vec3 daylight = light_on_water(seen);
    vec3 through = water_transmission(SURFACE + MURKY * course.depth, facing) * (1.0 - mirror);
    vec3 colour = (water_scattering(through, daylight) + STREAM_BED * through * daylight) * stream.tone
                + mirror * mirrored_sky(water_reflected(to_eye, normal), seen.y, daylight);
#if FINE_WATER == 1
    colour += 0.15 * frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, 0.02);
#endif
    colour = mix(colour, FOAM * daylight, stream.white);
    return Film(colour * course.cover, vec3((1.0 - course.cover) * mix(1.0, WET_BANK, course.bank)));
}
