// The sky as it is seen from near the ground, for sunlight of 1 at the top of the air: from the left by the sine of half
// the angle between the directions on the compass of sun and eye, upwards by the root of the sine of the height.
#include "atmosphere.glsl"

uniform sampler2D transmittance;
uniform sampler2D multiple_scattering;
uniform vec2 size;         // of this table, in texels
uniform float sun_sine;    // of the sun's height
uniform float eye_height;  // km
uniform float anisotropy;  // of haze: how much of what it scatters goes on forward

out vec4 result;

const int STEPS = 24;

float rayleigh_phase(float cosine) {
    return 3.0 / (16.0 * PI) * (1.0 + cosine * cosine);
}

// Cornette and Shanks (1992).
float haze_phase(float cosine) {
    float g = anisotropy, g2 = g * g;
    return 3.0 / (8.0 * PI) * (1.0 - g2) * (1.0 + cosine * cosine)
         / ((2.0 + g2) * pow(1.0 + g2 - 2.0 * g * cosine, 1.5));
}

void main() {
    vec2 place = (gl_FragCoord.xy - 0.5) / (size - 1.0);
    float up = place.y * place.y, across = sqrt(max(1.0 - up * up, 0.0));
    float cosine_around = 1.0 - 2.0 * place.x * place.x;
    vec3 direction = vec3(across * cosine_around, up, across * sqrt(max(1.0 - cosine_around * cosine_around, 0.0)));
    vec3 sun = vec3(sqrt(max(1.0 - sun_sine * sun_sine, 0.0)), sun_sine, 0.0);
    float cosine = dot(direction, sun);
    float by_air = rayleigh_phase(cosine), by_haze = haze_phase(cosine);
    float radius = radii.x + eye_height;
    float reach = to_top(radius, up);
    vec3 light = vec3(0.0), left = vec3(1.0);
    float before = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        float after = step_end(i, STEPS) * reach;
        vec3 at = vec3(0.0, radius, 0.0) + direction * 0.5 * (before + after);
        float distance_up = length(at), height = distance_up - radii.x, sun_there = dot(at, sun) / distance_up;
        Air air = air_at(height);
        vec3 sunlight = textureLod(transmittance, transmittance_uv(transmittance, height, sun_there), 0.0).rgb;
        vec3 all_around = textureLod(multiple_scattering, scattering_uv(multiple_scattering, height, sun_there), 0.0).rgb;
        vec3 scattered = sunlight * (air.rayleigh * by_air + air.haze * by_haze) + all_around * (air.rayleigh + air.haze);
        vec3 kept = exp(-air.extinction * (after - before));
        light += left * scattered * (1.0 - kept) / max(air.extinction, 1e-9);
        left *= kept;
        before = after;
    }
    result = vec4(light, 1.0);
}
