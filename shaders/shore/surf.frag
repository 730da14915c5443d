// What the waves need of each place, smooth across the coast.
#include "shore_swell.glsl"

uniform sampler2D coast;
uniform sampler2D bed;
uniform sampler2D phases;
uniform sampler2D arrivals;
uniform float swell_cells;

const float LOWEST = 0.01;  // where waves have no height they still have a direction

layout(location = 0) out vec4 nearshore;  // distance; phase / √distance; depth in m; how much room waves have to grow
layout(location = 1) out vec4 surf;   // arrival; the way the waves run, as long as they are high; how straight to the coast

// By how many radians crests come later to a cell.
float arrival(ivec2 cell, float otherwise) {
    cell = clamp(cell, ivec2(0), textureSize(phases, 0) - 1);
    vec2 phase = texelFetch(phases, cell, 0).xy;
    float straight = straightness(texelFetch(coast, cell, 0).x, swell_cells);
    return phase.y > 0.0 ? texelFetch(arrivals, cell, 0).x - straight * phase.x : otherwise;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 coastal = texelFetch(coast, cell, 0);
    vec2 phase = texelFetch(phases, cell, 0).xy, comes = texelFetch(arrivals, cell, 0).xy;
    float straight = straightness(coastal.x, swell_cells);
    vec2 run = coastal.yz;
    float by_root = phase.x;
    if (phase.y > 0.0) {
        by_root /= sqrt(coastal.x);
        float here = arrival(cell, 0.0);
        vec2 later = 0.5 * vec2(arrival(cell + ivec2(1, 0), here) - arrival(cell - ivec2(1, 0), here),
                                arrival(cell + ivec2(0, 1), here) - arrival(cell - ivec2(0, 1), here));
        float steepness = length(later);
        // Next to the coast the phase rises like a root, which differences do not see.
        float near = 1.0 - smoothstep(1.0, 2.5, coastal.x);
        run = mix(steepness > 1e-6 ? later / steepness : vec2(0.0), coastal.yz, near);
        // Waves from two sides pass through each other where they meet.
        run *= mix(smoothstep(0.35, 0.85, steepness / phase.y), 1.0, near) / max(length(run), 1e-6);
    }
    nearshore = vec4(coastal.x, by_root, texelFetch(bed, cell, 0).x, coastal.w);
    surf = vec4(comes.x, run * max(comes.y, LOWEST), straight);
}
