// Phase of the waves of one period, counted from the coast: the integral of their wave number along the way to it.
#include "dispersion.glsl"

uniform sampler2D coast;
uniform sampler2D bed;
uniform float deep_wave_number;  // 1/m
uniform float cell_size;
uniform float no_coast;

out vec2 result;  // phase in radians, on land phase / √distance; wave number in 1/cell, negative on land

const int STEPS = 16;
const float GENTLEST = 0.01;      // slope of the bed; on less, waves would come to a stand
const float FIRST_CELLS = 1.5;    // nearer, and on land, the phase is that of the water there, and textures are smooth

void main() {
    vec4 here = texelFetch(coast, ivec2(gl_FragCoord.xy), 0);
    vec2 size = vec2(textureSize(coast, 0));
    float depth = texelFetch(bed, ivec2(gl_FragCoord.xy), 0).x;
    float number = wave_number(deep_wave_number, max(depth, GENTLEST * max(here.x, 0.1) * cell_size)) * cell_size;
    if (abs(here.x) >= no_coast) {
        result = vec2(here.x < 0.0 ? 0.0 : 1e4, here.x < 0.0 ? -1.0 : number);
        return;
    }
    float away = max(here.x, FIRST_CELLS);
    vec2 shore = gl_FragCoord.xy + here.x * here.yz;
    float sum = 0.0;
    // Steps that grow with the square make the integrand even: on a plane beach it is proportional to 1/√distance.
    for (int i = 0; i < STEPS; ++i) {
        float u = (float(i) + 0.5) / float(STEPS), along = away * u * u;
        float below = textureLod(bed, (shore - along * here.yz) / size, 0.0).x;
        sum += u * wave_number(deep_wave_number, max(below, GENTLEST * along * cell_size));
    }
    float phase_by_root = sum * 2.0 * sqrt(away) / float(STEPS) * cell_size;
    result = here.x > 0.0 ? vec2(phase_by_root * sqrt(here.x), number) : vec2(phase_by_root, -1.0);
}
