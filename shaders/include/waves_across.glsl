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

// The height that waves have, by their sum and a number of their own.
float height_of_sum(vec2 sum, float own) {
    return (0.15 + 1.1 * own) / max(length(sum), 0.08);
}

// Waves across a way, from −1 to 1, and how they change along `across`, in radians. They are blended as phases are, so
// that crests join and fork.
vec2 waves_across(vec2 at, vec2 across) {
    vec4 waves = summed_waves(at, across, WAVES_IN_SQUARE, UNLIKE);
    return vec2(waves.x, -waves.y) * height_of_sum(waves.xy, waves.z);
}

const vec2 UNLIKE_CROSSING = vec2(0.7, 0.6);

// The same of two trains, which cross, each across its own way: of one, and of the other.
vec4 crossing_waves(vec2 at, vec2 one, vec2 other) {
    vec2 square = floor(at), numbers = vec2(0.0);
    vec4 sum = vec4(0.0);
    float weights = 1e-3;
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            vec2 lattice = square + vec2(column, row);
            vec2 away = at - lattice - hash2(lattice), own = hash2(lattice + 57.0) - 0.5;
            float near = max(1.0 - dot(away, away) * 0.8, 0.0);
            near *= near;
            float turned = UNLIKE_CROSSING.y * own.y * dot(away, vec2(-one.y, one.x));
            vec2 phases = TAU * WAVES_IN_SQUARE * (1.0 + UNLIKE_CROSSING.x * own) * vec2(dot(away, one) + turned, dot(away, other) - turned);
            sum += near * vec4(cos(phases.x), sin(phases.x), cos(phases.y), sin(phases.y));
            numbers += near * fract(vec2(7.0, 3.0) * own.x + vec2(5.0, 11.0) * own.y);
            weights += near;
        }
    }
    numbers /= weights;
    return vec4(vec2(sum.x, -sum.y) * height_of_sum(sum.xy, numbers.x), vec2(sum.z, -sum.w) * height_of_sum(sum.zw, numbers.y));
}
