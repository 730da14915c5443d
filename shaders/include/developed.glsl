// What a screen shows of the light of a place in the picture: exposure, a filmic curve, contrast, a light vignette.
#include "frame.glsl"
#include "tone.glsl"

uniform vec4 part;  // of the picture that is drawn: its size and its lower left corner, as parts of the whole

vec3 developed(vec3 radiance, vec2 uv) {
    radiance *= frame.sun_light.a;
    vec2 from_centre = (uv * part.xy + part.zw - 0.5) * vec2(0.9, 0.7);
    radiance *= 1.0 - 0.45 * dot(from_centre, from_centre);
    return contrasted_srgb(toned(radiance));
}
