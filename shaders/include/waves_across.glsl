// Noise of waves whose crests run along a way, join and fork.
#include "map.glsl"

const float TAU = 6.28318531;
const float WAVES_IN_SQUARE = 2.0;  // of the lattice: crests are some times as long as they are apart

vec2 hash2(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * vec3(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.xx + q.yz) * q.zy);
}

// The sum of waves across a way, as cosine and sine, and their height. Each square of a lattice has a wave of its own
// length, way and height.
vec3 summed_waves(vec2 at, vec2 across) {
    vec2 square = floor(at);
    vec2 along = vec2(-across.y, across.x);
    vec2 sum = vec2(0.0);
    float height = 0.0, weights = 1e-3;
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            vec2 lattice = square + vec2(column, row);
            vec2 away = at - lattice - hash2(lattice);
            vec2 own = hash2(lattice + 57.0);
            float near = max(1.0 - dot(away, away) * 0.8, 0.0);
            near *= near;
            float phase = TAU * WAVES_IN_SQUARE * (0.6 + 0.8 * own.x) * dot(away, across + (own.y - 0.5) * along);
            sum += near * vec2(cos(phase), sin(phase));
            height += near * fract(own.x * 7.0 + own.y * 5.0);
            weights += near;
        }
    }
    return vec3(sum, 0.15 + 1.1 * height / weights);
}

// Waves across a way, from −1 to 1, and how they change along `across`, in radians. They are blended as phases are, so
// that crests join and fork.
vec2 waves_across(vec2 at, vec2 across) {
    vec3 waves = summed_waves(at, across);
    return vec2(waves.x, -waves.y) * waves.z / max(length(waves.xy), 0.08);
}
