// What the ground is made of at a place, and how it takes the light.
#include "map.glsl"
#include "sky.glsl"
#include "sand.glsl"
#include "snow.glsl"
#include "strata.glsl"
#include "detail.glsl"

#ifndef DESERT
#define DESERT 1
#endif

#ifndef MARKS
#define MARKS 1
#endif

// Whether the world has several kinds of ground, whether wetness or grass is known anywhere, and whether the climate says
// what is green, as long as no plants are simulated: what was sown then grows on that.
#ifndef MATERIALS
#define MATERIALS 0
#endif

#ifndef LIVING
#define LIVING 0
#endif

#ifndef GREEN_BY_CLIMATE
#define GREEN_BY_CLIMATE 1
#endif

uniform sampler2D surface;
uniform sampler2D light;   // sun visibility, sky visibility, hollowness

#if MARKS == 1
uniform sampler2D marks;   // of snowballs: sand, bare rock; how lately a braided river moved the ground
#endif

#if MATERIALS == 1
uniform sampler2D loose_colour;  // root of the albedo of loose material; its grain: clay, soil, sand, stones
#endif
#if LIVING == 1 || MATERIALS == 1 && DESERT == 1
uniform sampler2D cover;   // wetness, grass, how much wind touches it, how broad the wet ground is
#endif

const vec3 LUSH_DARK = vec3(0.060, 0.088, 0.026);
const vec3 LUSH_LIGHT = vec3(0.140, 0.150, 0.052);
const vec3 DRY_GRASS = vec3(0.250, 0.205, 0.110);
const vec3 ROCK_LOW = vec3(0.190, 0.162, 0.140);
const vec3 ROCK_HIGH = vec3(0.315, 0.270, 0.222);
const vec3 SCREE = vec3(0.330, 0.284, 0.226);
const vec3 SAND = vec3(0.365, 0.298, 0.198);
const vec3 BAR_STONES = vec3(0.300, 0.284, 0.258);
const vec3 BAR_SAND = vec3(0.335, 0.300, 0.238);
const vec3 SILT = vec3(0.235, 0.190, 0.128);
const vec3 BED_SAND = vec3(0.225, 0.190, 0.138);
const vec3 BED_SILT = vec3(0.128, 0.112, 0.084);
const vec3 SNOW = vec3(0.860, 0.890, 0.930);
const vec3 STRAW = vec3(0.300, 0.238, 0.118);
const vec3 MEADOW = vec3(0.116, 0.122, 0.048);
const vec3 RANK_GRASS = vec3(0.052, 0.068, 0.027);
const vec3 REEDS = vec3(0.046, 0.066, 0.022);
const vec3 BOG_WATER = vec3(0.017, 0.024, 0.019);

// How much darker ground between dunes is, for each of its hollowness: wind takes the fine, pale grains from there and
// leaves a lag of coarse, dark ones, which tells dunes apart also at noon, when none has a shadow. Thin sand on rock is
// as where it is so hollow, up to where it fills the relief of the rock so high.
const float LAG_DARK = 0.8, LAG_ON_ROCK = 0.30, LAG_ENDS = 6.0;
const float WHOLE = 4.0;  // thickness of loose material that hides all fine relief, beside frame.ground_look.z
const float FINE_RELIEF = 0.3;  // the part of the noise that relief takes up from its mean to its tops
const float THIN = 0.4;         // of relief, over which loose material begins
const float VENEER = 0.75;      // how much a veneer of it hides
// How much faces of noise, and the ground, count as higher for each slope against the wind.
const vec2 WINDWARD = vec2(1.6, 0.4);
const float LAPS_UP = 1.4, BANKED = 0.5;  // cells up a slope; of thickness at its foot that fill the relief up there

#if DETAIL_SCALES > 1
uniform sampler2D fractures;  // of rock, tiling: height, its two slopes, how far it stands out of what is around it
#endif

struct Ground {
    vec3 albedo;
    float rockiness;  // how strongly fine relief shows
    float sand;  // how much of it is dry sand
#if MATERIALS == 1
    float rock;    // how much of it is bare rock
    float ledge;   // how much steeper (+) or flatter (-) than the slope a bed of rock stands out
    float fine;    // how much of it is sand or clay
    float stony;
    float cracked;
#endif
#if LIVING == 1
    float sheen;   // how much of it is a film of water
#endif
};

// Places for a second tile that is not to repeat in step with the first.
vec2 turned(vec2 cells) {
    return mat2(0.80, 0.60, -0.60, 0.80) * cells;
}

// Noise of about a cell, and of a part of it where the picture is good enough to show it: turned against each other.
vec4 fine_detail(vec2 cells) {
#if DETAIL_SCALES == 1
    return texture(detail, cells / 12.0);
#else
    return 0.5 * texture(detail, cells / 18.7) + 0.5 * texture(detail, turned(cells) / 5.3);
#endif
}

#if DETAIL_SCALES > 2
// How much of a slope is seen as a wall, on which a map seen from above would be drawn out.
float wall(vec2 slope) {
    return smoothstep(0.7, 1.6, length(slope));
}

// Fractured rock of tiles so many cells wide that is laid out over a wall; its slopes are turned across the wall and
// down. `at` is a place and its height in cells, and `step_of` how far pixels are from each other.
vec4 wall_noise(vec3 at, mat2x3 step_of, vec2 slope, float width) {
    vec2 down = slope / max(length(slope), 1e-3);
    float part = smoothstep(0.3, 0.7, down.x * down.x);
    vec4 to_south = vec4(0.0), to_east = vec4(0.0);
    if (part < 1.0) to_south = textureGrad(fractures, at.xz / width, step_of[0].xz / width, step_of[1].xz / width);
    if (part > 0.0) to_east = textureGrad(fractures, at.yz / width, step_of[0].yz / width, step_of[1].yz / width);
    vec4 noise = mix(to_south, to_east, part);
    noise.yz = 0.5 + (noise.y - 0.5) * vec2(-down.y, down.x) + (noise.z - 0.5) * down;
    return noise;
}

// On a wall the same bump tilts the surface as much, which changes its slope on the map by the square of that.
float wall_tilt(vec2 slope) {
    return min((1.0 + dot(slope, slope)) / max(length(slope), 1.0), 5.0);
}
#endif

// Patches of many cells.
vec4 coarse_detail(vec2 cells) {
    return texture(detail, cells.yx / 173.0 + 0.37);
}

// How steep the ground looks: where heights are exaggerated, materials follow only a part of it, or all would be rock.
float apparent_steepness(vec4 place) {
    return length(place.yz) * mix(1.0, frame.map.w, 0.45);
}

// What lies under water: sand and, in patches, silt, where it is `silty`.
vec3 bed_material(vec4 fine, vec4 coarse, float silty) {
    float silt = clamp(0.55 + 1.5 * (coarse.w - 0.5) + 1.1 * (coarse.x - 0.5) + 0.5 * (fine.w - 0.5), 0.0, 1.0);
    return mix(BED_SAND, BED_SILT, silty * silt) * (0.88 + 0.24 * fine.x);
}

// How much is left of noise on the map where it is drawn out down a cliff.
float drawn_out(float steepness) {
    return 1.0 / (1.0 + 0.5 * steepness * steepness);
}

// The part of the ground that grass hides, where it grows so densely: tufts where it is sparse.
float grown(float density, float ripple, float patches) {
    return clamp(density + density * (1.0 - density) * (11.0 * ripple + 2.0 * patches), 0.0, 1.0);
}

// How high material that would lie so thick on level ground fills a relief whose heights lie about evenly from −1 to 1,
// where `whole` fills it: hollows first.
float filled_to(float thickness, float whole) {
    return 2.0 * sqrt(max(thickness, 0.0) / whole) - 1.0;
}

// How much loose material hides of relief that stands so high, from −1 to 1. Through a veneer rock shows; where none lies,
// the deepest hollows are bare, too.
float covered_by(float level, float relief) {
    float deep = level - relief;
    return smoothstep(-THIN, THIN, deep) * mix(VENEER, 1.0, clamp(deep, 0.0, 1.0)) * smoothstep(-1.0, -0.8, level);
}

// Only worlds with materials know of the top of the strata.
Ground ground_material(vec2 cells, vec4 place, StrataTop top, float steepness, float hollowness, vec4 fine, vec4 coarse) {
    float altitude = relative_height(place.x * frame.map.w);
    float ripple = fine.x - 0.5, patches = coarse.x - 0.5, tone = coarse.w - 0.5;
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
#if DETAIL_SCALES < 3
    ripple *= drawn_out(steepness);
#endif
    vec4 lying = textureLod(loose_colour, around, 0.0);
    lying.rgb *= lying.rgb;
    float stony = clamp(3.0 * lying.a - 2.0, 0.0, 1.0), clayey = clamp(1.0 - 3.0 * lying.a, 0.0, 1.0);
    float sandy = clamp(1.0 - 3.0 * abs(lying.a - 2.0 / 3.0), 0.0, 1.0);
#endif

#if LIVING == 1
    // Grass: rank where it is wet, straw where it is dry and in winter and late summer.
    float juicy = clamp(0.10 + 1.25 * wet - 0.22 * abs(frame.strata.z) + 0.45 * patches + 0.30 * ripple, 0.0, 1.0);
    vec3 grass = mix(mix(STRAW, MEADOW, smoothstep(0.10, 0.55, juicy)), RANK_GRASS, smoothstep(0.55, 1.0, juicy));
    grass *= 1.0 + 0.7 * ripple + 0.3 * tone;
    float growing = covers.y * (1.0 - smoothstep(0.80, 1.50, steepness + ripple * 0.30));
#endif
#if GREEN_BY_CLIMATE == 1
    // Lush in hollows and low down, dry on crests and high up.
    float lush = clamp(0.62 + 1.5 * hollowness - 0.55 * altitude + patches * 1.1 + ripple * 0.35, 0.0, 1.0);
    vec3 meadow = mix(LUSH_LIGHT, LUSH_DARK, clamp(lush * 1.2 - 0.1 + tone * 0.6, 0.0, 1.0));
    meadow = mix(DRY_GRASS, meadow, smoothstep(0.12, 0.62, lush));
    meadow *= 1.0 + 0.5 * ripple;
    float green = frame.ground_look.y * (1.0 - smoothstep(0.50, 0.95, steepness + ripple * 0.30 + patches * 0.22));
#endif

    float bare = smoothstep(0.30, 0.72, steepness + ripple * 0.30 + patches * 0.22);
    float put_down = 0.0;
#if MARKS == 1
    // Grass does not hold where much is worn or put down; the noise frays the edges of all that.
    float frayed = 1.0 + 0.9 * ripple + 0.5 * patches;
    vec3 mark = clamp(texture(marks, cells / frame.map.xy).xyz * frayed, 0.0, 1.0);
    // Bars are bare stones where the river has just been; then sand is blown and washed between them, and at last grass
    // comes back.
    float bars = smoothstep(0.12, 0.42, mark.z);
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
    // Loose material, and what snowballs have put down, lies in the hollows first.
    float relief = ripple / FINE_RELIEF;
#if DESERT == 1 && DETAIL_SCALES > 1
    // Wind blows what faces it bare, and leaves its load in the lee.
    relief += frame.wind.z * dot(WINDWARD.x * (fine.yz - 0.5) + WINDWARD.y * clamp(place.yz, -1.0, 1.0), frame.wind.xy);
    // It frays less than other borders: relief does that, of which faces of rock would be cut out of it.
    vec2 over = (cells + (0.8 * (fine.yz - 0.5) + 3.0 * (coarse.yz - 0.5)) * drawn_out(steepness)) / frame.map.xy;
    float thickness = textureLod(surface, over, 0.0).w;
#else
    vec2 over = cells / frame.map.xy;
    float thickness = place.w;
#endif
    float level = max(filled_to(thickness, WHOLE * frame.ground_look.z), 2.0 * put_down - 1.0);
#if DETAIL_SCALES > 2
    // What lies at the foot of a slope laps up it: else the cell between would be a seam of what grows on neither.
    vec2 downhill = -place.yz / max(length(place.yz), 1e-3) * smoothstep(0.10, 0.35, steepness);
    if (covered_by(level, relief) < 1.0) {
        float banked = textureLod(surface, over + LAPS_UP * downhill / frame.map.xy, 0.0).w;
        level = max(level, filled_to(banked, BANKED * frame.map.z));
    }
#endif
    float covered = covered_by(level, relief);
#if MATERIALS == 1 || DETAIL_SCALES > 2
    covered *= 1.0 - 0.75 * smoothstep(0.85, 1.50, steepness + 0.4 * ripple);
#endif

#if MATERIALS == 1
    Rock bed = rock_in_strata(cells, top, place.x, 0.7 * ripple + patches, covered < 1.0, detail);
    vec3 rock = bed.albedo * (1.0 + ripple * mix(0.9, 0.35, bed.bedded) + tone * mix(0.5, 0.15, bed.bedded));
    // Gentle rock is weathered: its beds fade, and what it weathers to lies in its cracks.
    vec3 soil = mix(mix(bed.mean, rock, 0.35), lying.rgb, 0.30) * (0.95 + 0.3 * ripple);
#else
    // Rock lies in bands by height, which the noise bends.
    float bands = 0.5 + 0.5 * sin(altitude * 46.0 + patches * 7.0 + ripple * 2.0);
    vec3 rock = mix(ROCK_LOW, ROCK_HIGH, clamp(0.25 + 0.5 * bands + ripple * 0.9, 0.0, 1.0));
    vec3 soil = mix(ROCK_HIGH, DRY_GRASS, 0.55) * (1.0 + 0.4 * ripple);
#endif
    vec3 albedo = mix(soil, rock, bare);
#if GREEN_BY_CLIMATE == 1
    float green_rock = smoothstep(0.15, 0.75, green + ripple * 0.25);
#if MATERIALS == 1
    green_rock *= 1.0 - 0.6 * stony;
#endif
    albedo = mix(albedo, meadow, green_rock);
#endif

#if MATERIALS == 1
    vec3 loose = lying.rgb * (1.0 + ripple * mix(0.35, 0.8, stony) + 0.25 * tone);
#if DESERT == 1
    float sand = covered * sandy * covers.z * (1.0 - smoothstep(0.25, 0.60, wet));
#else
    float sand = 0.0;
#endif
#else
    // Scree where steep, sand and silt where flat. Flat fill is sand and darker silt in patches and braids; grass comes
    // back where it is hollow and old grass is near.
    float damp = clamp(0.45 + 1.6 * tone + 0.8 * patches + 1.2 * hollowness, 0.0, 1.0);
    vec3 fill = mix(SAND, SILT, damp);
#if GREEN_BY_CLIMATE == 1
    fill = mix(fill, LUSH_LIGHT * 1.15, 0.75 * frame.ground_look.y * smoothstep(0.12, 0.30, patches + ripple * 0.6 + 0.12));
#endif
    vec3 loose = mix(fill, SCREE, smoothstep(0.10, 0.45, steepness + patches * 0.2)) * (0.90 + 0.5 * ripple);
#if DESERT == 1
    // Coarse sand, which is darker than what blows, is left between dunes, not on slip faces, down which slides what has
    // blown over the brink; and where sand lies thin on rock.
    float lag = min(hollowness, hollowness * (1.0 - in_lee(place.yz)));
    lag = mix(LAG_ON_ROCK, lag, smoothstep(0.0, LAG_ENDS, level));
    loose = mix(loose, dune_sand(fine, coarse) * (1.0 - LAG_DARK * lag), frame.wind.z);
#endif
    float sand = covered * frame.wind.z;
#endif
    albedo = mix(albedo, loose, covered);
#if MARKS == 1
    float stones = smoothstep(-0.25, 0.25, mark.z - 0.62 + 0.9 * ripple + 0.8 * tone);
    albedo = mix(albedo, mix(BAR_SAND, BAR_STONES * (1.0 + 0.5 * ripple), stones), bars);
#endif

#if LIVING == 1
    // Water between the grains lets light in and not out: loose material gets far darker than rock.
    float soaked = smoothstep(0.08, 0.85, wet + 0.12 * tone);
    albedo *= mix(vec3(1.0), mix(vec3(0.76, 0.74, 0.72), vec3(0.54, 0.49, 0.44), covered), soaked);
    float grassy = grown(growing, ripple, patches);
    albedo = mix(albedo, grass, grassy);
    // Marsh: level, full of water, reeds with pools between them. It is broad: around a lake it would be a dark line.
    float marsh = covers.w * smoothstep(0.78, 0.96, wet + 0.1 * patches) * (1.0 - smoothstep(0.05, 0.16, steepness + 0.1 * ripple));
    float pools = marsh * smoothstep(0.02, 0.09, tone + 0.9 * (fine.w - 0.5));
    albedo = mix(albedo, REEDS * (1.0 + 1.2 * ripple), 0.85 * marsh);
    albedo = mix(albedo, BOG_WATER, pools);
    float sheen = max(pools, 0.22 * smoothstep(0.45, 1.0, wet) * (1.0 - 0.8 * grassy) * (1.0 - smoothstep(0.3, 0.8, steepness)));
    sand *= 1.0 - grassy;
#endif

    float above_line = altitude - frame.ground_look.x + patches * 0.10 + ripple * 0.05;
    float snow = snow_cover(above_line, steepness + ripple * 0.2);
    albedo = mix(albedo, SNOW, snow);
    sand *= 1.0 - snow;
    float rockiness = mix(mix(0.45, 1.0, bare), 0.35, max(covered * 0.6, snow)) * (1.0 - 0.8 * sand);
#if DETAIL_SCALES > 2
    rockiness *= 1.0 - 0.8 * snow;
#endif
#if MARKS == 1
    rockiness = mix(rockiness, 0.25 + 0.5 * stones, bars * (1.0 - snow));
#endif

    Ground ground;
    ground.albedo = albedo;
    ground.sand = sand;
#if MATERIALS == 1
    float shown = covered * (1.0 - snow);
    ground.rock = (1.0 - covered) * (1.0 - snow);
    ground.ledge = bed.ledge * ground.rock;
    ground.fine = max(sandy, clayey) * shown;
    ground.stony = stony * shown;
    ground.cracked = clayey * shown * (1.0 - smoothstep(0.10, 0.40, wet)) * (1.0 - smoothstep(0.15, 0.50, steepness));
    rockiness *= mix(1.0, 0.9 - 0.5 * clayey - 0.55 * sandy + 1.0 * stony, shown);
#endif
#if LIVING == 1
    ground.sheen = sheen * (1.0 - snow);
    rockiness *= 1.0 - 0.8 * pools;
#endif
    ground.rockiness = rockiness;
    return ground;
}
