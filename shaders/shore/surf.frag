// What the waves need of each place, smooth across the coast.
#include "shore_swell.glsl"

#ifndef SWELL
#define SWELL 1  // 0: all waves run straight to the coast
#endif

uniform sampler2D coast;
uniform sampler2D bed;
uniform sampler2D phases;
#if SWELL == 1
uniform sampler2D arrivals;
uniform float swell_cells;

const float LOWEST = 0.01;  // where waves have no height they still have a direction
const float LEAST_ROOM = 1e-3;  // 0 is on puddles
#endif

layout(location = 0) out vec4 nearshore;  // distance; phase / √distance; depth in m; how much room waves have to grow
layout(location = 1) out vec4 surf;   // arrival; the way the waves run, as long as they are high; how straight to the coast

#if SWELL == 1
// By how many radians crests come later to a cell.
float arrival(ivec2 cell, float otherwise) {
    cell = clamp(cell, ivec2(0), textureSize(phases, 0) - 1);
    vec2 phase = texelFetch(phases, cell, 0).xy;
    float straight = straightness(texelFetch(coast, cell, 0).x, swell_cells);
    return phase.y > 0.0 ? texelFetch(arrivals, cell, 0).x - straight * phase.x : otherwise;
}

#endif

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 coastal = texelFetch(coast, cell, 0);
    vec2 phase = texelFetch(phases, cell, 0).xy;
    float by_root = phase.y > 0.0 ? phase.x / sqrt(coastal.x) : phase.x;
    float room = coastal.w;
    surf = vec4(0.0);
#if SWELL == 1
    vec2 comes = texelFetch(arrivals, cell, 0).xy, run = coastal.yz;
    float straight = straightness(coastal.x, swell_cells);
    if (phase.y > 0.0) {
        float here = arrival(cell, 0.0);
        vec2 later = 0.5 * vec2(arrival(cell + ivec2(1, 0), here) - arrival(cell - ivec2(1, 0), here),
                                arrival(cell + ivec2(0, 1), here) - arrival(cell - ivec2(0, 1), here));
        float steepness = length(later);
        // Next to the coast the phase rises like a root, which differences do not see.
        float near = 1.0 - smoothstep(1.0, 2.5, coastal.x);
        run = mix(steepness > 1e-6 ? later / steepness : vec2(0.0), coastal.yz, near);
        run /= max(length(run), 1e-6);
        // Waves from two sides pass through each other where they meet.
        room *= max(mix(smoothstep(0.35, 0.85, steepness / phase.y), 1.0, near), LEAST_ROOM);
    }
    surf = vec4(comes.x, run * max(comes.y, LOWEST), straight);
#endif
    nearshore = vec4(coastal.x, by_root, texelFetch(bed, cell, 0).x, room);
}
