// Benches and cliffs: where rock in strata crops out on a slope, hard beds are steeper than it, and soft ones flatter.
#include "map.glsl"
#include "strata_top.glsl"

uniform sampler2D benches;  // by depth below the top of the strata: metres by which ground lies deeper, how soft rock is; a single 0 without

const float HIGHEST_CLIFF = 3.0;  // cells by which ground is raised or lowered at most
const float THICK_MANTLE = 12.0;  // thickness of debris that still has the form of what it lies on, beside what hides the ground
const float JOINTED = 0.10;  // how far edges wander, as a fraction of a stratum

struct Bench {
    float height;  // in cells
    float steeper; // change of slope, as a fraction of it
};

// At a height in metres, on a slope of rock under loose material (m). `wander` is noise around 0 that breaks the edges
// of cliffs, and `span` the range of heights in metres that a texel covers.
Bench bench_at(StrataTop top, float height, float steepness, float loose, float wander, float span) {
    int steps = textureSize(benches, 0).x;
    float strength = smoothstep(0.10, 0.40, steepness) * exp(-loose / (THICK_MANTLE * frame.ground_look.z));
    if (steps == 1 || strength == 0.0) return Bench(0.0, 0.0);
    float depth = top.height - height + JOINTED * frame.strata.y * wander;
    float at = depth * frame.strata.x, step_down = max(span, 2.0 / (frame.strata.x * float(steps))) * frame.strata.x;
    float lod = max(log2(span * frame.strata.x * float(steps)), 0.0);
    float above = textureLod(benches, vec2(at - 0.5 * step_down, 0.5), lod).x;
    float below = textureLod(benches, vec2(at + 0.5 * step_down, 0.5), lod).x;
    float most = HIGHEST_CLIFF * frame.map.z / frame.map.w;
    float deeper = 0.5 * (above + below) / most, eased = inversesqrt(1.0 + deeper * deeper);
    return Bench(-strength * HIGHEST_CLIFF * deeper * eased, strength * (below - above) / (step_down / frame.strata.x) * eased * eased * eased);
}

// How soft rock is at a height in metres, from 0 to 1, where a texel covers a `span` of heights.
float softness_at(StrataTop top, float height, float span) {
    float steps = float(textureSize(benches, 0).x);
    if (steps == 1.0 || top.height > 0.5 * INTRUDED) return 0.0;
    float at = (top.height - height) * frame.strata.x;
    float lod = at > 0.0 && at < 1.0 ? max(log2(span * frame.strata.x * steps), 0.0) : 0.0;  // the last rock continues below
    return textureLod(benches, vec2(at, 0.5), lod).y;
}
