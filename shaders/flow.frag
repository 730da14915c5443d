// Per cell: the fraction covered by streams, or below 0 how far fast water splashes it; their direction, and the height of
// nearby standing water above the ground.
// The length of the direction encodes more: 1 + the share of threads of a braided river (see include/braids.glsl), or
// half as long on standing water, and longer by the strength of a river's plume (see plume.glsl).
#include "downhill.glsl"
#include "plume.glsl"
#include "braids.glsl"
#include "river_mouth.glsl"
#include "running_part.glsl"
#include "froude.glsl"
#include "wet_mark.glsl"

#ifndef RUNNING
#define RUNNING 1  // 0: only standing water
#endif

uniform float nowhere_near;  // height above water that means that there is none nearby, metres
uniform sampler2D surveyed_flow;  // cubic metres a second
uniform bool with_plumes;  // of rivers in lakes
uniform sampler2D mouths;  // of river_mouths.frag
uniform sampler2D froude;  // of water that runs; a single 0 where none is simulated

out vec4 result;
const float PIXEL = 0.85;  // cells; less than 1, as interpolation between cells smooths the cover once more

const float BESIDE = 1e-3;  // an invisible cover that marks a stream nearby
const float HIGHEST = 200.0;  // metres above water, at most
// m/s of water that has just come and has no shore yet, and metres above it, so that there is none between cells.
const float RUSHES = 1.5, WITHOUT_SHORE = 12.0;
const vec2 SPLASHES = vec2(1.0, 6.0);  // metres over it up to which its banks are all splashed, and not at all

// Places up and down the way of threads at which it is told whether these go on, and cells from one to the next; the parts of
// their width with which they begin, as they part from others, and sink into their gravel.
const int THINS = 4, THINS_STEP = 2;
const float PARTS = 0.25, ENDS = 0.08;

const float PLUME_SPREADS = 0.25, PLUME_FADES = 6.0;  // spread per cell of length; length of decay in cells
const float WHOLE_PLUME = 0.25;  // half-width of a river in cells above which its plume has full strength

// The plume of a river mouth in a cell of a lake of this level: a vector in the direction of the plume, as long as its
// strength. The plume keeps the direction of the river, spreads and mixes.
vec2 plume_from(ivec2 mouth, ivec2 cell, float level) {
    vec2 away = vec2(cell - mouth);
    if (length(away) >= PLUME_REACH || !is_mouth(rivers, mouth)) return vec2(0.0);
    if (abs(level_beyond(mouth) - level) > SAME_LEVEL) return vec2(0.0);
    float half_width = width_and_bend(texelFetch(rivers, mouth, 0).x).x;
    vec2 way = normalize(vec2(way_on(mouth)));
    float ahead = dot(away, way), on = max(ahead, 0.0), aside = dot(away, vec2(-way.y, way.x));
    float part = aside / (0.5 + half_width + PLUME_SPREADS * on);
    return way * exp(-part * part - on / (PLUME_FADES + 2.0 * half_width))
         * smoothstep(-2.0, 0.0, ahead) * smoothstep(float(PLUME_REACH), 0.5 * float(PLUME_REACH), length(away))
         * min(half_width / WHOLE_PLUME, 1.0);
}

// The strongest plume of mouths nearby.
vec2 strongest_plume(ivec2 cell, float level) {
    vec2 strongest = vec2(0.0);
    ivec2 own = cell / PLUME_REACH, last = textureSize(mouths, 0) - 1;
    for (int number = 0; number < 9; ++number) {
        ivec2 block = own + ivec2(number % 3, number / 3) - 1;
        if (block != clamp(block, ivec2(0), last) || texelFetch(mouths, block, 0).x == 0.0) continue;
        for (int within = 0; within < PLUME_REACH * PLUME_REACH; ++within) {
            vec2 plume = plume_from(block * PLUME_REACH + ivec2(within % PLUME_REACH, within / PLUME_REACH), cell, level);
            if (dot(plume, plume) > dot(strongest, strongest)) strongest = plume;
        }
    }
    return strongest;
}

// How far threads of a belt go on from a cell, down their way and up, to 1: they thin out before they end.
float goes_on(ivec2 cell, vec2 along) {
    vec2 runs = vec2(0.0);
    ivec2 last = ivec2(frame.map.xy) - 1;
    for (int step = 1; step <= THINS; ++step) {
        for (int side = 0; side < 2; ++side) {
            ivec2 there = cell + ivec2(round(float(THINS_STEP * step * (1 - 2 * side)) * along));
            bool wet = there != clamp(there, ivec2(0), last) || layer(surveyed_flow, there) > SEEPING * exp2(frame.streams.x);
            if (wet || standing_depth(water, surface, there) > 0.0) runs[side] += 1.0 / float(THINS);
        }
    }
    return mix(ENDS, 1.0, runs.x) * mix(PARTS, 1.0, runs.y);
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = ivec2(frame.map.xy) - 1;
    float height = texelFetch(surface, cell, 0).x, level = -1e30, rushing = -1e30, own = 0.0, nearby = 0.0;
    for (int south = -1; south <= 1; ++south) {
        for (int east = -1; east <= 1; ++east) {
            ivec2 at = clamp(cell + ivec2(east, south), ivec2(0), last);
            float ground = texelFetch(surface, at, 0).x;
            float depth = standing_depth(water, surface, at);
            float speed = speed_of(texelFetch(froude, min(at, textureSize(froude, 0) - 1), 0).x, depth);
            if (speed > RUSHES) rushing = max(rushing, ground + depth);
            else if (depth > 0.0) level = max(level, ground + depth);
            if (at == cell) own = depth;
#if RUNNING == 1
            nearby = max(nearby, texelFetch(rivers, at, 0).x);
#endif
        }
    }
    vec2 along = downhill_from(surface, cell);
    float cover = 0.0;
#if RUNNING == 1
    float bend;
    River river = river_at(vec2(cell) + 0.5, nearby > 0.0 || river_reach > 1, bend);
    if (river.half_width > 0.0) {
        cover = WHOLE_LINE * max(river_cover(river, PIXEL), BESIDE);
        along = river.along;
    }
    Belt belt = belt_at(surveyed_flow, surveyed_way, cell);
    if (belt.share > 0.0) {
        belt.share *= goes_on(cell, belt.along);
        float wet = BESIDE;
        for (int number = 0; number < CHANNELS; ++number) {
            Channel channel = channel_at(vec2(cell) + 0.5, belt.along, belt.share, number);
            wet = max(wet, covered_across(abs(channel.aside), channel.half_width, PIXEL));
        }
        cover = max(cover, WHOLE_LINE * wet);
        along = belt.along * (1.0 + belt.share);
    }
#endif
    if (own > 0.0) {
        bool of_lake = abs(height + own - frame.water.w) > SAME_LEVEL;
        vec2 plume = of_lake && with_plumes ? strongest_plume(cell, height + own) : vec2(0.0);
        float strength = length(plume);
        along = way_with_plume(strength > 0.0 ? plume / strength : along, strength);
    }
    // Dry ground below the level is behind a dam.
    float over = own > 0.0 ? own : level < -1e29 ? (rushing > -1e29 ? -WITHOUT_SHORE : -nowhere_near) : clamp(level - height, -HIGHEST, 0.0);
    if (cover == 0.0) cover = -1.0 + smoothstep(SPLASHES.x, SPLASHES.y, height - rushing);
    result = vec4(cover, along, above_water(over, cell, nowhere_near));
}
