// Massive rock in walls: joints part it into buttresses, couloirs follow some of them, and ledges lie where gently
// dipping ones crop out.
#include "ribs.glsl"
#include "slabs.glsl"

const vec2 WALLS = vec2(0.56, 1.10);    // slopes from which on rock stands in walls
const vec2 CRAGS = vec2(0.34, 0.80);    // and from which on its blocks stand out
const float OVER_CRAGS = 6.0;           // thickness of debris, beside what hides the ground
const float WIDE_CELLS = 24.0;  // metres, from which on blocks are no larger
const int LEDGE_SCALES = 3;
const float LEDGES_APART = 9.5;         // cells of height, the highest; each scale beside the one before:
const float LEDGES_FINER = 0.41;
const vec2 LEDGES_FADE = vec2(2.0, 4.5);  // texels
const float TREAD = 0.12;               // slope of a ledge, beside that of the wall
const float MEAN_DROP = 0.115;          // of what lies between ledges, by which they lower the ground in the mean
const float DIPS = 7.0;                // cells by which joints rise and fall from block to block
const float COULOIRS_APART = 25.0, COULOIR_DEEP = 3.3;  // cells
const float COULOIR_WIDE = 0.55;        // from 0, a line, to 1
const float COULOIRS_BROKEN = 0.35;
const vec3 PILLARS_ACROSS = vec3(0.82, -0.21, 0.53);  // east, up, south
const float PILLARS_WIDE = 15.0, PILLARS_RISE = 6.0, PILLAR_SIDES = 1.2;  // cells
const float OBLIQUE = 1.3;              // radians that gullies turn from the way down, at most
const float FEW_RIBS = 0.40;            // of the usual ones

const int BLOCK_SCALES = 3;
const float WIDEST_BUTTRESS = 17.0;  // cells; each scale of blocks beside the one before:
const float BUTTRESSES_FINER = 0.42;
const float BLOCK_SIDES = 1.0;  // cells
const float BLOCK_EDGES = 0.7;  // of what they stand out in their middle
const float STAND_OUT = 0.26, LEAN = 0.28;  // of their width, by which they differ; how much their faces are turned
const float MOST_PROUD = 1.5;  // as heights, beside what they stand out of a wall

// How far ground at a level, in ledges, lies under a wall without them, in ledges, too. They are not equally thick.
float below_ledges(float level, float scale) {
    float number = floor(level);
    vec2 jitter = 0.6 * vec2(hash(vec2(number, scale)), hash(vec2(number + 1.0, scale))) - 0.3;
    if (level < number + jitter.x) {
        jitter = vec2(0.6 * hash(vec2(number - 1.0, scale)) - 0.3, jitter.x);
        number -= 1.0;
    } else if (level >= number + 1.0 + jitter.y) {
        jitter = vec2(jitter.y, 0.6 * hash(vec2(number + 2.0, scale)) - 0.3);
        number += 1.0;
    }
    float thick = 1.0 + jitter.y - jitter.x, up = (level - number - jitter.x) / thick;
    float wide = mix(0.28, 0.66, hash(vec2(number, scale + 31.0))), stands_out = smoothstep(0.15, 0.75, hash(vec2(number, scale + 57.0)));
    float riser = (1.0 - TREAD * wide) / (1.0 - wide);
    return stands_out * thick * (min(up, wide) * (1.0 - TREAD) - max(up - wide, 0.0) * (riser - 1.0));
}

// How much of a wall massive rock is there, on a mean slope. `loose` lies on it, in metres.
float wall_of_rock(float steepness, float loose) {
    return smoothstep(WALLS.x, WALLS.y, steepness) * exp(-loose / (3.0 * frame.ground_look.z));
}

// How much of a slope massive rock is, of which blocks stand out. Thin debris lies over them, ice and snow hide them.
float crag_of_rock(float steepness, float loose, float buried) {
    float thick = loose / (OVER_CRAGS * frame.ground_look.z);
    return smoothstep(CRAGS.x, CRAGS.y, steepness) * exp(-thick * thick - buried / frame.ground_look.z);
}

// The height of ledges beside a wall that lies at a height in cells. `block` is how high the block of rock stands that
// is there, around 0: its joints lie as much higher. No ledge goes round a wall: `some` says how much of those of each
// scale there are, `apart` how far those of the first are. Lower ones lie on the treads and risers of higher ones: added
// up, treads would fall back into the wall.
float ledges_at(float lies, float block, vec3 some, float apart, float texel) {
    float height = 0.0;
    for (int scale = 0; scale < LEDGE_SCALES; ++scale) {
        height += smoothstep(LEDGES_FADE.x, LEDGES_FADE.y, apart / texel) * some[scale] * apart * (MEAN_DROP - below_ledges((lies + height + DIPS * block) / apart, float(scale)));
        apart *= LEDGES_FINER;
    }
    float over = height / HIGHEST_LEDGES;
    over *= over;
    return height * inversesqrt(sqrt(1.0 + over * over));
}

// Steep joints part a wall into pillars, each with ledges of its own: by how many cells they lie higher there than in the
// mean, and how much of them there is. They end at the joints.
vec2 pillar_at(vec3 at) {
    float across = dot(at, PILLARS_ACROSS) / PILLARS_WIDE;
    vec3 slab = slab_at(across, 5.0);
    float own = hash(vec2(slab.x, 23.0));
    float whole = smoothstep(0.0, PILLAR_SIDES, min(slab.y, slab.z) * PILLARS_WIDE);
    return vec2(PILLARS_RISE * (own - 0.5), whole * mix(0.7, 1.0, fract(own * 17.0)));
}

// The depth of couloirs, as a height of 0 or less, in cells. They follow joints, and so are wide or narrow and have corners
// as `block` has, a noise around 0; `some` says how much of them there is.
float couloir_at(vec2 cell, vec2 rise, float block, float some) {
    float wave = ribs(cell, 11, COULOIRS_APART, rise, TAU / COULOIRS_APART).x + COULOIRS_BROKEN * block;
    float inside = clamp((COULOIR_WIDE * mix(0.7, 1.1, some) - 1.0 - wave) / COULOIR_WIDE, 0.0, 1.0);
    return -COULOIR_DEEP * mix(0.5, 1.2, some) * (1.0 - sqrt(1.0 - 0.9 * inside));
}

// How far blocks of rock stand out of a slope, or what has broken off gapes in it, as a height in cells; it rises by `rise`.
// `ragged` by how many of them their sides are not planes, `some` says how much there is of each scale. They are broken at joints.
float blocks_at(vec3 at, vec2 rise, vec3 ragged, vec3 some) {
    float height = 0.0, wide = WIDEST_BUTTRESS;
    for (int scale = 0; scale < BLOCK_SCALES; ++scale) {
        Block block = block_at((at * across_sets()) / (wide * SPACED) + ragged, 7.0 + float(scale));
        vec3 tilt = fract(block.own * vec3(19.0, 29.0, 37.0)) - 0.5, middle = 0.5 * (block.below - block.above);
        vec3 aside = wide * SPACED * min(block.below, block.above);
        float whole = mix(BLOCK_EDGES, 1.0, smoothstep(0.0, BLOCK_SIDES, min(min(aside.x, aside.y), aside.z)));
        height += some[scale] * whole * wide * (STAND_OUT * (fract(block.own * 7.0) - 0.5) + LEAN * dot(tilt, middle));
        wide *= BUTTRESSES_FINER;
    }
    height *= min(length(vec2(1.0, length(rise))), MOST_PROUD) * min(WIDE_CELLS / frame.map.z, 1.0);
    return height * inversesqrt(1.0 + height * height / (HIGHEST_BLOCKS * HIGHEST_BLOCKS));
}
