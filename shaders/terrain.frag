// Ground, lit by sun and sky.
#ifndef STORM
#define STORM 0
#endif

#if DETAIL_SCALES < 3
#undef GRITTY
#define GRITTY 1
#endif

#include "place.glsl"
#include "outline.glsl"
#include "ground.glsl"
#include "overlay.glsl"
#include "running_water.glsl"
#include "gravel.glsl"
#include "beach.glsl"

#ifndef WATER
#define WATER 1
#endif

#ifndef PLUME
#define PLUME 0  // 1: sand in the air is visible
#endif
#if PLUME == 1
#include "dust_plume.glsl"
#endif

#ifndef DRIFTING
#define DRIFTING 1
#endif

#ifndef CANOPY
#define CANOPY 2  // 1: trees merged as from afar, 2: with their shadows nearby
#endif

#ifndef STREAMS
#define STREAMS 0  // 1: streams as a fraction of pixels, 2: with ripples near the camera
#endif

#ifndef RELIEF
#define RELIEF 0  // relief finer than the map; 1: in 8 bits, 2: exact
#endif

#ifndef BEACH
#define BEACH 0  // only for ground without overlays; otherwise a later pass draws beaches
#endif

#if WATER == 0
#undef STREAMS
#define STREAMS 0
#endif

// Overlays hide trees, and a shader can be sure of only 16 textures.
#if OVERLAY == 1 && (DEFERRED == 1 || ICE == 1)
#undef CANOPY
#define CANOPY 0
#endif

// Likewise on beaches: streams are a fraction of pixels, and trees shade as from afar, in worlds with all these.
#if DEFERRED == 1 && BEACH == 1 && CANOPY > 1
#if STREAMS > 1
#undef STREAMS
#define STREAMS 1
#endif
#if MARKS == 1 && MATERIALS == 1
#undef CANOPY
#define CANOPY 1
#endif
#endif

// Likewise under ice where the ground has several kinds: wind is not seen to carry sand, trees shade as from afar over
// gravel and by beaches, and ground of all these has no relief finer than the map.
#if ICE == 1 && DEFERRED == 1 && MATERIALS == 1 && DETAIL_SCALES > 1
#undef STORM
#define STORM 0
#undef PLUME
#define PLUME 0
#undef DRIFTING
#define DRIFTING 0
#if CANOPY > 1 && (BEACH == 1 || MARKS == 1)
#undef CANOPY
#define CANOPY 1
#endif
#if STREAMS > 1 && BEACH == 1
#undef STREAMS
#define STREAMS 1
#endif
#if CANOPY == 1 && BEACH == 1 && MARKS == 1
#undef RELIEF
#define RELIEF 0
#endif
#endif

#ifndef UNDER_WOODS
#define UNDER_WOODS 0
#endif
#if UNDER_WOODS == 1
#include "woods_in_light.glsl"
const float WOODED_SHADE = 0.22, WOODED_UNEVEN = 1.5;
#endif

#ifndef CLOUDS
#define CLOUDS 0  // 1: in the sky, 2: with their shadows
#endif
#if CLOUDS > 1
#include "clouds.glsl"
#if DEFERRED == 0
in float clouds;  // in front of the sun
#endif
#endif

#if CANOPY > 0
#include "canopy.glsl"
#endif
#if CANOPY > 1
#include "tree_shadow.glsl"
#endif

#if RELIEF > 0
#include "relief.glsl"
#if DETAIL_SCALES > 2
#include "rills.glsl"
#endif
uniform sampler2D relief;  // height in cells, its slopes to the east and south
#endif
#if DETAIL_SCALES > 2
#include "clefts.glsl"
#endif
#if RELIEF > 0 && DETAIL_SCALES > 2
const float FACES_WIDE = 2.0;   // cells
const float HARDLY_TILTED = 0.2;  // slope of ground and relief, up to which what lies around makes no face of it
const float AROUND = 1.5;       // cells
const float AROUND_LOD = 3.0;   // mipmap of the relief that is the mean over some cells
const float SHADOW_REACH = 1.1, SHADOW_SOFT = 0.55;  // cells
const vec2 STANDS_OUT = vec2(0.12, 0.35);  // height in cells and slope of relief that shades what is beside it
const vec2 SHADES_FADE = vec2(0.7, 1.4);   // cells in a pixel

float relief_near(vec2 uv, float lod) {
    float height = textureLod(relief, uv, lod).x;
#if RELIEF == 1
    height = unpacked_relief(vec3(height)).x;
#endif
    return height;
}

// What is the mean over as much as a face of rock is wide: its parts each seen from another side would be hatched.
vec3 relief_around(vec2 uv) {
    float texels_per_cell = float(textureSize(relief, 0).x) / frame.map.x;
    vec3 around = textureLod(relief, uv, log2(FACES_WIDE * texels_per_cell)).xyz;
#if RELIEF == 1
    around = unpacked_relief(around);
#endif
    return around;
}

// How many cells the map lies over what is around it.
float over_map(vec2 uv, float height) {
    vec2 aside = AROUND / frame.map.xy;
    vec4 around = vec4(textureLod(surface, uv + vec2(aside.x, 0.0), 0.0).x, textureLod(surface, uv - vec2(aside.x, 0.0), 0.0).x,
                       textureLod(surface, uv + vec2(0.0, aside.y), 0.0).x, textureLod(surface, uv - vec2(0.0, aside.y), 0.0).x);
    return (height - dot(around, vec4(0.25))) * frame.map.w / frame.map.z;
}

// The sunlight that comes past ribs and cliffs, at a height on them in cells. The ground under them is a plane so near by.
// `pixel` is the width of a pixel in cells.
float past_relief(vec2 uv, float height, vec4 place, float soft, float pixel) {
    float texels_per_cell = float(textureSize(relief, 0).x) / frame.map.x;
    vec2 toward = normalize(frame.sun.xz + vec2(1e-5, 0.0)), slope = place.yz * frame.map.w;
    vec2 ahead = uv + SHADOW_REACH * toward / frame.map.xy;
    float gains = (dot(slope, toward) - frame.sun.w) * SHADOW_REACH;
    // Relief that rounds bumps of the map is of their form.
    for (int k = 0; k < (soft > 0.0 ? 1 : 0); ++k) {
        float rises = (textureLod(surface, ahead, 0.0).x - place.x) * frame.map.w / frame.map.z;
        gains = mix(gains, rises - frame.sun.w * SHADOW_REACH, soft);
    }
    float hidden = relief_near(ahead, max(log2(pixel * texels_per_cell), 1.0)) - height + gains;
    return 1.0 - smoothstep(-0.3 * SHADOW_SOFT, 0.7 * SHADOW_SOFT, hidden);
}
#endif
#if DETAIL_SCALES < 3
#if DETAIL_SCALES < 2
uniform sampler2D fractures;
#endif

#ifndef GRAIN
#define GRAIN 0  // 1: noise as fine as a pixel is wide
#endif

const float BROKEN_TILE = 14.6;  // cells
const float SHARPER = GRAIN == 1 || DETAIL_SCALES > 1 ? -1.0 : -0.7;  // by mipmaps, which blur it as far as a pixel is long aslant
const float WALL_FROM = 1.1, WALL_UNEVEN = 1.2;  // slope
const float MASSIVE = -0.10, USUAL = 0.17, SHATTERED = 0.5, PATCHES_DIFFER = 1.67;  // how much more broken some ground is than other, or all would be one carpet
const float BLOCKS_TILT = 2.25;   // on steep rock, beside the slopes that the texture has
const float GRIT_WIDE = 0.85, GRIT_STEEP = 0.6;  // pixels in a grain, at least; on walls, of which a pixel shows more
// How far blocks stand out on plains; for a slope of 1. Near by those of gentle slopes would look like torn slabs.
#if DETAIL_SCALES > 1
const float STAND_ON_PLAINS = 0.25, STAND_STEEP = 0.8;
#else
const float STAND_ON_PLAINS = 0.3, STAND_STEEP = 1.8;
#endif
const float WALL_GRIT = 0.35;  // beside other grit: single grains of a bed's colour would lie strewn over the next one
const vec4 GRIT = vec4(0.36, 0.24, 0.24, 0.30);  // how far it stands out of blocks: in height, slopes and height beside others

// One read for what is smaller than a cell: blocks of rock, which on soil are tufts and stones. Walls are read from their
// sides, with slopes across and down them; `at` is a place and its height in cells, and `here` gets its place seen so.
// Ribs of a wall that is one on the map are all seen from one side, or they would be hatched; risers of the relief on
// gentler ground, whose slope with it is `finer`, are seen from theirs. `uneven` is a noise around 0, or the border of
// walls would have steps of cells.
vec4 broken_detail(vec3 at, vec2 slope, vec2 finer, float uneven, float pixel, out vec2 here) {
    float from_slope = WALL_FROM + WALL_UNEVEN * uneven;
    if (length(slope) < from_slope) slope = finer;
    float steepness = length(slope);
    bool on_wall = steepness > from_slope, from_south = slope.x * slope.x < slope.y * slope.y;
    here = on_wall ? from_south ? at.xz : at.yz : turned(at.xy);
    vec4 noise = texture(fractures, here / BROKEN_TILE, SHARPER);
    // Grit is as fine as a pixel at any distance: it is as wide as the next power of two, where noise frays the steps
    // between these. A number for each grain costs less than a read.
    float wide = uintBitsToFloat(floatBitsToUint(2.0 * GRIT_WIDE * max(GRIT_STEEP * steepness, 1.0) * (1.0 + uneven) * pixel) & 0x7f800000u);
    uvec2 grain = uvec2(ivec2(here / wide)) * uvec2(0x9e3779b1u, 0x85ebca77u);
    uint own = (grain.x ^ grain.y) * 0x2c1b3c6du;
    own = (own ^ own >> 15) * 0x297a2d39u;
    vec2 grit = vec2(int(own), int(own << 16)) / 4294967296.0;  // around 0
    vec2 across = from_south || !on_wall ? vec2(1.0, 0.0) : vec2(0.0, 1.0), down = on_wall ? slope / steepness : vec2(0.0, 1.0);
    // On plains blocks lie under what fills the gaps between them.
    float stand = min(STAND_ON_PLAINS + STAND_STEEP * steepness, 1.0);
#if DETAIL_SCALES > 1
    if (on_wall) grit.x *= WALL_GRIT;
#endif
    return vec4(noise.x, 0.5 + stand * ((noise.y - 0.5) * across + (noise.z - 0.5) * down), noise.w) + GRIT * grit.xxyy;
}
#endif

#ifndef SHADE
#define SHADE 0  // 1: shadows are read at their height
#endif
#if SHADE == 1 && DEFERRED == 0
in vec2 clear;  // height above the shadow; width of its soft edge
#endif
uniform sampler2D airborne;
#if DEFERRED == 0
in float in_air;  // sand, metres over a cell
in float strata_top;
#if INTRUSIONS == 1
in float intruded;
#endif

float sand_over(vec2 uv) {
    return in_air;
}
#else
float sand_over(vec2 uv) {
    return textureLod(airborne, uv, 0.0).x;
}
#endif

out vec4 colour;

#if DESERT == 1
// Light that goes from sand to sand more than once takes its colour; shade below most of the sky keeps that of the sky.
const vec3 BETWEEN_DUNES = vec3(1.22, 1.06, 0.84), BELOW_SKY = vec3(1.07, 1.10, 1.20);
const vec2 SKY_SEEN = vec2(0.60, 0.95);
#endif
const float WILLOWS = 0.7;
const vec2 WILLOWS_BY = vec2(0.0, 0.30), WILLOWS_LEVEL = vec2(0.10, 0.40);  // parts of the ground that a stream has; slopes
const vec3 WILLOW = vec3(0.100, 0.068, 0.046);  // twigs
#if CANOPY > 0
const vec3 BELOW_LEAVES = vec3(1.20, 1.26, 0.92);  // the light of the sky that comes through leaves and from leaf to leaf
const vec2 NO_CROWNS = vec2(1.2, 2.2);  // slopes of walls, on which the crowns of a cell would be drawn out
const float BURIED = 0.20, YOUNG_BURIED = 0.25, BOUGHS_WHITE = 0.05, LITTER_WHITE = 0.55;  // by snow: of the understory, of crowns, of litter
const float UNDERGROWTH = 0.35;  // of what lies and grows under trees is as green as they are
const float ROCK_HIDDEN = 0.8, OF_PLANTS = 0.7;
const float LITTER_GRAIN = 1.8;
const vec2 YOUNG_DRAWN = vec2(0.17, 0.34);  // metres in a pixel
const vec2 THICKET = vec2(0.12, 0.50);  // litter of single trees and of stands, in which young ones stand out of snow
const float UNDERGROWN = 0.85;  // of what is under trees
const float LITTER_EVEN = 0.75;  // how far it hides what the ground has of bumps
const float CANOPY_BUMPS = 2.4;  // how far crowns that are not seen one by one are a surface of bumps
const float FEET_SHADED = 0.7;        // of that, which trees hide that hide a sun in the zenith
const float TOPS_IN_SUN = 0.90;       // of crowns, however dense the wood is
const float LOW_CROWNS_IN_SUN = 0.35; // of the crowns of the understory
#endif
const float WASHES = 0.10;  // how much lines along which water runs off show on gentle ground
const vec4 WASHED = vec4(0.004, 0.02, 0.06, 0.2);  // steepness of ground that is
const float RILLED = 0.33, RILLS_SHOW = 0.35;  // how deep rills are beside their width, and how much of their colour is their own
const float SOFT_RILLED = 1.0, CRUMBS = 0.45;  // of soft rock: how deep rills are, how far crumbs stand out
const float NO_RILLS = 0.85;  // of those, less on thick debris
const vec2 BLOCKS_LOOK_OUT = vec2(0.25, 0.60), BLOCKS_THROUGH_SOIL = vec2(0.12, 0.42);  // slopes
const vec2 THIN_SOIL = vec2(3.5, 7.0);  // thickness, beside what hides the ground
const vec2 STREAKS_END = vec2(1.3, 2.6);  // slopes on which streaks, which are seen from above, would be drawn out;
const float STREAKS_STRETCHED = 0.85;     // how much less of them there is
const float GRAIN_FADES = 0.35;  // cells in a pixel
#if DETAIL_SCALES > 2
const float GRAIN_SHADES = 0.65, FINE_IS_EVEN = 0.82;  // what lies between grains, and tufts, is darker: not so in sand
#else
const float GRAIN_SHADES = 0.40, FINE_IS_EVEN = 0.7;
const float SHRUBS_SINGLE = 1.5;  // how far plants stand by the texture's grain, and not by its blocks alone
#endif
const float EDGES_RAGGED = 0.40, SAND_RAGGED = 0.15;  // how far single tufts and stones cross the edges of kinds of ground
const float WALL_FACES_EVEN = 3.0;
const float JOINTS_DARK = 1.3, FACES_LEAN = 0.4;  // of bare rock, beside what its noise says
const vec2 FACES_MERGE = vec2(0.06, 0.22);  // cells in a pixel, from which on faces of rock merge into what they are parts of
const float FROM_AFAR = 0.6;      // how far they stand out then
const vec3 PALE_IS_WARM = vec3(1.25, 1.0, 0.70);
const float RAGGED_JOINTS = 0.09, CLEFTS_DARK = 0.35, CLEFTS_SHADED = 0.4;
const float DEBRIS_EVEN = 0.65;  // how far debris hides the blocks of the rock below
const float ROUGH_FACES = 0.20;  // cosine over which rock that turns from the sun gets dark, as single faces of it still see the sun
const float LEAST_BLURRED = 0.6;  // of a pixel's length, to which detail is blurred on ground seen aslant
const float STEEPEST_DRAWN = 20.0;  // slope
const vec2 LEDGE_OF = vec2(0.5, 1.0), LEDGE_LEVEL = vec2(0.5, 0.9), LEDGE_ASLANT = vec2(0.12, 0.45);  // slopes; how short a pixel is
const float LEDGES_EVEN = 0.8;
const float FINEST_ON_WALLS = 1.5;  // cells
const float STONES_FADE = 0.04;  // cells in a pixel
const float SILTED = 0.5, SANDED = 0.1;  // metres of depth at which silt, or sand of the sea, covers the ground
const float SURF_WASHES = 0.8;  // metres of depth down to which surf washes silt away
const vec2 SAND_DRY = vec2(0.2, 1.1);  // metres over water from which on wind moves sand, and moves it as it does anywhere
// Level of the smaller images of the map of flow which tells of water around, and what it says where there is little and much:
// see NOWHERE_NEAR in app/picture/passes/flow_map.py.
const float BY_WATER_LOD = 3.0, NOTHING_STANDS = 1.2;
const vec2 BY_WATER = vec2(-1.1, -0.3);
const vec3 STAINED = vec3(0.74, 0.72, 0.68), LEVEE_GRASS = vec3(0.175, 0.165, 0.078);
const float DIM_BED = 1.0;      // metres of clear water through which ripples leave only the bed's large forms
const vec2 LEVEL_PLAIN = vec2(0.03, 0.15);  // slopes
const vec2 PLAIN_FAR = vec2(0.2, 1.0);  // cells in a pixel
const float FAR_PLAIN_EVEN = 0.85, DRIFTED_FAR = 0.8;
const float BED_EVEN = 0.4;     // part of its slope by which light tells them: under water it is diffuse
const float WET_SHORE = 0.5;  // metres above the water up to which waves and capillarity wet the ground
const float BAND_FADES = 0.3;  // the ground dark with it, where that is only a part of a pixel
#if DETAIL_SCALES > 2
// Metres above the water up to which the ground is dark with it, the same of cells so wide that no picture shows less, in parts
// of one and at most, and its width in cells at most; how dark it is, and how even waves have made it by the shore.
const float WET_BAND = 0.12, BAND_OF_CELL = 0.03, HIGHEST_BAND = 0.6, BAND_WIDE = 0.3, SHORE_EVEN = 0.4;
const vec2 BAND_DARK = vec2(0.38, 0.5);  // of a low band, and a high one
const float STRIP_OF_CELL = 0.07;  // as WET_SHORE, of cells that are so wide that no picture shows less
const vec2 STRIP = vec2(0.25, 2.0), STRIP_STEEP = vec2(0.7, 1.2);  // how high it is beside that, least and most; slopes without
const float MUD_STRIP = 1.25, STRIP_WIDE = 1.2, HIGHEST_STRIP = 0.7;  // beside the bed; cells, and metres, which the map of flow tells of, at most
const vec3 SHINGLE = vec3(0.215, 0.202, 0.180);
const vec2 SPLASHES_SHOW = vec2(0.10, 0.42);  // how far ground is splashed whose mud shows here and there, and everywhere
const vec3 SPLASHED_MUD = vec3(0.135, 0.104, 0.066);
#endif
#if GREEN_BY_CLIMATE == 0
const float WASHED_DARK = 0.2;  // less, because simulated wetness darkens the ground as well
#else
const float WASHED_DARK = 0.45;
#endif

#if MATERIALS == 1
const float BOULDERS_TILE = 20.4;  // metres, and so boulders of 2 m
const float BLOCKS_OF_SCREE = 3.3;    // beside that
const float GRAIN_OF_SCREE = 0.35;  // its tile would be seen as rows of dots
const float STONES_DIFFER = DETAIL_SCALES > 2 ? 0.55 : 1.0;
const float EVEN_SCREE = 0.6;
const float FINE_STONES = 0.3, COARSE_STONES = 1.5;  // how far they stand out
const vec2 FEW_BLOCKS = vec2(0.84, 0.60);  // height in their tile, from which on they lie there
const float POLYGONS = 0.9, GIANT_POLYGONS = 9.0;  // metres, of dry mud
const float RUBBLE = 1.3;  // how far it stands out
const float STREWN = 0.30;  // how much paler or darker than the ground between them
const vec2 HOLDS_STONES = vec2(0.65, 1.15);  // slopes on which rock does not
const vec2 LEVEL_SCREE = vec2(0.08, 0.25), GENTLE_SCREE = vec2(0.40, 0.66);  // slopes
// Details smaller than a cell on each kind of ground: stones, and cracks in dry clay. `step_of` are the derivatives of the
// place by which stones blur.
vec3 with_texture(vec3 albedo, Ground ground, vec2 cells, float rise, float pixel, vec4 grain, float streak, mat2 step_of, inout vec2 bumps) {
    albedo *= mix(1.0 + GRAIN_SHADES * (grain.w - 0.5), 1.0, FINE_IS_EVEN * ground.fine);
    // Stones lie strewn over slopes.
    float strewn = STREWN * smoothstep(0.06, 0.20, rise) * (1.0 - 0.6 * ground.fine) * (1.0 - ground.rock * smoothstep(HOLDS_STONES.x, HOLDS_STONES.y, rise));
    albedo *= 1.0 + strewn * (smoothstep(0.54, 0.66, grain.w) - smoothstep(0.54, 0.66, 1.0 - grain.y));
#if DETAIL_SCALES > 2
    // Chutes are of finer stones than what lies between them.
    float coarse_stones = ground.stony * mix(FINE_STONES, COARSE_STONES, smoothstep(-0.16, 0.16, streak));
#else
    float coarse_stones = ground.stony;
#endif
    albedo *= 1.0 + STONES_DIFFER * coarse_stones * (1.3 * (grain.y - 0.5) + 1.0 * (grain.z - 0.5));
#if DETAIL_SCALES > 2
    bumps += (grain.yz - 0.5) * GRAIN_OF_SCREE * coarse_stones;
#else
    bumps += (grain.yz - 0.5) * 1.2 * coarse_stones;
#endif
#if DETAIL_SCALES > 2
    // Soil on rock is full of rubble, of which some pieces are pale and some are overgrown.
    float rubble = RUBBLE * ground.weathered * smoothstep(0.05, 0.18, rise);
    albedo *= 1.0 + rubble * (1.1 * (grain.y - 0.5) + 0.9 * (grain.z - 0.5) + 0.5 * (grain.w - 0.5));
    bumps += (grain.yz - 0.5) * 1.6 * rubble;
    // Lobes of boulders, between chutes of finer stones. The largest roll down to where scree gets gentle.
    if (ground.stony > 0.0) {
        float boulders_tile = clamp(BOULDERS_TILE / frame.map.z, 0.7, 5.1);
        mat2 step_of_one = step_of / boulders_tile, step_of_block = step_of_one / BLOCKS_OF_SCREE;
        vec4 boulders = textureGrad(fractures, turned(cells) / boulders_tile + 0.23, turned(step_of_one[0]), turned(step_of_one[1]));
        vec4 blocks = textureGrad(fractures, cells.yx / (BLOCKS_OF_SCREE * boulders_tile) + 0.61, step_of_block[0].yx, step_of_block[1].yx);
        float steep = smoothstep(GENTLE_SCREE.x, GENTLE_SCREE.y, rise);
        float foot = smoothstep(LEVEL_SCREE.x, LEVEL_SCREE.y, rise) * (1.0 - steep);
        float lobe = ground.stony * smoothstep(-0.15, 0.25, streak + 0.2 * foot) * (1.0 + 1.2 * foot - 0.5 * steep);
        albedo *= 1.0 - 0.22 * ground.stony * foot;  // and are old and dark
        // Some blocks are far larger than what they lie in. What lies between has come to rest against them.
        float from = mix(FEW_BLOCKS.x, FEW_BLOCKS.y, clamp(0.6 * lobe + 0.25 * foot, 0.0, 1.0));
        float block = ground.stony * smoothstep(from, from + 0.05, blocks.x), beside = ground.stony * smoothstep(from - 0.16, from, blocks.x) - block;
        albedo *= 1.0 + lobe * (1.0 - block) * (0.6 * (boulders.w - 0.5) + 0.4 * (boulders.z - 0.5));
        bumps = mix(bumps, vec2(0.0), 0.7 * block) + (boulders.yz - 0.5) * 1.3 * lobe * (1.0 - block) + (blocks.yz - 0.5) * 2.6 * block;
        albedo *= (1.0 + block * (0.10 + 0.5 * (boulders.x - 0.5))) * (1.0 - 0.38 * max(beside, 0.0));
    }
#endif
#if DETAIL_SCALES > 2
    float crack = 0.0;
    if (ground.cracked > 0.0) {
        vec2 at = cells * frame.map.z + 0.25 * (grain.yz - 0.5);
        float wide = GIANT_POLYGONS, dark = 0.7;
        do {  // as a loop, which in software ends where cracks are too fine to be seen
            crack = max(crack, dark * cracks_at(at / wide, pixel * frame.map.z / wide));
            wide *= POLYGONS / GIANT_POLYGONS;
            dark = 1.0;
        } while (wide > 0.5 * POLYGONS && pixel * frame.map.z < CRACKS_FADE.y * wide);
    }
#else
    float crack = (1.0 - smoothstep(0.0, 0.035, abs(grain.x - 0.5))) * (1.0 - smoothstep(0.02, 0.10, pixel));
#endif
    return albedo * (1.0 - 0.5 * crack * ground.cracked);
}
#endif

#if STORM == 1
const float DUST_SHADE = 0.7;  // fraction of sunlight that the densest veils block

// Opacity of veils of blown dust in a direction. They float at some height above the ground, fixed as the camera moves.
float veils(vec2 uv, vec3 direction) {
    float height = 0.35 * frame.dust.y;
    vec2 lifted = position.xz + direction.xz * min(height / max(direction.y, 0.02), 0.2 * frame.heights.w);
    float behind_front = frame.air.w - dot(lifted - 0.5 * map_extent(), frame.wind.xy) / frame.heights.w;  // in sides
    vec2 across = vec2(-frame.wind.y, frame.wind.x);
    // They form layers in front of cliffs.
    vec2 at = vec2(dot(lifted, frame.wind.xy) - frame.dust.w, dot(lifted, across) + 1.5 * position.y) / frame.heights.w;
    float billows = textureLod(detail, at * vec2(0.8, 1.6), 2.0).w;
    // Streamers move a little faster, and bend with the billows.
    float streamers = texture(detail, at * vec2(1.1, 5.0) + vec2(-0.3 * frame.dust.w / frame.heights.w, 0.35 * billows)).x;
    float sand = 1.0 - exp(-150.0 * textureLod(airborne, uv, 0.0).x);
    float dense = smoothstep(0.40, 0.72, 0.72 * billows + 0.28 * streamers);
    dense = max(dense, 0.8 * exp(-5.0 * max(behind_front, 0.0))) * smoothstep(-0.02, 0.08, behind_front);
    return clamp(frame.dust.z * dense * mix(0.40, 0.85, sand), 0.0, 0.9);
}
#endif

#if DETAIL_SCALES > 2
// How short a pixel is on the ground across the way in which it is longest, beside that; `step_of` are the derivatives of a place.
float aslant(mat2x3 step_of) {
    float east = dot(step_of[0], step_of[0]), south = dot(step_of[1], step_of[1]), both = dot(step_of[0], step_of[1]);
    float mean = 0.5 * (east + south), apart = sqrt(max(mean * mean - (east * south - both * both), 0.0));
    return sqrt(max(mean - apart, 0.0) / max(mean + apart, 1e-12));
}
#endif

#if WATER == 1 && DESERT == 1 && DETAIL_SCALES > 2
// Sand that lies low between arms of a river or beside a lake is damp, and wind does not ripple it: it is stained by floods, and
// tufts hold it in patches. `water_around` is what the map of flow says of water, as a mean over some cells.
void settle_by_water(inout Ground ground, float water_around, vec4 fine, vec4 coarse) {
    float settled = ground.sand * smoothstep(BY_WATER.x, BY_WATER.y, water_around);
    if (settled <= 0.0) return;
    float stained = smoothstep(-0.16, 0.22, 1.5 * (coarse.x - 0.5) + 0.9 * (coarse.w - 0.5) + 0.6 * (fine.x - 0.5));
    float tufted = smoothstep(0.02, 0.20, 1.3 * (coarse.w - 0.5) - 0.8 * (coarse.x - 0.5) + 0.9 * (fine.x - 0.5));
    ground.albedo *= mix(vec3(1.0), STAINED, settled * stained);
    ground.albedo = mix(ground.albedo, LEVEE_GRASS * (0.6 + 0.8 * fine.w), 0.65 * settled * tufted);
    ground.stands.tufts = max(ground.stands.tufts, settled * tufted);
    ground.rockiness += 0.3 * settled;
    ground.sand *= 1.0 - settled;
}
#endif

// Plains of braided rivers have their own banks.
#if WATER == 1 && MATERIALS == 1 && LIVING == 0 && DESERT == 0 && MARKS == 0 && DETAIL_SCALES > 1
// Level of the smaller images of the map of flow that tells of water around a place; how far from it that is read on four
// sides, or its texels would be seen, and how far noise shifts it, in cells; slopes of the floors of valleys.
const float BANKS_LOD = 2.0, BANKS_WIND = 6.0;
const vec2 BANKS_BESIDE = vec2(2.4, 1.1), FLOOR_LEVEL = vec2(0.07, 0.16);
// How far a stream that has a whole cell, and a metre of a lake, tell of water, and the most; that from which on floods leave
// sand, and plants find water.
const float STREAM_TELLS = 7.0, LAKE_TELLS = 2.0, MOST_TOLD = 1.3;
// Where a floor ends on level ground without a stream; how green land is that has no dry floors.
const vec2 FLOOR_ENDS = vec2(0.05, 0.20), LUSH = vec2(0.4, 0.9);
const float SANDY_FROM = 0.68, MOIST_FROM = 0.46, BANK_ENDS = 0.09;
const vec3 GRAVEL_OF_BANKS = vec3(0.290, 0.244, 0.184), DRY_FLOOR = vec3(0.245, 0.195, 0.115);
const vec3 MOIST_FLOOR = vec3(0.085, 0.098, 0.040);

// How much water runs or stands around a place in cells, from 0 on.
float water_near(vec2 at) {
    vec2 told = textureLod(flow, at / frame.map.xy, BANKS_LOD).xw;
    return min(STREAM_TELLS * max(told.x, 0.0) + LAKE_TELLS * max(told.y + NOTHING_STANDS, 0.0), MOST_TOLD);
}

// On the floor of a dry valley floods leave sand and gravel beside a stream. Shrubs stand behind, as far as they reach its
// water, and few plants on what is dry beyond.
void strew_banks(inout Ground ground, vec2 cells, vec2 rise, float streak, vec4 fine, vec4 coarse) {
    float level = (1.0 - smoothstep(FLOOR_LEVEL.x, FLOOR_LEVEL.y, length(rise))) * (1.0 - ground.snow);
    if (level <= 0.0) return;
    vec2 wound = cells + BANKS_WIND * (coarse.yz - 0.5);
    vec2 aside = vec2(BANKS_BESIDE.y, -BANKS_BESIDE.x);
    float around = 0.25 * (water_near(wound + BANKS_BESIDE) + water_near(wound - BANKS_BESIDE)
                         + water_near(wound + aside) + water_near(wound - aside));
    float broad = 0.6 * (coarse.w - 0.5) + 0.4 * (coarse.x - 0.5), ragged = 0.1 * (fine.x - 0.5) + 0.2 * streak;
    float sand = level * smoothstep(-BANK_ENDS, BANK_ENDS, around - SANDY_FROM + 1.9 * broad + ragged);
    float gravel = smoothstep(-0.12, 0.12, 1.2 * (coarse.x - 0.5) - 0.6 * (coarse.w - 0.5) + 0.5 * (fine.w - 0.5));
    float moist = level * smoothstep(-BANK_ENDS, BANK_ENDS, around - MOIST_FROM + 1.2 * broad + ragged);
    float dry = (level - moist) * smoothstep(-0.20, 0.08, 0.4 * (fine.x - 0.5) - 1.2 * (coarse.w - 0.5) - 0.5 * streak);
    dry *= smoothstep(FLOOR_ENDS.x, FLOOR_ENDS.y, around) * (1.0 - smoothstep(LUSH.x, LUSH.y, frame.ground_look.y));
    moist *= smoothstep(0.0, 0.25, frame.ground_look.y);
    ground.albedo = mix(ground.albedo, DRY_FLOOR * (0.8 + 0.4 * fine.x), 0.75 * dry);
    ground.albedo = mix(ground.albedo, MOIST_FLOOR * (0.6 + 0.8 * fine.x), 0.6 * moist);
    vec3 strewn = mix(SHOAL_SAND, GRAVEL_OF_BANKS * (0.8 + 0.4 * fine.w), gravel) * (0.88 + 0.24 * fine.x);
    ground.albedo = mix(ground.albedo, strewn, 0.92 * sand);
    ground.rockiness *= 1.0 - 0.5 * sand;
#if DETAIL_SCALES > 2
    float plants = (1.0 - 0.75 * dry) * (1.0 - sand);
    ground.stands.bushes = max(ground.stands.bushes, 0.8 * moist) * plants;
    ground.stands.bush = mix(ground.stands.bush, 0.8 * MOIST_FLOOR, moist);
    ground.stands.tufts *= plants;
    ground.stands.turf *= plants;
    ground.stands.grassy *= plants;
    ground.stands.stones = max(ground.stands.stones, 0.6 * sand * gravel);
#endif
}
#endif

void main() {
    vec4 place = find_place(surface);
    vec2 uv = map_uv(position.xz);
#if DEFERRED == 1
    StrataTop top = strata_top_at(uv);
#elif INTRUSIONS == 1
    StrataTop top = StrataTop(strata_top, intruded);
#else
    StrataTop top = StrataTop(strata_top, 0.0);
#endif
    vec2 cells = position.xz / frame.map.z;
    vec4 lit = texture(light, uv);
#if SHADE == 1 && DEFERRED == 0
    lit.x = smoothstep(-0.5, 0.5, clear.x / clear.y);
#endif
#if CLOUDS > 1
#if DEFERRED == 0
    lit.x *= past_clouds(clouds);
#else
    lit.x *= sun_past_clouds(position);
#endif
#endif
    vec3 seen = lit.xyz;
    float hollowness = seen.z - 0.5;
#if UNDER_WOODS == 1
    float wooded = wooded_by(lit.w);
#endif
    seen.xy *= 1.0 - frame.ground_look.w * hollowness;

    float pixel = pixel_of(max(length(dFdx(cells)), length(dFdy(cells))));
#if DETAIL_SCALES > 2
    // Triangles can be steeper or gentler than the relief says.
    vec3 on_mesh = vec3(position.x, drawn_height(), position.z), upright = cross(dFdy(on_mesh), dFdx(on_mesh));
    vec2 drawn = -upright.xz / (abs(upright.y) > 1e-9 ? upright.y : 1e-9);
    drawn *= min(1.0, STEEPEST_DRAWN / max(length(drawn), 1e-3));
    vec4 coarse = coarse_detail(cells, max(pixel, FINEST_ON_WALLS * wall(drawn)));
#else
    vec4 coarse = coarse_detail(cells);
#endif
    vec2 slope = place.yz * frame.map.w;
#if WATER == 1
#if STREAMS > 0
    vec4 wet = texture(flow, uv);
#else
    vec4 wet = textureLod(flow, uv, 0.0);
#endif
#if DETAIL_SCALES > 2 && OVERLAY == 0 && FLOW_PATH == 0
    // So far below the water only sand and silt are told apart.
    float dim = smoothstep(0.4, 1.0, wet.w / (DIM_BED * frame.water.x));
    if (dim == 1.0) {
        vec3 bed_normal = normalize(vec3(-BED_EVEN * slope.x, 1.0, -BED_EVEN * slope.y));
        vec3 bed = bed_material(fine_detail(cells), coarse, 1.0);
        float stony = place.x < frame.water.w ? 0.0 : stony_bed(place.yz);
#if MATERIALS == 1
        if (stony > 0.0) stony *= 1.0 - sand_of_grain(textureLod(loose_colour, uv, 0.0).a);
#endif
        bed *= 1.0 - STONY_BED_DARK * stony;
        bed *= frame.sun_light.rgb * max(dot(bed_normal, frame.sun.xyz), 0.0) * seen.x + light_around(bed_normal, seen.y, bounced);
        colour = vec4(bed * air_kept + air_added, outline_key_at(position));
        return;
    }
#else
    const float dim = 0.0;
#endif
#endif
    float steepness = apparent_steepness(place);
#if RELIEF > 0
    vec4 relief_here = texture(relief, uv);
#if RELIEF == 1
    relief_here.xyz = unpacked_relief(relief_here.xyz);
#endif
    vec3 rib = relief_here.xyz;
#else
    const vec3 rib = vec3(0.0);
#endif
#if DETAIL_SCALES < 3
#if RELIEF > 0
    float broken_height = drawn_height();
#else
    float broken_height = position.y;
#endif
    vec2 projected;  // the place as seen from above, or from the side of a wall
    vec4 fine = broken_detail(vec3(cells, broken_height / frame.map.z), slope, slope + rib.yz, coarse.w - 0.5, pixel_of(sqrt(length(dFdx(cells)) * length(dFdy(cells)))), projected);
    fine += (fine - 0.5) * clamp(USUAL + PATCHES_DIFFER * (coarse.w - 0.5 + 0.8 * (coarse.x - 0.5)), MASSIVE, SHATTERED);
#if DESERT == 1 && DETAIL_SCALES > 1
    fine = mix(fine, fine_detail(cells), dune_sand_at(place.w));  // sand is of one piece
#endif
#endif
#if RELIEF > 0
    FineRelief finer = FineRelief(rib.x, relief_here.w - 0.5, rib.yz, 0.0, 1.0, slope, STEEPEST_DRAWN, 0.0);
#if DETAIL_SCALES > 2
    if (length(rib.yz) + length(slope) > HARDLY_TILTED) finer.face += relief_around(uv).yz;
    finer.streak *= 1.0 - STREAKS_STRETCHED * smoothstep(STREAKS_END.x, STREAKS_END.y, length(slope + rib.yz));
    // Water that runs off cuts rills, and leaves finer grains between them. On gentle ground it leaves lines alone.
    float runs_off = RILLED * smoothstep(0.02, 0.25, steepness) * min(steepness, STEEPEST);
    runs_off *= 1.0 - NO_RILLS * smoothstep(0.36, 0.56, steepness) * smoothstep(0.5, 2.0, place.w / frame.ground_look.z);  // between stones
    runs_off *= 1.0 - wall(slope + rib.yz);
#if MATERIALS == 1
    // Rain cuts soft rock everywhere, and weathers it to a skin of clay that is even but for crumbs.
    finer.soft = softness_of(top, place.x + rib.x * frame.map.z / frame.map.w) * weathers_to_clay(slope, place.w);
    runs_off = mix(runs_off, SOFT_RILLED * smoothstep(0.10, 0.45, length(slope + rib.yz)) * min(length(slope + rib.yz), STEEPEST), finer.soft);
#else
    runs_off *= 1.0 - NO_RILLS * smoothstep(0.36, 0.80, steepness) * exp(-place.w / (3.0 * frame.ground_look.z));  // in massive rock
#endif
    float washes = WASHES * smoothstep(WASHED.x, WASHED.y, steepness) * (1.0 - smoothstep(WASHED.z, WASHED.w, steepness));
#if DESERT == 1
    runs_off *= 1.0 - dune_sand_at(place.w);
    washes *= 1.0 - dune_sand_at(place.w);
#endif
    if (max(runs_off, washes) > 0.0) {
        Rills rills = rills_at(cells, mix(slope + rib.yz, finer.face, finer.soft), pixel, runs_off, finer.soft);
        rib.yz += rills.slope;
        finer.streak += (RILLS_SHOW * runs_off + washes) * rills.height;
    }
#endif
    top.height -= rib.x * frame.map.z / frame.map.w;  // strata are as high on ribs and cliffs as beside them
#else
    FineRelief finer = NO_RELIEF;
    finer.face = slope;
#endif
#if DETAIL_SCALES > 1
#if DETAIL_SCALES > 2
    // The flank of a rib can be a wall that faces another way than the slope below it.
    vec2 face = slope + rib.yz, steeper = dot(face, face) > dot(drawn, drawn) ? face : drawn;
    float on_wall = wall(steeper);
    float height = on_mesh.y / frame.map.z;
#else
    const float on_wall = 0.0;
#endif
    // Blocks of rock protrude from loose material.
    float looks_out = 0.40 + 0.60 * exp(-place.w / (3.0 * frame.ground_look.z));
#if ICE == 1
    looks_out = mix(looks_out, 0.25, smoothstep(0.05, 0.35, textureLod(glaciers, uv, 0.0).x));
#endif
#if MATERIALS == 1 && DETAIL_SCALES > 2
    // Under thin soil it does on gentle slopes, too.
    vec2 looks_from = mix(BLOCKS_THROUGH_SOIL, BLOCKS_LOOK_OUT, smoothstep(THIN_SOIL.x, THIN_SOIL.y, place.w / frame.ground_look.z));
#else
    const vec2 looks_from = BLOCKS_LOOK_OUT;
#endif
    float bare = smoothstep(looks_from.x, looks_from.y, steepness) * (1.0 - on_wall) * looks_out;
    mat2 step_of_cells = mat2(dFdx(cells), dFdy(cells));
    vec4 grain = vec4(0.5);
#if DETAIL_SCALES > 2
    vec3 over_wall = vec3(cells, height);
    mat2x3 step_on_wall = mat2x3(dFdx(over_wall), dFdy(over_wall));
    // Ground seen aslant would be blurred as far as a pixel is long, and look drawn out.
    float aslant_here = aslant(step_on_wall), sharper = max(sqrt(aslant_here), LEAST_BLURRED);
    // On ledges what lies there would be seen as streaks, of which plants that stand on them have none.
    float ledge = smoothstep(LEDGE_OF.x, LEDGE_OF.y, length(slope)) * (1.0 - smoothstep(LEDGE_LEVEL.x, LEDGE_LEVEL.y, length(steeper)));
    float lies_flat = 1.0 - LEDGES_EVEN * ledge * (1.0 - smoothstep(LEDGE_ASLANT.x, LEDGE_ASLANT.y, aslant_here));
    mat2x3 seen_step = step_on_wall;
    seen_step[0] *= sharper;
    seen_step[1] *= sharper;
    mat2 seen_step_of = mat2(seen_step[0].xy, seen_step[1].xy);
    float detail_pixel = pixel * sharper;
#else
    mat2 seen_step_of = LEAST_BLURRED * step_of_cells;
    float detail_pixel = LEAST_BLURRED * pixel;
#endif
    float grain_seen = 1.0 - smoothstep(0.6 * GRAIN_FADES, GRAIN_FADES, detail_pixel);  // too fine to be seen from afar
#if DETAIL_SCALES > 2
    float seeps = smoothstep(0.25, 0.55, on_wall * looks_out);
    Noises noises = noises_at(over_wall, seen_step, steeper, max(bare, on_wall) < 1.0, seeps > 0.0);
    vec4 fine = noises.fine;
    finer.seep = seeps * (noises.seep - 0.5);
    // So near that grain is blurred there are finer stones, and tufts.
    float stones_seen = 1.0 - smoothstep(0.4 * STONES_FADE, STONES_FADE, detail_pixel);
    if (squarely(finer.face, drawn) < DRAWN_OUT) finer.face = drawn;
    vec2 noise_face = noise_lies_on(finer.face, drawn);
    finer.steepest = length(steeper);
    float broken = finer.soft < 1.0 ? 1.0 : 0.0;
    Fractured rock = fractured_at(over_wall, seen_step, noise_face, on_wall * broken, vec3(bare * broken, grain_seen, stones_seen));
    fine = in_place_of(mix(fine, rock.level, bare), rock.wall, on_wall);
    bare = max(bare, on_wall * looks_out);
    fine = 0.5 + lies_flat * (1.0 - finer.soft) * (fine - 0.5);
    grain += lies_flat * mix(1.0, CRUMBS, finer.soft) * (grain_seen * (rock.grain - 0.5) + 1.4 * stones_seen * (rock.stones - 0.5));
#else
    vec2 grain_east = LEAST_BLURRED * dFdx(projected) / GRAIN_TILE, grain_south = LEAST_BLURRED * dFdy(projected) / GRAIN_TILE;
    if (grain_seen > 0.0) grain = mix(grain, textureGrad(fractures, projected / GRAIN_TILE, grain_east, grain_south), grain_seen);
    fine.w += SHRUBS_SINGLE * (1.0 - bare) * (grain.w - 0.5);
#endif
#if DETAIL_SCALES > 2
#if DESERT == 1
    fine.x += mix(EDGES_RAGGED, SAND_RAGGED, dune_sand_at(place.w)) * (grain.x - 0.5);
#else
    fine.x += EDGES_RAGGED * (grain.x - 0.5);
#endif
    // Blocks on a ledge stand out as on gentle ground.
    float tilts = mix(min(1.5 + 1.6 * min(steepness, length(face)), 5.0), 1.2 * wall_tilt(face), on_wall);
#else
    float tilts = min(1.5 + 1.6 * steepness, BLOCKS_TILT);
#endif
    float stands_out = mix(1.0, FROM_AFAR, smoothstep(FACES_MERGE.x, FACES_MERGE.y, detail_pixel)) * bare;
    float joints_shade = stands_out * clamp(JOINTS_DARK * (fine.w - 0.5), -0.6, 0.25);
#if DETAIL_SCALES > 2
    // Steep sides of blocks would be black holes in sunlit walls.
    tilts *= inversesqrt(1.0 + on_wall * WALL_FACES_EVEN * dot(fine.yz - 0.5, fine.yz - 0.5));
#endif
    vec2 faces = (fine.yz - 0.5) * tilts * mix(1.0, (1.0 + FACES_LEAN) * stands_out / max(bare, 1e-3), bare);
#endif
#if RELIEF > 0
    // Ribs are bare and bright; gullies hold loose material and see less of the sky.
#if DETAIL_SCALES > 2
    float stands = mix(1.5, 0.5, on_wall);  // ledges are as bright as what is between
#else
    const float stands = 1.5;
#endif
    fine.x += 0.7 * clamp(rib.x, -stands, stands);
#if DETAIL_SCALES > 2
    // Feet of cliffs and gullies see less of the sky, and lie in the shadow of what stands before the sun.
    float beside = rib.x;
    float shades = smoothstep(STANDS_OUT.x, STANDS_OUT.y, abs(rib.x) + length(rib.yz)) * (1.0 - smoothstep(SHADES_FADE.x, SHADES_FADE.y, pixel));
    if (shades > 0.0) {
        beside -= shades * relief_near(uv, AROUND_LOD);
        for (int k = 0; k < (finer.soft > 0.0 ? 1 : 0); ++k) beside += finer.soft * shades * over_map(uv, place.x);
        if (seen.x > 0.0) seen.x *= mix(1.0, past_relief(uv, rib.x, place, finer.soft, pixel), shades);
    }
    seen.y *= 1.0 + clamp(1.3 * beside, mix(-0.6, -0.35, on_wall), 0.1);
#else
    seen.y *= 1.0 + 0.9 * clamp(rib.x, -0.6, 0.1);
#endif
#endif
#if DETAIL_SCALES > 1
    // Soil and plants hold on to rock where ribs and faces are gentle.
    steepness *= length(slope + rib.yz + faces * bare) / max(length(slope), 0.05);
    finer.tilt += faces * bare;
    finer.ribbed = length(slope + rib.yz) / max(length(slope + rib.yz + faces * bare), 0.05);
#endif
    Ground ground = ground_material(cells, place, top, steepness, hollowness, fine, coarse, finer);
#if DETAIL_SCALES > 1
    seen.y *= 1.0 + joints_shade * (1.0 - DEBRIS_EVEN * ground.debris);
    seen.y /= 1.0 - SNOW_SCATTERS * ground.snow * ground.snow * clamp(1.0 - seen.y, 0.0, 1.0);
#endif
    float dry = 1.0;
#if WATER == 1
#if DESERT == 1 && DETAIL_SCALES > 2
    if (ground.sand > 0.0) settle_by_water(ground, textureLod(flow, uv, BY_WATER_LOD).w, fine, coarse);
#endif
    // Sand and silt cover the bed, and the ground just above the water is wet and dark, less so if it is only a part of
    // a pixel.
#if MARKS == 1 && DETAIL_SCALES > 2
    ground.bars = max(ground.bars, gravel_of_threads(wet, fine, coarse, ground.snow));
    if (ground.bars > 0.0) slope += lay_bars(ground, cells, wet, pixel, fine, coarse, grain.w, detail);
#endif
#if MATERIALS == 1 && LIVING == 0 && DESERT == 0 && MARKS == 0 && DETAIL_SCALES > 1
    strew_banks(ground, cells, place.yz, finer.streak, fine, coarse);
#endif
#if MARKS == 1 && DETAIL_SCALES > 1
    float left = (1.0 - smoothstep(PLAINS.x, PLAINS.y, steepness)) * smoothstep(OLD_SLOPES.x, OLD_SLOPES.y, length(slope));
    left *= (1.0 - ground.bars) * (1.0 - ground.snow) * (1.0 - ground.sand);
    if (left > 0.0) leave_courses(ground, cells, left, pixel, fine, coarse, detail);
#endif
    float span = min(pixel * frame.map.z * length(place.yz), WET_SHORE);
    float silty = 1.0, hidden_from = SILTED;
#if DETAIL_SCALES > 1
    if (place.x < frame.water.w) {  // surf washes silt away
        silty = clamp(wet.w / SURF_WASHES, 0.0, 1.0);
        hidden_from = SANDED;
    }
#endif
    float submerged = smoothstep(-0.5 * span, hidden_from + 0.5 * span, wet.w);
    dry = 1.0 - submerged;
    vec3 bed = bed_material(fine, coarse, silty);
#if DETAIL_SCALES > 1
    float stones_of_bed = place.x < frame.water.w ? 0.0 : stony_bed(place.yz);
#if MATERIALS == 1
    stones_of_bed *= 1.0 - ground.sandy;
#endif
    bed *= 1.0 - STONY_BED_DARK * stones_of_bed;
#endif
#if MATERIALS == 1 && DETAIL_SCALES > 2
    bed = mix(bed, SHOAL_SAND * (0.85 + 0.30 * fine.x), ground.sandy * (1.0 - dim));
#endif
    ground.albedo = mix(ground.albedo, bed, mix(0.9, 1.0, dim) * submerged);
#if DETAIL_SCALES > 2
    // Waves and the ups and downs of a lake keep a strip of mud or, where it is steeper, of shingle free of plants, broad here
    // and narrow there. Walls of rock have none.
    float reaches_up = max(WET_SHORE, STRIP_OF_CELL * frame.map.z), strip_span = min(pixel * frame.map.z * length(place.yz), HIGHEST_STRIP);
    float broad = smoothstep(-0.16, 0.16, coarse.w - 0.5 + 0.7 * (coarse.x - 0.5));
    float strip_height = min(reaches_up * mix(STRIP.x, STRIP.y, broad), STRIP_WIDE * frame.map.z * length(place.yz)) * (0.5 + fine.x);
    strip_height = min(strip_height, HIGHEST_STRIP);
    float strip = smoothstep(-strip_height - 0.5 * strip_span, -0.6 * strip_height + 0.5 * strip_span + 1e-3, wet.w);
    strip *= (1.0 - smoothstep(STRIP_STEEP.x, STRIP_STEEP.y, length(place.yz))) * (1.0 - 0.8 * ground.snow) * (1.0 - ground.sand);
#if MARKS == 1
    strip *= 1.0 - ground.bars;
#endif
    vec3 stones_and_mud = mix(MUD_STRIP * bed_material(fine, coarse, 1.0), SHINGLE * (1.0 + 0.9 * (fine.w - 0.5)), smoothstep(0.04, 0.20, length(place.yz) + 0.2 * (coarse.x - 0.5)));
#if MATERIALS == 1
    stones_and_mud = mix(stones_and_mud, SHOAL_SAND * (0.9 + 0.2 * fine.x), ground.sandy);
    ground.rockiness *= 1.0 - strip * ground.sandy;
#endif
    ground.albedo = mix(ground.albedo, stones_and_mud, strip * dry);
    ground.stands.bushes *= 1.0 - strip;
    ground.stands.tufts *= 1.0 - strip;
    float band = max(WET_BAND, min(min(BAND_OF_CELL, BAND_WIDE * length(place.yz)) * frame.map.z, HIGHEST_BAND)), washed = band * (0.5 + broad);
    float evened = smoothstep(-strip_height - 2.0 * washed - span, -washed, wet.w) * (1.0 - smoothstep(STRIP_STEEP.x, STRIP_STEEP.y, length(place.yz)));
    float high_band = clamp(band / WET_BAND - 1.0, 0.0, 1.0);
    ground.albedo *= 1.0 - mix(BAND_DARK.x, BAND_DARK.y, high_band) * smoothstep(-washed - span, -0.6 * washed, wet.w) * (band / (band + mix(1.0, BAND_FADES, high_band) * span)) * dry;
    // Fast water leaves mud as far as it splashes: farther here than there.
    float splashed = -wet.x;
    if (splashed > 0.0) {
        splashed = smoothstep(SPLASHES_SHOW.x, SPLASHES_SHOW.y, splashed + 0.6 * (fine.x - 0.5) + 1.3 * (coarse.w - 0.5)) * (1.0 - ground.snow);
        ground.albedo = mix(ground.albedo, SPLASHED_MUD * (0.7 + 0.6 * fine.x), 0.9 * splashed);
        ground.stands.tufts *= 1.0 - splashed;
    }
#else
    float washed = WET_SHORE * (0.4 + 0.6 * fine.x);
    ground.albedo *= 1.0 - WASHED_DARK * smoothstep(-washed - span, 0.0, wet.w) * (WET_SHORE / (WET_SHORE + BAND_FADES * span)) * dry;
#endif
    ground.rockiness *= 1.0 - 0.6 * submerged;
    slope *= mix(1.0, BED_EVEN, submerged);
#if LIVING == 1
    ground.sheen *= 1.0 - submerged;
#endif
#endif
    vec3 albedo = with_flow_path(with_overlay(ground.albedo, uv, place, pixel), uv, pixel, dry);

    // Relief finer than a cell: slopes of the noise, faded with distance by its mipmaps.
    slope += rib.yz * dry;
#if DETAIL_SCALES > 1
#if DETAIL_SCALES > 2
    // From afar low light would make waves of every rise of a plain.
    float plain_here = (1.0 - smoothstep(LEVEL_PLAIN.x, LEVEL_PLAIN.y, length(place.yz))) * smoothstep(PLAIN_FAR.x, PLAIN_FAR.y, pixel);
    faces *= 1.0 - FAR_PLAIN_EVEN * plain_here;
#else
    const float plain_here = 0.0;
#endif
    vec2 bumps = faces * ground.rockiness * (1.0 - DEBRIS_EVEN * ground.debris) + (coarse.zy - 0.5) * (1.0 - on_wall) * 0.25 * (1.0 - FAR_PLAIN_EVEN * plain_here * (1.0 - DRIFTED_FAR * ground.snow));
#else
    vec2 bumps = (fine.yz - 0.5) * ground.rockiness * min(1.5 + 1.6 * steepness, BLOCKS_TILT) + (coarse.zy - 0.5) * 0.25;
#endif
#if DETAIL_SCALES > 1
#if DETAIL_SCALES > 2
#if MATERIALS == 1
    float grainy = ground.rockiness * (1.0 - EVEN_SCREE * ground.stony);
#else
    float grainy = ground.rockiness;
#endif
    bumps += (grain.yz - 0.5) * grainy * mix(mix(0.8, 1.2, bare), 0.9 * wall_tilt(face), on_wall);
    if (ground.outcrop > 0.0) {
        float shattered = smoothstep(-0.20, 0.24, coarse.w - 0.5 + 0.8 * (coarse.x - 0.5));
        Clefts clefts = clefts_at(over_wall.xzy, RAGGED_JOINTS * (vec3(fine.x, fine.w, grain.x) - 0.5), mat2x3(step_on_wall[0].xzy, step_on_wall[1].xzy), shattered);
        bumps += tilted_by(ground.outcrop * clefts.lean, face);
        albedo *= 1.0 + ground.outcrop * (clefts.tone * PALE_IS_WARM - CLEFTS_DARK * clefts.open);
        seen.y *= 1.0 - CLEFTS_SHADED * ground.outcrop * clefts.open;
    }
#else
    bumps += (grain.yz - 0.5) * ground.rockiness * 1.2;
#endif
#if MATERIALS == 1
    albedo = with_texture(albedo, ground, cells, length(place.yz), pixel, grain, finer.streak, seen_step_of, bumps);
#else
    albedo *= mix(1.0 + GRAIN_SHADES * (grain.w - 0.5), 1.0, FINE_IS_EVEN * ground.sand);
    albedo *= 1.0 + ground.debris * (1.3 * (grain.y - 0.5) + 1.0 * (grain.z - 0.5));
    bumps += (grain.yz - 0.5) * 1.2 * ground.debris;
#endif
#endif
#if UNDER_WOODS == 1
    albedo = mix(albedo, WOODED_GROUND * max(1.0 + WOODED_UNEVEN * (2.0 * fine.x - 1.0), 0.3), WOODED_MOST * wooded);
    seen.xy *= 1.0 - WOODED_SHADE * wooded;
#endif
#if CANOPY > 0
    // The ground under crowns has litter and undergrowth, and sees little of the sky.
    Canopy crowns = canopy_at(uv);
#if DETAIL_SCALES > 2
    float stand_there = 1.0 - smoothstep(NO_CROWNS.x, NO_CROWNS.y, length(drawn));
    crowns.below *= stand_there;
    crowns.area *= stand_there;
#endif
    // Snow lies over both, and on the crowns.
    float snowed = ground.snow * dry;
    crowns.below *= 1.0 - snowed * clamp(BURIED + 2.5 * (fine.x + fine.w - 1.0), 0.0, 1.0);
    crowns.leaves = mix(crowns.leaves, ON_BOUGHS, BOUGHS_WHITE * snowed);
    float litter = 0.6 + 0.8 * fine.x, littered = 1.0 - exp(-2.8 * (crowns.area + crowns.below));
#if DETAIL_SCALES > 2
    litter = max(litter + LITTER_GRAIN * (ground.stands.turf.x + 0.5 * ground.stands.turf.w), 0.2);
    bumps *= 1.0 - LITTER_EVEN * littered;
    // Young trees and shrubs stand between those that are drawn, and near by are drawn themselves.
    float young = UNDERGROWN * littered * (1.0 - mix(1.0, YOUNG_BURIED, smoothstep(THICKET.x, THICKET.y, littered)) * snowed) * smoothstep(YOUNG_DRAWN.x, YOUNG_DRAWN.y, frame.map.z * min(length(step_of_cells[0]), length(step_of_cells[1])));
    ground.stands.wooded = young / max(max(young, ground.stands.bushes), 1e-3);
    ground.stands.bushes = max(ground.stands.bushes, young);
    ground.stands.bush = mix(ground.stands.bush, crowns.leaves, ground.stands.wooded);
#endif
    albedo = mix(albedo, litter * mix(LITTER, crowns.leaves, UNDERGROWTH), (0.85 - LITTER_WHITE * snowed) * littered);
#endif
#if DETAIL_SCALES > 1
#if DETAIL_SCALES > 2
#if SNOWY == 1 && WATER == 1 && LIVING == 1
    // Thickets of willows by streams stand out of the snow, without leaves.
    float willows = smoothstep(WILLOWS_BY.x, WILLOWS_BY.y, wet.x + 0.5 * (coarse.w - 0.5) + 0.7 * (fine.x - 0.5)) * smoothstep(0.0, 0.06, wet.x);
    willows *= WILLOWS * ground.snow * (1.0 - smoothstep(WILLOWS_LEVEL.x, WILLOWS_LEVEL.y, length(place.yz)));
    ground.stands.bush = mix(ground.stands.bush, WILLOW, willows);
    ground.stands.bushes = max(ground.stands.bushes, willows);
    ground.stands.wooded = max(ground.stands.wooded, willows);
#endif
    ground.stands.bushes *= dry;
    ground.stands.tufts *= dry;
    ground.stands.stones *= dry;
    ground.stands.turf *= dry;
    ground.stands.grassy *= dry;
#if GREEN_BY_CLIMATE == 1 && MATERIALS == 0 && DESERT == 0 && CANOPY == 0
    grow_woods(ground.stands, albedo, position.xz, relative_height(place.x * frame.map.w), place.yz);
#endif
    // Seen aslant a pixel is long, and what stands up is as high as it is wide.
    float footprint = pixel_of(sqrt(length(step_of_cells[0]) * length(step_of_cells[1])));
    vec3 up_to_eye = frame.camera.xyz - position;
    vec2 toward = up_to_eye.xz / max(up_to_eye.y - dot(finer.face, up_to_eye.xz), 0.05 * length(up_to_eye));
    albedo = with_ground_cover(albedo, ground.stands, cells, footprint, vec2(grain.x, grain.w) - 0.5, toward, bumps, seen);
#endif
#endif
#if DETAIL_SCALES > 1
    bumps += ground.snow * dry * wind_on_snow(position.xz, pixel * frame.map.z, vec3(fine.x, fine.w, coarse.w) - 0.5);
#endif
#if MATERIALS == 1
    bumps += slope * clamp(ground.ledge, -0.7, 0.9);  // resistant beds stand out as ledges
#endif
#if DESERT == 1
    vec2 across_pixel = vec2(dot(dFdx(cells), frame.wind.xy), dot(dFdy(cells), frame.wind.xy));
    vec2 sand_slope = place.yz;
    Ripples ripples = Ripples(0.0, 0.0, 0.0);
#if MATERIALS == 1
    float smooth_sand = ground.sand + ground.lulled;
#else
    float smooth_sand = ground.sand;
#endif
#if DETAIL_SCALES > 2
    if (ground.sand > 0.0) {
        sand_slope = slope_of_sand(cells, place, pixel, surface);
    } else if (smooth_sand > 0.0 && pixel < FURROW) {
        sand_slope = mix(slope_of_lulled_sand(cells, place, surface), place.yz, smoothstep(0.5 * FURROW, FURROW, pixel));
    }
    slope = mix(slope, sand_slope * frame.map.w, smooth_sand);
#endif
    if (ground.sand > 0.0) {
        ripples = ripples_at(cells, place.x / frame.map.z, sand_slope, pixel_of(length(across_pixel)), detail);
#if WATER == 1
        // Wind moves no sand that water wets from below.
        float blows = smoothstep(SAND_DRY.x, SAND_DRY.y, -wet.w);
        ripples.slope *= blows;
        ripples.tone *= blows;
#endif
    }
    albedo *= 1.0 + ripples.tone * ground.sand;
#if DETAIL_SCALES > 2
    Slid slid = slid_at(cells, sand_slope, detail_pixel);
    albedo *= mix(vec3(1.0), slid_sand(sand_slope, lit.z - 0.5) * (1.0 + slid.tone), ground.sand);
    slope += slid.slope * ground.sand;
#endif
    bumps = bumps * (1.0 - 0.9 * smooth_sand) + ripples.slope * frame.wind.xy * ground.sand;
#endif
#if WATER == 1
    bumps *= 1.0 - dim;
#if DETAIL_SCALES > 2
    bumps *= 1.0 - SHORE_EVEN * evened;
#endif
#endif
    vec3 normal = normalize(vec3(-(slope.x + bumps.x), 1.0, -(slope.y + bumps.y)));

#if CANOPY > 0
    float covered = 1.0 - exp(-crowns.area);
#if CANOPY > 1
    if (seen.x > 0.0 && lit.w < 1.0) {  // otherwise no crowns are before the sun
        float past_trees = sun_past_trees(position, lit.w);
#if DETAIL_SCALES > 1
        // What hides a high sun stands over the place, and hides the sky as well: so it is at the feet of trees.
        seen.y *= 1.0 - FEET_SHADED * frame.sun.y * (1.0 - past_trees) * smoothstep(0.0, 0.3, seen.x);
#endif
        seen.x *= past_trees;
    }
#else
    seen.x *= lit.w;
#endif
    seen.y *= 1.0 - 0.4 * covered;
#endif
#if STORM == 1 && DETAIL_SCALES > 2
    seen.x *= 1.0 - DUST_SHADE * veils(uv, frame.sun.xyz);
#endif
    float facing_sun = dot(normal, frame.sun.xyz);
#if DETAIL_SCALES > 2
    float rough_faces = ROUGH_FACES * max(ground.outcrop, ground.debris);
    facing_sun = mix(facing_sun, 0.5 * (facing_sun + sqrt(facing_sun * facing_sun + rough_faces * rough_faces)), step(1e-3, rough_faces));
#endif
#if DESERT == 1
    float sun = light_on_ripples(facing_sun, ripples.rough * ground.sand) * seen.x;
#else
    float sun = max(facing_sun, 0.0) * seen.x;
#endif
    // Hollows see less of the land around, in the same proportion as of the sky.
    vec3 around = light_around(normal, lit.y, bounced) * (seen.y / max(lit.y, 1e-3));
#if DESERT == 1
    around *= mix(vec3(1.0), mix(BETWEEN_DUNES, BELOW_SKY, (1.0 - seen.x) * smoothstep(SKY_SEEN.x, SKY_SEEN.y, lit.y)), ground.sand);
#endif
#if CANOPY > 0 && DETAIL_SCALES > 1
    around *= mix(vec3(1.0), BELOW_LEAVES, 1.0 - exp(-crowns.area - crowns.below));
#endif
    vec3 radiance = albedo * (frame.sun_light.rgb * sun + around);
#if DESERT == 1
#if DETAIL_SCALES > 1 || MATERIALS == 0
    radiance += frame.sun_light.rgb * glitter(cells, normal, normalize(frame.camera.xyz - position)) * ground.sand * sun;
#endif
#endif
#if DRIFTING == 1
    vec3 sand_light = DRIFTING_SAND * (frame.sun_light.rgb * seen.x * 0.45 + sky_light(vec3(0.0, 1.0, 0.0)) * seen.y);
#if DESERT == 0
    vec2 sand_slope = place.yz;
#endif
    float airborne_sand = sand_over(uv);
    mat2 step_of = mat2(dFdx(cells), dFdy(cells));
    if (airborne_sand > 0.0) radiance = mix(radiance, sand_light, drifting(cells, step_of, sand_slope, airborne_sand, detail));
#endif
#if LIVING == 1
    // A film of water on the ground reflects sky and sun.
    vec3 to_eye = normalize(frame.camera.xyz - position);
    float facing = dot(normal, to_eye), aside = 1.0 - max(facing, 0.0), aside2 = aside * aside;
    vec3 mirrored = 2.0 * facing * normal - to_eye;
    vec3 from_sky = plain_sky(vec3(mirrored.x, abs(mirrored.y), mirrored.z)) * seen.y;
    float glint = max(dot(mirrored, frame.sun.xyz), 0.0);
    for (int i = 0; i < 6; ++i) glint *= glint;
    vec3 sparkle = 0.6 * glint * seen.x * frame.sun_light.rgb;
    radiance += ground.sheen * ((0.02 + 0.98 * aside2 * aside2 * aside) * (from_sky - radiance) + sparkle);
#endif
#if CANOPY > 0
    vec3 way = frame.camera.xyz - position;
    float distance = length(way);
    float sine = dot(normalize(vec3(-slope.x, 1.0, -slope.y)), way / distance);
    float slant = seen_aslant(crowns, sine);
    vec3 leaves_in_sun, leaves_under_sky;
    canopy_light(crowns, way / distance, leaves_in_sun, leaves_under_sky);
#if DETAIL_SCALES > 2
    // Plants have not the form of the blocks of rock that they stand on.
    fine = mix(fine, vec4(0.5) + OF_PLANTS * (grain - 0.5), ROCK_HIDDEN * bare);
#endif
    float bumpy = 1.0 - CANOPY_BUMPS * dot(fine.yz - 0.5, frame.sun.xz);
    leaves_in_sun *= clamp(bumpy, 0.3, 1.7);
    // The lower layer of plants is visible between the trees, in their shadow.
#if DETAIL_SCALES > 1
    // Some of it is as high as they are.
    float sun_on_low = mix(seen.x, lit.x, LOW_CROWNS_IN_SUN);
    vec3 low_crowns = (leaves_in_sun * sun_on_low + BELOW_LEAVES * leaves_under_sky * seen.y) * (0.6 + 0.8 * fine.x);
#else
    vec3 low_crowns = (leaves_in_sun * seen.x + leaves_under_sky * seen.y) * (0.6 + 0.8 * fine.x);
#endif
#if DETAIL_SCALES > 2
    crowns.below *= 1.0 - bushes_told_apart(footprint);
#endif
    radiance = mix(radiance, low_crowns, 1.0 - exp(-crowns.below * slant));
    vec3 tops = (leaves_in_sun * lit.x * mix(lit.w, 1.0, TOPS_IN_SUN) + leaves_under_sky * lit.y) * (0.7 + 0.6 * fine.x);
    radiance = mix(radiance, tops, (1.0 - exp(-crowns.area * slant)) * merged_trees(crowns, distance));
#endif
#if STORM == 1
    vec3 through_dust = frame.camera.xyz - position, eye = normalize(through_dust);
    float near = exp(-2.5 * length(through_dust) / frame.heights.w);  // there is little dust in front of near ground
    radiance = mix(radiance, dust_light(-eye) * (0.40 + 0.60 * seen.x), veils(uv, eye) * (1.0 - near));
#endif
#if PLUME == 1
    vec3 before_plume = normalize(position - frame.camera.xyz);
    radiance = mix(radiance, dust_light(before_plume) * (0.75 + 0.35 * seen.x), hidden_by_plume(position, airborne, surface, detail));
#endif
#if STREAMS > 0
    float left_out = water_left_out(uv, place, pixel);
    vec2 stream_slope = place.yz * frame.map.w;
#if STREAMS > 1
    Course course = course_at(cells, stream_slope, wet, mat2(dFdx(cells), dFdy(cells)), pixel_of(1e9), surface, detail);
    end_in_lake(course, wet.w);
    Stream stream = stream_at(course, cells, pixel, stream_slope, detail);
    stream = mixed(stream, stream_from_afar(course, stream_slope), smoothstep(0.6 * stream_far, stream_far, pixel));
#else
    Course course = course_from_afar(wet);
    end_in_lake(course, wet.w);
    Stream stream = stream_from_afar(course, stream_slope);
#endif
    course.cover *= 1.0 - left_out;
    course.bank *= 1.0 - left_out;
    stream.gravel *= 1.0 - left_out;
    Film stream_film = running_water(course, stream, position, lit.xyz);
    radiance = below_overlay(stream_film.added) + stream_film.kept * radiance;
#endif
#if BEACH == 1 && OVERLAY == 0 && FLOW_PATH == 0
    vec2 beach_pixel = vec2(fwidth(place.x), pixel);
    float beach = beach_height(uv);
    Shore shore = shore_at(position.xz);
    Film sand = beach_film(position.xz, place.yz * frame.map.w, shore, max(beach, 0.0), beach_pixel, lit.xyz, normalize(frame.camera.xyz - position));
    if (beach >= 0.0 && up_the_beach(beach, -shore.away, shore.strength) <= beach_rises) radiance = sand.added + sand.kept * radiance;
#endif
    colour = vec4(radiance * air_kept + air_added, outline_key_at(position));
}
