// Noise of waves whose crests run along a way, join and fork.
#include "map.glsl"

const float TAU = 6.28318531;
const float WAVES_IN_SQUARE = 2.0;  // of the lattice: crests are some times as long as they are apart

vec2 hash2(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * vec3(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.xx + q.yz) * q.zy);
}

// How unlike the waves are in length and in way.
const vec2 UNLIKE = vec2(0.8, 1.0);

// The sum of waves across a way, as cosine and sine, and two numbers between 0 and 1. Each square of a lattice has a
// wave of its own length and way, and numbers of its own.
vec4 summed_waves(vec2 at, vec2 across, float waves_in_square, vec2 unlike) {
    vec2 square = floor(at);
    vec2 along = vec2(-across.y, across.x);
    vec2 sum = vec2(0.0);
    vec2 own_numbers = vec2(0.0);
    float weights = 1e-3;
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            vec2 lattice = square + vec2(column, row);
            vec2 away = at - lattice - hash2(lattice);
            vec2 own = hash2(lattice + 57.0);
            float near = max(1.0 - dot(away, away) * 0.8, 0.0);
            near *= near;
            float length_of = 1.0 + unlike.x * (own.x - 0.5);
            float phase = TAU * waves_in_square * length_of * dot(away, across + unlike.y * (own.y - 0.5) * along);
            sum += near * vec2(cos(phase), sin(phase));
            own_numbers += near * vec2(fract(own.x * 7.0 + own.y * 5.0), fract(own.x * 11.0 + own.y * 3.0));
            weights += near;
        }
    }
    return vec4(sum, own_numbers / weights);
}

// Waves across a way, from −1 to 1, and how they change along `across`, in radians. They are blended as phases are, so
// that crests join and fork.
vec2 waves_across(vec2 at, vec2 across) {
    vec4 waves = summed_waves(at, across, WAVES_IN_SQUARE, UNLIKE);
    float height = 0.15 + 1.1 * waves.z;
    return vec2(waves.x, -waves.y) * height / max(length(waves.xy), 0.08);
}
