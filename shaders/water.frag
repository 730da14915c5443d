// The surface of lakes and sea, blended over the ground: colour to add, and the factor on the colour of the ground.
#include "ground.glsl"
#include "overlay.glsl"
#include "outline.glsl"
#include "standing.glsl"
#include "water.glsl"
#include "sea_chart.glsl"
#include "drawn_out.glsl"
#include "waves_across.glsl"

#ifndef SEA
#define SEA 1
#endif

#ifndef WAVES
#define WAVES 1
#endif

#ifndef RUNNING
#define RUNNING 0
#endif

#ifndef HORIZONS
#define HORIZONS 0  // 1: lakes mirror the land by the horizons around them; where rays are followed over it, none is above them
#endif
#if SEA == 1 || RUNNING == 1
#undef HORIZONS
#define HORIZONS 0
#endif
#if HORIZONS == 1
#include "horizons.glsl"
uniform sampler2D horizons;
#endif

uniform vec2 scene_size;        // in pixels
#if FINE_WATER == 1 || HORIZONS == 1
uniform sampler2D lit_land;  // radiance of the land, premultiplied by its area, which is the last channel
#endif
#if FINE_WATER == 1
uniform sampler2D skyline;   // elevation of the land; height of its crowns, where there are any
uniform float tallest_tree;  // metres; 0 without trees
#endif

#ifndef FOG
#define FOG 0
#endif
#if FOG == 1
#include "fog.glsl"
#endif
#ifndef CLOUDS
#define CLOUDS 0  // 1: in the sky, 2: with their shadows
#endif
#if CLOUDS > 1
#include "clouds.glsl"
#if SEA == 0 && RUNNING == 0
#include "cloud_sky.glsl"
#endif
#endif

#ifndef SHADE
#define SHADE 0  // 1: shadows are read at their height
#endif
#if SHADE == 1
#include "shade.glsl"
#endif

#ifndef PART
#define PART 0  // of the sea: 0 all of it, 1 on the map, 2 around it
#endif

#ifndef WATER
#define WATER 1
#endif
#if SEA == 0 && FINE_WATER == 1 && WATER == 1
#include "plume.glsl"
#include "running_part.glsl"
uniform sampler2D flow;
const float PLUME_DEPTH = 1.8;  // metres of visible plume, the same as of the river
#endif

#if SEA == 0
in vec2 map_place;
#if SEA == 0 && RUNNING == 1
#include "froude.glsl"
in float level;
in vec2 fall;               // slope of the surface to the east and south
in vec2 broad_fall;         // the same over some cells
#if FINE_WATER == 1
in float comes_with;        // m/s of the water that comes from upstream
#endif
uniform sampler2D froude;
uniform sampler2D suspended;  // fine sediment in the water, metres of the bed; a single 0 where none is simulated
// Froude numbers at which water begins to stir up mud, is all muddy, and begins to foam; and of the most foam
const float STIRS = 0.15, MUDDY = 0.7, FOAMS = 1.2, FASTEST = 2.6;
const vec3 MUDDY_FOAM = vec3(0.560, 0.490, 0.385), FRONT_FOAM = vec3(0.790, 0.750, 0.670);
const float EDDIES = 2.6, MIXED_IN = 0.3;  // cells; part of the load
const float SURGES = 0.20;  // slope of the broadest, which turn the sky's light to the eye and away
const float CHURNED = 0.02;  // squared slopes of the finest waves where water is fastest
// By how many octaves deep water that hardly runs has less of its load near its surface; metres of depth, Froude numbers.
const float LOAD_SINKS = 9.0;
const vec2 LOAD_SINKS_IN = vec2(1.4, 5.4), LOAD_MIXED = vec2(0.06, 0.7);
const float MIXED_UNEVENLY = 1.0;  // octaves of the Froude number by which streaks differ in that
const vec3 SLURRY_TURBIDITY = vec3(12.0);  // of mud as thick as it gets: a hand's breadth of it hides the ground
// Shallow water is stirred through, and pale; what it gives back, to which depths in metres, and by how many octaves these
// differ between streaks. Deep water is darker by that part.
const vec3 SHALLOW_MUD = vec3(0.158, 0.117, 0.067);
const vec2 SHALLOWS = vec2(0.15, 2.2);
const float FROM_AROUND = 0.2;   // part of the sun's light in mud
const float SHALLOWS_UNEVEN = 0.7, DEEP_DARKENS = 0.72;
const vec2 ENERGY = vec2(3.0, 11.0);  // m/s, at which water has little foam and all of it
const float FOAM_IF_SLOW = 0.5;       // of that
const float WHITEST = 0.75;  // opacity of the thickest foam
const float AERATED = 0.15;  // of the whitest water, where it runs fastest between patches of foam
// Streaks of a flood: cells of a tile of theirs, over which they are laid out, how much longer than wide, steepness, and
// by how many octaves the load differs between them
const float STREAK_WIDE = 7.0, STREAK_SIDE = 8.0, STREAK_LONG = 9.0, STREAK_STEEP = 0.24, STREAK_LOADS = 1.6;
// Waves that stand, and from a Froude number of 2 on roll (Kennedy 1963; Brock 1969): from which numbers on they rise,
// metres of depth that they need, and how high crests break; cells from crest to crest, steepness, and cells of a pixel
// in which none are seen.
const vec2 WAVES_RISE = vec2(0.55, 1.0), WAVES_NEED = vec2(0.05, 0.7), CRESTS_BREAK = vec2(0.35, 1.0);
const float WAVE_CELLS = 5.5, WAVE_STEEP = 0.20, WAVES_FADE = 2.0;
const float WAVES_ASLANT = 0.35;  // sine of their angle with the way of the water
// How many cells upstream fast water is looked for that becomes slow, by which Froude numbers: a roller.
const float ROLLER = 3.5;
const vec2 ROLLS = vec2(1.0, 2.0), SLOWED = vec2(1.7, 0.9);
// Metres of depth in which the front of fast water is all broken, and how uneven that is; and speeds of the water that comes,
// m/s, at which it does not break, as along the sides of a flood, and all of it does.
const vec2 FRONT_BREAKS = vec2(0.6, 2.4), FRONT_COMES = vec2(1.2, 4.5);
const float FRONT_UNEVEN = 0.9;
// How far ahead of a front, in cells, nothing runs yet; of its foam, what water has that runs along its rim; its teeth, metres.
const float FRONT_AHEAD = 5.0, ALONG_RIM = 0.3;
const vec2 TEETH = vec2(0.12, 0.5);
const float RIM_FOAM = 0.65, RIM_DEPTH = 0.9;  // opacity of foam along steep banks; metres of depth down to which it lies
const vec3 SPLASHED_GROUND = vec3(0.72, 0.68, 0.62);
const float SPLASHED_BY = 0.06;  // metres of the water's depth
const float FINER_STREAKS = 0.31;  // beside the others
// Streaks of foam, on fast water and on the fastest; how much of them there is between bunches and in them; and Froude
// numbers of water that bunches it.
const vec2 STREAKS_FOAM = vec2(-0.20, 0.90), FOAM_IN_BUNCHES = vec2(0.10, 0.95), BUNCHES_FROM = vec2(1.6, 3.6);
const float SEA_BED = 0.1;  // cells below the level of the sea, where running water is all sea
// By how much of its depth the sea may have risen or fallen, where waves begin to change, and where they are lost
const float WAVES_CHANGE = 0.3, WAVES_LOST = 0.9;
#else
flat in float level;
#endif
#endif

// Metres of depth to which stones and weed by the shore are seen, how much of the bed's light they take, and cells of
// their noise; and slopes of a bed that has none and all of them.
const vec2 WEED_STEEP = vec2(0.08, 0.25);
const float WEED_ENDS = 4.0, WEED_HIDES = 0.75, SHORE_STONES_TILE = 24.0;
// Levels that do not know how far the shore is tell it by depth and slope: how wide a shelf is along steep ones, and up
// to where it is only wet, in cells, on slopes up to this.
const float SHELF = 2.0, WET_RIM = 0.16, SHELF_STEEP = 0.5;
// Between the stones of its margin a lake ends unevenly: over so many cells at most, on slopes up to this.
const float MARGIN_CELLS = 0.3, MARGIN_TILE = 17.0, MARGIN_FLAT = 0.03, MARGIN_STEEP = 0.3;
const float EXACT_SHORE = 0.35;  // cells of depth, from which on the bed is as smooth as the map
const float BEYOND_SHORE = 0.5;  // half of how much farther it is looked up over the water than below, where dry ground hides it
const vec3 SOAKED_BED = vec3(0.72, 0.69, 0.65);  // of what a dry bed gives back
const float SOAKED_FROM = 0.25;  // metres of depth
// The ground is soaked up to some way above the water, metres, where none is mirrored yet.
const float SOAKED_EDGE = 0.04, SILT_EVENS = 0.7, SILT_FROM = 0.8;  // metres of depth, where it is all even
// Of the shadows of clouds: what water scatters has come from around, and most of it from the sky.
#if SEA == 1
const float CLOUDS_SHADE = 0.8;
#else
const float CLOUDS_SHADE = 0.4;
#endif
// Gusts, squalls in them, and lanes along the wind: wavelengths of wind waves across a tile of their noise, how much longer
// than wide they are, and how much each tells; the least and the most of the waves in them; and tiles in a pixel, from which
// on they would repeat in sight.
const vec3 GUST_WAVES = vec3(1250.0, 270.0, 150.0), GUST_PARTS = vec3(0.4, 0.24, 0.12);
#if SEA == 1 || RUNNING == 1
const vec3 GUSTS_LONG = vec3(2.2, 1.5, 5.0);
const vec2 GUSTS = vec2(0.65, 1.3);
const float GUSTS_SOFT = 0.0;  // level of the smaller images of their noise
#else
const vec3 GUSTS_LONG = vec3(2.2, 1.5, 14.0);
const float GUSTS_SOFT = 1.0;
const vec2 GUSTS = vec2(0.55, 1.45);  // land around a lake parts the wind
#endif
const vec2 GUSTS_SHOW = vec2(0.34, 0.66), GUSTS_REPEAT = vec2(0.004, 0.016);
const float GUSTS_GRAZED = 0.3;  // of their contrast, where the sea is seen from aside
// At levels that have one read for all of these: wavelengths across a tile, and how much longer than wide they are; waves where
// it is calm and where it is ruffled, beside the usual ones; squared slopes there of ripples too fine to be drawn, in the usual
// wind.
const float LANE_WAVES = SEA == 1 ? 700.0 : 190.0, LANES_LONG = SEA == 1 ? 3.0 : 4.0, LANES_SOFT = 1.5;
const vec2 LANES_SHOW = vec2(0.26, 0.74), LANES = vec2(0.5, 1.5), LANES_RIPPLED = SEA == 1 ? vec2(0.0015, 0.0035) : vec2(0.0, 0.006);
const vec2 LANES_NOISES = SEA == 1 ? vec2(0.0, 1.0) : vec2(0.4, 0.6);  // ragged and smooth
const float LANES_GRAZED = 0.3;  // of their contrast, where the sea is seen from aside
const float LEAST_FETCH = 4.0;  // wavelengths of wind waves, on any water
const float MOST_FETCH = FETCH_RAISES.y * LONGEST_ON_LAKES * LAKE_WAVES;  // the same, from where on no waves get higher
// Over how deep water in wavelengths there are whitecaps.
const vec2 CAPS_DEEP = vec2(0.8, 3.0), CAPS_TORN = vec2(1.5, 0.45);
// Part of the slopes of swell that is drawn far out; how high beside the highest it shows whole.
const float FAR_SWELL = 0.45;
const vec2 SWELL_SHOWS = vec2(0.1, 0.5);
const vec3 CREST_GLOW = vec3(0.013, 0.058, 0.052);
// The sea fades into the sky at the horizon, but for a faint line, and its colour into the haze over a wider strip: angles below
// it in which to 1/e, radians, and how far.
const vec2 HORIZON = vec2(0.007, 0.04), HORIZON_FADES = vec2(0.62, 0.30);
// Low over the sea its waves mirror haze and the sides of clouds, not blue: sine of the height in which to 1/e, and how much.
const float LOW_SKY = 0.16, LOW_SKY_HAZY = FINE_WATER == 1 ? 0.72 : 0.4;
// Waves wear a bench into a coast, which cells are too coarse for: its slope, its width in wavelengths of the deep sea where
// it is narrowest and widest, and from which part of that on it drops to the bed. Over it they stir up sand and bubbles.
const float BENCH_SLOPE = 0.09, BENCH_DROPS = 0.25;
#if SEA == 1 || RUNNING == 1
const vec2 BENCH_ROOM = vec2(0.02, 0.12);  // for waves, that makes none and all of it
const vec2 BENCH_WIDE = vec2(0.8, 3.2);
const float BENCH_FELT = 5.0;  // times as far out as on it waves are slow
const vec3 STIRRED_WATER = vec3(0.018, 0.072, 0.076);
#else
const vec2 BENCH_ROOM = vec2(0.09, 0.16);  // none where waves on lakes end
const vec2 BENCH_WIDE = vec2(0.25, 1.2);
const vec3 STIRRED_WATER = vec3(0.017, 0.031, 0.026);
#endif
const float FALL_OF_BED = 0.035;  // slope of the sea floor beyond the map
#if SEA == 1
const vec3 DEEP_WATER = DEEP_SEA;
const vec3 TURBIDITY = SEA_TURBIDITY;
const float WAVINESS = 1.0;
const float SHORE = 0.12;   // metres of depth over which water fades in
#else
const vec3 DEEP_WATER = DEEP_LAKE;
const vec3 TURBIDITY = LAKE_TURBIDITY;
const float WAVINESS = 0.55;
const float SHORE = RUNNING == 1 ? 0.05 : 0.02;
#endif
const float EDGE_PIXEL = SEA == 1 || RUNNING == 1 || FINE_WATER == 0 ? 0.5 : 0.0;  // pixels before its edge, where water begins
const float SHORE_AT_RIVER = 0.20;  // the same where a river runs in

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

// Distance of a place to the edge of the map, in metres; negative outside.
float within_map(vec2 place) {
    vec2 low = place - 0.5 * frame.map.z, high = map_extent() - 0.5 * frame.map.z - place;
    return min(min(low.x, low.y), min(high.x, high.y));
}

// The colour of the sea floor around the map, where no ground is drawn.
vec3 bed_without_land(vec2 place) {
#if SEA == 0
    return vec3(0.0);  // lakes lie on the map
#elif FINE_WATER == 1
    vec2 cells = place / frame.map.z;
    return bed_material(fine_detail(cells), coarse_detail(cells), 1.0);
#else
    return bed_material(vec4(0.5), vec4(0.5), 1.0);
#endif
}

// The distance after which a ray from outside enters the map, if it does; 0 on the map.
float way_to_map(vec2 place, vec2 direction) {
    if (within_map(place) > 0.0) return 0.0;
    vec2 along = mix(direction, vec2(1e-6), lessThan(abs(direction), vec2(1e-6)));
    float edge = 0.5 * frame.map.z;
    vec2 entries = (mix(vec2(edge), map_extent() - edge, lessThan(along, vec2(0.0))) - place) / along;
    return max(max(entries.x, entries.y), 0.0);
}

#if SHADE == 1
// Visibility of the sun. Around the map it is read where the ray towards the sun enters the map.
float sun_past_land(vec3 from) {
    vec2 direction = normalize(frame.sun.xz + vec2(1e-5, 0.0));
    float entry = way_to_map(from.xz, direction), height = from.y + frame.sun.w * entry;
    if (height > frame.heights.y) return 1.0;
    vec2 at = from.xz + direction * entry, uv = map_uv(at);
    if (within_map(at) < -0.01 * frame.map.z) return 1.0;  // the ray misses the map
    vec2 texels = vec2(textureSize(shade, 0)), place = uv * texels - 0.5, part = fract(place);
    float soft = max(SUN_WIDTH * (textureLod(shade, uv, 0.0).y + entry), SOFTEST * frame.map.z);
    // Interpolate light, not heights: at the edge of a shadow, heights differ by those of mountains.
    vec4 lit = smoothstep(-0.5, 0.5, (height - textureGather(shade, (floor(place) + 1.0) / texels, 2)) / soft);
    return mix(mix(lit.w, lit.z, part.x), mix(lit.x, lit.y, part.x), part.y);
}
#endif

#if SEA == 0 && RUNNING == 1
// Fine sediment, metres of the bed in one of water. Eddies mix it into clear pools that are smaller than the river.
float load_at(vec2 uv, float depth) {
    float own = textureLod(suspended, uv, 0.0).x / depth;
    if (own > CARRIES_MUD.y) return own;
    vec2 away = EDDIES / frame.map.xy, aside = vec2(away.x, -away.y);
    float beside = max(max(textureLod(suspended, uv + away, 0.0).x, textureLod(suspended, uv - away, 0.0).x),
                       max(textureLod(suspended, uv + aside, 0.0).x, textureLod(suspended, uv - aside, 0.0).x));
    return max(own, MIXED_IN * beside / depth);
}
#endif

// Visibility of sun and sky from the surface, where the bed below a depth of water has the visibility `seen`.
vec3 seen_by_surface(vec3 seen, vec3 from, float depth) {
    vec3 open = mix(vec3(1.0), seen, exp(-0.3 * depth));
#if SHADE == 1
    open.x = sun_past_land(from);
#endif
    return open;
}

#if HORIZONS == 1
// The horizon in a direction: slope and distance in sides of the map, from the two nearest that are known; and the most that
// either says.
vec4 horizons_at(vec2 uv, vec2 direction) {
    vec2 tiles = vec2(HORIZON_TILES), tile = vec2(textureSize(horizons, 0)) / tiles;
    float turn = turn_of(direction) * HORIZON_TURNS / 4.0, first = floor(turn);
    vec2 inside = clamp(uv, 0.5 / tile, 1.0 - 0.5 / tile), numbers = mod(vec2(first, first + 1.0), HORIZON_TURNS);
    vec2 rows = floor(numbers / tiles.x), columns = numbers - rows * tiles.x;
    vec2 one = textureLod(horizons, (vec2(columns.x, rows.x) + inside) / tiles, 0.0).xy;
    vec2 other = textureLod(horizons, (vec2(columns.y, rows.y) + inside) / tiles, 0.0).xy;
    return vec4(unpacked_horizon(mix(one, other, turn - first)), unpacked_horizon(max(one, other)));
}
#endif

#if FINE_WATER == 1
const float CLOUDS_SMEARED = 0.03;  // radians over which waves smear mirrored clouds, also waves that are seen
const float LAND_BEGINS = 0.6;  // texels of the lit land behind its shore, from where it is read
const int MIRROR_STEPS = 22;  // at most; and as long as a cell where these reach over the land
const float LEAST_STEPS = 6.0;
// Of the texels of the map of horizons, how far a place is from theirs; and by which slope the land may pass the horizon.
const float HORIZON_BETWEEN = 0.75, HORIZON_MARGIN = 0.015, HORIZON_REACH = 1.6;
const float FINENESS = 0.5;          // of the land that is looked up, in steps: means over whole ones have no crests
const float SEEN_PART = 0.02;      // of the mirrored light, from which on land is looked up
// Part of the slopes of waves by which they turn the mirrored land; steepness of the rest in the usual wind. Of mirrored land:
// half the angle over which it is smeared in still water, and for each deviation of the slopes of waves. Those of lakes are
// seen to break it, and so smear it less.
#if SEA == 1 || RUNNING == 1
const float MIRROR_TILTS = 0.2, MIRROR_SMEARS = 0.03, STILL_EDGE = 0.012, EDGE_OF_WAVES = 0.7;
#else
const float MIRROR_TILTS = 0.5, MIRROR_SMEARS = 0.012, STILL_EDGE = 0.004, EDGE_OF_WAVES = 0.4;
#endif
// Optical depth over the height of a tree, where crowns are closed; waves that are not seen let light between them.
const float DENSE_CROWNS = SEA == 1 || RUNNING == 1 ? 1.5 : 2.8;
const float CROWNS_THIN_OUT = 0.3;  // towards their tops, of their height
const float CROWNS_BELOW = 0.55;  // brightness of the lower sides of crowns, which water mirrors

// The distance after which a ray leaves the map.
float way_out_of_map(vec2 place, vec2 direction) {
    vec2 along = mix(direction, vec2(1e-6), lessThan(abs(direction), vec2(1e-6)));
    float edge = 0.5 * frame.map.z;
    vec2 exits = (mix(map_extent() - edge, vec2(edge), lessThan(along, vec2(0.0))) - place) / along;
    return min(exits.x, exits.y);
}

// Ground and crowns at a distance of a ray, the mean over a step: the slope up to the ground from where the ray starts, and
// to the tops of crowns.
vec2 slopes_to_land(vec3 from, vec3 ray, float reach, float wide) {
    float level_of_detail = log2(max(FINENESS * wide / frame.map.z, 1.0));
    vec2 land = textureLod(skyline, map_uv(from.xz + ray.xz * reach), level_of_detail).xy * frame.map.w;
    return vec2(land.x - from.y, land.x + land.y - from.y) / reach;
}

// The colour of the land at a distance of a ray, seen through the air; it is the mean over so many metres.
vec3 mirrored_land(vec3 from, vec3 ray, float reach, float wide) {
    // At low heights read a little farther inland: texels at the shore are half water.
    float texel = map_extent().x / float(textureSize(lit_land, 0).x);
    float in_land = LAND_BEGINS * texel * (1.0 - smoothstep(0.0, 2.0 * texel, ray.y * reach));
    vec4 land = textureLod(lit_land, map_uv(from.xz + ray.xz * (reach + in_land)), log2(max(wide / texel, 1.0)));
    return mix(horizon_colour(normalize(ray)), land.rgb / max(land.a, 1e-3), exp(-frame.air.x * reach));
}

// A distance in metres within which there is certainly no land; `shore` is what `nearshore` says of the place.
float open_water(vec4 shore) {
#if WAVES == 1
    return shore.w > 0.0 ? 0.9 * shore.x * frame.map.z : 0.0;  // puddles have no coast of their own in the map
#else
    return 0.0;
#endif
}
#endif

#if HORIZONS == 1 && FINE_WATER == 0
// Half of the noise of the high clouds of the sky (see backdrop.frag), whose finer half waves blur.
const vec2 MIRRORED_WISPS = vec2(0.46, 0.78);

// The sky in a mirrored direction, with its high clouds.
vec3 sky_with_wisps(vec3 direction) {
    vec2 plane = direction.xz / (direction.y + 0.10) * 0.060 + vec2(0.0004, 0.0001) * frame.camera.w;
    float body = textureLod(detail, plane * vec2(0.55, 1.0), 2.0).w;
    float cover = smoothstep(MIRRORED_WISPS.x, MIRRORED_WISPS.y, body * 0.62 + 0.19) * smoothstep(0.01, 0.11, direction.y);
    vec3 lit = frame.sun_light.rgb * 0.2 + sky_light(vec3(0.0, 1.0, 0.0));
    return mix(clear_sky(direction), lit, 0.62 * cover * frame.cloud_drift.z);
}

// Of the way to the horizon, from where on its land is seen at the height of the water, and up to where: behind the crest
// may be sunlight that is not seen from here.
const float HILLSIDE = 0.45, CREST = 0.93;

// What lies before the sky in a mirrored direction: the land up to the horizon, as seen through the air, with soft rims.
vec3 mirrored_by_horizon(vec3 from, vec3 direction, float smeared, vec3 sky) {
    float level = max(length(direction.xz), 1e-3), slope = direction.y / level;
    vec2 horizon = horizons_at(map_uv(from.xz), direction.xz).xy;
    float covered = smoothstep(-smeared, smeared, horizon.x - slope);
    if (covered == 0.0) return sky;
    float reach = horizon.y * frame.heights.w * mix(HILLSIDE, CREST, clamp(slope / max(horizon.x, 1e-3), 0.0, 1.0));
    vec4 land = textureLod(lit_land, map_uv(from.xz + direction.xz / level * reach), 0.0);
    vec3 seen = mix(horizon_colour(direction), land.rgb / max(land.a, 1e-3), exp(-frame.air.x * reach));
    return mix(sky, seen, covered);
}
#endif

#if HORIZONS == 1 && FINE_WATER == 1
// Whether all land from a distance on stays below a slope, where the horizon is this high no farther away than `between`.
bool is_below(float horizon, float distance, float between, float slope) {
    return distance > 2.0 * between && horizon * distance / (distance - between) + HORIZON_MARGIN < slope;
}
#endif

// The sky without clouds in a mirrored direction.
vec3 mirrored_clear_sky(vec3 direction, float roughness) {
    vec3 mirror = clear_sky(raised(direction, roughness));
#if SEA == 1
    mirror = mix(mirror, horizon_colour(direction), LOW_SKY_HAZY * exp(-direction.y / LOW_SKY));
#endif
    return mirror;
}

// The reflection from a direction: the sky, or land in front of it, which is mirrored from a `calmer` one. `roughness` is
// that of the waves within a pixel, and `tilt` the steepness of waves that blur like roughness; `coast` is what `nearshore`
// says of the place.
vec3 mirrored(vec3 from, vec3 direction, vec3 calmer, float roughness, float tilt, vec3 seen, vec3 light_here, vec4 coast) {
#if FINE_WATER == 1
    vec3 mirror = mirrored_clear_sky(direction, roughness);
#if CLOUDS > 1 && SEA == 0 && RUNNING == 0
    mirror = with_clouds(from, normalize(direction + calmer), CLOUDS_SMEARED * tilt / (tilt + STILL_EDGE) + 2.0 * sqrt(roughness), mirror);
#endif
    // The ray is scaled to a horizontal length of 1, so that `reach` is a distance on the map. It starts at the entry.
    vec3 ray = calmer / max(length(calmer.xz), 1e-3);
    // Waves finer than a pixel spread what is mirrored in height, much more than across. So the land is summed up from near
    // to far: each place that stands over all before it fills the part of the spread between their slopes and its own.
    float spread = STILL_EDGE + EDGE_OF_WAVES * sqrt(roughness) + 0.5 * tilt;
    float entry = way_to_map(from.xz, ray.xz);
#if WAVES == 1
    if (entry > 0.0) coast = textureLod(nearshore, map_uv(from.xz + ray.xz * entry), 0.0);
#endif
    float first = entry + max(1.5 * frame.map.z, open_water(coast));
    float last = way_out_of_map(from.xz, ray.xz), over_all = frame.heights.y + tallest_tree - from.y;
    if (ray.y > spread) last = min(last, over_all / (ray.y - spread));
    if (first >= last) return mirror;
#if HORIZONS == 1
    // Places between those whose horizon is known see the same land, from so much nearer at most.
    float between = HORIZON_BETWEEN * frame.heights.w / float(max(textureSize(horizons, 0).x, textureSize(horizons, 0).y) / HORIZON_TILES.x);
    vec4 horizon = horizons_at(map_uv(from.xz), ray.xz);
    if (is_below(horizon.z, first, between, ray.y - spread)) return mirror;
    if (first > 2.0 * between) {
        last = min(last, HORIZON_REACH * horizon.w * frame.heights.w + 2.0 * between);  // behind it nothing is seen
        if (first >= last) return mirror;
    }
#endif
    // Steps grow evenly, from a cell on.
    float steps = clamp(ceil((last - first) / frame.map.z), LEAST_STEPS, float(MIRROR_STEPS)), step_length = min(frame.map.z, (last - first) / steps);
    float grows = ((last - first) / steps - step_length) / steps;
    float covered = 0.0, crowns = 0.0, where_crowns = 0.0;  // part of the spread; optical depth; that times its distance
    float highest = 0.0;  // slope up to land
    vec3 land = vec3(0.0);
    vec2 before = vec2(0.0), here = slopes_to_land(from, ray, first, step_length);
    float reach = first;
    for (int i = 0; i < int(steps) && covered < 1.0 - SEEN_PART; ++i) {
#if HORIZONS == 1
        if (is_below(horizon.z, reach, between, ray.y - spread)) break;
#endif
        float next = first + float(i + 1) * (step_length + grows * float(i + 1)), onward = next - reach;
        vec2 after = slopes_to_land(from, ray, next, onward);
        // Of a crest between steps the height follows by a parabola.
        float bend = 2.0 * here.x - before.x - after.x, slant = after.x - before.x;
        float top = here.x + (i > 0 && here.x >= max(before.x, after.x) ? slant * slant / max(8.0 * bend, 1e-6) : 0.0);
        float part = smoothstep(-spread, spread, top - ray.y);
        if (tallest_tree > 0.0) {
            // Trees let light through: their crowns are no edge.
            float soft = max(spread, CROWNS_THIN_OUT * (here.y - here.x));
            float inside = max(smoothstep(-soft, soft, here.y - ray.y) - max(part, covered), 0.0);
            float dense = DENSE_CROWNS * min((here.y - here.x) * reach / tallest_tree, 1.0);
            float passed = inside * dense * max(onward, i == 0 ? frame.map.z : 0.0) / tallest_tree;
            crowns += passed;
            where_crowns += passed * reach;
        }
        if (part > covered + SEEN_PART) {
            // What fills it lies on the way up from the step before, from where that comes into the spread; but not in water.
            float hidden = clamp((max(highest, ray.y - spread) - before.x) / max(top - before.x, 1e-6), 0.0, 1.0);
            float wide = (1.0 - hidden) * clamp(before.x / max(top, 1e-6), 0.0, 1.0) * onward;
            land += (part - covered) * mirrored_land(from, ray, reach - 0.5 * wide, wide);
            covered = part;
        }
        highest = max(highest, top);
        before = here;
        here = after;
        reach = next;
    }
    mirror = land + mirror * (1.0 - covered);
    if (crowns > 0.01) {
        vec3 leaves = CROWNS_BELOW * mirrored_land(from, ray, where_crowns / crowns, 0.0);
        mirror = mix(mirror, leaves, 1.0 - exp(-crowns));
    }
    return mirror;
#elif HORIZONS == 1
    return mirrored_by_horizon(from, direction, 0.02 + 0.6 * sqrt(roughness) + 0.5 * tilt, sky_with_wisps(raised(direction, roughness)));
#elif RUNNING == 0
    return mirrored_sky(direction, roughness, seen.y, light_here, mirrored_clear_sky(direction, roughness));
#else
    return mirrored_sky(direction, roughness, seen.y, light_here);
#endif
}

#if SEA == 0 && RUNNING == 0 && FINE_WATER == 1
// Metres of water that lie before the wind, up to what raises the highest waves: from place to place by as far as no coast is.
float fetch_on_lake(vec2 place, vec4 coast) {
    float fetch = max(coast.x, 0.0) * frame.map.z;
#if WAVES > 0
    for (int i = 0; i < 2 && fetch < MOST_FETCH * frame.water.z; ++i)
        fetch += max(textureLod(nearshore, map_uv(place - frame.wind.xy * fetch), 0.0).x, 0.0) * frame.map.z;
#endif
    return max(fetch, LEAST_FETCH * frame.water.z);
}
#endif

#if SEA == 0 && WAVES > 0
// 1 on lakes with waves; 0 on puddles and next to them, where interpolation would read their values.
float lake_with_waves(vec2 uv) {
    return all(greaterThan(textureGather(nearshore, uv, 3), vec4(0.0))) ? 1.0 : 0.0;
}
#endif

void main() {
#if SEA == 1
    vec3 ray = (frame.rays * vec4(gl_FragCoord.xy / scene_size * 2.0 - 1.0, 1.0, 0.0)).xyz;
    float level = frame.water.w;
    float drop = level * frame.map.w - frame.camera.y;
    vec2 map_place = frame.camera.xz + ray.xz * (drop / (drop < 0.0 ? min(ray.y, -1e-7) : max(ray.y, 1e-7)));
#if PART == 0
    bool outside = within_map(map_place) <= 0.0;
#else
    const bool outside = PART == 2;
#endif
#else
    const bool outside = false;
#endif
    vec3 position = vec3(map_place.x, level * frame.map.w, map_place.y);
    vec2 uv = map_uv(map_place);
#if SEA == 0 && RUNNING == 1
    // A calm sea is drawn by another pass, as one surface.
    float there = any(equal(textureGather(water_level, uv, 0), vec4(frame.water.w))) ? 0.0 : 1.0;
#else
    float there = outside ? 1.0 : belongs(uv, level);
#if SEA == 1 && PART == 0
    // Water that runs ends at the edge of the map: without a pixel of both, rounding would leave holes between them.
    if (within_map(map_place) < length(fwidth(map_place))) there = 1.0;
#endif
#endif
    vec4 bed = textureLod(surface, uv, 0.0);
    float water = (level - bed.x) * frame.map.w;  // depth in metres
#if SEA == 0 && FINE_WATER == 1
    // By the shore the ground is looked up as it is drawn.
    float by_shore = 1.0 - smoothstep(0.5 * EXACT_SHORE, EXACT_SHORE, abs(water / frame.map.z + BEYOND_SHORE) - BEYOND_SHORE);
    if (by_shore > 0.0) water = mix(water, (level - elevation_at(surface, uv)) * frame.map.w, by_shore);
#endif
    float blur = fwidth(water);
    vec4 pixel = vec4(dFdx(map_place), dFdy(map_place));
    if (there <= 0.0) discard;
#if SEA == 0 && RUNNING == 0 && FINE_WATER == 1
    if (water <= -0.5 * blur) discard;  // below dry ground, of which most is drawn before it
#endif
#if WAVES > 0
    vec4 coast = textureLod(nearshore, uv, 0.0);
#else
    const vec4 coast = vec4(0.0);
#endif

    vec3 to_eye = normalize(frame.camera.xyz - position);
    float steepness = max(abs(to_eye.y), 1e-3);
#if FINE_WATER == 1
    // The refracted ray meets the bed elsewhere, where it has another depth.
    vec3 below = refract(-to_eye, vec3(0.0, 1.0, 0.0), 1.0 / 1.33);
    vec2 reached = map_place - below.xz / min(below.y, -0.1) * max(water, 0.0);
    float met = (level - textureLod(surface, map_uv(reached), 0.0).x) * frame.map.w;
    float depth = max(0.5 * (water + met), 0.0) / frame.map.w;
#else
    float depth = max(water, 0.0) / frame.map.w;
#endif
    // How much of the water is that of a river, which runs into a lake without an edge.
#if SEA == 0 && FINE_WATER == 1 && WATER == 1
    float river_here = plume_strength(flow, uv);
#if RUNNING == 0
    // What stands in the bed of a river is a part of it, as far as that is drawn: see end_in_lake in stream.glsl.
    float pool = 1.0 - smoothstep(0.3, 2.5, water / frame.map.w);
    if (pool > 0.0) there *= 1.0 - running_part(textureLod(flow, uv, 0.0).x) * pool;
    if (there <= 0.0) discard;
#endif
#else
    const float river_here = 0.0;
#endif
    float margin = mix(SHORE, SHORE_AT_RIVER, river_here) * frame.map.w, edge = 0.0;
#if SEA == 0 && RUNNING == 0 && FINE_WATER == 1
    edge = SOAKED_EDGE * frame.map.w;
    if (by_shore > 0.0) {
        float uneven = textureLod(detail, map_place / (frame.map.z * MARGIN_TILE), 1.0).w;
        edge += MARGIN_CELLS * smoothstep(0.3, 0.7, uneven) * MARGIN_STEEP * smoothstep(MARGIN_FLAT, MARGIN_STEEP, length(bed.yz) * frame.map.w) * frame.map.z;
    }
#endif
#if SEA == 0 && RUNNING == 0 && FINE_WATER == 0
    float fall_of_cell = min(length(bed.yz), SHELF_STEEP) * frame.map.z;  // metres that the bed falls in a cell
    edge = WET_RIM * fall_of_cell * frame.map.w;
#endif
    edge *= 1.0 - river_here;
    float shore = smoothstep(edge, edge + margin + 1.5 * blur, water + EDGE_PIXEL * blur) * there;
    vec3 seen = textureLod(light, uv, 0.0).xyz;
#if SEA == 1
    // Around the map the sea floor slopes down from the edge, and the ground pass has not drawn it.
    float beyond = max(-within_map(map_place), 0.0) / frame.heights.w;
    depth += FALL_OF_BED * frame.heights.w * beyond * beyond / (beyond + 0.15);
#if PART == 2
    const float drawn = 0.0;
#else
    // The point of the bed that this pixel shows; a bed that slopes down is hit farther away.
    vec2 path = -to_eye.xz / max(to_eye.y, 0.02);
    vec2 behind = map_place + path * max(water, 0.0);
    behind = map_place + path * max(water, level * frame.map.w - ground_height(surface, behind));
    float drawn = smoothstep(0.005, 0.05, min(within_map(behind), within_map(map_place)) / frame.heights.w);
#endif
    seen = mix(vec3(1.0), seen, exp(-30.0 * beyond));
    if (outside) shore = 1.0;
#else
    float drawn = 1.0;
#endif

    seen = seen_by_surface(seen, position, depth);
#if CLOUDS > 1
    seen.x *= mix(1.0, sun_past_clouds(position), CLOUDS_SHADE);
#endif
#if SEA == 0 && RUNNING == 1
    float of_sea = smoothstep(0.0, SEA_BED * frame.map.z, frame.water.w - level + water / frame.map.w);
    float waviness = mix(WAVINESS, 1.0, of_sea);
#else
    float waviness = WAVINESS;
#endif
#if FINE_WATER == 1
    // Gusts lie along the wind, of more than one size, so that none repeats in sight. Far away their mean is seen.
    vec2 with_wind = vec2(dot(map_place, frame.wind.xy), dot(map_place, vec2(-frame.wind.y, frame.wind.x))) / frame.water.z;
    float gust_pixel = sqrt(length(pixel.xy) * length(pixel.zw)) / frame.water.z, gusts = 0.5;
    for (int i = 0; i < 3; ++i) {
        float tiles = gust_pixel / GUST_WAVES[i], shown = 1.0 - smoothstep(GUSTS_REPEAT.x, GUSTS_REPEAT.y, tiles);
        if (shown <= 0.0) continue;
        vec2 at = with_wind / (GUST_WAVES[i] * vec2(GUSTS_LONG[i], 1.0)) + 0.37 * float(i);
        gusts += GUST_PARTS[i] * shown * (textureLod(detail, at, GUSTS_SOFT + noise_level(tiles, detail)).w - 0.5);
    }
    gusts = mix(0.5, gusts, mix(GUSTS_GRAZED, 1.0, smoothstep(0.02, 0.2, to_eye.y)));
    waviness *= mix(GUSTS.x, GUSTS.y, smoothstep(GUSTS_SHOW.x, GUSTS_SHOW.y, gusts));
#elif RUNNING == 0
    vec2 with_wind = vec2(dot(map_place, frame.wind.xy), dot(map_place, vec2(-frame.wind.y, frame.wind.x)));
    vec2 in_lanes = with_wind / (frame.water.z * LANE_WAVES * vec2(LANES_LONG, 1.0));
    float ruffled = smoothstep(LANES_SHOW.x, LANES_SHOW.y, dot(LANES_NOISES, texture(detail, in_lanes, LANES_SOFT).xw));
#if SEA == 1
    ruffled = mix(0.5, ruffled, mix(LANES_GRAZED, 1.0, smoothstep(0.02, 0.25, to_eye.y)));
#endif
    waviness *= mix(LANES.x, LANES.y, ruffled);
#endif
#if SEA == 1 || RUNNING == 1
    const float fetch = 2.0 * OPEN_SEA;
#elif FINE_WATER == 1
    float fetch = fetch_on_lake(map_place, coast);
#else
    const float fetch = 0.0;
#endif
    Waves waves = water_waves(map_place, pixel, depth, waviness, fetch);
    float tilt = 0.0;
#if FINE_WATER == 0 && RUNNING == 0
    waves.roughness += frame.water.y * mix(LANES_RIPPLED.x, LANES_RIPPLED.y, ruffled);
#endif
#if SEA == 0 && RUNNING == 1
    waves.slope += fall * frame.map.w;
    float quick = textureLod(froude, uv, 0.0).x;
    float runs = smoothstep(0.3 * STIRS, MUDDY, quick);
    vec2 ripples = map_place / (frame.map.z * 2.5);
    // Foam forms patches that break up into finer ones.
    vec4 surges = textureLod(detail, ripples / 19.0, 1.0);
    waves.slope += SURGES * smoothstep(STIRS, FOAMS, quick) * (surges.yz - 0.5);
    float patches = surges.w + 0.7 * textureLod(detail, ripples / 5.3, 0.0).w - 0.85;
    float streak = patches, crests = 0.0, roller = 0.0, comes = 1.0;
#if FINE_WATER == 1
    if (runs > 0.0) {
        vec2 downstream = -broad_fall / max(length(broad_fall), 1e-6);
        float wide = max(length(pixel.xy), length(pixel.zw)) / (frame.map.z * STREAK_WIDE);
        vec4 drawn_out = drawn_out_noise(map_place / frame.map.z, downstream, STREAK_SIDE, STREAK_LONG,
                                         frame.streams.z * frame.camera.w, STREAK_WIDE, noise_level(wide, detail), detail);
        waves.slope += STREAK_STEEP * runs * (downstream * drawn_out.y + vec2(-downstream.y, downstream.x) * drawn_out.z);
        vec4 finer = drawn_out_noise(map_place / frame.map.z, downstream, FINER_STREAKS * STREAK_SIDE, STREAK_LONG, frame.streams.z * frame.camera.w,
                                     FINER_STREAKS * STREAK_WIDE, noise_level(wide / FINER_STREAKS, detail), detail);
        waves.slope += STREAK_STEEP * runs * (downstream * finer.y + vec2(-downstream.y, downstream.x) * finer.z);
        streak = mix(patches, 1.5 * drawn_out.w + 0.9 * finer.w + 0.35 * patches, runs);
        float ahead = textureLod(froude, uv + FRONT_AHEAD * downstream / frame.map.xy, 0.0).x;
        comes = mix(1.0, ALONG_RIM, smoothstep(0.2, 1.2, ahead)) * smoothstep(FRONT_COMES.x, FRONT_COMES.y, comes_with + 4.0 * (surges.w - 0.5));
        float seen_waves = 1.0 - smoothstep(0.4 * WAVES_FADE, WAVES_FADE, STREAK_WIDE * wide);
        float rise = seen_waves * smoothstep(WAVES_RISE.x, WAVES_RISE.y, quick) * smoothstep(WAVES_NEED.x, WAVES_NEED.y, depth);
        if (rise > 0.0) {
            // Water that is faster than its waves holds them aslant, and those from both sides cross.
            float sine = clamp(1.0 / max(quick, 1e-3), WAVES_ASLANT, 1.0), cosine = sqrt(1.0 - sine * sine);
            vec2 aside = vec2(-downstream.y, downstream.x), one = sine * downstream + cosine * aside, other = sine * downstream - cosine * aside;
            vec4 waves_there = crossing_waves(map_place / (frame.map.z * WAVE_CELLS * WAVES_IN_SQUARE), one, other);
            waves.slope += WAVE_STEEP * rise * (waves_there.y * one + waves_there.w * other);
            crests = rise * smoothstep(CRESTS_BREAK.x, CRESTS_BREAK.y, 0.6 * (waves_there.x + waves_there.z) + 0.8 * streak);
        }
        float before = textureLod(froude, uv - ROLLER * downstream / frame.map.xy, 0.0).x;
        roller = smoothstep(ROLLS.x, ROLLS.y, before - quick) * smoothstep(SLOWED.x, SLOWED.y, quick);
    }
#endif
    float fast = smoothstep(0.5 * FOAMS, 1.3 * FOAMS, quick);
    float clumps = 1.1 * patches + 0.5 * streak;  // what breaks at a front heaps up
    float front = comes * fast * (1.0 - smoothstep(FRONT_BREAKS.x, FRONT_BREAKS.y, depth * (1.0 - FRONT_UNEVEN * clumps)));
    shore *= mix(1.0, smoothstep(0.0, 0.25, depth / mix(TEETH.x, TEETH.y, comes) + 0.9 * clumps), fast);
    float foams = smoothstep(STREAKS_FOAM.x, STREAKS_FOAM.y, streak + 0.08 * (min(quick, FASTEST) - FOAMS));
    float bunched = smoothstep(0.52, 0.84, surges.w + 0.12 * smoothstep(BUNCHES_FROM.x, BUNCHES_FROM.y, quick));
    float energy = smoothstep(ENERGY.x, ENERGY.y, speed_of(quick, depth));
    float white = fast * foams * mix(FOAM_IN_BUNCHES.x, FOAM_IN_BUNCHES.y, bunched) * mix(FOAM_IF_SLOW, 1.0, energy);
    white = max(white, max(mix(0.16, 0.8, bunched) * fast * crests, max(roller * smoothstep(-0.3, 0.2, streak), front * smoothstep(-0.65, 0.8, clumps - 0.6 * (1.0 - front)))));
    // Foam and what floats gathers along the rim.
    white = max(white, RIM_FOAM * fast * smoothstep(0.08, 0.25, length(bed.yz)) * (1.0 - smoothstep(0.3, 1.0, depth / RIM_DEPTH - clumps)));
    waves.roughness += CHURNED * smoothstep(STIRS, FOAMS, quick);
    float mud = smoothstep(STIRS, MUDDY, quick * (1.0 + 0.6 * streak)), thick = 0.0, slurry = 0.0;
    if (textureSize(suspended, 0).x > 1) {
        float sinks = LOAD_SINKS * smoothstep(LOAD_SINKS_IN.x, LOAD_SINKS_IN.y, depth) * (1.0 - smoothstep(LOAD_MIXED.x, LOAD_MIXED.y, quick * exp2(MIXED_UNEVENLY * streak)));
        vec2 muddy = muddiness(log2(max(load_at(uv, max(depth, 0.05)), 1e-6)) + STREAK_LOADS * streak - sinks);
        mud = muddy.x;
        thick = muddy.y;
        slurry = muddy.y * muddy.y;
    }
    float deep = smoothstep(SHALLOWS.x, SHALLOWS.y, depth * exp2(SHALLOWS_UNEVEN * streak));
    vec3 deep_water = mix(mix(DEEP_WATER, DEEP_SEA, of_sea), mix(SHALLOW_MUD, DEEP_DARKENS * mix(MUD, THICK_MUD, thick), deep), mud);
    vec3 turbidity = mix(mix(TURBIDITY, SEA_TURBIDITY, of_sea), mix(RIVER_TURBIDITY, mix(THICK_TURBIDITY, SLURRY_TURBIDITY, slurry), thick), mud);
#else
    vec3 deep_water = DEEP_WATER;
    const vec3 turbidity = TURBIDITY;
#endif
#if WAVES == 1
    float foam = 0.0, crest = 0.0;
#endif
    float to_bed = depth;  // or to the bench before the coast
#if SEA == 0 && RUNNING == 0 && FINE_WATER == 0
    to_bed *= depth / max(depth + SHELF * fall_of_cell, 1e-3);
#endif
#if WAVES == 1
    if (!outside) {
        Shore coming = shore_at(map_place, coast);
#if SEA == 0
        float has_waves = coming.away > 2.0 ? 1.0 : lake_with_waves(uv);
#if RUNNING == 1
        float changed = abs(level - frame.water.w) / max(coming.depth, 1e-3);
        has_waves *= of_sea * (1.0 - smoothstep(WAVES_CHANGE, WAVES_LOST, changed));
#endif
        coming.strength *= has_waves;
        coming.room *= has_waves;
#endif
        if (coming.room > BENCH_ROOM.x) {
            float off = max(coming.away, 0.0) * frame.map.z;
            float wider = smoothstep(-1.8, 1.8, 0.8 * coming.broad + 0.5 * coming.uneven);
            float wide = mix(BENCH_WIDE.x, BENCH_WIDE.y, wider) * TWO_PI / frame.waves.x;
            float bench = smoothstep(BENCH_ROOM.x, BENCH_ROOM.y, coming.room) * (1.0 - smoothstep(BENCH_DROPS, 1.0, off / wide));
            to_bed = mix(depth, min(depth, BENCH_SLOPE * off), bench);
#if SEA == 1 || RUNNING == 1
            // On it waves are slow, turn to the coast and break (Airy 1845). What they fall behind they have made up farther out.
            coming.depth = min(coming.depth, mix(coming.depth, BENCH_SLOPE * off, bench));
            float slow_from = 1.0 / (BENCH_SLOPE * frame.waves.x), on = min(off, slow_from);
            float behind = 2.0 * sqrt(frame.waves.x / BENCH_SLOPE * on) - frame.waves.x * on;
            coming.phase += behind * (1.0 - smoothstep(slow_from, BENCH_FELT * slow_from, off)) * smoothstep(BENCH_ROOM.x, BENCH_ROOM.y, coming.room);
#endif
#if SEA == 0 && RUNNING == 1
            bench *= 1.0 - mud;
#endif
            deep_water = mix(deep_water, STIRRED_WATER, bench * bench);
        }
        if (coming.strength > 0.0) {
            Wave wave = wave_at(map_place, coming, pixel);
            // Swell shows where it steepens; far out it is one train among those of the wind.
            float rises = smoothstep(SWELL_SHOWS.x, SWELL_SHOWS.y, wave.breaking);
            waves.slope += mix(FAR_SWELL, 1.0, rises) * wave.slope;
            tilt = 0.5 * frame.waves.x * frame.waves.w * coming.strength;
            waves.roughness += wave.roughness;
            foam = foam_at(map_place, coming, wave, max(length(pixel.xy), length(pixel.zw)) / frame.map.z);
            crest = max(wave.height, 0.0) / max(0.5 * frame.waves.w, 1e-6) * smoothstep(0.2, 0.8, wave.breaking);
        }
    }
#endif
#if WAVES == 1 && FINE_WATER == 1 && (SEA == 1 || RUNNING == 1)
    float caps = whitecaps(waves.crest, waviness * frame.water.y, gust_pixel) * smoothstep(CAPS_DEEP.x, CAPS_DEEP.y, depth * frame.map.w / frame.water.z);
#if SEA == 0
    caps *= of_sea;
#endif
    if (caps > 0.0) {
        // Bubbles tear it into strands across the wind.
        vec2 strands = with_wind.yx / CAPS_TORN;
        float torn = textureLod(detail, strands / 9.0, noise_level(gust_pixel / (9.0 * CAPS_TORN.y), detail)).x;
        foam = max(foam, caps * smoothstep(0.2, 0.6, torn + 0.5 * caps));
    }
#endif
    vec3 normal = wave_normal(waves.slope);
    float facing = clamp(dot(normal, to_eye), 0.02, 1.0);
    float mirror = water_fresnel(facing, waves.roughness);
    vec3 daylight = light_on_water(seen);
#if FINE_WATER == 1
    // Each wave would break off a piece of the mirrored land: most of their slopes smear it.
    vec3 calmer = water_reflected(to_eye, wave_normal(MIRROR_TILTS * waves.slope));
    tilt += MIRROR_SMEARS * waviness * frame.water.y;
#else
    const vec3 calmer = vec3(0.0);
#endif
    vec3 through = water_transmission(to_bed, turbidity, steepness) * (1.0 - mirror);
#if SEA == 0 && RUNNING == 1
    // Mud gives light back near its surface, and so shows how that is turned to the sun; some comes through from around.
    float turned = mix(max(dot(normal, frame.sun.xyz), 0.0), frame.sun.y, FROM_AROUND);
    vec3 scattered = mix(daylight, frame.sun_light.rgb * turned * seen.x + sky_light(normal) * seen.y, mud);
#else
    vec3 scattered = daylight;
#endif
    vec3 colour = water_scattering(deep_water, through, scattered)
                + (drawn < 1.0 ? bed_without_land(map_place) * daylight * through * (1.0 - drawn) : vec3(0.0))
                + mirror * mirrored(position, water_reflected(to_eye, normal), calmer, waves.roughness, tilt, seen, daylight, coast)
                + frame.sun_light.rgb * seen.x * water_glitter(to_eye, normal, waves.roughness);
    vec3 keep = through * drawn;
#if SEA == 0 && RUNNING == 0
    // Light goes from grain to grain of a bed through water, and so into it: it is dark, beside the same bed where that is dry.
    keep *= mix(SOAKED_BED, vec3(1.0), river_here * (1.0 - smoothstep(0.0, SOAKED_FROM, depth)));
#if FINE_WATER == 1
    // Silt evens the bed.
    float stony_here = stony_bed(bed.yz);
    if (stony_here > 0.0) stony_here *= 1.0 - sand_of_grain(textureLod(loose_colour, uv, 0.0).a);
    float silt = SILT_EVENS * (1.0 - river_here) * (1.0 - stony_here) * smoothstep(0.0, SILT_FROM, depth);
    colour += silt * keep * bed_material(vec4(0.5), vec4(0.5), 1.0) * daylight;
    keep *= 1.0 - silt;
    // Wet stones and weed darken the bed by the shore, unevenly, where it is too steep for sand.
    float weedy = WEED_HIDES * smoothstep(WEED_STEEP.x, WEED_STEEP.y, length(bed.yz));
    if (depth < WEED_ENDS && weedy > 0.0) {
        float level_of_stones = noise_level(max(length(pixel.xy), length(pixel.zw)) / (frame.map.z * SHORE_STONES_TILE), detail);
        float stony = textureLod(detail, map_place / (frame.map.z * SHORE_STONES_TILE), level_of_stones).x;
        keep *= 1.0 - weedy * smoothstep(0.25, 0.6, stony) * (1.0 - smoothstep(0.3 * WEED_ENDS, WEED_ENDS, depth));
    }
#endif
#endif
#if SEA == 0 && FINE_WATER == 1 && WATER == 1
    vec2 cells = map_place / frame.map.z;
    if (river_here > 0.0) {
        float plume = min(river_here * (1.0 + 1.4 * (textureLod(detail, cells / 7.0, 1.0).w - 0.5)), 1.0);
        vec3 past = water_transmission(PLUME_DEPTH, TURBIDITY, steepness) * (1.0 - mirror);
        vec3 river = water_scattering(DEEP_WATER, past, daylight) + STREAM_BED * past * daylight;
        colour += plume * (river - water_scattering(DEEP_WATER, through, daylight));
        keep *= 1.0 - plume;
    }
#endif
#if WAVES > 1
    // A drawn sea is flat, without light and depth, and has no puddles.
    colour = sea_chart(map_place, pixel) * 0.62 / frame.sun_light.a;
    keep = vec3(0.0);
    shore = step(0.5, shore);
#if SEA == 0 && RUNNING == 0
    shore *= lake_with_waves(uv);
#endif
#elif WAVES == 1
    // Light from behind shines through crests.
    float from_behind = 0.35 + 0.65 * pow(max(-dot(to_eye.xz, frame.sun.xz), 0.0), 2.0);
    colour += CREST_GLOW * crest * from_behind * frame.sun_light.rgb * seen.x * (1.0 - mirror);
    colour = mix(colour, light_from_foam(FOAM, foam, normal, seen), foam);
    keep *= 1.0 - foam;
#endif

#if SEA == 0 && RUNNING == 1
    // Between patches of foam, water that runs fast is full of bubbles.
    float bubbles = AERATED * smoothstep(FOAMS, FASTEST, quick + 1.6 * streak) * smoothstep(-0.35, 0.75, streak);
    white = mix(bubbles, WHITEST, white);
    vec3 foamy = mix(mix(MUD, mix(MUDDY_FOAM, FRONT_FOAM, front), 0.5 + 0.5 * white), FOAM, 1.0 - mud);
    colour = mix(colour, light_from_foam(foamy, white, normal, seen), white);
    keep *= 1.0 - white;
#endif

    float hidden = left_out_for_overlay(uv, bed);
    colour = below_overlay(colour) * (1.0 - hidden);
    keep = mix(keep, vec3(1.0), hidden);
    // The flow path is drawn on the surface: on the bed, refraction would shift it and leave a gap.
    float on_path = flow_path_on_water(uv, length(fwidth(map_place)) / frame.map.z);
    colour = mix(colour, FLOW_PATH_COLOUR * daylight, on_path);
    keep *= 1.0 - on_path;
#if SEA == 0 && RUNNING == 0 && FINE_WATER == 1
    keep = mix(mix(vec3(1.0), SOAKED_BED, (1.0 - river_here) * smoothstep(-0.5 * blur, 0.5 * blur + 0.3 * edge, water) * there), keep, shore);
#elif SEA == 0 && RUNNING == 1
    // What a flood throws ahead of itself wets the ground before its edge.
    keep = mix(mix(vec3(1.0), SPLASHED_GROUND, fast * smoothstep(0.0, SPLASHED_BY, water)), keep, shore);
#elif SEA == 0
    keep = mix(mix(vec3(1.0), SOAKED_BED, there), keep, shore);
#else
    keep = mix(vec3(1.0), keep, shore);
#endif
    colour *= shore;

    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
#if FOG == 1
    add_fog(position, air_kept, air_added);
#endif
    colour = colour * air_kept + (1.0 - keep) * air_added;
#if SEA == 1
    // The sea fades into the sky at the horizon.
    float far = dot(HORIZON_FADES, exp(-max(to_eye.y, 0.0) / HORIZON));
    vec3 horizon = horizon_colour(-to_eye);
    colour = mix(colour, horizon, far);
    keep *= 1.0 - far;
#endif
    added = vec4(colour, -outline_key());
    kept = vec4(keep, 0.0);
}
