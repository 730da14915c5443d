// Light on leaves.
#include "sky.glsl"

// Leaves turned to `normal` send this to the eye. `sun` is how much sunlight comes to them, `open` how open to the sky
// they are.
vec3 foliage(vec3 albedo, vec3 normal, vec3 to_eye, float sun, float open) {
    float facing = dot(normal, frame.sun.xyz);
    // A crown is no wall: light comes a little around it, and against the sun through it.
    float reflected = clamp((facing + 0.25) / 1.25, 0.0, 1.0);
    float against = max(-dot(to_eye, frame.sun.xyz), 0.0);
    vec3 through = vec3(1.25, 1.20, 0.45) * (0.10 + 0.55 * against * against) * clamp(0.75 - 0.5 * facing, 0.0, 1.0);
    return albedo * (frame.sun_light.rgb * sun * (reflected + 0.6 * through) + sky_light(normal) * open);
}
