// Light that has been scattered twice and more, alike in all directions, for sunlight of 1 at the top of the air: by the
// height and the cosine of the sun's angle to the zenith (Hillaire 2020, section 5.5).
#include "atmosphere.glsl"

uniform sampler2D transmittance;
uniform vec2 size;  // of this table, in texels

out vec4 result;

const int DIRECTIONS = 8;  // along a side of a square that is laid over all of them
const int STEPS = 20;

void main() {
    vec2 place = (gl_FragCoord.xy - 0.5) / (size - 1.0);
    float sun_up = 2.0 * place.x - 1.0;
    vec3 sun = vec3(sqrt(max(1.0 - sun_up * sun_up, 0.0)), sun_up, 0.0);
    float radius = radii.x + place.y * place.y * (radii.y - radii.x);
    vec3 second = vec3(0.0), again = vec3(0.0);
    for (int k = 0; k < DIRECTIONS * DIRECTIONS; ++k) {
        vec2 part = (vec2(k / DIRECTIONS, k % DIRECTIONS) + 0.5) / float(DIRECTIONS);
        float up = 1.0 - 2.0 * part.x, around = 2.0 * PI * part.y, across = sqrt(1.0 - up * up);
        vec3 direction = vec3(across * cos(around), up, across * sin(around));
        float reach;
        bool ground = meets_ground(radius, up, reach);
        float before = 0.0;
        vec3 left = vec3(1.0);
        for (int i = 0; i < STEPS; ++i) {
            float after = step_end(i, STEPS) * reach;
            vec3 at = vec3(0.0, radius, 0.0) + direction * 0.5 * (before + after);
            float distance_up = length(at), height = distance_up - radii.x;
            Air air = air_at(height);
            vec3 kept = exp(-air.extinction * (after - before));
            vec3 scattered = (air.rayleigh + air.haze) * left * (1.0 - kept) / max(air.extinction, 1e-9);
            float sun_there = dot(at, sun) / distance_up;
            second += scattered * textureLod(transmittance, transmittance_uv(transmittance, height, sun_there), 0.0).rgb / (4.0 * PI);
            again += scattered;
            left *= kept;
            before = after;
        }
        if (ground) {
            vec3 at = vec3(0.0, radius, 0.0) + direction * reach;
            float sun_there = dot(at, sun) / length(at);
            vec3 lit = textureLod(transmittance, transmittance_uv(transmittance, 0.0, sun_there), 0.0).rgb;
            second += left * lit * max(sun_there, 0.0) * ground_albedo / PI;
        }
    }
    // Each of all further times the same part is scattered again.
    float directions = float(DIRECTIONS * DIRECTIONS);
    result = vec4(second / directions / (1.0 - again / directions), 1.0);
}
