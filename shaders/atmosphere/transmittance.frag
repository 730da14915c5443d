// The part of light that comes through the air from its top, by the height and the cosine of the angle to the zenith.
#include "atmosphere.glsl"

uniform vec2 size;  // of this table, in texels

out vec4 result;

const int STEPS = 64;

void main() {
    vec2 place = (gl_FragCoord.xy - 0.5) / (size - 1.0);
    float signed_up = 2.0 * place.x - 1.0, up = signed_up * abs(signed_up);
    float radius = radii.x + place.y * place.y * (radii.y - radii.x);
    float reach = to_top(radius, up), before = 0.0;
    vec3 depth = vec3(0.0);
    for (int i = 0; i < STEPS; ++i) {
        float after = step_end(i, STEPS) * reach, along = 0.5 * (before + after);
        float height = sqrt(radius * radius + along * along + 2.0 * radius * up * along) - radii.x;
        depth += air_at(height).extinction * (after - before);
        before = after;
    }
    result = vec4(exp(-depth), 1.0);
}
