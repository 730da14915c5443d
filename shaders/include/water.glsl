// Water: what it takes of the light, what it gives back, what it mirrors, and the waves on it.
#include "map.glsl"
#include "sky.glsl"

#ifndef FINE_WATER
#define FINE_WATER 1
#endif

uniform sampler2D wind_waves;  // tiling: slopes along and across the wind, height, the slopes' squares

// Of the light, for each metre of depth.
const vec3 ABSORPTION = vec3(0.42, 0.10, 0.07);
// What else it takes, or scatters out of the way: with the absorption this is coastal water of Jerlov's (1976) clearest
// kind, a lake with some humus, which takes blue more than red (Bricaud, Morel and Prieur 1981), and a river that carries silt.
const vec3 SEA_TURBIDITY = vec3(0.03), LAKE_TURBIDITY = vec3(0.05, 0.07, 0.16), RIVER_TURBIDITY = vec3(0.9);
// What comes back from water without a bed, in parts of white light. Humus and algae take blue out of inland waters, and
// leave little else: what is seen of deep lakes is mostly the sky in them.
const vec3 DEEP_SEA = vec3(0.010, 0.036, 0.052), DEEP_LAKE = vec3(0.008, 0.019, 0.019);
// Suspended sediment with which water begins to be muddy, is all muddy, and from which on it is as thick as mud gets: metres
// of the bed in one of water. What comes back from such water.
const vec3 CARRIES_MUD = vec3(0.0003, 0.006, 0.12);
const vec3 MUD = vec3(0.094, 0.081, 0.046), THICK_MUD = vec3(0.104, 0.079, 0.043);
const vec3 THICK_TURBIDITY = vec3(3.0);

// How far water is muddy, and how far that is as thick as mud gets, by the binary logarithm of what it carries, in metres of
// the bed in one of water: the eye tells loads by their ratio.
vec2 muddiness(float carried) {
    vec3 loads = log2(CARRIES_MUD);
    return smoothstep(loads.xy, loads.yz, vec2(carried));
}
const vec3 STREAM_BED = vec3(0.150, 0.128, 0.092);
const float NORMAL_REFLECTANCE = 0.02;              // of water that is looked at from straight above
const float BRIGHTEST_GLITTER = 0.9;                // in parts of sunlight
const vec2 TILES_SHOW = vec2(0.014, 0.045);         // tiles of waves in a pixel, from which on they are not to be seen
// How long a pixel is that is seen from aside, beside its width: were waves evened over all of it to all sides, they would be
// streaks, and none would be left to break what lakes mirror.
const float LONGEST_PIXEL = 2.5;
const float SQUARED_SLOPES = 0.1;                   // of waves in the mean, see app/picture/passes/wind_waves.py
const float HEIGHTS_SPAN = 6.0;                     // deviations of heights between the texture's least and most
const float OPEN_SEA = 1e8;                         // metres of fetch of a sea
const float LAKE_WAVES = 0.55;                      // length of those on lakes, beside the sea's
const vec2 FETCH_RAISES = vec2(0.5, 12.0);         // wavelengths of fetch that raise no waves, and the highest
const float LONGEST_ON_LAKES = 6.7;                // wavelengths of wind waves
// Deviations of height from which crests break in the usual wind; how many less for twice its root; and till all is white
const float WHITECAPS = 3.3, WHITECAPS_BY_WIND = 2.4, WHITECAPS_SOFT = 1.7, WHITECAPS_IN_PIXELS = 1.0;
const float MOST_WHITECAPS = 1.3;                   // deviations: in a storm their foam soon spreads
const float LEANS = 3.0;                            // by how many deviations of slopes mirrored rays rise at most
const vec3 FOAM = vec3(0.88, 0.92, 0.95);
const float THIN_FOAM = 0.62, FOAM_HEAPS = 0.8;

// The waves at a place: the slopes that can be seen, and the variance of those that are finer than a pixel.
struct Waves {
    vec2 slope;
    float roughness;
    float crest;  // height of the longer ones in deviations of it
};

// One train of waves out of the texture, turned against the wind by the angle with this cosine and sine. `pixel` is how far
// the place moves from pixel to pixel: to the east and south along x, and along y.
void add_wave_train(inout Waves waves, vec2 place, vec4 pixel, vec2 turn, float wavelength, float strength, float of_crest) {
    vec2 along = vec2(frame.wind.x * turn.x - frame.wind.y * turn.y, frame.wind.x * turn.y + frame.wind.y * turn.x);
    vec2 across = vec2(-along.y, along.x);
    // Waves run as fast as their length lets them: long ones faster, by the square root; in a loop of the sea by whole
    // tiles, so that it closes.
    float tile = 9.0 * wavelength;
    float run = fract(round(0.55 * sqrt(frame.water.z * wavelength) * frame.loop.x / tile) * frame.loop.y);
    vec2 at = vec2(dot(place, along), dot(place, across)) / tile - vec2(run, 0.0);
#if FINE_WATER == 1
    // From where many tiles are seen, they would make a pattern: there waves are only rough.
    vec2 along_row = vec2(dot(pixel.xy, along), dot(pixel.xy, across)) / tile;
    vec2 along_column = vec2(dot(pixel.zw, along), dot(pixel.zw, across)) / tile;
    float row = length(along_row), column = length(along_column), longest = LONGEST_PIXEL * min(row, column);
    along_row *= min(longest / row, 1.0);
    along_column *= min(longest / column, 1.0);
    vec2 across_pixel = abs(along_row) + abs(along_column);
    float shown = 1.0 - smoothstep(TILES_SHOW.x, TILES_SHOW.y, max(across_pixel.x, across_pixel.y));
    vec4 wave = shown > 0.0 ? textureGrad(wind_waves, at, along_row, along_column) : vec4(0.5, 0.5, 0.5, SQUARED_SLOPES);
    vec2 slope = (wave.xy - 0.5) * 2.0 * shown;
    waves.crest += of_crest * (wave.z - 0.5) * HEIGHTS_SPAN;
#else
    vec4 wave = texture(wind_waves, at);
    vec2 slope = (wave.xy - 0.5) * 2.0;
#endif
    waves.slope += strength * (along * slope.x + across * slope.y);
    waves.roughness += strength * strength * max(wave.w - dot(slope, slope), 0.0);
}

// How high waves of a length are that the wind has had this way to raise, beside those of the open sea.
float grown(float fetch, float wavelength) {
    return smoothstep(FETCH_RAISES.x, FETCH_RAISES.y, fetch / wavelength);
}

// By how much waves are lower where the bed is less than so many metres below.
float lowered(float depth, float feel) {
    return 0.25 + 0.75 * smoothstep(0.0, feel, depth * frame.map.w);
}

// Everything else asks only this function about waves. `depth` is in metres: waves are lower where it is less than their
// length. `wind` is how much of it there is, from 0 to 1, and `fetch` over how many metres of open water it has come.
Waves water_waves(vec2 place, vec4 pixel, float depth, float wind, float fetch) {
#if FINE_WATER == 1
    Waves waves = Waves(vec2(0.0), 0.0003, 0.0);
#else
    Waves waves = Waves(vec2(0.0), 0.0008, 0.0);
#endif
    float wind_here = wind * frame.water.y;
    float strength = wind_here * lowered(depth, 1.5 * frame.water.z);
    float unit = (fetch > OPEN_SEA ? 1.0 : LAKE_WAVES) * frame.water.z;
#if FINE_WATER == 1
    // Each is about as steep as the next.
    if (fetch > OPEN_SEA) add_wave_train(waves, place, pixel, vec2(0.946, 0.326), 19.0 * unit, 0.11 * strength, 0.15);
    float longer = grown(fetch, LONGEST_ON_LAKES * unit), shorter = grown(fetch, 1.9 * unit);
    if (longer > 0.0) add_wave_train(waves, place, pixel, vec2(0.996, -0.087), LONGEST_ON_LAKES * unit, 0.14 * wind * longer * strength, 0.35);
    if (shorter > 0.0) add_wave_train(waves, place, pixel, vec2(0.956, 0.292), 1.9 * unit, 0.15 * shorter * strength, 0.65);
    add_wave_train(waves, place, pixel, vec2(0.883, -0.469), 0.73 * unit, 0.15 * grown(fetch, 0.73 * unit) * strength, 0.5);
    add_wave_train(waves, place, pixel, vec2(0.777, 0.629), 0.23 * unit, 0.14 * grown(fetch, 0.23 * unit) * wind_here * lowered(depth, 0.35 * unit), 0.3);
    // Near the camera finer ones are seen.
    add_wave_train(waves, place, pixel, vec2(0.970, -0.243), 0.083 * unit, 0.12 * wind_here * lowered(depth, 0.12 * unit), 0.2);
    add_wave_train(waves, place, pixel, vec2(0.848, 0.530), 0.027 * unit, 0.10 * wind_here * lowered(depth, 0.04 * unit), 0.0);
#else
    add_wave_train(waves, place, pixel, vec2(0.956, 0.292), 1.9 * unit, (fetch > OPEN_SEA ? 0.075 : 0.10) * strength, 0.0);
    add_wave_train(waves, place, pixel, vec2(0.883, -0.469), 0.73 * unit, (fetch > OPEN_SEA ? 0.085 : 0.115) * strength, 0.0);
#endif
    return waves;
}

// The part of a place that is white where the crests of waves break. Of the sea it grows with the wind to a power of 3.4
// (Monahan and O'Muircheartaigh 1980); `wind` is the root of it, in parts of the usual one. Crests are lower where a pixel
// is as `wide` as the usual waves.
float whitecaps(float crest, float wind, float wide) {
    float lower = WHITECAPS_IN_PIXELS * smoothstep(0.1, 1.0, wide), breaks = WHITECAPS - WHITECAPS_BY_WIND * log2(max(wind, 0.05)) - lower;
    breaks = max(breaks, MOST_WHITECAPS - lower);
    return smoothstep(breaks, breaks + WHITECAPS_SOFT, crest);
}

vec3 wave_normal(vec2 slope) {
    return normalize(vec3(-slope.x, 1.0, -slope.y));
}

// How much of the light comes down and up again through `depth` metres of water to an eye whose ray is so steep (Beer and
// Lambert).
vec3 water_transmission(float depth, vec3 turbidity, float steepness) {
    float down_and_up = 1.0 + inversesqrt(1.0 - (1.0 - steepness * steepness) / 1.77);
    return exp(-(ABSORPTION + turbidity) * max(depth, 0.0) * (down_and_up / frame.water.x));
}

// What the water itself scatters back, where it lets through that much, and `deep` of it without a bed.
vec3 water_scattering(vec3 deep, vec3 transmission, vec3 light) {
    return deep * (1.0 - transmission) * light;
}

// The part that is mirrored, by Schlick (1994); waves show the eye their steeper sides (Bruneton et al. 2010).
float water_fresnel(float steepness, float roughness) {
    float aside = 1.0 - steepness, aside2 = aside * aside;
    return NORMAL_REFLECTANCE
         + (1.0 - NORMAL_REFLECTANCE) * aside2 * aside2 * aside / (1.0 + 22.7 * pow(roughness, 0.75));
}

// The direction that is mirrored to the eye. What would come from below is light that other waves mirror once more.
vec3 water_reflected(vec3 to_eye, vec3 normal) {
    vec3 direction = reflect(-to_eye, normal);
    return normalize(vec3(direction.x, abs(direction.y) + 0.01, direction.z));
}

// Where the sky is seen in waves that are looked at from aside: mostly in the sides that they turn to the eye, and so
// higher up than in a level mirror (Cox and Munk 1954). That is why the sea is darker than the sky behind it.
vec3 raised(vec3 direction, float roughness) {
    float low = 1.0 - min(direction.y, 1.0), low2 = low * low;
    return normalize(vec3(direction.x, direction.y + LEANS * sqrt(roughness) * low2 * low2, direction.z));
}

// What is mirrored from a direction where the land is not looked up: a sky, over a skyline all around as high as the part
// of the sky that the light map says is seen.
vec3 mirrored_sky(vec3 direction, float roughness, float sky_seen, vec3 light, vec3 sky_there) {
    float skyline = sqrt(max(1.0 - sky_seen, 0.0)), up = raised(direction, roughness).y;
    vec3 land = vec3(0.105, 0.096, 0.072) * light;
    return mix(land, sky_there, smoothstep(0.5 * skyline - 0.01, 1.2 * skyline + 0.01, up));
}

vec3 mirrored_sky(vec3 direction, float roughness, float sky_seen, vec3 light) {
    return mirrored_sky(direction, roughness, sky_seen, light, plain_sky(raised(direction, roughness)));
}

// Light that falls on level water, of the sun and of the sky; `seen` is how much of them the place sees.
vec3 light_on_water(vec3 seen) {
    return frame.sun_light.rgb * frame.sun.y * seen.x + sky_light(vec3(0.0, 1.0, 0.0)) * seen.y;
}

// Light that comes back from foam which hides such a part of the water, on a surface of this normal: what is thin is grey, as
// light goes through its bubbles, and what is thick stands up in heaps that shade themselves.
vec3 light_from_foam(vec3 albedo, float cover, vec3 normal, vec3 seen) {
    float facing = max(dot(normal, frame.sun.xyz), 0.0);
    vec3 light = frame.sun_light.rgb * mix(frame.sun.y, facing, FOAM_HEAPS) * seen.x + sky_light(normal) * seen.y;
    return albedo * mix(THIN_FOAM, 1.0, cover) * light;
}

// The sun on waves, most of which are finer than a pixel: normals spread by Beckmann (1963).
float water_glitter(vec3 to_eye, vec3 normal, float roughness) {
    vec3 between = normalize(to_eye + frame.sun.xyz);
    float up = max(dot(between, normal), 1e-3), squared = up * up;
    float spread = exp(-(1.0 - squared) / (squared * roughness)) / (3.14159 * roughness * squared * squared);
    float aside = 1.0 - max(dot(between, to_eye), 0.0), aside2 = aside * aside;
    float mirrored = NORMAL_REFLECTANCE + (1.0 - NORMAL_REFLECTANCE) * aside2 * aside2 * aside;
    float strength = spread * mirrored / (4.0 * max(dot(normal, to_eye), 0.12));
    // No brighter than a screen can show, or edges before it would be jagged.
    return BRIGHTEST_GLITTER * (1.0 - exp(-strength / BRIGHTEST_GLITTER)) * smoothstep(0.0, 0.03, frame.sun.y);
}
