// The material of the ground at a place: albedo and fine relief.
#include "map.glsl"
#include "sky.glsl"
#include "sand.glsl"
#include "snow.glsl"
#include "strata.glsl"
#include "rock.glsl"
#include "detail.glsl"
#include "ground_cover.glsl"

#ifndef DESERT
#define DESERT 1
#endif

#ifndef MARKS
#define MARKS 1
#endif

#ifndef ICE
#define ICE 0
#endif

#ifndef SNOWY
#define SNOWY 0  // 1: snow lies as a layer, which marks show; else the climate says where it lies
#endif

// MATERIALS: the world has several kinds of ground. LIVING: it has a layer of wetness or grass. GREEN_BY_CLIMATE: no
// plants are simulated, so the climate decides where the ground is green, and painted grass is added to that.
#ifndef MATERIALS
#define MATERIALS 0
#endif

#ifndef LIVING
#define LIVING 0
#endif

#ifndef GRITTY
#define GRITTY 0  // 1: at the lowest levels noise has grit as fine as a pixel
#endif

#ifndef GREEN_BY_CLIMATE
#define GREEN_BY_CLIMATE 1
#endif

uniform sampler2D surface;
uniform sampler2D light;   // sun visibility, sky visibility, hollowness

#if DETAIL_SCALES > 2
const float OVER_FRAYED = 1.2;  // cells, of the border of sand
#else
const float OVER_FRAYED = 4.0;
#endif

#if MARKS == 1
// Where the plain of a braided river ends: how lately it was moved there; and how uneven that is.
#if DETAIL_SCALES > 2
const vec2 BANK = vec2(0.30, 0.58), BANK_FRAYED = vec2(0.1, 0.2), SCATTERS = vec2(0.04, 0.32);
const float TONGUES = 3.2, STONES_SCATTERED = 0.6;
const float BANK_WINDS = 9.0, BANK_BEGINS = 0.15;  // cells; how little it was moved there
const float BARS_UNEVEN = 1.0;  // of the tones and bumps of its stones
#else
const vec2 BANK = vec2(0.33, 0.43), BANK_FRAYED = vec2(0.9, 0.5);
const float BANK_TONGUES = 2.6;
const float BARS_UNEVEN = 0.4;  // or they would be specks, where no bars are told apart
#endif
uniform sampler2D marks;   // of snowballs: sand, bare rock; how recently a braided river reworked the ground
#endif

#if ICE == 1
#include "glacier.glsl"
#endif

uniform sampler2D loose_colour;  // root of the albedo of loose material; its grain: clay, soil, sand, stones

// How much of loose material is sand.
float sand_of_grain(float grain) {
    return clamp(1.0 - 3.0 * abs(grain - 2.0 / 3.0), 0.0, 1.0);
}

#if LIVING == 1 || MATERIALS == 1 && DESERT == 1
uniform sampler2D cover;   // wetness, grass, exposure to wind, breadth of the wet ground
#endif

const vec3 LUSH_DARK = vec3(0.062, 0.085, 0.030);
const vec3 LUSH_LIGHT = vec3(0.120, 0.121, 0.053);
const vec3 DRY_GRASS = vec3(0.206, 0.172, 0.094);
const vec3 ROCK_LOW = vec3(0.176, 0.162, 0.149);
const vec3 ROCK_HIGH = vec3(0.296, 0.268, 0.236);
const vec3 SCREE = vec3(0.330, 0.284, 0.226);
const vec3 SAND = vec3(0.365, 0.298, 0.198);
const vec3 BAR_STONES = vec3(0.300, 0.284, 0.258);
const float BAR_MEAN = 0.82;  // of those, among others that are darker
const vec3 BAR_SAND = vec3(0.335, 0.300, 0.238);
const vec3 SILT = vec3(0.235, 0.190, 0.128);
const vec3 BED_SAND = vec3(0.225, 0.190, 0.138);
const vec3 SHOAL_SAND = vec3(0.420, 0.335, 0.215);  // of a bed that is all sand
const vec3 BED_SILT = vec3(0.128, 0.112, 0.084);
const vec3 SNOW = vec3(0.860, 0.890, 0.930);
const vec3 STRAW = vec3(0.300, 0.238, 0.118);
const vec3 MEADOW = vec3(0.116, 0.122, 0.048);
const vec3 RANK_GRASS = vec3(0.052, 0.068, 0.027);
const vec3 REEDS = vec3(0.046, 0.066, 0.022);
const vec3 MUD_FLAT = vec3(0.098, 0.084, 0.064), MUD_CRUST = vec3(0.232, 0.196, 0.142);
const vec3 BOG_WATER = vec3(0.017, 0.024, 0.019);

// Darkening of the ground between dunes per hollowness: wind removes fine, pale grains and leaves a lag of coarse, dark
// ones, so dunes are visible even at noon, without shadows. Thin sand on rock is darkened as at a hollowness of
// LAG_ON_ROCK, less so the more it fills the relief of the rock, up to a level of LAG_ENDS.
const float LAG_DARK = 1.1, LAG_DARKEST = 0.28, CRESTS_PALE = 0.25, LAG_ON_ROCK = 0.30, LAG_ENDS = 6.0;
const float SAND_EVEN = 0.6;  // of the spots of loose material, less on dunes
const float LAG_STONY = 0.6;  // of what lies between dunes
#if DETAIL_SCALES > 2
const float SLIPS_STREAKED = 0.25;  // how much of the tone of streaks slip faces lack
#else
const float SLIPS_STREAKED = 0.6;
#endif
const float WHOLE = 4.0;  // thickness of loose material that hides all fine relief, relative to frame.ground_look.z
const float FINE_RELIEF = 0.3;  // amplitude of the noise that counts as a relief of 1
const float THIN = 0.4;         // range of relief over which loose material fades in
const float VENEER = 0.75;      // opacity of a veneer of it
const float STONES_THIN = 0.32; // as THIN, of debris
const vec2 DEBRIS = vec2(0.36, 0.56);     // slopes on which loose material is debris
const float CROP_OUT = 1.8, CRAGGY = 3.5;  // by how much that fills less of the relief on crags; how many these are
const vec2 CHUTES = vec2(0.07, 0.20), STONES_FALL = vec2(0.26, 0.42), FROST_SHATTERS = vec2(0.45, 0.75);  // depth of gullies; slopes; heights
const float CHUTES_FILLED = 1.1;
const vec2 THIN_DEBRIS = vec2(1.4, 2.6);  // levels
const float LEAST_OF_WALL = 0.8;  // of the slope of a face with what is broad of it, that counts as its steepness
const float STEEP_BARE = DETAIL_SCALES > 2 ? 3.4 : 1.7;   // by which that fills less of the relief of faces too steep for it
const float DEBRIS_LOD = 3.0;   // of the table of strata, that mixes beds above one another
const float FALLS_FROM = 2.5;   // cells above it, from where the rock of debris comes
#if DETAIL_SCALES > 2
const float OF_ROCK = 0.75;     // how much of its colour it has from rock
#else
const float OF_ROCK = 0.55;
#endif
const float STONES_OF_ROCK = DETAIL_SCALES > 2 ? 0.85 : 0.0;  // of that, those on level ground: scree and what lies at its foot are of one rock
const float DARKEST_ROCK = 0.5;   // beside its mean: that of deep holes would be black
const float DARKEST_LOOSE = 0.65;  // as much, of loose material
const float BEDS_UNBROKEN = 0.15;  // how much less rock in beds is parted by joints
const float OF_ITS_BED = 0.5;     // how much of that is of the rock that debris lies on, and not of what is above
// Its tongues: old ones are dark with lichens, and what has come down lately is pale.
const vec3 OLD_STONES = vec3(0.58, 0.59, 0.56), FRESH_STONES = vec3(1.24, 1.21, 1.16);
// Added to the relief per windward slope of the noise, and of the ground.
const vec2 WINDWARD = vec2(1.6, 0.4);
const float LAPS_UP = 1.4, BANKED = 0.5;  // cells up a slope; thickness at its foot that fills relief there
const float CRESTS_BARE = 2.2;  // slope of a wall that holds as little ice, for each of hollowness
const float SORTED = 0.7;  // how much darker coarse stones are than fine ones beside them
const float UP_GULLIES = 2.6;  // beside that, for each cell that a gully is deep
const float ROCK_STREAKED = 0.25;  // how much of the tone of streaks rock has
const vec2 CROPS_OUT = vec2(0.04, 0.14);  // how resistant beds are that stand out of gentle slopes
const vec2 CROPS_STEEP = vec2(0.07, 0.20);  // slopes on which they do
const float OUTCROPS_BARE = 0.85, OUTCROPS_PALE = 0.32, OUTCROPS_STAND = 3.0;
// Of soft rock, beside others: its colour, which beds have in many hues; the grain of its skin.
const vec3 BUFF_CLAY = vec3(0.84, 0.775, 0.665), GREY_CLAY = vec3(0.74, 0.76, 0.785);
const vec2 HUES = vec2(-0.10, 0.10);
const float SKIN_GRAIN = 0.4;
const float SOFT_ROCK = DETAIL_SCALES > 2 ? 0.5 : 0.65;  // how far rock in beds looks as it does inside
#if DETAIL_SCALES > 2
const float SOIL_UNEVEN = 0.6;  // in tone
#else
const float SOIL_UNEVEN = 0.3;
#endif
const float FACES_BARE = 0.6;   // how far single faces of rock are bare as they are steep, and not as all of them are
const float WINDSWEPT = 3.0;     // by which crests are as bare as if they were steeper, for each of hollowness beyond that of most
const vec2 CRESTS = vec2(0.07, 0.22);
const vec2 NO_GRASS = vec2(-0.04, 0.12);  // heights above the line of snow
const float SNOW_ON_FACES = 0.35;  // how far snow lies by the steepness of single faces of rock
const float SNOW_REACHES = 2.6;  // cells up gullies, and down from bare tops along ribs
const float RIBS_BARE = 0.45;  // of a steepness, by which what stands out by a cell is as bare as if it was steeper
const float LEVEL_GROUND = 0.10;  // steepness from which on ground is a slope

#if DETAIL_SCALES > 1
uniform sampler2D fractures;  // tile of fractured rock: height, two slopes, height above the surroundings
#endif

const float GRAIN_TILE = 2.3;  // cells

struct Ground {
    vec3 albedo;
    float rockiness;  // strength of fine relief
    float sand;  // fraction of dry sand
    float debris;  // fraction covered by stones that lie on a slope
    float snow;    // fraction covered by snow
#if MARKS == 1
    float bars;  // fraction that is the plain of a braided river
#endif
#if MATERIALS == 1
    float rock;    // fraction of bare rock
    float weathered;  // fraction of rock that soil hides: a slope of rubble, tufts and ledges
    float ledge;   // relative change of slope by beds of rock: steeper (+) or flatter (-)
    float fine;    // fraction of sand and clay
    float sandy;   // fraction of sand, wet or dry
    float lulled;  // fraction of dry sand that no wind ripples
    float stony;
    float cracked;
#endif
#if LIVING == 1
    float sheen;   // fraction covered by a film of water
#endif
#if DETAIL_SCALES > 2
    float outcrop;  // fraction of bare rock that nothing hides
    GroundCover stands;
#endif
};

// Rotated coordinates for a second tile, so that it does not repeat in step with the first.
const mat2 TURNED = mat2(0.80, 0.60, -0.60, 0.80);
vec2 turned(vec2 cells) {
    return TURNED * cells;
}

// Noise of the size of a cell, at better levels of quality with a finer octave, rotated against it.
#if DETAIL_SCALES == 1
vec4 fine_detail(vec2 cells) {
    return texture(detail, cells / 12.0);
}
#else
// `step_of` are the screen-space derivatives of the place.
vec4 fine_detail(vec2 cells, mat2 step_of) {
    return 0.5 * textureGrad(detail, cells / 18.7, step_of[0] / 18.7, step_of[1] / 18.7)
         + 0.5 * textureGrad(detail, turned(cells) / 5.3, turned(step_of[0]) / 5.3, turned(step_of[1]) / 5.3);
}

vec4 fine_detail(vec2 cells) {
    return fine_detail(cells, mat2(dFdx(cells), dFdy(cells)));
}
#endif

#if DETAIL_SCALES > 2
// 1 on steep walls, where a texture projected from above would be stretched.
float wall(vec2 slope) {
    return smoothstep(0.65, 1.20, length(slope));
}

const float FACES_TILE = 7.3, WALL_GRAIN_TILE = 1.9, STONES_TILE = 0.55;  // cells
const float BROADER = 5.3, SHIFTED = 1.4;
const float SOME_SHATTERED = 5.0, SLABS = 0.70, SHATTERED_MOST = 1.5;  // how far blocks stand out of massive rock, and of other
const float BEDS_LONG = 0.45, BEDS_THIN = 1.25;
const float BEDS_SEEN = 0.45;  // sine between a face and the beds, under which their blocks would be drawn out
const float SMOOTH_MASSIF = 0.4;  // tiles over which it is a mean, or these would be marbled
const float SEEPS_TILE = 13.0, SEEPS_LONG = 5.5, SEEPS_SOFT = 0.009;  // cells across; how much longer than wide; tiles over which they are a mean

// Fractured rock, as its texture has it.
struct Fractured {
    vec4 level;   // blocks seen from above
    vec4 wall;    // those of walls
    vec4 grain;
    vec4 stones;  // finer grain
};

const float DRAWN_OUT = 0.6;  // cosine between a face and what is drawn there, under which noise would be
const float TILTED = 0.45, UPRIGHT = 2.2;  // slopes of faces onto which noise is projected from aslant, and from the side
// The ways across a face and up it, of the nearest of some directions: noise that is projected onto it is hardly drawn
// out, and each lies still. From east, south and up.
const float TO_EAST[5] = float[](0.0, 0.3827, 0.7071, 0.9239, 1.0);
const vec4 BETWEEN_WAYS = vec4(0.1951, 0.5556, 0.8315, 0.9808);
mat3x2 along_face(vec2 slope) {
    float steepness = length(slope);
    if (steepness < TILTED) return mat3x2(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
    int turn = int(dot(step(BETWEEN_WAYS, vec4(abs(slope.x) / steepness)), vec4(1.0)));
    vec2 up = vec2(TO_EAST[turn], TO_EAST[4 - turn]) * mix(vec2(1.0), vec2(-1.0), lessThan(slope, vec2(0.0)));
    vec2 dip = steepness < UPRIGHT ? vec2(0.7071) : vec2(0.0, 1.0);
    return mat3x2(-up.y, dip.x * up.x, up.x, dip.x * up.y, 0.0, dip.y);
}

// How squarely the noise of a face of a slope lies on one of another, from 0 to 1.
float squarely(vec2 slope, vec2 drawn) {
    mat2x3 ways = transpose(along_face(slope));
    return abs(dot(cross(ways[0], ways[1]), normalize(vec3(-drawn, 1.0))));
}

// How squarely beds come to light on a face, from 0 to 1: hardly on a ledge, which lies along them.
float across_beds(vec2 slope) {
    return length(cross(frame.beds.xzy, normalize(vec3(-slope, 1.0))));
}

// The face onto which noise is projected: that of the ground with what is broad of it, but what is drawn where the noise
// would be drawn out on that, as on a ledge of a wall.
vec2 noise_lies_on(vec2 face, vec2 drawn) {
    return min(squarely(face, drawn), across_beds(drawn)) < DRAWN_OUT ? drawn : face;
}

// Projected onto faces, with slopes to the east and south. `at` is a place and its height in cells, and `step_of` its
// screen-space derivatives. `needed` says how far blocks seen from above, grain and stones are seen. One projection takes
// the place of another at an edge: their mean would be blurred. In software both sides of a branch are run, and a loop ends
// where no pixel nearby needs another turn: each turn reads the texture once, first for what is broad, from two sides.
Fractured fractured_at(vec3 at, mat2x3 step_of, vec2 slope, float on_wall, vec3 needed) {
    bool above = length(slope) < TILTED, beds_seen = across_beds(slope) > BEDS_SEEN;
    float part = smoothstep(0.3, 0.7, slope.x * slope.x / max(dot(slope, slope), 1e-6));
    mat3x2 onto = along_face(slope);
    vec2 across = vec2(onto[0][0], onto[1][0]), up = vec2(across.y, -across.x), massif = vec2(0.0);
    int left = (on_wall > 0.0 && part < 1.0 ? 1 : 0) + (on_wall > 0.0 && part > 0.0 ? 2 : 0) + (max(needed.x, on_wall) > 0.0 ? 4 : 0)
             + (needed.y > 0.0 ? 8 : 0) + (needed.z > 0.0 ? 16 : 0);
    Fractured rock = Fractured(vec4(0.5), vec4(0.5), vec4(0.5), vec4(0.5));
    do {
        int next = findLSB(left);
        left &= left - 1;
        bool broad = next < 2, blocks = next == 2, grain = next == 3;
        // Tiles of a wall are shifted and shaded by far larger ones, so that they are not seen in rows.
        float tile = broad ? BROADER * FACES_TILE : blocks ? FACES_TILE : !grain ? STONES_TILE : above ? GRAIN_TILE : WALL_GRAIN_TILE;
        vec2 shift = blocks ? SHIFTED * massif : vec2(0.0), blur = broad ? vec2(SMOOTH_MASSIF / BROADER) : vec2(0.0);
        vec2 here = (!broad ? onto * at : next == 0 ? at.xz : at.yz) / tile + shift;
        vec2 east = (!broad ? onto * step_of[0] : next == 0 ? step_of[0].xz : step_of[0].yz) / tile + blur;
        vec2 south = (!broad ? onto * step_of[1] : next == 0 ? step_of[1].xz : step_of[1].yz) / tile + vec2(-blur.x, blur.y);
        mat2 axes = above && !grain ? TURNED : mat2(1.0);
        // In strata grain lies along them as well, or it would be strokes down the sides of a valley.
        if ((blocks || MATERIALS == 1 && grain) && !above && beds_seen) {
            vec2 long_beds = vec2(BEDS_LONG, 1.0) * BEDS_THIN;
            here = vec2(dot(across, at.xy) * long_beds.x, dot(at, frame.beds.xzy) * long_beds.y) / tile + shift * 0.3;
            east = vec2(dot(across, step_of[0].xy) * long_beds.x, dot(step_of[0], frame.beds.xzy) * long_beds.y) / tile;
            south = vec2(dot(across, step_of[1].xy) * long_beds.x, dot(step_of[1], frame.beds.xzy) * long_beds.y) / tile;
        }
        vec4 noise = vec4(0.5);
        if (next >= 0) noise = textureGrad(fractures, axes * here, axes * east, axes * south);
        if (broad) massif += (next == 0 ? 1.0 - part : part) * (noise.xw - 0.5);
        if (!above) {
            vec2 rises = (noise.yz - 0.5) * axes;
            noise.yz = 0.5 + rises.x * across + rises.y * up;
        }
        if (blocks) {
            rock.level = noise;
            noise.x = 0.5 + 0.75 * (noise.x - 0.5) * (1.0 + 2.0 * massif.y) + 0.6 * massif.x;
            noise.yzw = 0.5 + (noise.yzw - 0.5) * clamp(1.0 + SOME_SHATTERED * massif.y, SLABS, SHATTERED_MOST);
            rock.wall = noise;
        }
        if (grain) rock.grain = noise;
        if (next == 4) rock.stones = noise;
    } while (left != 0);
    return rock;
}

// Two noises around 0.5, of which one takes the place of the other: their mean would be flatter than either.
vec4 in_place_of(vec4 first, vec4 second, float part) {
    return 0.5 + (mix(first, second, part) - 0.5) * inversesqrt(part * part + (1.0 - part) * (1.0 - part));
}

struct Noises {
    vec4 fine;   // as `fine_detail`
    float seep;  // lines of water that seeps down a wall, from 0 to 1
};

// Those that level ground or walls need: in software a loop ends where no pixel nearby needs another turn, of which each
// reads the noise once. `at` is a place and its height in cells, and `step_of` its screen-space derivatives.
Noises noises_at(vec3 at, mat2x3 step_of, vec2 slope, bool level, bool seeps) {
    bool from_south = slope.x * slope.x < slope.y * slope.y;
    Noises noises = Noises(level ? vec4(0.0) : vec4(0.5), 0.5);
    int turn = level ? 0 : 2, turns = seeps ? 3 : 2;
    do {
        bool on_wall = turn == 2;
        vec2 scale = turn == 0 ? vec2(1.0 / 18.7) : on_wall ? 1.0 / vec2(SEEPS_TILE, SEEPS_TILE * SEEPS_LONG) : vec2(1.0 / 5.3);
        mat2 axes = turn == 1 ? TURNED : mat2(1.0);
        vec2 here = axes * (scale * (!on_wall ? at.xy : from_south ? at.xz : at.yz));
        vec2 east = axes * (scale * (!on_wall ? step_of[0].xy : from_south ? step_of[0].xz : step_of[0].yz));
        vec2 south = axes * (scale * (!on_wall ? step_of[1].xy : from_south ? step_of[1].xz : step_of[1].yz));
        if (on_wall) {
            east += vec2(SEEPS_SOFT);
            south += vec2(-SEEPS_SOFT, SEEPS_SOFT);
        }
        vec4 noise = vec4(0.5);
        if (turn < turns) noise = textureGrad(detail, here, east, south);
        if (on_wall) noises.seep = mix(noise.x, noise.w, 0.5);
        else noises.fine += 0.5 * noise;
        ++turn;
    } while (turn < turns);
    return noises;
}

// A bump tilts a wall as much as level ground, but changes the slope on the map by 1 + slope² as much.
float wall_tilt(vec2 slope) {
    return min((1.0 + dot(slope, slope)) / max(length(slope), 1.0), 5.0);
}
#endif

#if DETAIL_SCALES > 2
// Patches of many cells with smaller ones in them, down to so many cells: on steep ground finer ones would be drawn out.
vec4 coarse_detail(vec2 cells, float finest) {
    float lod = log2(max(finest, 1e-4) * float(textureSize(detail, 0).x));
    return 0.6 * textureLod(detail, cells.yx / 173.0 + 0.37, lod - log2(173.0)) + 0.5 * textureLod(detail, turned(cells) / 47.0, lod - log2(47.0)) - 0.05;
}
#endif

vec4 two_coarse_details(vec2 cells) {
    return 0.6 * texture(detail, cells.yx / 173.0 + 0.37) + 0.5 * texture(detail, turned(cells) / 47.0) - 0.05;
}

// Patches of many cells, at better levels of quality with smaller ones in them.
vec4 coarse_detail(vec2 cells) {
#if DETAIL_SCALES > 1
    return two_coarse_details(cells);
#elif GRITTY == 1
    return textureLod(detail, cells.yx / 173.0 + 0.37, 1.0);  // without its finest waves: grit is finer
#else
    return texture(detail, cells.yx / 173.0 + 0.37);
#endif
}

// Steepness for the choice of materials. It follows exaggeration only in part, otherwise all ground would be rock.
float apparent_steepness(vec4 place) {
    return length(place.yz) * mix(1.0, frame.map.w, 0.45);
}

// The bed under water: sand, with patches of silt.
vec3 bed_material(vec4 fine, vec4 coarse, float silty) {
    float silt = clamp(0.55 + 1.5 * (coarse.w - 0.5) + 1.1 * (coarse.x - 0.5) + 0.5 * (fine.w - 0.5), 0.0, 1.0);
    return mix(BED_SAND, BED_SILT, silty * silt) * (0.88 + 0.24 * fine.x);
}

// How much of a bed of this slope is stones that algae darken: silt slides off what is steep.
const float STONY_BED_DARK = 0.6;
float stony_bed(vec2 slope) {
    return smoothstep(0.20, 0.45, length(slope));
}

// Factor on noise that is projected from above and stretched down a cliff.
float drawn_out(float steepness) {
    return 1.0 / (1.0 + 0.5 * steepness * steepness);
}

// Fraction of the ground that grass of a density hides: sparse grass forms tufts.
float grown(float density, float ripple, float patches) {
    return clamp(density + density * (1.0 - density) * (11.0 * ripple + 2.0 * patches), 0.0, 1.0);
}

// The level to which material of a mean thickness fills a relief, hollows first. Heights of the relief are distributed
// about evenly from −1 to 1, and a thickness of `whole` fills it.
float filled_to(float thickness, float whole) {
    return 2.0 * sqrt(max(thickness, 0.0) / whole) - 1.0;
}

// How much of what lies there is dune sand, where so many metres lie.
float dune_sand_at(float thickness) {
    return frame.wind.z * smoothstep(0.0, frame.ground_look.z, thickness);
}

// Opacity of loose material that fills a relief up to a level, at a height `relief`; both are from −1 to 1. Rock
// shows through a veneer. At the lowest level even the deepest hollows are bare. Debris on a slope, from 0 to 1, has an
// edge, as its stones hide what they lie on. Over a pixel with such a `range` of depths it is a mean.
float covered_by(float level, float relief, float debris, float range) {
    float deep = level - relief, thin = max(mix(THIN, STONES_THIN, debris), range);
    float veneer = mix(VENEER, 1.0, debris);
    return smoothstep(-thin, thin, deep) * mix(veneer, 1.0, clamp(deep, 0.0, 1.0)) * smoothstep(-1.0, -0.8, level);
}

// The relief finer than the map, as far as the material follows from it.
struct FineRelief {
    float height;  // in cells
    float streak;  // down the slope, around 0
    vec2 tilt;     // of faces of rock, beside the slope of the map
    float seep;    // a noise in lines straight down walls, around 0
    float ribbed;  // how steep ribs are, beside the faces of rock on them
    vec2 face;     // slope of the ground with what is broad of it
    float steepest;  // slope of what is drawn: ledges of a wall are gentle
    float soft;      // how much it is bare clay
};

const vec3 BUSH = vec3(0.048, 0.062, 0.024);
#if DETAIL_SCALES > 2
const vec3 PLAIN_GRASS = vec3(0.148, 0.144, 0.066);  // its shrubs are dark, and not it
const float PLAIN_EVEN = 0.65;
#else
const vec3 PLAIN_GRASS = LUSH_LIGHT;
const float PLAIN_EVEN = 0.5;
#endif
const vec3 TUSSOCK = vec3(0.190, 0.160, 0.086);
const vec3 SCRUB = vec3(0.105, 0.108, 0.062);
const float WASHES_THIN_OUT = 0.14, WASHES_SHOW = 0.65;
const float BETWEEN_STONES = 0.97;  // less grows there, and no water gathers
const float SETTLED_THINS_OUT = 0.16, SCRUB_THINS_OUT = 0.30, SCRUB_IN_CLUMPS = 1.2;
const float SCRUB_COVERS = 0.6;
const float BUSHES_GATHER = 0.16, BUSHES_SPARSE = 0.06;  // on dry ground: as a height in the texture of blocks
const vec3 SCRUB_GROUND = vec3(0.112, 0.110, 0.060);  // between its bushes: straw, litter
const float UNEVEN_COVER = 2.4, THIN_ON_CRESTS = 3.0;  // of the level to which loose material fills relief
const float EVEN = 0.40, ROUGH = 1.25;  // how far the grain stands out
const float SHADED_MOIST = 0.20;  // how much lusher slopes to the north are than level ground, and those to the south less
const vec3 GRASSY = vec3(-0.30, 0.12, 0.30);  // patches on loose material, from which on they are green: old ones, fresh ones; and are all
const float JOINTS_SHOW = 0.9;  // in the tone of rock
const float TURF_EVEN = GRITTY == 1 ? 0.55 : 0.75;  // how far it hides the faces of the rock that it grows on
const float EDGE = 0.05;        // of patches of plants: half the range of what grows them
const vec3 VARNISH = vec3(0.84, 0.81, 0.79);  // of the colour of ground that water does not wash
const vec3 WASH = vec3(0.90, 0.80, 0.63);  // of lines of silt, beside the green of the ground around them
const vec2 STONY_STEEP = vec2(0.55, 0.95);  // steepness from which on nothing that is projected from above is drawn
const float FEW_BLOCKS_LIE = 0.25, SCREE_BLOCKS = 0.3, MOST_BLOCKS = 1.3;
const vec2 SHRUBS_STEEP = vec2(0.9, 1.5);  // and on which no shrubs stand
const float MUDDY_FROM = 0.40, CRUST_FROM = 0.52;  // wetness
const vec2 FROZEN = vec2(1.0, 7.0);         // °C, between which grass is straw
const vec3 WITHERED = vec3(0.172, 0.146, 0.104);
const float GREEN_LINES = 0.7;  // how much more of it grows where water gathers
const vec2 MOST_MIXED = vec2(0.10, 1.0);  // in a pixel: of heights above the line of snow, of slopes
const float ARID = 0.30;         // how much less lush grass is where it hardly grows
#if DETAIL_SCALES > 2
const float MEADOW_UNEVEN = 0.8;  // in tone
#else
const float MEADOW_UNEVEN = GRITTY == 1 ? 0.9 : 0.5;
const vec2 SPECKS = GRITTY == 1 ? vec2(0.52, 0.65) : vec2(0.56, 0.62);
const float SPECKS_HIDE = 0.8, SPECKS_GATHER = 0.5;  // where water does
#endif
const vec2 GRASS_UNEVEN = DETAIL_SCALES > 2 ? vec2(0.18, 0.12) : vec2(0.30, 0.22);  // where it ends: the form tells more than chance
const float FORM_TELLS = 0.6;   // how much lusher gullies are than ribs
const float GULLY = 0.35;  // hollowness per cell of depth

#if DETAIL_SCALES > 2
// Plants end where what they need does, at an edge: 1 where `needed` is above 0. Over a pixel it is a mean.
float patch_of(float needed) {
    float edge = max(EDGE, min(fwidth(needed), 0.5));
    return smoothstep(-edge, edge, needed);
}
#endif

#if DETAIL_SCALES > 1
// Plains have the pattern of the water that runs over them: swales and old channels are lush, what lies between is dry.
const vec2 PLAINS = vec2(0.14, 0.36);  // steepness
const float LEAST_STREAK = 0.75;       // of streaks, on level ground
const float PATTERN_FADES = 24.0;      // cells before the edge of the map
const float DRY_BETWEEN = 0.06, SWALES_LUSH = 0.65;
const vec3 DRY_SOIL = vec3(1.22, 1.14, 1.03), DAMP_SOIL = vec3(0.84, 0.89, 0.76);  // beside the colour of ground in the mean
const vec3 RED_SOIL = vec3(1.04, 0.985, 0.93), GREY_SOIL = vec3(0.95, 1.00, 1.05);  // of many cells
const float TUSSOCKY = 0.7;
#endif

#if DETAIL_SCALES > 2
const float EVEN_FOOT = 0.55, SHEET_REACHES = 8.0, SHEET_HIDES = 0.35;  // relief at feet of dunes; cells; level
const vec2 FOOT = vec2(0.30, 0.65);  // slopes
const vec2 SHEET_FROM = vec2(0.02, 0.9);  // thickness of the sand beside it, in cells
const float DUSTED = 5.0, DUSTING = 0.75;  // cells that snow is blown over bare ground; how much of it lies there
const float TIPS = 0.3;  // how far tips of grass and stones come through the edge of snow
const vec2 THICKETS_AFAR = vec2(0.15, 0.6);  // cells in a pixel
const float CLUMPS_AFAR = 1.4, FEWER_AFAR = 0.4;
const float THICKETS_FROM = 0.25;

const float TURF_FINEST = 8.0, TURF_TEXELS = 512.0;  // metres that its smallest tile has; texels of a tile
const vec2 SHARP_TURF = vec2(0.75, 1.2);  // pixels, on gentle ground and on slopes: what is finer would flicker where the camera moves
const float MOST_ASLANT = 4.0;  // power of two by which it is drawn out at most
const float SECTORS = 32.0, TURN = 6.2831853;  // of a turn; radians
const vec2 GRAZING = vec2(2.8, 4.8);  // powers of two by which a pixel is drawn out: from the first on its tone gets even
const vec2 PLANTS_STAND = vec2(0.35, 0.60);  // steepness from which on they lie on a face
const vec2 TURF_STEEP = vec2(0.6, 1.1);
const float GROVES_TILE = 520.0;  // metres
const vec2 GROVES_THIN_OUT = vec2(-0.10, 0.22);
const vec2 TURF_EVEN_AND_ROUGH = vec2(0.8, 1.4);  // some of it is short and some has tussocks
const float GRAVEL_EVEN = 0.3;  // and bars of rivers
const float WASHED_OFF = 1.0, BLOWN_OFF = 0.6;
const float EVEN_MUD = 0.85;  // how much less of it this has: sand has none
const float FRAYS = 0.75, LUSH_FRAYS = 0.55, LUSH_PATCHES = 0.5, PLANTS_END = 0.6;  // how far it frays the edges of patches of plants

// Noise around 0 as fine as a pixel is wide, at any distance: grass, litter and crumbs of soil. Each tile is twice as
// wide as the one before. Where a pixel is long, seen aslant, it is drawn out as far along the same way: what stands up is
// as high as it is wide, and would lie in streaks. That goes by powers of two and by sectors, so that it stays in its place
// where the camera moves; `uneven`, a noise around 0, frays the steps between these. Only on `gentle` ground, from 0 to 1.
// `place` in cells: east, south and up.
vec4 turf_at(vec3 place, vec2 slope, float gentle, float uneven) {
    mat3x2 onto = along_face(slope);
    vec2 at = frame.map.z * (onto * place), east = frame.map.z * (onto * dFdx(place)), south = frame.map.z * (onto * dFdy(place));
    vec3 squares = vec3(dot(vec2(east.x, south.x), vec2(east.x, south.x)), dot(vec2(east.y, south.y), vec2(east.y, south.y)), dot(vec2(east.x, south.x), vec2(east.y, south.y)));
    float mean = 0.5 * (squares.x + squares.y), apart = length(vec2(0.5 * (squares.x - squares.y), squares.z));
    float longer = 0.5 * log2((mean + apart) / max(mean - apart, 1e-4 * mean + 1e-12));
    float as_long = exp2(clamp(floor(gentle * longer + 0.25 + uneven), 0.0, MOST_ASLANT));
    float sector = floor(SECTORS * (atan(squares.z, 0.5 * (squares.x - squares.y)) / TURN + 0.5) + uneven) / SECTORS - 0.5;
    vec2 along = vec2(cos(0.5 * TURN * sector), sin(0.5 * TURN * sector));
    at = vec2(dot(at, along) / as_long, dot(at, vec2(-along.y, along.x)));
    float wide = mix(SHARP_TURF.y, SHARP_TURF.x, gentle) * TURF_TEXELS * sqrt(sqrt(max(mean * mean - apart * apart, 1e-16)) / as_long);
    float octave = max(log2(wide / TURF_FINEST), 0.0), number = floor(octave), part = octave - number;
    float tile = TURF_FINEST * exp2(number), lod = max(log2(wide / tile), 0.0);
    vec4 fine = textureLod(detail, at / tile, lod) - 0.5, coarse = vec4(0.0);
    float begins = smoothstep(0.4, 1.0, part);
    if (begins > 0.0) coarse = textureLod(detail, turned(at) / (2.0 * tile), max(lod - 1.0, 0.0)) - 0.5;
    coarse.yz = coarse.yz * TURNED;
    // As strong as either; so nearly along the ground only its mean is seen.
    vec4 turf = mix(fine, coarse, begins) / sqrt(1.0 - 2.0 * begins * (1.0 - begins)) * (1.0 - gentle * smoothstep(GRAZING.x, GRAZING.y, longer));
    turf.yz = turf.y * along + turf.z * vec2(-along.y, along.x);
    return turf;
}
#endif

const FineRelief NO_RELIEF = FineRelief(0.0, 0.0, vec2(0.0), 0.0, 1.0, vec2(0.0), 1e9, 0.0);

// `top` is used in worlds with materials only.
Ground ground_material(vec2 cells, vec4 place, StrataTop top, float steepness, float hollowness, vec4 fine, vec4 coarse, FineRelief finer) {
    float altitude = relative_height(place.x * frame.map.w);
    float gully = GULLY * clamp(-finer.height, -0.8, 0.8) + finer.streak * smoothstep(0.05, 0.40, steepness);
#if DETAIL_SCALES > 1
    float streak = finer.streak * mix(LEAST_STREAK, 1.0, smoothstep(0.003, 0.06, steepness));
#else
    float streak = finer.streak * smoothstep(0.003, 0.06, steepness);
#endif
#if DESERT == 1
    // Wind smooths sand, but for slip faces, down which it runs in tongues.
    streak *= 1.0 - dune_sand_at(place.w) * mix(0.85, SLIPS_STREAKED, smoothstep(0.30, 0.55, steepness));
#endif
    // Ribs are bare, while soil and grass hold on in gullies and on ledges.
    float mean_steepness = apparent_steepness(place);
    float exposed = mix(mean_steepness, steepness, FACES_BARE) + RIBS_BARE * clamp(finer.height, -1.0, 1.0) * smoothstep(0.15, 0.45, mean_steepness);
    exposed += WINDSWEPT * max(-hollowness - CRESTS.x, 0.0);  // crests, which are gentle on the map
    float rise = length(place.yz);
    vec2 faces = place.yz / max(rise, 1e-3) * smoothstep(0.05, 0.50, rise);  // the way up: slopes to the north rise southwards
    float ripple = fine.x - 0.5, ragged = ripple, patches = coarse.x - 0.5, tone = coarse.w - 0.5;
#if DETAIL_SCALES > 1
    // Some ground is even and some is rough, or all of it would be one carpet.
    ripple *= mix(EVEN, ROUGH, smoothstep(-0.16, 0.20, tone + 0.8 * patches + 0.5 * streak));
#endif
#if DETAIL_SCALES > 1
    // Land beyond the map has no such pattern.
    vec2 inside = min(cells, frame.map.xy - cells) / PATTERN_FADES;
    float plain = (1.0 - smoothstep(PLAINS.x, PLAINS.y, mean_steepness)) * smoothstep(0.0, 1.0, min(inside.x, inside.y));
    float watered = 1.7 * streak + 1.2 * hollowness + 0.25 * patches + 0.25 * tone;
#endif
#if DETAIL_SCALES > 2
    // The same noise is the grain of rock, which lies on its faces.
    float lies_on = min(max(mean_steepness, length(finer.face)), finer.steepest);
    vec2 face = lies_on < PLANTS_STAND.y ? vec2(0.0) : finer.face;
    vec4 grit = turf_at(vec3(cells, place.x * frame.map.w / frame.map.z + finer.height), face, 1.0 - smoothstep(PLANTS_STAND.x, PLANTS_STAND.y, lies_on), ripple);
    vec4 turf = grit * (1.0 - smoothstep(TURF_STEEP.x, TURF_STEEP.y, min(mean_steepness, finer.steepest)));
    vec4 groves = textureLod(detail, turned(cells) * frame.map.z / GROVES_TILE, max(log2(length(fwidth(cells)) * frame.map.z * TURF_TEXELS / GROVES_TILE), 1.0)) - 0.5;
    turf *= mix(TURF_EVEN_AND_ROUGH.x, TURF_EVEN_AND_ROUGH.y, smoothstep(-0.15, 0.15, groves.w + 0.4 * groves.x));
    float frays = FRAYS * turf.x;
#else
    const float frays = 0.0;
#endif
#if MATERIALS == 1 || LIVING == 1 || DESERT == 1 || DETAIL_SCALES > 2
    // The noise frays the borders between cells.
    vec2 around = (cells + (2.2 * (fine.yz - 0.5) + 3.0 * (coarse.yz - 0.5)) * drawn_out(steepness)) / frame.map.xy;
#endif
#if LIVING == 1 || MATERIALS == 1 && DESERT == 1
    vec4 covers = textureLod(cover, around, 0.0);
#endif
#if LIVING == 1
    float wet = clamp(covers.x * (1.0 + 0.6 * ripple), 0.0, 1.0);
#else
    const float wet = 0.0;
#endif

#if MATERIALS == 1
#if DETAIL_SCALES == 2
    ripple *= drawn_out(steepness);
#endif
    vec4 lying = textureLod(loose_colour, around, 0.0);
    lying.rgb *= lying.rgb;
    float stony = clamp(3.0 * lying.a - 2.0, 0.0, 1.0), clayey = clamp(1.0 - 3.0 * lying.a, 0.0, 1.0);
    float sandy = sand_of_grain(lying.a);
#endif

#if DETAIL_SCALES > 1
    float in_swales = plain * (SWALES_LUSH * watered - DRY_BETWEEN);
#else
    const float in_swales = 0.0;
#endif
#if LIVING == 1
    // Grass: rank on wet ground, straw on dry ground and in winter and late summer.
    float juicy = clamp(0.10 + 1.25 * wet - 0.22 * abs(frame.strata.z) + 0.45 * patches + 0.30 * ripple + SHADED_MOIST * faces.y + 0.45 * in_swales, 0.0, 1.0);
#if DETAIL_SCALES > 2
    juicy = clamp(juicy + LUSH_FRAYS * turf.x + LUSH_PATCHES * groves.x, 0.0, 1.0);
#endif
    vec3 grass = mix(mix(STRAW, MEADOW, smoothstep(0.10, 0.55, juicy)), RANK_GRASS, smoothstep(0.55, 1.0, juicy));
    float warmth = frame.rain.y - frame.rain.z * place.x;
    grass = mix(WITHERED, grass, smoothstep(FROZEN.x, FROZEN.y, warmth + 4.0 * patches));
    grass *= 1.0 + 0.7 * ripple + 0.3 * tone;
    float growing = covers.y * (1.0 - smoothstep(0.80, 1.50, steepness + ripple * 0.30));
#endif
#if GREEN_BY_CLIMATE == 1
    // Lush in hollows, low down and on shaded slopes, dry on crests, high up and in the sun.
    float lush = clamp(0.62 + 2.0 * hollowness + 1.1 * streak + FORM_TELLS * gully - 0.55 * altitude + patches * 0.7 + ripple * 0.6 + SHADED_MOIST * faces.y - ARID * (1.0 - frame.ground_look.y) + in_swales, 0.0, 1.0);
    vec3 meadow = mix(LUSH_LIGHT, LUSH_DARK, clamp(lush * 1.2 - 0.1 + tone * 0.6, 0.0, 1.0));
#if DETAIL_SCALES > 2
    lush += LUSH_FRAYS * turf.x + LUSH_PATCHES * groves.x;
    meadow = mix(DRY_GRASS, meadow, smoothstep(0.22, 0.52, lush));
#else
    meadow = mix(DRY_GRASS, meadow, smoothstep(0.12, 0.62, lush));
#endif
    meadow *= 1.0 + MEADOW_UNEVEN * ripple;
#if DETAIL_SCALES > 2
    float ends = PLANTS_END * groves.x + 0.5 * frays;
#else
    const float ends = 0.0;
#endif
#if DETAIL_SCALES < 3
    // Of shrubs, the texture of blocks tells where they stand.
#if DETAIL_SCALES > 1
    float specks = smoothstep(SPECKS.x, SPECKS.y, fine.w + 0.18 * (lush - 0.5) + 0.3 * patches + SPECKS_GATHER * plain * watered);
#else
    float specks = smoothstep(SPECKS.x, SPECKS.y, fine.w + 0.18 * (lush - 0.5) + 0.3 * patches);
#endif
#endif
    float green = frame.ground_look.y * (1.0 - smoothstep(0.50, 0.95, exposed + ripple * GRASS_UNEVEN.x + patches * GRASS_UNEVEN.y - ends));
    green *= 1.0 - smoothstep(NO_GRASS.x, NO_GRASS.y, altitude - frame.ground_look.x + 0.10 * patches);
#endif

    float bare = smoothstep(0.30, 0.72, exposed + ripple * 0.30 + patches * 0.22);
    float put_down = 0.0;
#if MARKS == 1
    // Grass does not survive strong erosion or deposition. Noise frays the edges of these marks.
    vec3 frayed = 1.0 + vec3(0.9, 0.9, BANK_FRAYED.x) * ripple + vec3(0.5, 0.5, BANK_FRAYED.y) * patches;
    vec3 mark = texture(marks, cells / frame.map.xy).xyz;
#if DETAIL_SCALES > 2
    // Banks wind by more than the noise frays them.
    if (mark.z > 0.0 && mark.z < 1.0) {
        float wound = textureLod(marks, (cells + BANK_WINDS * (coarse.xw - 0.5)) / frame.map.xy, 0.0).z;
        mark.z = mix(mark.z, wound, min(min(mark.z, 1.0 - mark.z) / BANK_BEGINS, 1.0));
    }
#endif
    mark = clamp(mark * frayed, 0.0, 1.0);
    // Fresh bars are bare stones. Later, sand fills the gaps, and finally grass returns.
#if DETAIL_SCALES > 2
    float of_pixel = min(0.7 * fwidth(mark.z), 0.3);  // or banks would flicker from afar
    // Beyond its bank gravel lies scattered, in tongues that floods have left along their way.
    float near_bank = mark.z + TONGUES * mark.z * (1.0 - mark.z) * (streak + 0.3 * tone);
    float bars = smoothstep(BANK.x - of_pixel, BANK.y + of_pixel, near_bank + 0.25 * ragged);
    bars = max(bars, STONES_SCATTERED * smoothstep(SCATTERS.x, SCATTERS.y, near_bank) * patch_of(near_bank - SCATTERS.y + 1.3 * ragged));
#else
    float near_bank = mark.z + BANK_TONGUES * mark.z * (1.0 - mark.z) * (patches + tone + ripple);
    float bars = smoothstep(BANK.x, BANK.y, near_bank);
#endif
    float held = (1.0 - 0.85 * max(mark.x, mark.y)) * (1.0 - bars);
#if LIVING == 1
    growing *= held;
#endif
#if GREEN_BY_CLIMATE == 1
    green *= held;
#endif
    bare = max(bare, 0.80 * mark.y);
    put_down = mark.x;
#endif
    // Loose material and deposits of snowballs fill hollows first.
    float relief = ripple / FINE_RELIEF;
#if DESERT == 1 && DETAIL_SCALES > 1
    // Wind erodes windward faces, and deposits its load in the lee.
    relief += frame.wind.z * dot(WINDWARD.x * (fine.yz - 0.5) + WINDWARD.y * clamp(place.yz, -1.0, 1.0), frame.wind.xy);
    // Its border is frayed less than others, because relief frays it already and cuts out faces of rock.
    vec2 over = (cells + (0.8 * (fine.yz - 0.5) + OVER_FRAYED * (coarse.yz - 0.5)) * drawn_out(steepness)) / frame.map.xy;
    float thickness = textureLod(surface, over, 0.0).w;
#else
    vec2 over = cells / frame.map.xy;
    float thickness = place.w;
#endif
    float level = max(filled_to(thickness, WHOLE * frame.ground_look.z), 2.0 * put_down - 1.0);
#if DETAIL_SCALES > 2 && (DESERT == 1 || MATERIALS == 1)
    // On level ground sand thins out over what stands there, as a sheet that the wind draws out.
    float foot = 1.0 - smoothstep(FOOT.x, FOOT.y, mean_steepness);
    relief *= mix(1.0, EVEN_FOOT, foot);
    // In software a loop is left out, and a branch is not.
    for (int k = 0; k < (foot > 0.0 && level < SHEET_HIDES ? 1 : 0); ++k) {
        vec2 upwind = over - (0.65 + 0.5 * tone) * SHEET_REACHES * frame.wind.xy / frame.map.xy;
        float sheet = foot * smoothstep(SHEET_FROM.x, SHEET_FROM.y, textureLod(surface, upwind, 0.0).w / frame.map.z);
        if (sheet <= 0.0) break;
#if MATERIALS == 1
        vec4 beside = textureLod(loose_colour, upwind, 0.0);
        float of_sand = clamp(1.0 - 3.0 * abs(beside.a - 2.0 / 3.0), 0.0, 1.0);
        sheet *= of_sand;
        float first = sheet * (1.0 - smoothstep(0.0, frame.ground_look.z, thickness));
        lying = mix(lying, vec4(beside.rgb * beside.rgb, beside.a), first);
        sandy = mix(sandy, of_sand, first);
        stony *= 1.0 - first;
        clayey *= 1.0 - first;
#else
        sheet *= frame.wind.z;
#endif
        level = max(level, mix(-1.0, SHEET_HIDES, sheet));
        plain *= 1.0 - sheet;  // nothing grows in it
    }
#endif
#if DETAIL_SCALES > 2
    // Material at the foot of a slope laps up it; otherwise the cell between them would be a seam without either.
    vec2 downhill = -place.yz / max(length(place.yz), 1e-3) * smoothstep(LEVEL_GROUND, 0.35, steepness);
    if (covered_by(level, relief, 0.0, 0.0) < 1.0) {
        float banked = thickness;
        if (steepness > LEVEL_GROUND) {
            float laps = LAPS_UP * (1.0 + UP_GULLIES * clamp(-finer.height, -0.35, 1.0));
            banked = textureLod(surface, over + laps * downhill / frame.map.xy, 0.0).w;
        }
        level = max(level, filled_to(banked, BANKED * frame.map.z));
    }
#endif
    // Debris lies in tongues that run down the slope, and is thicker in some places than in others.
    float lies_uneven = 0.9 * streak + (UNEVEN_COVER * (0.5 * patches + 0.7 * tone) + THIN_ON_CRESTS * min(hollowness, 0.0)) * (1.0 - frame.wind.z);
    level += lies_uneven * smoothstep(-1.0, -0.5, level);  // where none lies, none is seen
    float debris = (1.0 - frame.wind.z) * smoothstep(DEBRIS.x, DEBRIS.y, mean_steepness);
#if DETAIL_SCALES > 2
    // Rock crops out of thin debris, on ribs and in some bodies more than elsewhere.
    float crag = clamp(0.4 + CRAGGY * (0.5 * patches + 0.7 * tone) + 1.2 * finer.height, 0.0, 1.0);
    level -= CROP_OUT * debris * crag * (1.0 - smoothstep(THIN_DEBRIS.x, THIN_DEBRIS.y, level));
#if MATERIALS == 0
    // Stones that fall from ribs and crags fill the gullies between them.
    float falls = smoothstep(CHUTES.x, CHUTES.y, gully + 0.5 * hollowness) * smoothstep(STONES_FALL.x, STONES_FALL.y, mean_steepness);
    falls *= smoothstep(FROST_SHATTERS.x, FROST_SHATTERS.y, altitude + 0.5 * tone) * (1.0 - frame.wind.z);
    level = max(level, mix(-1.0, CHUTES_FILLED, falls));
#endif
#endif
#if DETAIL_SCALES > 1
    float of_depths = min(0.6 * fwidth(level - relief), 1.2);
#else
    const float of_depths = 0.0;
#endif
#if MATERIALS == 1 || DETAIL_SCALES > 2
#if DETAIL_SCALES > 2
    // Debris comes to rest on gentle faces of a wall, if these are not too small for it.
    float too_steep = smoothstep(0.85, 1.50, max(steepness, LEAST_OF_WALL * length(finer.face)) + 0.4 * ripple);
#else
    float too_steep = smoothstep(0.85, 1.50, steepness + 0.4 * ripple);
#endif
    float covered = covered_by(level - STEEP_BARE * debris * too_steep, relief, debris, of_depths) * (1.0 - 0.75 * (1.0 - debris) * too_steep);
#else
    float covered = covered_by(level, relief, debris, of_depths);
#endif

#if MATERIALS == 1
    Rock bed = rock_in_strata(cells, top, place.x, 0.7 * ripple + patches, covered < 1.0, detail);
    vec3 rock = bed.albedo * max(1.0 + ripple * mix(0.9, 0.35, bed.bedded) + tone * mix(0.5, 0.15, bed.bedded), DARKEST_ROCK);
#if DETAIL_SCALES > 2
    rock *= mix(vec3(1.0), mix(BUFF_CLAY, GREY_CLAY, smoothstep(HUES.x, HUES.y, bed.hue)), finer.soft);
#endif
    // Gentle slopes of rock are weathered: beds fade, and cracks hold soil.
#if DETAIL_SCALES > 2
    // On gentle slopes hard beds still crop out as low ledges, in some places and not in others.
    float gentle_rock = smoothstep(CROPS_STEEP.x, CROPS_STEEP.y, mean_steepness) * (1.0 - bare);
    float crops_out = gentle_rock * smoothstep(CROPS_OUT.x, CROPS_OUT.y, bed.hard + 0.35 * ripple + 0.25 * tone);
    bare += OUTCROPS_BARE * crops_out;
    rock *= 1.0 + OUTCROPS_PALE * crops_out;
#endif
    vec3 soil = mix(mix(bed.mean, rock, 0.35), lying.rgb, 0.30) * (0.95 + SOIL_UNEVEN * ripple);
#else
#if DETAIL_SCALES > 1
    // Rock has bands by height, bent by the noise.
    float bands = 0.5 + 0.5 * sin(altitude * 46.0 + patches * 7.0 + ripple * 2.0);
    vec3 rock = mix(ROCK_LOW, ROCK_HIGH, clamp(0.25 + 0.5 * bands + ripple * 0.9, 0.0, 1.0));
#else
    vec3 rock = mix(ROCK_LOW, ROCK_HIGH, clamp(0.5 + ripple * 0.9, 0.0, 1.0));
#if GRITTY == 1
    rock *= mix(COOL, WARM, clamp(0.5 + 1.4 * tone - patches, 0.0, 1.0)) * max(1.0 + JOINTS_SHOW * (fine.w - 0.5), DARKEST_ROCK);
#else
    rock *= body_of_rock(vec3(cells.x, place.x / frame.map.z, cells.y), 0.5 * patches + 0.3 * ripple);
#endif
#endif
    vec3 soil = mix(ROCK_HIGH, DRY_GRASS, 0.55) * (1.0 + 0.4 * ripple);
#endif
#if DETAIL_SCALES > 1
    if (covered < 1.0 && bare > 0.0) {
        float leans = clamp(steepness / max(mean_steepness, 0.05) - 1.0, -1.0, 1.0);
        vec3 plain = rock;
        // Noise that is projected from above would be drawn out down walls.
        vec3 at = vec3(cells.x, place.x / frame.map.z + finer.height, cells.y);
#if DETAIL_SCALES > 2
        rock *= 1.0 + ROCK_GRAIN * mix(1.0, SKIN_GRAIN, finer.soft) * (grit.x + 0.5 * grit.w);
#endif
        float even = mix(1.0, EVEN_WALLS, smoothstep(0.8, 2.0, steepness)), size = length(fwidth(cells));
        float own = block_at(at * across_sets() / (ZONES_WIDE * SPACED) + 0.15 * ripple, 3.0).own;
        vec2 zones = even * vec2(patches, coarse.z - 0.5) + JOINTED_ZONES * (fract(own * vec2(7.0, 13.0)) - 0.5);
        rock = weathered(rock, Face(finer.tilt, leans, faces.y, fine.w - 0.5, zones.x, zones.y, gully + hollowness, finer.seep));
        vec3 body = bodies_of_rock(at, 0.5 * even * (patches + tone), size);
#if MATERIALS == 1
        body = mix(body, vec3(1.0), bed.bedded);
#endif
        rock *= body;
#if MATERIALS == 1
        rock = mix(rock, plain, mix(SOFT_ROCK * bed.bedded, 1.0, finer.soft));  // which is gone before it has weathered
#endif
        rock = by_sea(rock, place.x - frame.water.w + finer.height * frame.map.z / frame.map.w, patches + ripple);
    }
    rock *= 1.0 + ROCK_STREAKED * streak;
#elif MATERIALS == 1
    rock *= mix(WEATHERED_IN_MEAN, vec3(1.0), SOFT_ROCK * bed.bedded) * (1.0 + 0.5 * streak);
#else
    rock *= WEATHERED_IN_MEAN * (1.0 + 0.5 * streak);
#endif
    vec3 albedo = mix(soil, rock, bare);
#if GREEN_BY_CLIMATE == 1
    float green_rock = smoothstep(0.15, 0.75, green + ripple * 0.25 + 0.5 * streak) * smoothstep(0.0, 0.10, green);
#if MATERIALS == 1
    green_rock *= 1.0 - 0.6 * stony;
#endif
#if DETAIL_SCALES > 1
    green_rock = mix(green_rock, grown(green_rock, ripple + 0.4 * frays, patches), 0.7);
#endif
    albedo = mix(albedo, meadow, green_rock);
#if DETAIL_SCALES < 3
    albedo = mix(albedo, BUSH, SPECKS_HIDE * green_rock * specks);
#endif
#endif

#if MATERIALS == 1
    float of_rock = OF_ROCK * max(debris, STONES_OF_ROCK * stony);
    if (of_rock > 0.0 && covered > 0.0) {
        // Stones of all the beds above, that rain has washed.
        vec3 above = textureLod(strata, vec2((top.height - place.x - FALLS_FROM * frame.map.z) * frame.strata.x, 0.5), DEBRIS_LOD).rgb;
#if DETAIL_SCALES > 2
        vec3 below = textureLod(strata, vec2((top.height - place.x) * frame.strata.x, 0.5), DEBRIS_LOD).rgb;
        above = mix(above, below, OF_ITS_BED + clamp(2.0 * patches + 1.2 * tone, -0.3, 0.3));
#endif
        lying.rgb = mix(lying.rgb, above * above, of_rock * (1.0 - sandy * frame.wind.z));
        stony = max(stony, debris);
    }
    float spotted = mix(0.35, 0.8, stony) * (1.0 - SAND_EVEN * sandy * frame.wind.z);
    vec3 loose = lying.rgb * max(1.0 + ripple * spotted + 0.25 * tone + 0.5 * patches, DARKEST_LOOSE);
#if DESERT == 1
    float dry_sand = covered * sandy * (1.0 - smoothstep(0.25, 0.60, wet));
    float sand = dry_sand * covers.z;
#else
    float dry_sand = 0.0, sand = 0.0;
#endif
#else
    // Scree on slopes; sand with patches of darker silt on flat ground, and grass in its hollows.
    float damp = clamp(0.45 + 1.6 * tone + 0.8 * patches + 1.2 * hollowness, 0.0, 1.0);
    vec3 fill = mix(SAND, SILT, damp);
#if GREEN_BY_CLIMATE == 1
    // What lies there for long is as green as the slopes around it, but in patches: no plain has a border like a shore's.
    float settled = smoothstep(mix(GRASSY.x, GRASSY.y, put_down), GRASSY.z, patches + ripple * 0.6 + 0.12 + GREEN_LINES * gully);
#if DETAIL_SCALES > 2
    settled = grown(smoothstep(-SETTLED_THINS_OUT, SETTLED_THINS_OUT, watered + 0.35 * ragged + ends + mix(0.06, 0.34, frame.ground_look.y) - mix(0.0, 0.2, put_down) + GREEN_LINES * gully), ragged, 0.0);
#endif
    fill = mix(fill, mix(meadow, PLAIN_GRASS, PLAIN_EVEN), 0.85 * frame.ground_look.y * settled);
#if DETAIL_SCALES < 3
    fill = mix(fill, BUSH, SPECKS_HIDE * frame.ground_look.y * settled * specks);
#endif
#endif
    vec3 loose = mix(fill, SCREE, smoothstep(0.20, 0.45, steepness + patches * 0.2)) * (0.90 + 0.5 * ripple);
#if DESERT == 1
    // A lag of coarse, darker sand lies between dunes and where sand is thin on rock, but not on slip faces, where
    // blown sand slides down.
    float lag = hollowness > 0.0 ? hollowness * (1.0 - in_lee(place.yz)) : CRESTS_PALE * hollowness;
    lag = mix(LAG_ON_ROCK, lag, smoothstep(0.0, LAG_ENDS, level));
    float between = lag_between_dunes(altitude, place.yz, patches + 0.5 * ripple);
    loose = mix(loose, dune_sand(fine, coarse, place.yz) * (1.0 - min(LAG_DARK * lag, LAG_DARKEST)) * between_dunes(between, fine, coarse), frame.wind.z);
    float sand = covered * frame.wind.z * (1.0 - LAG_STONY * between);
#else
    float sand = covered * frame.wind.z;
#endif
#endif
#if MATERIALS == 1
    float sorted = 0.6 + SORTED * stony;
#else
    const float sorted = 0.6;
#endif
#if DETAIL_SCALES > 1
    // Its tongues differ by how long nothing has run down them: lichens darken what is old.
    float fresh = smoothstep(-0.13, 0.11, streak + 0.45 * ripple + 0.3 * tone + 0.15 * frays);
    loose *= mix(vec3(1.0 + sorted * streak), mix(OLD_STONES, FRESH_STONES, fresh), debris);
#else
    loose *= 1.0 + sorted * streak;
#endif
#if DESERT == 1 && DETAIL_SCALES > 2
    loose *= mix(vec3(1.0), sorted_sand(cells, place.yz, sand, detail), sand);
#endif
    albedo = mix(albedo, loose, covered);
#if MATERIALS == 1 && DETAIL_SCALES > 2
    // Lines along which water has run hold pale sand and silt; between them a lag of stones has got dark.
    float gentle = (1.0 - smoothstep(0.12, 0.32, steepness)) * (1.0 - covered * max(sandy, stony));
    float washed = smoothstep(-WASHES_THIN_OUT, WASHES_THIN_OUT, 0.9 * streak + 0.6 * ragged - 0.09), varnished = smoothstep(0.06, -0.06, streak + 0.25 * ripple - 0.25 * tone);
    albedo *= mix(vec3(1.0), VARNISH, gentle * varnished);
    albedo = mix(albedo, WASH * albedo.g + 0.4 * albedo, WASHES_SHOW * gentle * washed);
#endif
#if MATERIALS == 1 && LIVING == 0 && DESERT == 0 && GREEN_BY_CLIMATE == 1
    // Dry scrub stands in patches on what is level, most of it where water gathers; between them the ground is paler.
    float damp_ground = 0.3 * patches + 0.9 * tone + 1.2 * hollowness + 2.6 * streak;
    float level_ground = 1.0 - smoothstep(0.15, 0.45, steepness), grows = smoothstep(0.0, 0.4, frame.ground_look.y) * (1.0 - BETWEEN_STONES * stony * covered);
#if DETAIL_SCALES > 2
    float scrub = grown(smoothstep(-SCRUB_THINS_OUT, SCRUB_THINS_OUT, damp_ground + 0.5 * ragged + 0.6 * frays - 0.02), SCRUB_IN_CLUMPS * ragged + 0.3 * frays, 0.0);
    scrub = smoothstep(0.15, 0.85, scrub);
    float scrubby = smoothstep(0.0, 0.25, frame.ground_look.y) * level_ground * mix(0.30, 1.0, scrub) * (1.0 - BETWEEN_STONES * stony * covered);
    albedo = mix(albedo, mix(1.10 * albedo, SCRUB_GROUND * (1.0 + 0.8 * ripple), 0.75 * scrub), grows * level_ground);
#else
    float scrub = smoothstep(-0.14, 0.20, 1.3 * ripple + 0.55 * (smoothstep(-0.18, 0.26, damp_ground + 0.5 * tone) - 0.5));
    albedo = mix(albedo, mix(1.12 * albedo, SCRUB * (1.0 + 0.8 * ripple), SCRUB_COVERS * scrub), grows * level_ground);
#if DETAIL_SCALES > 1
    // Bushes stand out of it one by one.
    float bushes = smoothstep(SPECKS.x, SPECKS.y, fine.w + BUSHES_GATHER * (scrub - 0.5) - BUSHES_SPARSE);
    albedo = mix(albedo, BUSH, SPECKS_HIDE * grows * level_ground * bushes);
#endif
#endif
#endif
#if MARKS == 1
    float stones = smoothstep(-0.25, 0.25, mark.z - 0.62 + 0.9 * BARS_UNEVEN * ripple + 0.8 * tone);
    albedo = mix(albedo, mix(BAR_SAND, BAR_STONES * (1.0 + 0.5 * BARS_UNEVEN * ripple), stones) * (BAR_MEAN + patches), bars);
#endif

#if DETAIL_SCALES > 1
    float open_plain = plain * (1.0 - sand);
#if DESERT == 1 && MATERIALS == 0
    open_plain *= 1.0 - covered * frame.wind.z;  // the lag between dunes is no soil
#endif
#if MATERIALS == 1
    open_plain *= 1.0 - max(BETWEEN_STONES * stony, sandy) * covered;
#endif
    float needs = watered + 0.3 * ragged + 0.2 * (fine.w - 0.5) + frays;
    albedo *= mix(RED_SOIL, GREY_SOIL, clamp(0.5 + open_plain * (2.4 * (coarse.x - 0.5) - 1.6 * tone), 0.0, 1.0));
#if LIVING == 1
    float dry_between = open_plain * (1.0 - 0.7 * growing);
#else
    float dry_between = open_plain;
#endif
    albedo *= mix(vec3(1.0), DRY_SOIL, dry_between * smoothstep(0.0, -0.10, needs));
    albedo *= 1.0 + TUSSOCKY * open_plain * (fine.w - 0.5);
    albedo *= mix(vec3(1.0), DAMP_SOIL, open_plain * smoothstep(0.06, 0.16, needs));
#endif
#if DETAIL_SCALES > 2
    float thickets = 0.0;
#if GREEN_BY_CLIMATE == 1
    // From afar they stand where the ground is hollow, in clumps as fine as a pixel: strokes as long as cells would be camouflage.
    float afar = smoothstep(THICKETS_AFAR.x, THICKETS_AFAR.y, length(fwidth(cells)));
    float clumps = mix(1.5 * ragged + 0.5 * (fine.w - 0.5), CLUMPS_AFAR * turf.x + 3.0 * hollowness - 1.1 * streak, afar);
    thickets = frame.ground_look.y * open_plain * (1.0 - FEWER_AFAR * afar) * patch_of(watered - THICKETS_FROM + clumps);
#if MARKS == 1
    thickets *= held;
#endif
#endif
#endif

#if LIVING == 1
    // Water between grains traps light, so loose material darkens far more than rock.
    float soaked = smoothstep(0.08, 0.85, wet + 0.12 * tone);
    albedo *= mix(vec3(1.0), mix(vec3(0.76, 0.74, 0.72), vec3(0.54, 0.49, 0.44), covered), soaked);
#if DETAIL_SCALES > 2
    // Flats of mud end at an edge, against bars of sand that stand a little higher.
    float muddy = patch_of(wet - MUDDY_FROM + 0.5 * tone + 0.6 * streak + 0.2 * ripple) * (1.0 - smoothstep(0.06, 0.16, steepness));
    // They dry in patches, to a pale crust.
    float crust = patch_of(CRUST_FROM - wet + 1.1 * patches + 0.7 * tone + 0.5 * streak + 0.3 * ripple);
    albedo = mix(albedo, mix(MUD_FLAT, MUD_CRUST, crust) * (1.0 + 0.5 * ripple), 0.65 * muddy);
#endif
    float grassy = grown(growing, ripple + 0.4 * frays, patches);
    albedo = mix(albedo, grass, grassy);
    // Marsh: level and saturated, reeds with pools. Only broad wet ground: around a lake it would be a dark line.
    float marsh = covers.w * smoothstep(0.78, 0.96, wet + 0.1 * patches) * (1.0 - smoothstep(0.05, 0.16, steepness + 0.1 * ripple));
    float pools = marsh * smoothstep(0.02, 0.09, tone + 0.9 * (fine.w - 0.5));
    albedo = mix(albedo, REEDS * (1.0 + 1.2 * ripple), 0.85 * marsh);
    albedo = mix(albedo, BOG_WATER, pools);
    float sheen = max(pools, 0.22 * smoothstep(0.45, 1.0, wet) * (1.0 - 0.8 * grassy) * (1.0 - smoothstep(0.3, 0.8, steepness)));
    sand *= 1.0 - grassy;
#endif

#if ICE == 1
    vec4 glacier = textureLod(glaciers, (cells + 0.7 * (fine.yz - 0.5)) / frame.map.xy, 0.0);
    // From crests, which are gentle on the map, wind and avalanches have taken thin ice as from walls.
    float clears = length(place.yz) + CRESTS_BARE * max(-hollowness, 0.0);
    float icy = ice_cover(glacier, clears, ripple, patches);
    vec3 ice = ice_albedo(glacier, place.x / frame.map.z, length(place.yz), ripple, patches, tone);
    albedo = mix(albedo, ice, icy);
    sand *= 1.0 - icy;
    covered *= 1.0 - icy;
#endif

#if SNOWY == 1 && MARKS == 1
    // Where it ends it reaches up gullies, and ribs of rock break through along edges.
    vec2 up = place.yz / max(rise, 1e-3) * smoothstep(0.05, 0.30, rise);
#if DETAIL_SCALES > 2
    float reaches = 1.6 * SNOW_REACHES * clamp(3.0 * gully + 2.0 * streak + 1.5 * ripple, -1.5, 1.5);
#else
    float reaches = SNOW_REACHES * clamp(3.0 * gully + ripple, -1.0, 1.0);
#endif
    vec2 drifted = (cells + 1.2 * (fine.yz - 0.5) + 1.2 * (coarse.yz - 0.5) - reaches * up) / frame.map.xy;
    // It fills gullies and hollows, and wind bares what stands out.
    float uneven = 0.5 * ripple + 0.3 * patches - 1.4 * gully - 0.5 * hollowness;
    float lies = texture(marks, drifted).w;
#if DETAIL_SCALES > 2
    // What the wind has bared keeps some in its hollows and in the lee of what stands out.
    float beside = textureLod(marks, drifted - DUSTED * (4.0 * streak + 2.0 * ripple) * up / frame.map.xy, 0.0).w;
    float in_lee_of = clamp(0.5 - 1.6 * uneven - 1.2 * dot(fine.yz - 0.5, frame.wind.xy), 0.0, 1.0);
    lies = max(lies, DUSTING * beside * in_lee_of);
    // Tips of grass and stones come through along its edge.
    uneven += TIPS * turf.x;
#endif
    float snow = lying_snow(lies, steepness, clamp(uneven, -0.4, 0.4));
    float crusted = 1.0 - smoothstep(CRUSTED.x, CRUSTED.y, lies - 0.3 * tone);
#if DETAIL_SCALES > 2
    albedo = ground_by_snow(albedo, smoothstep(0.0, 0.3, max(lies, beside)), SWEPT_WET);
#endif
#else
    float above_line = altitude - frame.ground_look.x + patches * 0.10 + ripple * 0.05;
#if ICE == 1
    above_line = line_by_ice(glacier, above_line, patches * 0.10 + ripple * 0.05);
#endif
    float sheltered = faces.y - LEEWARD * dot(faces, frame.wind.xy);
    float steep_for_snow = steepness * mix(finer.ribbed, 1.0, SNOW_ON_FACES);
    vec2 for_snow = place_for_snow(above_line, steep_for_snow + ripple * 0.2, sheltered, hollowness + gully);
#if DETAIL_SCALES > 2
    vec2 mixed_snow = min(fwidth(for_snow), MOST_MIXED);  // or it would flicker from afar
    float snow = snow_cover(for_snow, mixed_snow);
    albedo = ground_by_snow(albedo, snow_cover(for_snow + vec2(MELTS_BESIDE.x, -MELTS_BESIDE.y), mixed_snow + MELTS_BESIDE), 1.0);
#else
    float snow = snow_cover(for_snow, vec2(0.0));
#endif
#endif
    vec3 white = SNOW * snow_tone(snow, tone + 0.6 * patches + 0.5 * ripple + 0.8 * streak);
#if DETAIL_SCALES > 1
    white *= mix(vec3(1.0), SNOW_IN_HOLLOWS, smoothstep(0.0, 0.25, hollowness + gully + 0.5 * tone));
#endif
#if SNOWY == 1 && MARKS == 1
    white *= mix(vec3(1.0), WIND_CRUST, crusted);
#endif
    albedo = mix(albedo, white, snow);
    sand *= 1.0 - snow;
#if MATERIALS == 1
    float smooth_cover = 0.6 * covered;  // whose stones are told below
#else
    float smooth_cover = 0.6 * covered * (1.0 - debris);
#endif
    float rockiness = mix(mix(0.45, 1.0, bare), 0.35, max(smooth_cover, snow)) * (1.0 - 0.8 * sand);
#if DETAIL_SCALES > 1
    rockiness *= 1.0 - 0.6 * snow;
#endif
#if DETAIL_SCALES > 2 || GRITTY == 1
#if GREEN_BY_CLIMATE == 1
    rockiness *= 1.0 - TURF_EVEN * green_rock * (GRITTY == 1 ? 1.0 - covered : 1.0) * (1.0 - snow);
#endif
#if LIVING == 1
    rockiness *= 1.0 - TURF_EVEN * grassy * (1.0 - snow);
#endif
#endif
#if MARKS == 1
    rockiness = mix(rockiness, BARS_UNEVEN * (0.25 + 0.5 * stones), bars * (1.0 - snow));
#endif

#if ICE == 1
    rockiness *= 1.0 - 0.85 * icy;
#endif

    Ground ground;
    ground.albedo = albedo;
    ground.sand = sand;
    ground.snow = snow;
    ground.debris = debris * covered * (1.0 - snow);
#if MARKS == 1
    ground.bars = bars * (1.0 - snow);
#endif
#if MATERIALS == 1
    float shown = covered * (1.0 - snow);
    ground.rock = (1.0 - covered) * (1.0 - snow);
#if ICE == 1
    ground.rock *= 1.0 - icy;
#endif
    ground.ledge = bed.ledge * ground.rock;
    ground.weathered = ground.rock * (1.0 - bare) * (1.0 - finer.soft);
#if DETAIL_SCALES > 2
    ground.ledge += OUTCROPS_STAND * gentle_rock * bed.hard * ground.rock;
#endif
    ground.fine = max(sandy, clayey) * shown;
    ground.sandy = sandy * shown;
    ground.lulled = max(dry_sand * (1.0 - snow) - sand, 0.0);
    ground.stony = stony * shown;
    ground.cracked = clayey * shown * (1.0 - smoothstep(0.10, 0.40, wet)) * (1.0 - smoothstep(0.15, 0.50, steepness));
    rockiness *= mix(1.0, 0.9 - 0.5 * clayey - 0.55 * sandy + 1.0 * stony, shown);
#endif
#if LIVING == 1
    ground.sheen = sheen * (1.0 - snow);
#if ICE == 1
    ground.sheen *= 1.0 - icy;
#endif
    rockiness *= 1.0 - 0.8 * pools;
#endif
    ground.rockiness = rockiness;
#if DETAIL_SCALES > 2
    ground.outcrop = bare * (1.0 - covered) * (1.0 - snow);
#if MATERIALS == 1
    ground.outcrop *= 1.0 - mix(BEDS_UNBROKEN * bed.bedded, 1.0, finer.soft);
#endif
#if ICE == 1
    ground.outcrop *= 1.0 - icy;
#endif
#if GREEN_BY_CLIMATE == 1
    ground.outcrop *= 1.0 - TURF_EVEN * green_rock;
#endif
#if LIVING == 1
    ground.outcrop *= 1.0 - TURF_EVEN * grassy;
#endif
    // Bushes stand in the hollows and along the lines where water gathers, tufts all over the grass; stones lie where
    // neither hides them, in some places more than in others.
    float open = (1.0 - snow) * (1.0 - smoothstep(STONY_STEEP.x, STONY_STEEP.y, steepness));
#if ICE == 1
    open *= 1.0 - icy;
#endif
    float grows_there = (1.0 - snow) * (1.0 - smoothstep(SHRUBS_STEEP.x, SHRUBS_STEEP.y, steepness));
    float gathers = tone + 0.4 * patches + 1.2 * hollowness + 1.2 * streak;
    float plants = 0.0, bushes = 0.0;
    vec3 bush = SCRUB, tuft = TUSSOCK;
#if GREEN_BY_CLIMATE == 1
#if MATERIALS == 0
    plants = mix(green_rock, 0.85 * frame.ground_look.y * max(settled, 0.3), covered);
    bush = BUSH;
    tuft = 0.8 * meadow;
    bushes = plants * mix(0.35, 1.0, smoothstep(-0.08, 0.12, gathers));
#elif LIVING == 0 && DESERT == 0
    plants = scrubby;
    bushes = plants * mix(0.42, 1.0, smoothstep(-0.08, 0.10, gathers));
#else
    plants = green_rock * (1.0 - covered);
    bushes = 0.4 * plants * smoothstep(-0.02, 0.12, gathers);
#endif
#endif
#if LIVING == 1
    plants = mix(plants, 1.0 - pools, max(grassy, marsh));
    bushes = max(bushes, 0.65 * grassy * mix(0.45, 1.0, smoothstep(-0.05, 0.15, gathers)));
    bush = mix(bush, mix(SCRUB, RANK_GRASS, smoothstep(0.3, 0.8, wet)), grassy);
    tuft = mix(mix(tuft, 0.8 * grass, grassy), 1.3 * REEDS, marsh);
#endif
#if MATERIALS == 1
    sand += ground.lulled;
    float stony_ground = max(stony * shown, 0.75 * (1.0 - ground.fine));
#else
    const float stony_ground = 0.4;
#endif
    float none = sand;
#if MARKS == 1
    none = max(none, bars);
#endif
    plants *= 1.0 - none;
    bushes = max(bushes, thickets * plants) * (1.0 - none);
    float pebbles = stony_ground * (1.0 - 0.7 * plants) * (1.0 - sand) * smoothstep(-0.30, 0.10, 0.8 * streak - tone + ripple);
    bushes *= mix(0.5, 1.0, smoothstep(-0.06, 0.08, ripple + 0.5 * patches + 0.2 * thickets));  // in clumps
    bushes *= mix(0.30, 1.2, smoothstep(GROVES_THIN_OUT.x, GROVES_THIN_OUT.y, groves.x + 0.5 * thickets));
#if MATERIALS == 1
    float even = max(sand, EVEN_MUD * clayey * shown * (1.0 - plants));
#else
    float even = sand;
#endif
#if DESERT == 1
    even = max(even, BLOWN_OFF * frame.wind.z * (1.0 - plants));
#endif
    // Rain washes crumbs off slopes of bare soil, and leaves rills.
    float washed_off = WASHED_OFF * smoothstep(0.20, 0.38, mean_steepness) * (1.0 - plants);
#if MARKS == 1
    even = max(even, GRAVEL_EVEN * bars);
#endif
    float blocks = FEW_BLOCKS_LIE * pebbles;
#if DESERT == 1
    blocks *= 1.0 - frame.wind.z * covered;
#endif
#if MATERIALS == 1
    // The largest stones of scree roll down to its foot, between chutes of finer ones.
    blocks = max(blocks, stony * shown * mix(MOST_BLOCKS, SCREE_BLOCKS, smoothstep(0.40, 0.66, steepness)) * smoothstep(-0.15, 0.20, streak + 0.5 * groves.x));
#endif
    float grained = open * (1.0 - washed_off) * (1.0 - even) * (1.0 - bare * (1.0 - max(covered, plants)));
    ground.stands = GroundCover(max(open, grows_there) * bushes, 0.8 * open * plants, open * pebbles, bush, tuft, grained * turf, open * plants, 0.0, grows_there * blocks);
#endif
    return ground;
}
