// What the waves need of each place, smooth across the coast.
uniform sampler2D coast;
uniform sampler2D bed;
uniform sampler2D phases;

out vec4 result;  // phase / √distance; the way the waves run (east, south), short where they cross; depth in m

vec2 phase_at(ivec2 cell, vec2 here) {
    vec2 there = texelFetch(phases, clamp(cell, ivec2(0), textureSize(phases, 0) - 1), 0).xy;
    return there.y > 0.0 ? there : here;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 shore = texelFetch(coast, cell, 0);
    vec2 here = texelFetch(phases, cell, 0).xy;
    float depth = texelFetch(bed, cell, 0).x;
    if (here.y < 0.0) {
        result = vec4(here.x, shore.yz, depth);
        return;
    }
    vec2 east = phase_at(cell + ivec2(1, 0), here), west = phase_at(cell - ivec2(1, 0), here);
    vec2 south = phase_at(cell + ivec2(0, 1), here), north = phase_at(cell - ivec2(0, 1), here);
    vec2 rise = 0.5 * vec2(east.x - west.x, south.x - north.x);
    float steepness = length(rise);
    // Next to the coast the phase rises like a root, which differences do not see.
    float near = 1.0 - smoothstep(1.0, 2.5, shore.x);
    vec2 run = mix(steepness > 1e-6 ? -rise / steepness : vec2(0.0), shore.yz, near);
    float together = mix(smoothstep(0.35, 0.85, steepness / here.y), 1.0, near);
    run *= together / max(length(run), 1e-6);
    result = vec4(here.x / sqrt(shore.x), run, depth);
}
