// Dry sand: its colour, the ripples that wind draws across its way, grains that glitter, and sand that drifts.
#include "map.glsl"
#include "waves_across.glsl"

const vec3 DUNE_SAND = vec3(0.455, 0.271, 0.134);
const vec3 DUNE_SAND_PALE = vec3(0.528, 0.340, 0.182);
const vec3 DRIFTING_SAND = vec3(0.680, 0.500, 0.310);

const vec3 SLID = vec3(0.80, 0.73, 0.655);  // sand on slip faces, beside that which wind has winnowed
// Coarse grains, which are dark, roll farthest: how much for each of hollowness, and at most at the foot and at the brink.
const float COARSE_AT_FOOT = 0.9, COARSEST_AT_FOOT = 0.20, FINEST_AT_BRINK = 0.12;
const float SLID_EVEN = 0.8;  // of its spots, less
const vec3 APRON = vec3(0.80, 0.765, 0.735);  // what has run out at their feet
const vec2 FOOT_OF_SLIP = vec2(0.03, 0.13);   // hollowness
const vec3 LAG = vec3(0.82, 0.785, 0.755);   // beside sand, coarse grains and stones that the wind leaves between dunes
const vec3 CRUST = vec3(1.16, 1.17, 1.20), DAMP = vec3(0.80, 0.76, 0.735);  // beside those: salt and clay, and what is moist below
const vec2 CRUSTS = vec2(0.04, 0.12), DAMP_SPOTS = vec2(0.02, 0.12);       // of the noise
const vec2 SHEETS = vec2(7.3, 23.0);  // cells along and across the wind: tongues of finer and coarser sand
const float SHEETS_DIFFER = 0.5;     // in tone
const vec2 LOW_GROUND = vec2(0.34, 0.06);  // of the relief, where it does
const vec2 LEVEL_GROUND_OF_DUNES = vec2(0.12, 0.03);  // slopes
const vec2 HIGH_DUNES = vec2(0.5, 2.0);    // relief in cells, without which sand is a sheet

const float RIPPLE_LENGTH = 0.42;      // cells from crest to crest
const float SMALL_RIPPLE_LENGTH = 0.14, SMALL_RIPPLES_STEEP = 0.13;  // those between, which only an eye that is near sees
const float BROAD_RIPPLE_LENGTH = 1.13;  // those of the faster wind on windward sides
const float BROAD_ON_LEVEL = 0.3, SMALL_ON_LEVEL = 0.55;  // of their height
// On windward sides, where sand is fresh and no stones lie: the first two beside those on level ground, the coarse ones less.
const float STEEP_TO_WIND = 1.5, COARSE_LACKING = 0.75;
const float MEGARIPPLE_LENGTH = 3.1;   // the coarse grains' longer ones
const float RIPPLES_GONE = 0.24, BROAD_RIPPLES_GONE = 0.30, MEGARIPPLES_GONE = 0.12;  // pixels, in their wavelengths
// How much paler the fine grains on crests of ripples are, for each of their slope, and darker the coarse ones on longer ones.
const float FINE_ON_CRESTS = 1.1, COARSE_ON_CRESTS = 1.6;
const float STEEP_TO_LEE = 0.4;  // how far their lee sides are steeper
const vec2 WINDWARD_SIDE = vec2(0.02, 0.16);  // in parts of the slope of slip faces
const float TURNS_DOWNHILL = 0.6;      // crests on a slope across the wind, for each of its height: gravity pulls grains down
const float CRESTS_LONG = 13.0;        // cells, about, from where one ends to the next
const int TONGUE_SCALES = 3;
const float TONGUES_WIDE = 2.6, TONGUES_FINER = 0.36, TONGUES_LONG = 4.0;  // cells; beside that
const vec2 TONGUES_UNLIKE = vec2(0.9, 0.25), TONGUES_FADE = vec2(0.06, 0.22);  // pixels in one
const float TONGUES_STEEP = 0.12, TONGUES_DIFFER = 0.10;  // slope of their sides; in tone
// Narrow ones are as flat as what slid last lies, and end at an edge: of a wave, from where on it is one, and half of the edge.
const float TONGUES_FROM = 0.25, TONGUES_EDGE = 0.16, EDGES_STEEP = 0.08, EDGES_DIFFER = 0.07, EDGES_SHADE = 0.08;
const float GRAINS = 40.0;             // glittering facets along a cell
// In parts of the slope of slip faces: from where on sand slides; by how much slopes differ at a brink, and fall behind it.
const vec2 SLIDES = vec2(0.585, 0.862), BENDS_AT_BRINK = vec2(0.277, 0.693), FALLS_BEHIND = vec2(0.154, 0.539);
const vec2 IN_LEE = vec2(0.185, 0.462);  // falling along the wind
const float BESIDE_A_BRINK = 2.0;      // cells from a brink to where the map's slopes know nothing of its other side
const float LOOKS_AHEAD = 1.9;         // cells along the wind, where a slip face is looked for
const float FURROW = 2.2;              // cells, along which three places of a contour line are taken together
const vec2 AMONG_STREAMERS = vec2(0.01, 0.07);  // cells in a pixel, nearer than which they are a thin haze
const float THIN_HAZE = 0.35;          // of their opacity
const float LEAST_SEEN = 0.002;        // opacity, about half a step of a screen's
const float LEVEL = 0.05;              // slope under which the wind and not the ground says which way sand faces

// How steeply ground of this slope falls along the wind, from 0 to 1 in the lee of a brink.
float in_lee(vec2 slope) {
    return smoothstep(IN_LEE.x, IN_LEE.y, -dot(slope, frame.wind.xy) / frame.strata.w);
}

// How much of the ground is a lag of coarse grains and stones: between dunes, from where the wind takes what is fine. At a
// height, relative to the relief of the land, and a slope; the noise is around 0.
float lag_between_dunes(float altitude, vec2 slope, float noise) {
    float low = smoothstep(LOW_GROUND.x, LOW_GROUND.y, altitude + 0.6 * noise);
    float level = smoothstep(LEVEL_GROUND_OF_DUNES.x, LEVEL_GROUND_OF_DUNES.y, length(slope));
    float relief = (frame.heights.y - frame.heights.x) / (frame.map.w * frame.map.z);
    return low * level * smoothstep(HIGH_DUNES.x, HIGH_DUNES.y, relief);
}

// What the ground between dunes looks like, beside sand.
vec3 between_dunes(float between, vec4 fine, vec4 coarse) {
    vec3 floor_of = LAG;
#if DETAIL_SCALES > 2
    float ragged = 0.35 * (fine.x - 0.5);
    floor_of *= mix(vec3(1.0), CRUST, smoothstep(CRUSTS.x, CRUSTS.y, coarse.x - 0.5 + ragged));
    floor_of *= mix(vec3(1.0), DAMP, smoothstep(DAMP_SPOTS.x, DAMP_SPOTS.y, coarse.w - 0.5 + ragged));
#endif
    return mix(vec3(1.0), floor_of, between);
}

#if DETAIL_SCALES > 2
// The colour of sand that the wind has sorted, in tongues across its way, beside the mean; 1 where no `sand` lies.
vec3 sorted_sand(vec2 cells, vec2 slope, float sand, sampler2D noise) {
    vec2 tongues = vec2(dot(cells, frame.wind.xy), dot(cells, vec2(-frame.wind.y, frame.wind.x))) / SHEETS;
    vec2 east = dFdx(tongues), south = dFdy(tongues);
    if (sand <= 0.0) return vec3(1.0);
    return vec3(1.0 + SHEETS_DIFFER * (textureGrad(noise, tongues, east, south).x - 0.5) * (1.0 - in_lee(slope)));
}
#endif

// On a slope: what slides is of finer grains than what the wind leaves.
vec3 dune_sand(vec4 fine, vec4 coarse, vec2 slope) {
    float spots = 0.7 * (fine.x - 0.5) * (1.0 - SLID_EVEN * in_lee(slope));
    vec3 sand = mix(DUNE_SAND, DUNE_SAND_PALE, clamp(0.5 + 1.1 * (coarse.w - 0.5) + spots, 0.0, 1.0));
#if DETAIL_SCALES > 2
    return sand;  // see `slid_sand`, which knows the brink's edge
#else
    return sand * mix(vec3(1.0), SLID, in_lee(slope));
#endif
}

#if DETAIL_SCALES > 2
// The colour of sand that has slid down a slip face, beside that which wind has winnowed.
vec3 slid_sand(vec2 slope, float hollowness) {
    float slid = in_lee(slope);
    vec3 sorted = mix(mix(vec3(1.0), APRON, smoothstep(FOOT_OF_SLIP.x, FOOT_OF_SLIP.y, hollowness)), SLID, slid);
    return sorted * (1.0 - slid * clamp(COARSE_AT_FOOT * hollowness, -FINEST_AT_BRINK, COARSEST_AT_FOOT));
}
#endif

struct Ripples {
    float slope;  // along the wind
    float tone;   // how much paler grains are than the mean
    float rough;  // how steep those are that are finer than a pixel
};

// One train of ripples of this slope, at a place so many cells along the wind. It fades before it would be finer than a pixel, which is so many cells wide along
// the wind: by that and not by how its phase differs, which where crests fork it does by leaps. It is gone where so
// much of its length is a pixel.
void add_ripple_train(inout Ripples ripples, float along, float pixel, float wavelength, float bend, float slope, float gone, float pale) {
    float phase = along / wavelength + bend;
    float seen = 1.0 - smoothstep(gone / 3.0, gone, pixel / wavelength);
    ripples.slope += slope * seen * cos(6.28318531 * phase);
#if DETAIL_SCALES > 2
    float steep = STEEP_TO_LEE * (1.0 - smoothstep(gone / 6.0, gone / 2.0, pixel / wavelength));
    ripples.slope += slope * steep * cos(12.5663706 * phase);
    ripples.tone += slope * pale * (seen * sin(6.28318531 * phase) + steep * sin(12.5663706 * phase));
#endif
    ripples.rough = sqrt(ripples.rough * ripples.rough + slope * slope * (1.0 - seen * seen));  // so that the variance of all is the same
}

#if DETAIL_SCALES > 2
// What has slid down a slip face.
struct Slid {
    vec2 slope;  // to the east and south
    float tone;
};

// Tongues that sand slides down in from the brink, with levees between: broad ones, and narrow ones in these. `pixel` is in cells.
Slid slid_at(vec2 cells, vec2 slope, float pixel) {
    Slid slid = Slid(vec2(0.0), 0.0);
    float slides = in_lee(slope) * smoothstep(0.7 * SLIDES.x, SLIDES.y, length(slope) / frame.strata.w), wide = TONGUES_WIDE;
    vec2 down = slope;
    for (int scale = 0; scale < TONGUE_SCALES; ++scale) {
        float seen = slides * (1.0 - smoothstep(TONGUES_FADE.x, TONGUES_FADE.y, pixel / wide));
        if (seen <= 0.0) break;
        vec2 across = vec2(-down.y, down.x) / max(length(down), 1e-4);
        vec4 waves = summed_waves(cells / (wide * TONGUES_LONG) + 7.1 * float(scale), across, TONGUES_LONG, TONGUES_UNLIKE);
        vec2 wave = waves.xy / max(length(waves.xy), 0.08);
        float some = seen * smoothstep(0.35, 0.85, waves.z);
        if (scale == 0) {
            slid.slope -= some * TONGUES_STEEP * wave.y * (0.6 + 0.4 * wave.x) * across;
            slid.tone += some * TONGUES_DIFFER * wave.x;
        } else {
            float edge = TONGUES_EDGE + 4.0 * pixel / wide, past = (wave.x - TONGUES_FROM) / edge;
            float at_edge = max(1.0 - past * past, 0.0), below = max(1.0 - (past + 1.2) * (past + 1.2), 0.0);
            slid.slope -= some * EDGES_STEEP * sign(wave.y) * at_edge * across;
            slid.tone += some * (EDGES_DIFFER * smoothstep(-1.0, 1.0, past) - EDGES_SHADE * below);
        }
        down += 0.3 * length(slope) * wave.y * across;
        wide *= TONGUES_FINER;
    }
    return slid;
}

// By how many crests ripples are ahead at a place, so that some of them end there and the ones beside them join: a pair of
// such ends lies in each square of some, of the width of `wide` cells.
float ends_of_crests(vec2 cells, float wide) {
    vec2 at = cells / wide;
    at.x += 0.5 * mod(floor(at.y), 2.0) + 0.37 * sin(2.1 * floor(at.y));
    vec2 square = floor(at), own = hash2(square), inside = at - square - 0.5;
    vec2 apart = 0.28 * vec2(cos(TAU * own.x), sin(TAU * own.x));
    vec2 first = inside - apart, second = inside + apart;
    vec2 turned = vec2(dot(first, second), first.x * second.y - first.y * second.x);
    float border = max(abs(inside.x), abs(inside.y));
    return step(0.3, own.y) * (1.0 - smoothstep(0.30, 0.5, border)) * atan(turned.y, turned.x) / TAU;
}
#endif

// Ripples on sand that lies on `slope`; none on slip faces, where sand slides, nor in the lee of a brink, where no wind
// draws them. On slopes across the wind their crests turn, by the height in cells.
Ripples ripples_at(vec2 cells, float height, vec2 slope, float pixel, sampler2D noise) {
    float windward = smoothstep(WINDWARD_SIDE.x, WINDWARD_SIDE.y, dot(slope, frame.wind.xy) / frame.strata.w);
    float slides = smoothstep(SLIDES.x, SLIDES.y, length(slope) / frame.strata.w) * (1.0 - windward);
    float lies = (1.0 - slides) * (1.0 - in_lee(slope));
    // Crests wander and fork where the noise, without its finest waves, bends them. The coarse grains' lie in patches, which
    // where they can be seen are far wider than crests are apart, or these would be pits.
#if DETAIL_SCALES > 2
    float broad = textureLod(noise, cells.yx / 71.0, 5.0).x;
    float fine_bend = 1.4 * broad, coarse_bend = broad, ends = ends_of_crests(cells, CRESTS_LONG);
    // As far as the broad ones are seen: where the bend of crests changed, they would not join.
    if (pixel < BROAD_RIPPLES_GONE * BROAD_RIPPLE_LENGTH) fine_bend += 0.7 * textureLod(noise, cells.yx / 9.7, 5.0).w;
#else
    float broad = textureLod(noise, cells / 23.0, 4.0).x;
    float fine_bend = 1.9 * broad + 0.8 * textureLod(noise, cells.yx / 7.9, 4.0).w, coarse_bend = 0.6 * fine_bend, ends = 0.0;
#endif
    Ripples ripples = Ripples(0.0, 0.0, 0.0);
    float along = dot(cells, frame.wind.xy) - TURNS_DOWNHILL * height;
    add_ripple_train(ripples, along, pixel, RIPPLE_LENGTH, 1.5 * fine_bend + ends, 0.14 * lies * mix(1.0, STEEP_TO_WIND, windward), RIPPLES_GONE, FINE_ON_CRESTS);
    add_ripple_train(ripples, along, pixel, BROAD_RIPPLE_LENGTH, fine_bend + ends, 0.10 * lies * mix(BROAD_ON_LEVEL, STEEP_TO_WIND, windward), BROAD_RIPPLES_GONE, FINE_ON_CRESTS);
#if DETAIL_SCALES > 2
    if (pixel < RIPPLES_GONE * SMALL_RIPPLE_LENGTH) {
        float rough = ripples.rough;  // they are too small to count for light from afar
        add_ripple_train(ripples, along, pixel, SMALL_RIPPLE_LENGTH, 3.2 * fine_bend + ends, SMALL_RIPPLES_STEEP * lies * mix(SMALL_ON_LEVEL, 1.0, windward), RIPPLES_GONE, FINE_ON_CRESTS);
        ripples.rough = rough;
    }
#endif
    // From farther away their few crests are no field of ripples: they would be bars across the dunes.
    float coarse_slope = 0.07 * lies * smoothstep(0.46, 0.62, broad) * (1.0 - COARSE_LACKING * windward);
    add_ripple_train(ripples, along, pixel, MEGARIPPLE_LENGTH, coarse_bend, coarse_slope, MEGARIPPLES_GONE, -COARSE_ON_CRESTS);
    return ripples;
}

// The mean of the light that falls on ripples that are finer than a pixel: those sides that are turned away get none.
// `facing` is the cosine of the angle to the sun on the ground that bears them.
float light_on_ripples(float facing, float rough) {
    float most = max(rough * abs(dot(frame.wind.xy, frame.sun.xz)), 1e-4);
    float part = clamp(facing / most, -1.0, 1.0);
    float square = part * part;  // of (x · acos(−x) + √(1 − x²)) / π the first terms, and what they lack at −1 and 1
    return max(facing - most, 0.0) + most * (0.3183 + 0.5 * part + square * (0.159 + 0.0227 * square));
}

// The direction with twice the angle of this one, as long as its square; and the other way, of length 1.
vec2 twice_angle(vec2 direction) {
    return vec2(direction.x * direction.x - direction.y * direction.y, 2.0 * direction.x * direction.y);
}

vec2 half_angle(vec2 direction) {
    float part = direction.x / max(length(direction), 1e-12);
    return vec2(sqrt(0.5 + 0.5 * part), direction.y < 0.0 ? -sqrt(0.5 - 0.5 * part) : sqrt(0.5 - 0.5 * part));
}

// The map around a place, which says `middle` there, as its mean along a contour line: parcels of wind leave furrows some
// cells wide, which sand that slides does not have.
vec4 without_furrows(vec2 cells, vec4 middle, vec2 contour, sampler2D surface) {
    vec2 aside = FURROW * contour / frame.map.xy, at = cells / frame.map.xy;
    return (textureLod(surface, at - aside, 0.0) + middle + textureLod(surface, at + aside, 0.0)) / 3.0;
}

vec4 without_furrows(vec2 cells, vec2 contour, sampler2D surface) {
    return without_furrows(cells, textureLod(surface, cells / frame.map.xy, 0.0), contour, surface);
}

// Where it is nearly level the contour line lies across the wind; of lines and not arrows the mean is taken, by twice
// their angles, or it would leap where the ground turns from rising to falling.
vec2 contour_of_sand(vec2 slope) {
    return half_angle(-twice_angle(slope) - LEVEL * LEVEL * twice_angle(frame.wind.xy));
}

// The slope of sand that no wind shapes.
vec2 slope_of_lulled_sand(vec2 cells, vec4 place, sampler2D surface) {
    return without_furrows(cells, place, contour_of_sand(place.yz), surface).yz;
}

// The slope of sand: smooth, and where a slip face begins two planes that meet in an edge, of which the map, whose slopes
// are those from cell to cell, makes a round back. The edge lies across the way down the slip face, and not across the wind.
// `pixel` is in cells.
vec2 slope_of_sand(vec2 cells, vec4 place, float pixel, sampler2D surface) {
    vec4 here = without_furrows(cells, place, contour_of_sand(place.yz), surface);
    // Down the wind, farther away where the edge lies aslant to it.
    vec2 lee = textureLod(surface, (cells + LOOKS_AHEAD * frame.wind.xy) / frame.map.xy, 0.0).yz;
    vec2 farther = textureLod(surface, (cells + 2.0 * LOOKS_AHEAD * frame.wind.xy) / frame.map.xy, 0.0).yz;
    if (dot(farther - lee, frame.wind.xy) < 0.0) lee = farther;
    float slip = frame.strata.w;
    float falls = smoothstep(FALLS_BEHIND.x, FALLS_BEHIND.y, -dot(lee, frame.wind.xy) / slip);
    if (falls == 0.0) return here.yz;
    vec2 down = -normalize(lee), contour = vec2(-down.y, down.x), way = BESIDE_A_BRINK * down;
    vec4 behind = without_furrows(cells + way, contour, surface), before = without_furrows(cells - way, contour, surface);
    float step_of = frame.map.z;
    float rise = before.x + dot(before.yz, way) * step_of, fall = behind.x - dot(behind.yz, way) * step_of;
    float bend = dot(before.yz - behind.yz, down);
    float brink = falls * smoothstep(BENDS_AT_BRINK.x, BENDS_AT_BRINK.y, bend / slip);
    float past = (rise - fall) / max(bend * step_of, 1e-4);  // cells, positive on the slip face
    vec2 slope = mix(before.yz, behind.yz, clamp(past / max(pixel, 0.3) + 0.5, 0.0, 1.0));
    return mix(here.yz, slope, brink);
}

// Sunlight that single grains throw into the eye.
float glitter(vec2 cells, vec3 normal, vec3 to_eye) {
    vec2 grain = floor(cells * GRAINS);
    float fade = 1.0 - smoothstep(0.3, 1.0, max(fwidth(cells.x), fwidth(cells.y)) * GRAINS);
    fade *= 1.0 - smoothstep(0.20, 0.45, length(cells * GRAINS - grain - 0.5));
    vec3 turn = vec3(hash(grain + 1.7), hash(grain + 5.1), hash(grain + 9.2)) - 0.5;
    vec3 facet = normalize(normal + 1.4 * turn);
    return pow(max(dot(reflect(-frame.sun.xyz, facet), to_eye), 0.0), 60.0) * step(0.80, hash(grain)) * fade;
}

// How much of the ground, which lies on `slope`, is hidden by the streamers that sand in the air (metres over a cell)
// makes. Past a brink it falls down. `step_of` is how far pixels are from each other.
float drifting(vec2 cells, mat2 step_of, vec2 slope, float sand_in_air, sampler2D noise) {
    float dense = 1.0 - exp(-22.0 * sand_in_air);
    float near = 1.0 - smoothstep(AMONG_STREAMERS.x, AMONG_STREAMERS.y, sqrt(abs(determinant(step_of))));
    float most = 0.75 * frame.wind.w * dense * (1.0 - in_lee(slope)) * mix(1.0, THIN_HAZE, near);
    if (most < LEAST_SEEN) return 0.0;
    mat2 turn = mat2(frame.wind.x, -frame.wind.y, frame.wind.y, frame.wind.x);  // to along and across
    vec2 moved = turn * cells - vec2(9.0 * frame.camera.w, 0.0), broad = vec2(0.024, 0.160), fine = vec2(0.068, 0.440);
    // Some four cells wide at most: broader ones would be streaks over whole dunes. Finer than a pixel they are a haze.
    mat2 moves = turn * step_of;
    float streamers = textureGrad(noise, moved * broad, moves[0] * broad, moves[1] * broad).x * 0.6
                    + textureGrad(noise, moved * fine + 0.3, moves[0] * fine, moves[1] * fine).w * 0.4;
    return most * smoothstep(0.42, 0.75, streamers);
}
