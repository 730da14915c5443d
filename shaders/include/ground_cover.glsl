// What stands on the ground and is finer than a cell, in metres, so that it tells the size of the land: bushes, tufts,
// stones and pebbles. Each fades before it is finer than a pixel.
#include "scattered.glsl"

// How thick they stand, from 0 to 1.
struct GroundCover {
    float bushes;
    float tufts;
    float stones;
    vec3 bush;  // albedo
    vec3 tuft;
    vec4 turf;    // noise as fine as a pixel: height, its slopes, a broader height
    float grassy;
    float wooded;  // part of the bushes that are young trees
    float blocks;  // stones as large as bushes
};

const float THICKETS_APART = 58.0, TUFTS_APART = 1.2, BOULDERS_APART = 6.7, STONES_APART = 1.9, PEBBLES_APART = 0.31, CRUMBS_APART = 0.08;  // metres
const int SIZES_OF_BUSHES = 4;
const float BLOCKS_OF_SIZE[SIZES_OF_BUSHES] = float[](0.0, 0.10, 0.8, 1.0);  // how many of each are as large
const float BLOCKS_PALE = 1.15;
const float FACETS = 2.0;        // of their sides, for a slope of 1
const float WOODS_DENSE = 1.0;   // by which more of them stand there
const float FEWEST_IN_CLEARINGS = 0.5, MOST_IN_CLUMPS = 1.7, MOST_IN_WOODS = 3.2;  // of them, beside their mean
const float LEAVES_SCATTER = 1.2;  // young trees are lit as crowns are, and not as the ground
const vec3 BETWEEN_BUSHES = vec3(0.192, 0.170, 0.096);  // straw: what is green there stands up
const float PALE_BETWEEN = 0.75, AS_BEFORE = 0.55;
const vec2 LARGE_FROM_AFAR = vec2(0.014, 0.045);  // as STANDING_FADE: near by, what is larger than shrubs would be seen to have no leaves
const float SMALLER_BUSHES = 0.38, FEWEST_THICKETS = 0.22, FEWEST_BUSHES = 0.75, MORE_BUSHES = 1.3;  // from the largest to the smallest: sizes, numbers
const float PLANT_BULGES = 0.45, STONE_BULGES = 0.8;  // slope at the rim
const float SHADE_SUN = 0.72, SHADE_SKY = 0.20;  // part of the light that their shade takes
const float BARE_GRAIN = 2.2, GRASS_GRAIN = 3.4, BARE_BUMPS = 0.5, GRASS_BUMPS = 2.6, HIDES_STONES = 0.7;
const vec2 GRAIN_FADES_OUT = vec2(8.0, 20.0);  // metres in a pixel, that halve it; and of grass
const float LOW_SUN = 2.5;  // and so they do under a low sun, which comes through blades
const vec2 BUMPS_FADE = vec2(1.0, 5.0);  // metres in a pixel, that halve its bumps; and of grass: so wide are tussocks
const float HIDDEN_ASLANT = 0.65;  // by which these hide each other's sides, for each way of the line of sight beside its height
const vec3 DRY_TIPS = vec3(1.10, 1.0, 0.90);
const float FEW_BOULDERS = 0.25;
const float TONES = 0.4, BLADES = 1.6;
const float FRAYED = 0.06;
const int KINDS = 5;
const float STONES_LOBED = 0.35, PLANTS_LOBED = 0.8;
const float RAGGED = 1.2;  // outlines of bushes
const vec2 TWIGS_SEEN = vec2(8.0, 30.0);  // pixels from one bush to the next
const vec3 OLIVE = vec3(0.080, 0.088, 0.034), GREY_GREEN = vec3(0.094, 0.106, 0.062);  // leaves of shrubs
const float SHADED_WITHIN = 0.92, LEAFY_TEXTURE = 2.2;  // leaves shade each other
const float AROUND_BUSHES = 0.72;   // as a part of the sunlight on the ground, by which a side of theirs has less
const float SHRUBS_PALE = 0.75;   // how far they have these colours, and not that of the plants around: those of lush ground are dark
const vec2 PALE_FROM = vec2(0.06, 0.10);
const float PALE_GROUND = 0.55;  // and so are those of dry ground
const vec3 GREY = vec3(0.30, 0.55, 0.15);
const float STONES_GREY = 0.45, DUSTY_STONES_GREY = 0.12;  // beside the ground; those of deserts
const float LEAFY_LIT = 0.5;    // of the shade of its leaves on a bush, that is light which they pass on

const vec2 TREE_LINE = vec2(-0.05, -0.22);  // relative height over the snow line: none above, all below
const float WOODS_WIDE = 40.0;              // metres, as a square of `clumped`
const vec2 WOODS_FROM = vec2(0.33, 0.55);
const float WOODS_WITH = 0.35;  // cover of shrubs, below which woods get open
const vec3 CROWNS_OF_WOODS = vec3(0.041, 0.055, 0.024), FLOOR_OF_WOODS = vec3(0.082, 0.086, 0.044);
const float FLOOR_SEEN = 0.50, BLUR_SOONER = 0.3;
const vec2 OPEN_PLAINS = vec2(0.05, 0.22);  // slopes: of plains, which are meadows, and of all others
const float MEADOWS = 0.34, WOODS_END = 0.12;  // how much less thrives there; part of the map, at whose edge no wood is cut off

// Where a world has no simulated plants its climate clothes it: woods stand where shrubs thrive below the tree line, first
// on slopes that face away from the sun and the wind. `slope` is that of the ground.
void grow_woods(inout GroundCover cover, inout vec3 albedo, vec2 east_south, float altitude, vec2 slope) {
    vec2 steep = clamp(2.0 * slope, -1.0, 1.0);
    float sheltered = 0.6 * steep.y - 0.4 * dot(steep, frame.wind.xy);
    float thrive = 0.42 * clumped(east_south / WOODS_WIDE) + 0.35 * cover.bushes + 0.07 + 0.16 * sheltered + 0.2 * cover.turf.w;
    thrive -= MEADOWS * (1.0 - smoothstep(OPEN_PLAINS.x, OPEN_PLAINS.y, length(slope)));
    vec2 uv = map_uv(east_south), inward = min(uv, 1.0 - uv);
    thrive -= 0.4 * (1.0 - smoothstep(0.0, WOODS_END, min(inward.x, inward.y)));
    float woods = smoothstep(WOODS_FROM.x, WOODS_FROM.y, thrive) * smoothstep(TREE_LINE.x, TREE_LINE.y, altitude - frame.ground_look.x) * smoothstep(0.0, WOODS_WITH, cover.bushes);
    cover.wooded = woods;
    cover.bushes = max(cover.bushes, woods);
    cover.bush = mix(cover.bush, CROWNS_OF_WOODS, woods);
    albedo = mix(albedo, FLOOR_OF_WOODS, FLOOR_SEEN * woods);
}

// How far bushes of some metres are seen one by one, where a pixel is so many wide.
float bushes_told_apart(float size) {
    return 1.0 - smoothstep(STANDING_FADE.x, STANDING_FADE.y, size / (SMALLER_BUSHES * THICKETS_APART));
}

vec3 with_bodies(vec3 albedo, Bodies bodies, vec3 own, float bulge, inout vec2 bumps, inout vec3 seen) {
    seen.x *= 1.0 - SHADE_SUN * bodies.shade;
    seen.y *= 1.0 - SHADE_SKY * bodies.shade;
    bumps -= bulge * bodies.cover * bodies.lean;
    return mix(albedo, own * (1.0 + TONES * bodies.tone), bodies.cover);
}

// A kind of bodies: boulders, stones, tufts, pebbles and crumbs, from the largest to the smallest.
struct Kind {
    float apart;    // metres
    float density;
    float reach;    // of shadows
    float lobed;
    float bulge;
    vec3 own;       // albedo
};

// The kind after one of a number, of which `bodies` stand there. Tufts are made of leaves, which are as large as pebbles:
// so far is the ground `leafy`.
Kind smaller_than(int number, Kind kind, Bodies bodies, float bushy, GroundCover cover, vec3 albedo, vec3 stone, vec3 plant, inout float leafy) {
    if (number == 0) return Kind(STONES_APART, kind.density / FEW_BOULDERS, 0.6, STONES_LOBED, STONE_BULGES, kind.own);
    if (number == 1) return Kind(TUFTS_APART, max(cover.tufts, bushy), 0.8, PLANTS_LOBED, PLANT_BULGES, plant);
    if (number == 2) {
        leafy = max(bodies.cover, bushy);
        return Kind(PEBBLES_APART, mix(min(1.8 * cover.stones, 1.0), 1.0, leafy), 0.6, STONES_LOBED, STONE_BULGES, mix(stone, 1.2 * plant, leafy));
    }
    return Kind(CRUMBS_APART, min(4.0 * cover.stones, 1.0) * (1.0 - leafy), 0.6, STONES_LOBED, STONE_BULGES, mix(albedo, kind.own, 0.5));
}

// `pixel` is the size of a pixel in cells, `fray` a noise around 0, by which outlines are not round; `toward` how far the line
// of sight goes towards the eye for each height over the ground.
vec3 with_ground_cover(vec3 albedo, GroundCover cover, vec2 cells, float pixel, vec2 fray, vec2 toward, inout vec2 bumps, inout vec3 seen) {
    vec2 at = cells * frame.map.z, sunward = frame.sun.xz / max(frame.sun.y, 0.05), shadow = -sunward;
    shadow *= min(1.0, LONGEST_SHADOW / max(length(shadow), 1e-3));
    float size = pixel * frame.map.z, leafy = 0.0;
    vec3 stone = mix(albedo, vec3(1.1 * dot(albedo, GREY)), mix(STONES_GREY, DUSTY_STONES_GREY, frame.wind.z));
    vec2 skin;
    // Blades shade each other, and what stands higher is drier. Grass hides the form of the stones below it.
    float tall = mix(BARE_GRAIN, GRASS_GRAIN, cover.grassy) * (cover.turf.x + 0.5 * cover.turf.w) / (1.0 + size / mix(GRAIN_FADES_OUT.x, GRAIN_FADES_OUT.y, cover.grassy));
    tall /= 1.0 + abs(tall);
    float as_high = mix(BARE_BUMPS, GRASS_BUMPS, cover.grassy) * min(LOW_SUN * frame.sun.y, 1.0) / ((1.0 + size / mix(BUMPS_FADE.x, BUMPS_FADE.y, cover.grassy)) * max(HIDDEN_ASLANT * length(toward), 1.0));
    bumps = bumps * (1.0 - HIDES_STONES * cover.grassy) + as_high * cover.turf.yz;
    // From thickets, which are seen from afar only, to dwarf shrubs; the larger stand over the smaller.
    float straw = PALE_BETWEEN * min(1.6 * cover.bushes, 1.0) * (1.0 - cover.wooded);
    albedo = mix(albedo, BETWEEN_BUSHES * mix(vec3(1.0), albedo / max(dot(albedo, GREY), 1e-3), AS_BEFORE), straw);
    albedo *= 1.0 + tall * mix(vec3(1.0), DRY_TIPS, cover.grassy);
    Bodies bushes = NO_BODIES;
    vec2 on_bushes = vec2(0.0);
    float rocky = 0.0;
    float apart = THICKETS_APART, dense = FEWEST_THICKETS * (1.0 - cover.wooded), outline = RAGGED * (fray.y + 0.7 * cover.turf.x);
    for (int k = 0; k < SIZES_OF_BUSHES; ++k) {
        float shown = k + 1 < SIZES_OF_BUSHES ? smoothstep(LARGE_FROM_AFAR.x, LARGE_FROM_AFAR.y, size / apart / (1.0 + cover.wooded)) : 1.0;
        float here = dense * cover.bushes * mix(FEWEST_IN_CLEARINGS, mix(MOST_IN_CLUMPS, MOST_IN_WOODS, cover.wooded), clumped(at / apart));
        // Where twigs are far finer than a pixel, an edge of theirs would be cut out by pixels.
        float twigs = outline * smoothstep(TWIGS_SEEN.x, TWIGS_SEEN.y, apart / size);
        Bodies bodies = standing_bodies_at(at / apart + 0.5 * FRAYED * fray, shown * (here + BLOCKS_OF_SIZE[k] * cover.blocks), mix(STANDS, TREES_STAND, cover.wooded), (1.0 + BLUR_SOONER * cover.wooded) * size / apart, sunward, toward, twigs, skin);
        on_bushes = mix(apart * skin, on_bushes, bushes.cover);
        float blocks = BLOCKS_OF_SIZE[k] * cover.blocks, stony = blocks / max(blocks + here, 1e-3);
        stony = clamp(8.0 * (stony - bodies.chance) + 0.5, 0.0, 1.0);
        bodies.lean = mix(bodies.lean, floor(FACETS * bodies.lean + 0.5) / FACETS, stony);
        rocky = mix(stony, rocky, bushes.cover);
        bushes.tone = mix(bodies.tone, bushes.tone, bushes.cover);
        bushes.lean = mix(bodies.lean, bushes.lean, bushes.cover);
        bushes.shade = max(bushes.shade * (1.0 - bodies.cover), bodies.shade * (1.0 - bushes.cover));
        bushes.cover += bodies.cover * (1.0 - bushes.cover);
        apart *= SMALLER_BUSHES;
        dense = k == 0 ? FEWEST_BUSHES * (1.0 + WOODS_DENSE * cover.wooded) : min(MORE_BUSHES * dense, 1.0 + WOODS_DENSE * cover.wooded);
    }
    at += on_bushes;
    float pale = SHRUBS_PALE * (1.0 - cover.wooded) * smoothstep(PALE_FROM.x, PALE_FROM.y, max(dot(cover.bush, GREY), PALE_GROUND * dot(albedo, GREY)));
    vec3 bush = mix(cover.bush, mix(OLIVE, GREY_GREEN, clamp(0.5 + 0.8 * bushes.tone, 0.0, 1.0)), pale);
    bush *= mix(SHADED_WITHIN, LEAVES_SCATTER, cover.wooded) * (1.0 + LEAFY_TEXTURE * clamp(cover.turf.x, -0.25, 0.25));
    // Light comes around them and through them: no side of theirs gets much less than the ground.
    float turned_away = -dot(bushes.lean, frame.sun.xz) - AROUND_BUSHES * frame.sun.y;
    bushes.lean += frame.sun.xz * max(turned_away, 0.0) / max(dot(frame.sun.xz, frame.sun.xz), 1e-4);
    bush = mix(bush, BLOCKS_PALE * mix(albedo, stone, 0.4), rocky);
    bumps *= 1.0 - bushes.cover;
    albedo = with_bodies(albedo, bushes, bush, 1.0, bumps, seen);
    vec3 seen_by_bushes = seen;
    // Bushes are made of tufts of leaves.
    vec3 plant = mix(cover.tuft, 1.15 * bush * (1.0 + TONES * bushes.tone), bushes.cover) * (1.0 + BLADES * fray.y);
    Kind kind = Kind(BOULDERS_APART, FEW_BOULDERS * cover.stones * (1.0 - bushes.cover), 0.6, STONES_LOBED, STONE_BULGES, stone);
    // In software both sides of a branch are run, but a loop ends where no pixel nearby needs another turn: those of
    // which only the mean is seen have their own.
    int number = 0;
    for (; number < KINDS && size < BODIES_FADE.y * kind.apart; ++number) {
        Bodies bodies = bodies_at(at / kind.apart + FRAYED * fray, kind.density, size / kind.apart, kind.reach * shadow, kind.lobed);
        albedo = with_bodies(albedo, bodies, kind.own, kind.bulge, bumps, seen);
        kind = smaller_than(number, kind, bodies, bushes.cover, cover, albedo, stone, plant, leafy);
    }
    for (; number < KINDS; ++number) {
        Bodies bodies = mean_bodies(kind.density, kind.reach * shadow);
        albedo = with_bodies(albedo, bodies, kind.own, kind.bulge, bumps, seen);
        kind = smaller_than(number, kind, bodies, bushes.cover, cover, albedo, stone, plant, leafy);
    }
    seen = mix(seen, seen_by_bushes, LEAFY_LIT * bushes.cover);
    return albedo;
}
