// The surroundings of the block: a plain table that receives its shadow, if there is no sea, and the sky.
#ifndef STORM
#define STORM 0
#endif

#include "map.glsl"
#include "sky.glsl"
#include "detail.glsl"

// A variant for each part: otherwise software renderers pay for all of them.
#ifndef TABLE
#define TABLE 0   // 1: below the horizon, without a sea; 2: land around the block
#endif
#ifndef SHADOW
#define SHADOW 0  // with the block's shadow
#endif
#ifndef CLOUDS
#define CLOUDS 0  // 1: a sheet, 2: with depth
#endif
#ifndef SUN
#define SUN 0     // with the disc of the sun
#endif
#ifndef RELIEF
#define RELIEF 0  // 2: relief finer than the map is known exactly
#endif
#ifndef WATER
#define WATER 0
#endif
#ifndef FAR_LAND
#define FAR_LAND 0  // land beyond the map, 1: a plain, 2: with ranges
#endif
#if FAR_LAND > 0
#include "far_land.glsl"
const float PLAIN_BEGINS = 0.08;  // sides of the map beside it, within which the table becomes a plain
#endif

uniform sampler2D surface;
#include "sky_ray.glsl"

out vec4 colour;


// The walls are at the centres of the outermost cells.
vec2 block_low() {
    return vec2(0.5 * frame.map.z);
}

vec2 block_high() {
    return map_extent() - 0.5 * frame.map.z;
}

// Distance from a point to the block's outline; 0 below the block.
float distance_to_block(vec2 p) {
    return length(max(max(block_low() - p, p - block_high()), 0.0));
}

#if SHADOW == 1
// Sunlight that reaches a point of the table past the block.
float block_shadow(vec3 from) {
    vec3 to_sun = frame.sun.xyz;
    vec2 inverse = 1.0 / (to_sun.xz + vec2(to_sun.x < 0.0 ? -1e-6 : 1e-6, to_sun.z < 0.0 ? -1e-6 : 1e-6));
    vec2 a = (block_low() - from.xz) * inverse, b = (block_high() - from.xz) * inverse;
    float enter = max(max(min(a.x, b.x), min(a.y, b.y)), 0.0);
    float leave = min(min(max(a.x, b.x), max(a.y, b.y)), (frame.heights.y - from.y) / max(to_sun.y, 1e-4));
    // Pixels along the foot of a wall can have their centre just below the block; they are not in shadow.
    if (leave - enter < 0.004 * frame.heights.w) return 1.0;
    float seen = 1.0;
    float soft = 0.02 * frame.heights.w;
    float jitter = hash(gl_FragCoord.xy + frame.part.xy);  // turns banding of the march into less visible grain
    for (int i = 0; i < 24; ++i) {
        vec3 at = from + to_sun * mix(enter, leave, (float(i) + jitter) / 24.0);
        seen = min(seen, clamp((at.y - ground_height(surface, at.xz)) / soft + 0.5, 0.0, 1.0));
    }
    return seen;
}

#endif

#if TABLE == 2
#include "outline.glsl"
#ifndef CANOPY
#define CANOPY 0
#endif
#if CANOPY > 0
#include "canopy.glsl"
const float GROVES = 0.22;          // sides of a tile of the noise of groves
const vec2 GROVE = vec2(0.36, 0.64);  // of the noise, at their edges
const float MOST_ASLANT = 3.0;
const float TREES_LIT = 0.75;       // by the sun, past other trees
#if DETAIL_SCALES > 2
uniform vec4 crown_radius;  // by shape: half the width of a crown, for a height of 1
const int TREES_PASSED = 13;
const float APART = 0.62;           // a tree from the next, in heights of a full-grown one
const float CLUMPED = 0.5, AROUND = 4.0;  // levels of the mipmap that tell how close trees stand, and of what kind they are
const vec2 TREES_MERGE = vec2(0.5, 1.4);  // pixels, in half widths of a crown
const vec2 SIZES = vec2(0.5, 0.65);  // of trees, in their mean, which is that of their area; beside the least
const float SHADED = 0.8;           // of the sun, by a tree
const vec2 TREE_SHADES = vec2(0.55, 1.35);  // of a crown at its foot and at its top
#endif
#endif
in vec3 position;
in vec2 from;
in vec2 smooth_slopes;
in vec4 of_slopes;
in vec2 own_slopes;
// Where a triangle is seen edge on, a pixel may lie far beside it, and what its corners say is no more within its limits.
in float sun_past;
in vec3 air_kept;
in vec3 air_added;

#if WATER == 1 && DETAIL_SCALES > 1
#include "water.glsl"
uniform sampler2D water;  // depth in metres
const float WET = 0.3, FAR_WAVES = 0.01;  // metres of depth; roughness
#endif
#ifndef AFAR_RELIEF
#define AFAR_RELIEF 0
#endif
uniform sampler2D land_afar;  // as `surface`, or with the relief that is finer than the map: its height, slopes of both, and streaks
uniform sampler2D land_look;  // roots of the albedo of the land, and how much of the sky it sees
#if RELIEF == 2
uniform sampler2D relief;
#endif

const float MOST_BLURRED = 5.0;   // level of the mipmap
const float SUNLIT = 0.9;         // of the land that faces the sun, in the mean, where it is not that of the border
const float GOES_ON = 0.06;       // sides, over which land that goes on over the border of the map has its colours and not those of mirrored land
const float BROADENS = 0.7;       // of its length
const float OF_BORDER = 0.3;      // sides of the block beside it, within which land comes to differ from that of its border
uniform sampler2D fractures;  // tile of fractured rock: height, two slopes, height above the surroundings
const float SIDEWAYS = 0.9;       // parts of ground up to which noise is projected from the side
const vec2 BARE = vec2(0.28, 0.62);   // slopes
const vec2 SNOW_BLUE = vec2(0.25, 0.62);   // albedo in blue of ground without snow and of snow
const float SNOW_EVEN = 0.65;
const float DEEP_SNOW_GREEN = 0.61;  // albedo
const vec3 DRY = vec3(1.10, 1.06, 0.98), MOIST = vec3(0.78, 0.85, 0.70);  // what stands out of the ground, and gullies
#if DETAIL_SCALES > 2
#ifndef SNOWY
#define SNOWY 0
#endif
#ifndef MATERIALS
#define MATERIALS 0
#endif
#include "snow.glsl"
#if MATERIALS == 1
#include "strata_top.glsl"
uniform sampler2D strata;       // by depth below the top of the strata: the root of the albedo, how much it lies in beds
uniform vec4 intrusion;         // of its rock, the same
#endif

const int TAPS = 2;               // along the longer side of a pixel
const float TEXELS = 512.0;       // of a tile of noise
const float GRAIN_TILE = 110.0, PATCHES_TILE = 420.0;  // pixels in a tile, at least
const float SHARP = 1.35;         // pixels: what is finer would flicker where the camera moves
const float FRAYS = 4.0;          // pixels by which borders of kinds of ground are frayed, at most some cells
const float MOST_FRAYED = 7.0;
const float ROUGH_LEVEL = 0.12, ROUGH_STEEP = 3.2, ROUGHEST = 2.2;  // tilt of faces, beside the noise
const float STEEPEST_ROUGH = 1.6;  // slope
const float OF_BEDS = 0.9, WANDERS = 0.05;
const vec2 BEDS_SEEN = vec2(0.10, 0.40);  // slopes
const vec3 SNOW_WHITE = vec3(0.860, 0.890, 0.930), BELOW_SNOW = vec3(0.215, 0.190, 0.160);
const float DRIFTS_LONG = 4.0, DRIFTS_TILE = 1400.0, DRIFTS_TILT = 1.0, DRIFTS_SOFT = 3.0;  // metres across the wind
const vec3 THICKETS = vec3(0.38, 0.46, 0.36);  // beside the colour of the ground
#else
const float ASLANT = 1.2;         // times as long as wide, up to which a pixel shows what is as fine as its mean size
const float FACES_TILE = 14.6;    // cells
const vec2 FACES_TILT = vec2(0.3, 2.2), FACES_DIFFER = vec2(0.5, 1.1);  // of level and of bare ground
const float FACES_SHARPER = -0.7;  // by mipmaps, as those of the map
#endif

// Where the mirrored map has the land of a place, in sides of the block.
vec2 mirrored_uv(vec2 from) {
    return (0.5 + (1.0 - abs(1.0 - mod(from, 2.0))) * (frame.map.xy - 1.0)) / frame.map.xy;
}

// The map's land at a place, as far as a pixel that is so many cells wide shows it.
struct MapLand {
    vec2 slopes;
    float height;  // metres
    float loose;   // thickness of what lies there, in metres
    vec2 finer;    // relief finer than the map: height in cells, streaks down the slope around 0
};

// How far a place is a gully and no rib.
float gully_of(MapLand land, float sky_seen) {
    return 1.2 * land.finer.y - 0.35 * clamp(land.finer.x, -1.0, 1.0) + 0.8 * (0.75 - sky_seen);
}

MapLand land_of_map(vec2 uv, float cells) {
    vec4 place = textureLod(land_afar, uv, log2(cells * float(textureSize(land_afar, 0).x) / frame.map.x));
#if AFAR_RELIEF == 1
    MapLand land = MapLand(place.yz * frame.map.w, 0.0, 0.0, vec2(place.x, place.w - 0.5));
#else
    MapLand land = MapLand(place.yz * frame.map.w, place.x, place.w, vec2(0.0));
#endif
#if RELIEF == 2
    vec4 finer = textureLod(relief, uv, max(log2(cells * float(textureSize(relief, 0).x) / frame.map.x), 0.0));
    land.slopes += finer.yz;
    land.finer = vec2(finer.x, finer.w - 0.5);
#endif
    return land;
}

#if DETAIL_SCALES > 2
// Noise around 0 of which a tile is `tile` metres wide, or up to twice as much: each is twice as wide as the one before.
vec4 noise_as_fine(sampler2D noise, vec2 at, float tile, float pixel) {
    float octave = log2(tile), number = floor(octave), begins = smoothstep(0.2, 1.0, octave - number);
    float tiles = exp2(-number), lod = max(log2(SHARP * pixel * TEXELS * tiles), 0.0);
    vec4 fine = textureLod(noise, at * tiles, lod) - 0.5;
    vec4 coarse = textureLod(noise, mat2(0.80, 0.60, -0.60, 0.80) * at * (0.5 * tiles), max(lod - 1.0, 0.0)) - 0.5;
    coarse.yz = coarse.yz * mat2(0.80, 0.60, -0.60, 0.80);
    return mix(fine, coarse, begins) * inversesqrt(1.0 - 2.0 * begins * (1.0 - begins));
}
#endif

#if CANOPY > 0 && DETAIL_SCALES > 2
// How much trees hide of what lies at the end of a line that rises from the ground to the eye or to the sun, and at which
// part of their height: trees by chance, one in each square at most, so many that their crowns have the area of the canopy.
vec2 behind_trees(vec2 place, vec2 direction, float rise, Canopy crowns, float density, mat2 from_of_place, float pixel) {
    float apart = APART * forest.x, mean_radius = crowns.size * forest.x * mix(crown_radius[0], crown_radius[1], crowns.broad);
    float most = density * apart * apart / max(3.14159 * mean_radius * mean_radius, 1e-4);
    vec2 at = place / apart, cell = floor(at), steps = sign(direction + 1e-6), inverse = 1.0 / max(abs(direction), 1e-4);
    vec2 next = abs(cell + 0.5 + 0.5 * steps - at) * inverse;
    vec2 hidden = vec2(0.0);
    for (int i = 0; i < TREES_PASSED; ++i) {
        float random = hash(cell);
        vec2 of_cell = textureLod(canopy, mirrored_uv(from + from_of_place * ((cell + 0.5) * apart - place)), CLUMPED).xy;
        if (random < most * (of_cell.x + of_cell.y)) {
            float other = fract(random * 91.7 + 57.31 * hash(cell + 17.0)), kind = step(fract(other * 23.0), crowns.broad);
            float height = crowns.size * forest.x * (SIZES.x + SIZES.y * other);
            float radius = min(height * mix(crown_radius[0], crown_radius[1], kind), 0.5 * apart);
            vec2 way = (cell + 0.5 + (vec2(fract(other * 7.0), fract(other * 41.0)) - 0.5) * (1.0 - 2.0 * radius / apart)) * apart - place;
            float ahead = dot(way, direction), beside = abs(way.x * direction.y - way.y * direction.x);
            float up = max(ahead, 0.0) * rise / height, round = (up - 0.55) / 0.5;
            float wide = radius * mix(1.0 - up, sqrt(max(1.0 - round * round, 0.0)), kind);
            float covers = ahead < -0.5 * radius ? 0.0 : clamp((wide - beside) / pixel + 0.5, 0.0, 1.0) * step(up, 1.0);
            if (covers > hidden.x) hidden = vec2(covers, up);
        }
        // Above the highest of them there is no other.
        if (hidden.x >= 1.0 || min(next.x, next.y) * apart * rise > (SIZES.x + SIZES.y) * crowns.size * forest.x) break;
        bool along_x = next.x < next.y;
        cell += along_x ? vec2(steps.x, 0.0) : vec2(0.0, steps.y);
        next += along_x ? vec2(inverse.x, 0.0) : vec2(0.0, inverse.y);
    }
    return hidden;
}
#endif

#if DETAIL_SCALES > 2
// What is finer than the map has it: faces of rock, tufts and bushes, gullies and ribs of another colour, drifts of snow. A
// pixel is so many metres wide. Changes `slope`.
vec3 with_detail(vec3 albedo, float sky_seen, MapLand land, vec4 grain, vec4 patchy, float metres, bool from_above, inout vec2 slope) {
    float steep = length(slope), bare = smoothstep(BARE.x, BARE.y, steep + 0.3 * patchy.x + 0.3 * grain.x);
    vec2 down = slope / max(steep, 1e-3);
    float sand = frame.wind.z * smoothstep(0.0, frame.ground_look.z, land.loose);
    float gully = gully_of(land, sky_seen);
#if MATERIALS == 1
    StrataTop top = strata_top_at(mirrored_uv(from));
    float wanders = WANDERS * frame.strata.y * (patchy.x + 0.5 * grain.x);
    float depth = top.height - (position.y + land.finer.x * frame.map.z) / frame.map.w + wanders;
    vec4 bed = texture(strata, vec2(depth * frame.strata.x, 0.5));
#if INTRUSIONS == 1
    bed = mix(bed, intrusion, step(0.5, top.intruded));
#endif
    // The map has them at heights of its own, which would be patches here.
    float shown = smoothstep(BEDS_SEEN.x, BEDS_SEEN.y, steep + 0.15 * patchy.x);
    albedo = mix(albedo, bed.rgb * bed.rgb, OF_BEDS * shown * (1.0 - sand));
#endif
    // Snow has edges: it lies in gullies, and ribs break through it.
    float near_line = relative_height(land.height * frame.map.w) - frame.ground_look.x;
    float snow = smoothstep(SNOW_BLUE.x, SNOW_BLUE.y, albedo.b);
#if SNOWY == 0
    snow *= smoothstep(-0.35, -0.15, near_line);
#endif
    float lies = smoothstep(0.25, 0.75, snow + snow * (1.0 - snow) * (3.0 * gully + 1.0 * patchy.x + 2.0 * grain.x));
    vec3 below = mix(albedo, BELOW_SNOW, smoothstep(0.0, 0.3, snow));
    vec3 dry = mix(DRY, MOIST, smoothstep(-0.22, 0.26, gully + 0.5 * patchy.x + 0.25 * grain.x));
    float even = 1.0 - 0.85 * sand;
    below *= mix(vec3(1.0), dry, even * (1.0 - 0.5 * bare));
    below *= max(1.0 + even * (mix(0.6, 1.5, bare) * grain.w + 0.5 * grain.x + mix(0.6, 0.5, bare) * patchy.x), 0.25);
    float thickets = frame.ground_look.y * (1.0 - bare) * even * smoothstep(0.14, 0.30, gully + 0.9 * grain.x + 0.7 * patchy.w);
    below *= mix(vec3(1.0), THICKETS, 0.8 * thickets);
    vec3 white = SNOW_WHITE * snow_tone(lies, patchy.x + 0.5 * grain.x);
#if SNOWY == 1
    white *= mix(1.0, min(albedo.g / DEEP_SNOW_GREEN, 1.0), snow);  // what wind has packed
#endif
    float rough = even * (1.0 - SNOW_EVEN * lies) * min(ROUGH_LEVEL + ROUGH_STEEP * steep, ROUGHEST);
    vec2 tilt = rough * (grain.yz + 0.35 * patchy.yz);
    slope += from_above ? tilt : (tilt.x * vec2(-down.y, down.x) + tilt.y * down) * clamp(steep, 1.0, STEEPEST_ROUGH);
    white *= mix(vec3(1.0), SNOW_IN_HOLLOWS, smoothstep(0.0, 0.5, gully + 0.5 * patchy.x));
    // Wind draws out drifts along its way.
    vec2 across_wind = vec2(-frame.wind.y, frame.wind.x), in_drifts = vec2(dot(position.xz, across_wind), dot(position.xz, frame.wind.xy) / DRIFTS_LONG) / DRIFTS_TILE;
    vec2 drift = textureLod(detail, in_drifts, max(log2(metres * TEXELS / DRIFTS_TILE), DRIFTS_SOFT)).yz - 0.5;
    slope += DRIFTS_TILT * lies * (drift.x * across_wind + drift.y / DRIFTS_LONG * frame.wind.xy);
    return mix(below, white, lies);
}
#endif

// Land around the block: that of the map, mirrored at its border, in the light that it stands in.
vec3 mirrored_land() {
    vec2 mirrored = 1.0 - 2.0 * step(1.0, mod(from, 2.0)), uv = mirrored_uv(from);
    float away = distance_to_block(position.xz) / frame.heights.w, settled = smoothstep(0.0, OF_BORDER, away);
    float goes_on = exp(-away * away / (GOES_ON * GOES_ON));
    vec2 of_look = mix(from, clamp(from, 0.0, 1.0), goes_on);
#if WATER == 1 && DETAIL_SCALES > 1
    float under_water = smoothstep(0.0, WET, textureLod(water, mirrored_uv(of_look), 0.0).x);
#else
    const float under_water = 0.0;
#endif
    // Beside an outline what is known of a triangle is of a place beyond it.
#if DETAIL_SCALES > 2
    // From aslant a pixel is long and narrow: ridges and valleys show across it, as wide as its narrow side.
    vec2 across = dFdx(from), along = dFdy(from);
    if (dot(across * frame.map.xy, across * frame.map.xy) > dot(along * frame.map.xy, along * frame.map.xy)) along = across;
    float longer = length(along * frame.map.xy);
    float area = abs(determinant(mat2(dFdx(from) * frame.map.xy, dFdy(from) * frame.map.xy)));
    float cells = max(max(area / max(longer, 1e-3), longer / float(TAPS)), 1e-3);
#else
    vec2 across = dFdx(from) * frame.map.xy, along = dFdy(from) * frame.map.xy;
    float longer2 = max(dot(across, across), dot(along, along)), area = abs(across.x * along.y - across.y * along.x);
    float cells = sqrt(max(max(area, longer2 / (ASLANT * ASLANT)), 1e-6));
#endif
    float level = clamp(log2(cells * float(textureSize(land_look, 0).x) / frame.map.x), 0.0, MOST_BLURRED);
    // What goes on from the border gets as broad as it gets long, or a spot of it would be a bar.
    level = max(level, goes_on * log2(max(BROADENS * away * float(textureSize(land_look, 0).x), 1.0)));
    // Noise of walls is from their sides. The mean size of a pixel counts, as it is seen aslant.
    vec3 step_right = dFdx(position), step_up = dFdy(position), upright = abs(cross(step_right, step_up));
    bool from_above = upright.y > SIDEWAYS * max(upright.x, upright.z), from_south = upright.z > upright.x;
    vec2 at = from_above ? position.xz : from_south ? position.xy : position.zy;
#if DETAIL_SCALES > 2
    // It is as fine as pixels.
    vec2 right = from_above ? step_right.xz : from_south ? step_right.xy : step_right.zy, up = from_above ? step_up.xz : from_south ? step_up.xy : step_up.zy;
    float metres = sqrt(max(length(right) * length(up), 1e-6));
    vec4 grain = noise_as_fine(fractures, at, GRAIN_TILE * metres, metres), patchy = noise_as_fine(detail, at, PATCHES_TILE * metres, metres);
    // They fray the borders of kinds of ground, which the map has in cells.
    vec2 frayed = (min(FRAYS * cells, MOST_FRAYED) * (2.0 * patchy.yz + 1.2 * grain.yz)) / frame.map.xy;
    frayed *= 1.0 - under_water;
    vec4 look = vec4(0.0);
    MapLand land = MapLand(vec2(0.0), 0.0, 0.0, vec2(0.0));
    for (int i = 0; i < TAPS; ++i) {
        vec2 way = along * ((float(i) + 0.5) / float(TAPS) - 0.5);
        look += textureLod(land_look, mirrored_uv(of_look + way + frayed), level) / float(TAPS);
        MapLand tap = land_of_map(mirrored_uv(from + way), cells);
        land.slopes += mirrored * tap.slopes / float(TAPS);
        land.height += tap.height / float(TAPS);
        land.loose += tap.loose / float(TAPS);
        land.finer += tap.finer / float(TAPS);
    }
    vec2 slopes = land.slopes;
#else
    vec4 look = textureLod(land_look, mirrored_uv(of_look), level);
    MapLand land = land_of_map(uv, cells);
    vec2 slopes = mirrored * land.slopes;
    float tile = FACES_TILE * frame.map.z;
    vec4 grain = textureLod(fractures, at / tile, 0.5 * log2(max(length(upright), 1e-6)) + log2(512.0 / tile) + FACES_SHARPER) - 0.5;
#endif
    vec2 slope = slopes.x * of_slopes.xy + slopes.y * of_slopes.zw + own_slopes;
    vec3 albedo = look.rgb * look.rgb;
#if DETAIL_SCALES > 2
    vec3 detailed = with_detail(albedo, look.a, land, grain, patchy, metres, from_above, slope);
    albedo = mix(detailed, albedo, under_water);
#else
    float bare = smoothstep(BARE.x, BARE.y, length(slope) + 0.3 * grain.x);
    bare *= 1.0 - SNOW_EVEN * smoothstep(SNOW_BLUE.x, SNOW_BLUE.y, albedo.b);
    slope += mix(FACES_TILT.x, FACES_TILT.y, bare) * grain.yz;
    albedo *= mix(DRY, MOIST, smoothstep(-0.22, 0.26, gully_of(land, look.a) + 0.25 * grain.x));
    albedo *= 1.0 + mix(FACES_DIFFER.x, FACES_DIFFER.y, bare) * grain.w;
#endif
    slope *= 1.0 - under_water;
    vec3 normal = normalize(vec3(-slope, 1.0).xzy);
    float sunlit = mix(1.0, SUNLIT, settled) * clamp(sun_past, 0.0, 1.0), pixel = length(fwidth(position.xz));
#if CANOPY > 0
    // Woods go on as they are at the border, and further out in groves.
    float groves = 1.0 / (GROVES * frame.heights.w);
    float grown = smoothstep(GROVE.x, GROVE.y, textureLod(detail, position.xz * groves, log2(max(pixel * groves * 512.0, 1.0))).x);
#if DETAIL_SCALES > 2
    // Trees stand before ground on which there are none: they are like those around it.
    Canopy crowns = canopy_of(textureLod(canopy, uv, max(AROUND, log2(max(cells, 1.0)))));
#else
    Canopy crowns = canopy_at(uv);
#endif
    float density = mix(1.0, 2.0 * grown, settled);
    crowns.area *= density;
    vec3 to_eye = normalize(frame.camera.xyz - position), from_sun, from_sky;
    canopy_light(crowns, to_eye, from_sun, from_sky);
    float hidden = 1.0 - exp(-crowns.area * min(seen_aslant(crowns, to_eye.y), MOST_ASLANT));
    vec3 tops = from_sun * TREES_LIT + from_sky;
#if DETAIL_SCALES > 2
    vec2 ground_slope = mirrored.x * smooth_slopes.x * of_slopes.xy + mirrored.y * smooth_slopes.y * of_slopes.zw + own_slopes;
    vec2 to_sun = normalize(frame.sun.xz + 1e-5), back = normalize(to_eye.xz + 1e-5);
    vec2 rises = vec2(frame.sun.y / max(length(frame.sun.xz), 1e-3) - dot(ground_slope, to_sun), to_eye.y / max(length(to_eye.xz), 1e-3) - dot(ground_slope, back));
    float least = 1.0 / (0.75 * float(TREES_PASSED) * APART);
    float across_pixel = length(vec2(dFdx(position.x), dFdx(position.z)));
    float merged = smoothstep(TREES_MERGE.x, TREES_MERGE.y, across_pixel / max(crowns.size * forest.x * mix(crown_radius[0], crown_radius[1], crowns.broad), 1e-3));
    float shaded = 1.0 - exp(-crowns.area * slanted_crowns(max(rises.x, 0.05), crowns.broad));
    if (merged < 1.0 && crowns.area > 1e-4) {
        mat2 place_of_pixel = mat2(dFdx(position.xz), dFdy(position.xz));
        float turns = determinant(place_of_pixel);
        mat2 from_of_place = mat2(dFdx(from), dFdy(from)) * inverse(abs(turns) > 1e-6 ? place_of_pixel : mat2(frame.heights.w));
        vec2 seen_trees = behind_trees(position.xz, back, max(rises.y, least), crowns, density, from_of_place, across_pixel);
        float of_one = behind_trees(position.xz, to_sun, max(rises.x, least), crowns, density, from_of_place, across_pixel).x;
        tops *= mix(mix(TREE_SHADES.x, TREE_SHADES.y, seen_trees.y), 1.0, merged);
        hidden = mix(seen_trees.x, hidden, merged);
        shaded = mix(of_one, shaded, merged);
    }
    sunlit *= 1.0 - SHADED * shaded;
#endif
#endif
    vec3 lit = frame.sun_light.rgb * (sunlit * max(dot(normal, frame.sun.xyz), 0.0)) + sky_light(normal) * look.a;
    vec3 seen = albedo * lit;
#if WATER == 1 && DETAIL_SCALES > 1
    vec3 from_eye = normalize(position - frame.camera.xyz);
    vec3 mirror = mirrored_sky(reflect(from_eye, vec3(0.0, 1.0, 0.0)), FAR_WAVES, look.a, lit);
    seen = mix(seen, mirror, water_fresnel(abs(from_eye.y), FAR_WAVES) * under_water);
#endif
#if CANOPY > 0
    // Woods stand up: from aslant they hide the ground between them.
    seen = mix(seen, tops, hidden);
#endif
    return seen;
}
#endif

#if TABLE == 1
uniform float table_fades;  // distance at which the table has the colour of the horizon, in sides of the map
#endif

#if SUN == 1
uniform float sun_radius;  // of its disc, in radians
uniform float sun_glare;   // radius of the glare, in radii of the disc
const float SUN_SHOWN = 6.0;       // exposed brightness; a brighter disc would lose its colour on a screen
const float SUN_BLEACHED = 0.075;   // the centre of a bright disc is white, with its colour around it
const float GLARE_SHOWN = 0.9;     // exposed brightness of the glare at the rim of the disc

// The disc of the sun with limb darkening, and its glare, over the sky behind.
vec3 with_sun(vec3 direction, vec3 behind) {
    float away = length(cross(direction, frame.sun.xyz)) / sun_radius, pixel = fwidth(away);
    if (dot(direction, frame.sun.xyz) <= 0.0) return behind;
    vec3 hue = frame.sun_light.rgb / frame.sun_light.r, exposed = vec3(1.0 / frame.sun_light.a);
    float glare = max(1.0 - away / sun_glare, 0.0), rim = sqrt(max(1.0 - away * away, 0.0));
    glare *= glare;
    vec3 seen = behind + hue * exposed * (GLARE_SHOWN * glare * glare);
    vec3 disc = mix(hue, vec3(1.0), SUN_BLEACHED) * exposed * (SUN_SHOWN * (0.4 + 0.6 * rim));
    return mix(seen, max(disc, seen), 1.0 - smoothstep(1.0 - pixel, 1.0, away));
}
#endif

// Thin high clouds on a plane above the land, stretched along the wind and fading into the haze at the horizon.
vec3 wisps(vec3 direction, vec3 behind) {
    float up = max(direction.y, 0.0);
    vec2 plane = direction.xz / (up + 0.10) * 0.060 + vec2(0.0004, 0.0001) * frame.camera.w;
    float body = textureLod(detail, plane * vec2(0.55, 1.0), 2.0).w;
    float fine = textureLod(detail, plane * vec2(1.7, 3.1) + 0.31, 1.0).x;
    float cover = smoothstep(0.46, 0.82, body * 0.62 + fine * 0.38) * smoothstep(0.01, 0.11, up);
    float glow = pow(max(dot(direction, frame.sun.xyz), 0.0), 4.0);
    vec3 lit = frame.sun_light.rgb * (0.20 + 0.10 * glow) + sky_light(vec3(0.0, 1.0, 0.0));
    return mix(behind, lit, cover * 0.62 * frame.cloud_drift.z);
}

#if TABLE == 0 && CLOUDS > 0
#if CLOUDS == 1
#include "cloud_sky.glsl"
#else
uniform sampler2D clouds;  // added light and transmittance of clouds, at half resolution
#endif
#endif

void main() {
#if TABLE == 0
    vec3 direction = sky_direction(gl_FragCoord.xy);
    vec3 seen = clear_sky(direction);
#if SUN == 1
    seen = with_sun(direction, seen);
#endif
    seen = wisps(direction, seen);
#if CLOUDS == 1
    seen = with_clouds(frame.camera.xyz, direction, 0.0, seen);
#elif CLOUDS > 1
    vec2 of_clouds = 0.5 * (gl_FragCoord.xy + frame.part.xy) - clouds_origin();
    // The grain of their steps averages out over four pixels.
    vec2 size = vec2(textureSize(clouds, 0));
    vec4 cloudy = vec4(0.0);
    for (int k = 0; k < 4; ++k) cloudy += 0.25 * textureLod(clouds, (of_clouds + vec2(k % 2, k / 2) - 0.5) / size, 0.0);
    seen = cloudy.rgb + seen * cloudy.a;
#endif
#if FAR_LAND > 1
    vec3 straight = normalize((frame.rays * vec4(gl_FragCoord.xy / scene_size * 2.0 - 1.0, 1.0, 0.0)).xyz);
    vec4 ranges = far_ranges(straight, horizon_colour(direction), seen, length(fwidth(straight)));
    seen = seen * (1.0 - ranges.a) + ranges.rgb;
#endif
#if STORM == 1
    seen = dusty_sky(direction, seen);
#endif
    colour = vec4(seen, 0.0);
#elif TABLE == 2
    colour = vec4(mix(frame.table.rgb, mirrored_land(), far_land) * clamp(air_kept, 0.0, 1.0) + max(air_added, 0.0), outline_key());
#else
    vec3 direction = normalize((frame.rays * vec4(gl_FragCoord.xy / scene_size * 2.0 - 1.0, 1.0, 0.0)).xyz);
    vec3 place = frame.camera.xyz + direction * ((frame.heights.z - frame.camera.y) / min(direction.y, -1e-4));
    float away = distance_to_block(place.xz) / frame.heights.w;
    float close = 0.50 * exp(-away * 22.0), contact = 1.0 - close - 0.20 * exp(-away * 5.0);
    // A table in the colour of the horizon shows no edge, only shadows.
#if SHADOW == 1
    vec3 table = frame.table.rgb - frame.table_sun.rgb * (1.0 - block_shadow(place)) - frame.table_sky.rgb * (1.0 - contact);
#else
    vec3 table = frame.table.rgb - frame.table_sky.rgb * (1.0 - contact);
#endif
    vec3 horizon = horizon_colour(direction);
#if STORM == 1
    horizon = dusty_sky(vec3(direction.x, 0.0, direction.z), horizon);
#endif
#if FAR_LAND > 0
    vec3 plain = plain_land(place.xz, length(fwidth(place.xz)), away) * (1.0 - close);
    table = mix(table, plain, far_land * smoothstep(0.0, PLAIN_BEGINS, away));
#endif
    vec3 kept, added;
    air_before(place, kept, added);
    float faded = smoothstep(0.0, table_fades, away);
#if FAR_LAND > 0
    faded = mix(faded, haze_at(place.xz), far_land);
#endif
    table = mix(table * kept + added, horizon, faded);
    colour = vec4(table, 0.0);
#endif
}
