// Relief between ten cells and one that the map is too coarse for: ribs and gullies that run down the slopes, in cells.
// A part of the picture only.
#include "map.glsl"

uniform sampler2D surface;
uniform float texels_per_cell;

out float result;

const float TAU = 6.28318531;
const int OCTAVES = 4;
const float WIDEST = 9.0;   // cells from rib to rib
const float FINER = 0.46;   // each octave beside the one before
const float STEEPNESS = 0.62;  // of a rib's flanks, beside the slope that it runs down
const float STEEPEST = 0.9;
const float RIBS = 2.0;     // of an octave in a square of its lattice: ribs are some times as long as wide

vec2 hash2(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * vec3(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.xx + q.yz) * q.zy);
}

// Waves across a slope, from −1 to 1, and how they change along `across`, in radians. Each square of a lattice has a
// wave of its own length, way and height, and they are blended as phases are, so that crests join and fork.
vec2 waves(vec2 at, vec2 across) {
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
            float phase = TAU * RIBS * (0.6 + 0.8 * own.x) * dot(away, across + (own.y - 0.5) * along);
            sum += near * vec2(cos(phase), sin(phase));
            height += near * fract(own.x * 7.0 + own.y * 5.0);
            weights += near;
        }
    }
    return vec2(sum.x, -sum.y) * (0.15 + 1.1 * height / weights) / max(length(sum), 0.08);
}

void main() {
    vec2 cell = gl_FragCoord.xy / texels_per_cell;
    vec2 uv = cell / frame.map.xy;
    vec2 texel = 1.5 / frame.map.xy;
    vec4 here = texture(surface, uv);
    // The mean of some cells: what a single one has is rough. Where they do not agree, the map has relief of its own.
    vec2 east = texture(surface, uv + vec2(texel.x, 0.0)).yz, west = texture(surface, uv - vec2(texel.x, 0.0)).yz;
    vec2 south = texture(surface, uv + vec2(0.0, texel.y)).yz, north = texture(surface, uv - vec2(0.0, texel.y)).yz;
    vec2 slope = 0.2 * (here.yz + east + west + south + north) * frame.map.w;
    float steepness = length(slope);
    float all = 0.2 * (length(here.yz) + length(east) + length(west) + length(south) + length(north)) * frame.map.w;
    // Loose material lies smooth, and gentle ground has no gullies.
    float strength = STEEPNESS * smoothstep(0.08, 0.45, steepness) * exp(-here.w / (3.0 * frame.ground_look.z))
                   * smoothstep(0.25, 0.85, steepness / max(all, 1e-4));
    float height = 0.0, width = WIDEST;
    vec2 fall = slope;
    for (int octave = 0; octave < OCTAVES; ++octave) {
        vec2 across = vec2(-fall.y, fall.x) / max(length(fall), 1e-4);
        vec2 wave = waves(cell / (width * RIBS) + 17.3 * float(octave), across);
        float amplitude = strength * min(steepness, STEEPEST) * width / TAU;
        height += amplitude * wave.x;
        // Finer gullies run down the flanks of wider ones.
        fall += amplitude * wave.y * TAU / width * across;
        width *= FINER;
    }
    result = height;
}
