// The plain of a braided river: bars between channels, with water or without.
#include "ground.glsl"
#include "stream.glsl"

#if MARKS == 1 && DETAIL_SCALES > 2
const vec3 PALE_STONES = vec3(0.455, 0.430, 0.375), GREY_STONES = vec3(0.315, 0.300, 0.265), LICHENS = vec3(0.178, 0.172, 0.116);
// By how much the ages of bars beside each other differ, for channels of each size, and how their edges fray, in the
// distance of those.
const float UNLIKE_BARS[CHANNELS] = float[CHANNELS](0.30, 0.28, 0.16);
const float BARS_FRAY = 0.06;
const vec3 COBBLES = vec3(0.215, 0.200, 0.174);
const vec3 CHANNEL_SAND = vec3(0.245, 0.222, 0.182), OVERGROWN = vec3(0.125, 0.132, 0.060);
const vec3 SOAKED_GRAVEL = vec3(0.56, 0.54, 0.50);  // of the light that dry gravel gives back
// Of channels of each size: how deep they are, in cells; how far their water soaks the gravel, in their distance.
const float CHANNEL_DEPTH[CHANNELS] = float[CHANNELS](0.055, 0.014, 0.003);
const float SOAKS = 0.16;
const vec2 LOW_BANKS = vec2(-0.06, 0.16);  // noise, from which on a bank lies so low that it is soaked, and all of it
const float HIGH_BANKS_DRY = 0.75;  // how much less dark gravel is on the others
const float BANK_STEEP = 4.0;  // beside the mean slope from a channel to the crest of a bar
const float FLOOR = 0.45;  // of an old channel, of the way to the crests beside it
const vec2 CHANNEL_FADES = vec2(0.12, 0.36);  // pixels, beside the distance of channels
// How little channels of each size hold that have been silted up.
const vec2 SILTED_UP[CHANNELS] = vec2[CHANNELS](vec2(-0.9, 0.2), vec2(0.0, 1.1), vec2(0.2, 1.3));
const vec2 MOVED = vec2(0.25, 0.95);  // how lately, where plants are as dense as beside the river, and where there are none
const float TAKES_ROOT = 0.58;
const vec2 LAID = vec2(0.07, 0.15);  // shares of water in a belt, from which on it has gravel and is all gravel
const float LEFT_BARE = 0.26;  // beside threads, in their distance, where floods leave no plants
const float DRY_BELT = 0.03;  // share of water in a belt whose channels are all old

// Threads have laid gravel where they run, also where they have come so lately that no bar was moved.
float gravel_of_threads(vec4 known, vec4 fine, vec4 coarse, float snow) {
    return smoothstep(LAID.x, LAID.y, length(known.yz) - 1.0 + LAID.y * (0.8 * (fine.x - 0.5) + 1.4 * (coarse.w - 0.5))) * (1.0 - snow);
}

// Lays bars on the part of the ground that is a braided river's, and returns their slope. `known` is what the map of flow
// says.
vec2 lay_bars(inout Ground ground, vec2 cells, vec4 known, float pixel, vec4 fine, vec4 coarse, float stones, sampler2D noise) {
    vec2 along = normalize(textureLod(flow, cells / frame.map.xy, SMOOTH_WAY).yz + vec2(1e-6, 0.0));
    vec2 across = vec2(-along.y, along.x), place = unwound(cells, noise);
    float share = max(length(known.yz) - 1.0, 0.0), in_use = smoothstep(0.0, DRY_BELT, share);
    float age = 0.0, slope = 0.0, height = 1.0, soaked = 0.0, old = 0.0, washed = 0.0;
    for (int number = 0; number < CHANNELS; ++number) {
        Channel channel = channel_at(place, along, share, number);
        float seen = 1.0 - smoothstep(CHANNEL_FADES.x, CHANNEL_FADES.y, pixel / APART[number]);
        float half_way = 0.5 * APART[number], from = max(channel.half_width, 0.0);
        float away = abs(channel.aside), up = clamp((away - from) / max(half_way - from, 0.2 * half_way), 0.0, 1.0);
        seen *= smoothstep(SILTED_UP[number].x, SILTED_UP[number].y, channel.filled + 2.0 * (coarse.x - 0.5));
        // Between channels lie bars, of which each is older or younger than those across.
        age += seen * UNLIKE_BARS[number] * clamp(channel.aside / max(pixel, BARS_FRAY * APART[number]) + 1.5 * (fine.x - 0.5), -1.0, 1.0);
        float wet = in_use * smoothstep(0.0, 0.4, channel.filled);
        // Banks are steep, and the crests of bars are flat.
        slope += seen * CHANNEL_DEPTH[number] / half_way * BANK_STEEP * pow(1.0 - up, BANK_STEEP - 1.0) * smoothstep(from - 0.5 * pixel, from + pixel, away) * sign(channel.aside);
        height = min(height, mix(1.0, 1.0 - pow(1.0 - up, BANK_STEEP), seen * (number == 0 ? 1.0 : 0.7)));
        // The bank across from one that is low, and soaked far from the water, is mostly high and dry.
        float low = smoothstep(LOW_BANKS.x, LOW_BANKS.y, sign(channel.aside) * (coarse.w - 0.5) + 0.6 * (coarse.x - 0.5) + 0.2 * (fine.x - 0.5));
        float soaks = SOAKS * mix(0.3, 1.6, low), dark = 1.0 - HIGH_BANKS_DRY * (1.0 - low) * smoothstep(0.0, 0.02, away - from);
        soaked = max(soaked, wet * seen * dark * (1.0 - smoothstep(-0.2 * SOAKS, soaks, (away - from) / APART[number] + 0.12 * (fine.x - 0.5))));
        washed = max(washed, wet * smoothstep(LEFT_BARE, 0.5 * LEFT_BARE, (away - from) / APART[number] + 0.35 * (fine.x - 0.5) + 0.35 * (coarse.x - 0.5)));
        old = max(old, (1.0 - wet) * seen * (1.0 - smoothstep(0.4 * FLOOR, FLOOR, up + 0.5 * (fine.x - 0.5))));
    }
    float ripple = fine.x - 0.5, patches = coarse.x - 0.5;
    // Stones are sorted: the coarsest on heads and crests, sand in what has been left by the water.
    float coarseness = smoothstep(-0.25, 0.35, 0.6 * (height - 0.6) + 0.9 * (coarse.w - 0.5) + 0.5 * ripple);
    age += 3.0 * patches + 1.2 * (coarse.w - 0.5) + 0.3 * ripple;
    vec3 bar = mix(mix(PALE_STONES, GREY_STONES, smoothstep(-0.25, 0.02, age)), LICHENS, smoothstep(0.22, 0.62, age));
    vec3 gravel = mix(CHANNEL_SAND, bar, smoothstep(0.20, 0.55, height + 0.7 * ripple + 0.6 * patches));
    gravel = mix(gravel, COBBLES, 0.25 * coarseness) * (1.0 + (0.25 + 0.35 * coarseness) * ripple + 0.5 * coarseness * (stones - 0.5));
    float plants = old * smoothstep(-0.12, 0.16, ripple + 0.5 * patches + 0.25 * (0.5 - in_use));
    // What has not been moved for long, beside the banks and on islands, is overgrown in patches, of which more and more join.
    float long_ago = 1.0 - smoothstep(MOVED.x, MOVED.y, textureLod(marks, cells / frame.map.xy, 0.0).z);
    plants = max(plants, smoothstep(-0.10, 0.14, long_ago - TAKES_ROOT + 0.9 * ripple + 0.9 * patches - 0.25 * (height - 0.6)));
    gravel = mix(gravel, OVERGROWN * (1.0 + ripple), 0.75 * plants * (1.0 - washed));
    gravel *= mix(vec3(1.0), SOAKED_GRAVEL, max(soaked, 0.35 * old * in_use * (1.0 - plants)));
    ground.albedo = mix(ground.albedo, gravel, ground.bars);
    ground.rockiness = mix(ground.rockiness, 0.3 + 0.5 * coarseness, ground.bars);
    return slope * ground.bars * across;
}
#endif

#if MARKS == 1 && DETAIL_SCALES > 1
// Courses that it has left long ago, on plains as steep as those of braided rivers: how much farther they are from each
// other than the widest channels; level of the map of flow that has their way; slopes; cells of their floors and of the
// green beside them; noise over which their floors are grown over.
const float OLD_APART = 2.6, OLD_WAY = 4.0, OLD_FLOOR = 0.62, OLD_GREEN = 3.2;
const vec2 OLD_SLOPES = vec2(0.003, 0.010), OLD_FILLED = vec2(0.30, 0.7), OVERGROWS = vec2(-0.16, 0.06);
const vec3 OLD_GRAVEL = vec3(0.300, 0.268, 0.205), OLD_BANKS = vec3(0.52, 0.68, 0.42);
const float OLD_BARE = 0.75, OLD_SHRUBS = 0.8;

// Tells the courses that a river has left on a plain: their floors are pale, and along them the ground is damp and green.
void leave_courses(inout Ground ground, vec2 cells, float open, float pixel, vec4 fine, vec4 coarse, sampler2D noise) {
    vec2 way = textureLod(flow, cells / frame.map.xy, OLD_WAY).yz;
    Channel course = channel_at(unwound(unwound(cells, noise) / OLD_APART, noise), normalize(way + vec2(1e-6, 0.0)), 1.0, 0);
    float ripple = fine.x - 0.5, patches = coarse.x - 0.5, tone = coarse.w - 0.5;
    float away = abs(course.aside) * OLD_APART, told = open * smoothstep(OLD_FILLED.x, OLD_FILLED.y, course.filled);
    float green = told * (1.0 - smoothstep(0.25, 1.0, away / OLD_GREEN + 0.8 * ripple + 1.2 * tone));
    float bare = told * smoothstep(OVERGROWS.x, OVERGROWS.y, patches + 0.6 * ripple);
    float half_width = OLD_FLOOR * (0.4 + 0.8 * course.filled) * (1.0 + 3.0 * tone);
    bare *= 1.0 - smoothstep(half_width - 0.5 * pixel, half_width + 0.5 * pixel + 0.2, away + 0.8 * ripple);
    ground.albedo *= mix(vec3(1.0), OLD_BANKS, green);
    ground.albedo = mix(ground.albedo, OLD_GRAVEL * (1.0 + ripple), OLD_BARE * bare);
#if DETAIL_SCALES > 2
    ground.stands.bushes = max(ground.stands.bushes, OLD_SHRUBS * green * smoothstep(-0.1, 0.15, patches + ripple)) * (1.0 - bare);
#endif
}
#endif
