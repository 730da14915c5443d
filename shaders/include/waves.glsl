// Waves that run to the shore, and the beach that they run up. They are only drawn: no layer knows of them.
#include "detail.glsl"
#include "map.glsl"

#ifndef FINE_WATER
#define FINE_WATER 1
#endif

#ifndef WAVES
#define WAVES 1
#endif

// See app/picture/passes/shore.py
uniform sampler2D nearshore;  // distance in cells, phase / √distance from the coast, depth in m, room for waves
uniform sampler2D surf;       // arrival, the way that waves run, how straight to the coast

const float TWO_PI = 6.28318531;
const float BREAKER_INDEX = 0.78;  // height by depth of the highest wave (McCowan 1894)
const float SHOALING_BEGINS = 0.36;  // depth × wave number of deep water, from where on waves grow (Green 1838)
const float SWASH_ENDS = 0.85;     // of a period: so long water is on the beach after a crest has come

struct Shore {
    float away;     // cells to the coast, negative on land
    vec2 run;       // the unit vector of the way that waves run
    float depth;    // m, negative on land
    float way;      // phase of waves that run straight to the coast, from there to here
    float phase;    // of the waves now: crests are at multiples of 2π, and come in from where it is larger
    float strength; // how high waves are here beside those in deep water before depth tells
    float room;     // the same, as high in the lee
    float uneven;   // noise of unit variance, for what lies along the coast
    float broad;    // the same without its finer waves
};

// A place in wavelengths of the deep sea.
vec2 in_wavelengths(vec2 cells) {
    return cells * (frame.map.z * frame.waves.x / TWO_PI);
}

// Noise of unit variance without its finest waves, in wavelengths of the sea.
float front_noise(vec2 cells, vec2 shift) {
    vec2 at = in_wavelengths(cells) / 17.0;
    return 6.0 * (textureLod(detail, at + shift, 3.0).w - 0.5);
}

// Where in a wave's length its trough is: in the middle where it is deep, just before the next crest where waves break.
float trough(float breaking) {
    return 0.5 + 0.38 * frame.fronts.x * smoothstep(0.25, 1.0, breaking);
}

// How high a front is, by its number: each has gaps of its own, which stay where they are while it comes in.
float front_strength(vec2 cells, float number) {
    float front = mod(number, frame.waves.z);
    float high = front_noise(cells, vec2(hash(vec2(front, 1.7)), hash(vec2(front, 8.3))));
    return mix(1.0, smoothstep(-0.8, 0.6, high), frame.fronts.y);
}

// `place` is what `nearshore` says there.
Shore shore_at(vec2 east_south, vec4 place) {
    vec2 uv = map_uv(east_south), cells = east_south / frame.map.z;
    Shore shore;
    shore.away = place.x;
    shore.depth = place.z;
    shore.way = place.y * sqrt(max(place.x, 0.0));
    shore.strength = shore.room = shore.uneven = shore.broad = 0.0;
#if WAVES > 1
    // Drawn waves run to the coast from everywhere, and are as high.
    shore.run = vec2(0.0);
    shore.phase = shore.way;
    float high = 1.0;
#else
    vec4 waves = textureLod(surf, uv, 0.0);
    float swell = length(waves.yz);
    shore.run = waves.yz / max(swell, 1e-6);
    shore.phase = waves.w * shore.way - waves.x;
    float high = mix(1.0, swell, frame.beach.w);
#endif
    shore.phase += TWO_PI * frame.waves.y;
    // Before the outermost front the waves are those of the open sea; so they are by the edge of the map, beyond which
    // nothing is known of a coast.
    float fronts = TWO_PI * frame.fronts.w;
    vec2 to_edge = min(uv, 1.0 - uv) * frame.map.xy;
    float edge = min(to_edge.x, to_edge.y);
    if (shore.way >= fronts || edge <= 1.0) return shore;
    float open = smoothstep(1.0, 0.06 * min(frame.map.x, frame.map.y) + 2.0, edge);
    shore.room = (1.0 - smoothstep(0.25 * fronts, fronts, shore.way)) * place.w * open;
    shore.strength = shore.room * high;
    // Fronts do not come to all of the shore at once.
    shore.broad = shore.uneven = front_noise(cells.yx, vec2(0.37));
    shore.phase += 1.1 * frame.fronts.y * shore.broad;
#if FINE_WATER == 1
    shore.uneven = 6.0 * (textureLod(detail, in_wavelengths(cells) / 5.3, 1.0).w - 0.5);
#endif
    return shore;
}

Shore shore_at(vec2 east_south) {
    return shore_at(east_south, textureLod(nearshore, map_uv(east_south), 0.0));
}

struct Wave {
    float height;    // m over the still water
    vec2 slope;      // of its surface, to the east and south
    float front;     // its number
    float strength;  // its height here beside that in deep water, but for shoaling
    float breaking;  // from 0, through 1 where the wave is as high as it can be
    float number;    // wave number, 1/m, about
    float roughness; // variance of the slopes that are finer than a pixel
    float age;       // part of a period since the last crest; near 1 the next comes
};

// Profile of a wave over a period, from crest (1) to crest, and its slope over the phase.
vec2 profile(float age, float trough_at) {
    bool behind = age < trough_at;
    float width = behind ? trough_at : 1.0 - trough_at;
    float t = (behind ? age : 1.0 - age) / width;
    float swing = 1.0 - t * t * (3.0 - 2.0 * t);
    float rise = (behind ? -6.0 : 6.0) * t * (1.0 - t) / (width * TWO_PI);
    // Crests are narrower than troughs.
    return vec2(swing * (0.5 + 0.5 * swing) - 0.4357, rise * (0.5 + swing));
}

// `pixel` is how far the place moves from pixel to pixel: to the east and south along x, and along y.
Wave wave_at(vec2 east_south, Shore shore, vec4 pixel) {
    vec2 cells = east_south / frame.map.z;
    float depth = max(shore.depth, 0.02 * frame.map.z * max(shore.away, 0.0) + 1e-4);
    float relative = depth * frame.waves.x;
    float grown = sqrt(sqrt(max(SHOALING_BEGINS / relative, 1.0)));
    float highest = BREAKER_INDEX * depth;
    float free = frame.waves.w * shore.strength * grown;
    float trough_at = trough(free / highest);
    Wave wave;
    wave.front = floor(shore.phase / TWO_PI + 1.0 - trough_at);
    float gaps = front_strength(cells, wave.front);
    wave.strength = shore.strength * gaps;
    free *= gaps;
    wave.breaking = free / highest;
    wave.age = fract(shore.phase / TWO_PI);
    float squared = wave.breaking * wave.breaking;
    float tall = free * inversesqrt(sqrt(1.0 + squared * squared));
    vec2 form = profile(wave.age, trough_at);
    // A wave number that is cheap, within 6 %: the slope needs no more.
    float number = frame.waves.x * inversesqrt(1.0 - exp(-relative));
    wave.number = number;
    // Waves that are hardly wider than a pixel fade, or they would flicker; what is lost of them is rough.
    float per_pixel = (abs(dot(shore.run, pixel.xy)) + abs(dot(shore.run, pixel.zw))) * number / TWO_PI;
    float faded = smoothstep(0.15, 0.45, per_pixel);
    float steep = min(tall * number, 0.9);
    wave.roughness = 0.06 * faded * steep * steep;
    tall *= 1.0 - faded;
    wave.height = tall * form.x;
    // Steeper than this, waves would fall over.
    wave.slope = -shore.run * clamp(tall * form.y * number, -0.9, 0.9);
    return wave;
}

const float WASH_LINES = 4.0;  // of foam behind a crest
const float ROLLER_THIN = 0.45;  // of it, where a crest hardly breaks
const float THIN_WASH = 0.70;  // of the foam, between them
const float RIM_OF_FOAM = 0.85, RIM_ENDS = 0.18;  // how much lies along the coast between waves, and so many of them out
// Foam that lasts along the coast: where it is narrowest and widest, in wavelengths of the deep sea; of it in its thin
// fringe, and how much wider that is
const vec2 SEAM_ENDS = vec2(0.07, 0.48);
const float SEAM_THICK = 0.85, SEAM_FRINGE = 0.50, FRINGE_WIDER = 3.0;
const float SEAM_IN_LEE = 0.45, SEAM_NARROW = 0.5;  // how thick it is there, and where it is narrowest
const float FILM = 0.65;  // of white
const float BREAKS_LEAST = 0.2;  // of waves, on rock

// How much of a place is white where foam covers such a part of it: a web with holes that grow as it breaks up. From far
// away only the part is seen. Each front has a web of its own.
float lace(vec2 cells, float cover, float front, float cells_per_pixel) {
    if (cover <= 0.0) return 0.0;
    front = mod(front, frame.waves.z);
    vec2 at = in_wavelengths(cells) + 31.0 * vec2(hash(vec2(front, 4.1)), hash(vec2(front, 6.7)));
    vec4 coarse = texture(detail, at / 1.6);
#if FINE_WATER == 1
    vec4 fine = 0.6 * texture(detail, at.yx / 0.43) + 0.4 * texture(detail, at / 0.14);
#else
    vec4 fine = coarse.wzyx;
#endif
    // Bubbles gather in a web around patches of clear water.
    float web = 1.0 - min(6.0 * abs(coarse.x - 0.5), 1.0);
    float gathered = clamp(0.45 * web + 0.9 * (fine.x - 0.5) + 0.9 * (coarse.w - 0.5) + 0.30, 0.0, 1.0);
    float bubbles = smoothstep(1.0 - cover, 1.95 - cover, gathered + 0.28 * cover) * mix(0.35, 0.95, cover * cover);
    // A film of the finest bubbles lies around and between them.
    float film = FILM * cover * smoothstep(0.70 - cover, 1.60 - cover, gathered + 0.5 * (fine.x - 0.5));
    bubbles += film * (1.0 - bubbles);
    return mix(bubbles, 0.8 * cover, smoothstep(0.06, 0.25, length(in_wavelengths(vec2(cells_per_pixel, 0.0)))));
}

// Backwash and the last waves leave a seam of foam, all along the coast that waves run to: here wide, there hardly any.
float seam_of_foam(Shore shore) {
    float off = in_wavelengths(vec2(max(shore.away, 0.0), 0.0)).x, wide = smoothstep(-1.3, 1.3, shore.uneven);
    float ends = mix(SEAM_ENDS.x, SEAM_ENDS.y, wide * wide);
    float thick = SEAM_THICK * (1.0 - smoothstep(0.3 * ends, ends, off));
    float fringe = SEAM_FRINGE * (1.0 - smoothstep(0.3 * ends, FRINGE_WIDER * ends, off));
    float waves = max(smoothstep(0.04, 0.5, shore.strength), SEAM_IN_LEE * smoothstep(0.1, 1.0, shore.room));
    return waves * mix(SEAM_NARROW, 1.0, wide) * max(thick, fringe);
}

// Foam on the water: where waves break, on the steep side of the crest, and behind it as long as it lasts.
float foam_at(vec2 east_south, Shore shore, Wave wave, float cells_per_pixel) {
    // At the foot of a cliff the last wave breaks on the rock, however deep it is.
    float fronts_before = shore.way / TWO_PI;
    float on_rock = (1.0 - smoothstep(0.20, 0.70, fronts_before)) * smoothstep(0.08, 0.6, wave.strength);
    // Here rock throws it back whole, and there it breaks on stones: patches of it are long and short.
    on_rock *= mix(BREAKS_LEAST, 1.0, smoothstep(-0.7, 0.9, shore.uneven + 0.5 * shore.broad));
    // The highest parts of fronts spill just before they reach the shallows.
    float spills = 0.8 * (1.0 - smoothstep(0.5, 1.8, fronts_before)) * smoothstep(0.60, 0.95, wave.strength);
    float surf_breaks = smoothstep(0.55, 1.05, wave.breaking) * smoothstep(0.03, 0.2, wave.strength);
    float breaks = max(max(surf_breaks, on_rock), spills);
    float before = 1.0 - wave.age;
    // The crest is a line along the shore; what it leaves behind is thin, and lies in lines along the crests, too.
    float roller = max(smoothstep(0.10, 0.02, before), smoothstep(0.13, 0.01, wave.age)) * mix(ROLLER_THIN, 1.0, smoothstep(-1.2, 0.5, shore.uneven));
    float lines = smoothstep(-0.6, 1.0, sin(TWO_PI * WASH_LINES * sqrt(wave.age)));
    float left_behind = 0.82 * pow(before, 1.3) * mix(THIN_WASH, 1.0, lines);
    // Between two waves the foam of the last ones is left along the rock.
    float fringe = RIM_OF_FOAM * (1.0 - smoothstep(0.02, RIM_ENDS, fronts_before));
    float cover = frame.fronts.z * max(breaks * max(roller, max(left_behind, fringe)), seam_of_foam(shore));
    return lace(east_south / frame.map.z, min(cover, 1.0), wave.front, cells_per_pixel);
}

struct Beach {
    float covered;  // by the water of a wave: 0 to 1
    float foam;     // on that
    float wet;      // how wet the ground is: 1 under water, less as it dries
};

// How high water stands on the beach in the course of a period, as a part of the highest: it comes faster than it goes.
float swash(float age) {
    float part = sqrt(min(age / SWASH_ENDS, 1.0));
    return 4.0 * part * (1.0 - part);
}

// The ages at which water comes to a height, a part of the highest, and leaves it.
vec2 swash_ages(float height) {
    float half_width = 0.5 * sqrt(max(1.0 - height, 0.0));
    vec2 parts = vec2(0.5 - half_width, 0.5 + half_width);
    return SWASH_ENDS * parts * parts;
}

// How far up waves run a beach that a place lies, `height` metres over the still water, and `away` cells from the coast: 1
// where the highest end. On steep beaches height stops them, on flat ones the way (Hunt 1959).
float up_the_beach(float height, float away, float strength) {
    strength = max(strength, 1e-6);
    return max(height / max(frame.beach.x * strength, 1e-6), away * frame.map.z / max(frame.beach.y * sqrt(strength), 1e-6));
}

// How much of foam, wetness and sand waves of this strength leave: on quiet shores nothing.
float traces_of_waves(float strength) {
    return smoothstep(0.05, 0.4, strength);
}

// Dry ground by the coast, `height` metres over the still water. `pixel` is how much of height a pixel spans, and how many
// cells: where that is more than waves do, only what they do on average is seen. The ground rises by `rise` metres from one
// cell to the next.
Beach beach_at(vec2 east_south, Shore shore, float height, vec2 pixel, float rise) {
    vec2 cells = east_south / frame.map.z;
    vec2 at_coast = cells + shore.away * shore.run;
    float up = up_the_beach(height, -shore.away, shore.strength);
    float age = fract(shore.phase / TWO_PI), front = floor(shore.phase / TWO_PI);
    float reach = max(front_strength(at_coast, front), 1e-6);
    vec2 ages = swash_ages(up / reach);
    float dry_for = up < reach && age > ages.x ? max(age - ages.y, 0.0) : 1e9;
#if FINE_WATER == 1
    // And the wave before: those before it have left little.
    float reached = max(front_strength(at_coast, front - 1.0), 1e-6);
    if (up < reached) dry_for = min(dry_for, age + 1.0 - swash_ages(up / reached).y);
#else
    if (up < reach && age < ages.x) dry_for = age + 1.0 - ages.y;
#endif
    float thickness = swash(age) - up / reach;
    // The water's edge is foam, more while it comes than while it goes.
    float traces = traces_of_waves(shore.strength);
    float edge = traces * smoothstep(0.30, 0.04, thickness) * (1.0 - 0.6 * smoothstep(0.25, 0.8, age));
    // On a flat beach, too, that is a seam: behind it the sheet of water is clear.
    float wide = min(frame.beach.x * shore.strength / max(rise, 1e-6), frame.beach.y * sqrt(shore.strength) / frame.map.z);
    float behind = max(thickness, 0.0) * reach * wide;
    edge *= 0.9 * (1.0 - smoothstep(0.08, 0.6, behind));
    float across = min(pixel.y, pixel.x / max(rise, 1e-6));  // the cells of a pixel, towards the land
    float sharp = 1.0 - smoothstep(0.25, 0.9, up_the_beach(pixel.x, across, shore.strength));
    Beach beach;
    beach.covered = smoothstep(0.0, 0.04, thickness) * sharp;
#if FINE_WATER == 1
    float spread = 0.75 * traces * (1.0 - smoothstep(0.1, 0.75, age))
                 * (1.0 - 0.85 * smoothstep(0.4, 2.0, behind));
    beach.foam = beach.covered * lace(cells, min(frame.fronts.z * max(edge, spread), 1.0), front, pixel.y);
#else
    beach.foam = beach.covered * min(0.8 * frame.fronts.z * edge, 1.0);
#endif
    beach.wet = traces * mix(0.5 * max(1.0 - up, 0.0), exp(-dry_for * frame.beach.z), sharp);
    return beach;
}
