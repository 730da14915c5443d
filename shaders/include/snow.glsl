// How high ground lies in the relief of the land, and how much of it lies under snow.
#include "frame.glsl"

// From 0 at the lowest ground to 1 at the highest, by the height in picture space.
float relative_height(float height) {
    return clamp((height - frame.heights.x) / max(frame.heights.y - frame.heights.x, 1e-3), 0.0, 1.0);
}

const float SUN_MELTS = 0.15;  // of the relief, by which the line differs between slopes to the north and to the south
const float LEEWARD = 0.7;     // of that, between slopes that face the wind and those in its lee
const float DRIFTS = 0.30;     // of the relief, by which it is lower where the ground is hollow by a slope of 1
const float CLINGS = 0.70;     // by which steeper ground holds snow there
const float RIME = 1.25;       // by which steeper ground holds it a whole relief above its line, where it is colder
const float CORNICE = 0.85;    // how much less crests are bare on the side that is in the lee and the shade
const vec2 SUMMITS = vec2(0.06, 0.30);  // heights above the line, as parts of the relief, between which crests get white
const float SUMMITS_SCOURED = 0.15;     // how far wind still bares them there
const float DEEP_SNOW = 0.65;  // part of the cover that ends at an edge
const float THIN_DARK = 0.22, PACKED = 0.26, OLD_SNOW = 0.31;
const float DEAD_GREY = 0.55, MELT_WET = 0.44, SWEPT_WET = 0.3;
const vec2 MELTS_BESIDE = vec2(0.07, 0.20);  // heights above the line, and steepness, by which ground beside snow has none
const vec3 SNOW_IN_HOLLOWS = vec3(0.90, 0.95, 1.0);  // beside other snow: it keeps what falls there, and its shade is of the sky
const float SNOW_SCATTERS = 0.7;  // of the light that its hollows see of themselves, and not of the sky

// Where ground is for snow: its height above the line of snow, relative to the relief, and how steep it is beside what holds
// snow there. It melts where the sun shines on it, wind blows it from crests into hollows, and it slides off what is
// steep, least of all in gullies and high above its line. `sheltered` is 1 on slopes that face north and -1 on those that
// face south, and as wind blows snow over crests into their lee, `hollow` is as in `hollowness` of the light.
vec2 place_for_snow(float above_line, float steepness, float sheltered, float hollow) {
    float above = above_line + SUN_MELTS * sheltered + DRIFTS * max(hollow, 0.7 * hollow);
    float scoured = 4.0 * (1.0 - CORNICE * clamp(sheltered, 0.0, 1.0));
    // High up rime and cornices close over crests, or summits would be bare over white slopes.
    scoured = mix(scoured, SUMMITS_SCOURED, smoothstep(SUMMITS.x, SUMMITS.y, above_line));
    above -= DRIFTS * min(0.7 * hollow, 0.0) * smoothstep(SUMMITS.x, SUMMITS.y, above_line);
    float holds = CLINGS * min(hollow, scoured * hollow) + RIME * max(above_line, 0.0);
    return vec2(above, steepness - holds);
}

// The fraction of ground that snow hides, in a mean over places in a range around one: deep snow ends at an edge, and beyond
// it a dusting thins out, between stones and on steeper ground.
float snow_cover(vec2 place, vec2 range) {
    vec2 blur = 0.5 * range;
    float deep = smoothstep(-blur.x, 0.035 + blur.x, place.x) * (1.0 - smoothstep(0.72 - blur.y, 0.82 + blur.y, place.y));
    float thin = smoothstep(-0.09 - blur.x, 0.07 + blur.x, place.x) * (1.0 - smoothstep(0.35 - blur.y, 1.40 + blur.y, place.y));
    return mix(thin, deep, DEEP_SNOW);
}

// Albedo of snow beside that of deep snow where it hides such a part of the ground: what is thin is coarse and soiled. `tone`
// is a noise around 0, of drifts and of what wind has packed.
float snow_tone(float cover, float tone) {
    return 1.0 - THIN_DARK * (1.0 - cover) + PACKED * tone - OLD_SNOW;
}

// The colour of bare ground where so much of what is around lies under snow, of which such a part melts: that wets it, and
// what grew there is dead.
vec3 ground_by_snow(vec3 albedo, float around, float melts) {
    vec3 dead = mix(albedo, dot(albedo, vec3(0.30, 0.55, 0.15)) * vec3(1.04, 0.99, 0.95), DEAD_GREY * around);
    return dead * (1.0 - MELT_WET * around * melts);
}

// The part of ground that lying snow hides: `lies` is from 0 for none to 1 for deep snow, `uneven` a relief of the ground
// whose hollows it fills first. Thin snow does not hide what is steep.
float lying_snow(float lies, float steepness, float uneven) {
    float level = lies - 0.35 * smoothstep(0.7, 1.5, steepness) - uneven * (1.0 - 0.6 * lies);
    float deep = smoothstep(0.21, 0.31, level), thin = smoothstep(-0.15, 0.55, level);
    return mix(thin, deep, DEEP_SNOW) * smoothstep(0.01, 0.08, lies);
}

const vec3 WIND_CRUST = vec3(0.64, 0.69, 0.75);     // beside deep snow: what wind has packed and polished
const vec2 CRUSTED = vec2(0.55, 0.99);         // of what lies: all of it, none

const vec2 SASTRUGI = vec2(6.0, 34.0);         // metres from one to the next: ridges along the wind, drifts across it
const vec2 SASTRUGI_STEEP = vec2(0.38, 0.36);  // slopes
const float WHALEBACKS = 170.0, WHALEBACKS_STEEP = 0.09;  // and wide drifts across the wind
const vec2 SASTRUGI_FADE = vec2(0.12, 0.40);   // of them in a pixel

// The slope that wind gives to snow at a place in metres. `pixel` is the size of a pixel there; `warp` are three noises
// around 0, by which drifts wind, join and end.
vec2 wind_on_snow(vec2 at, float pixel, vec3 warp) {
    vec2 seen = SASTRUGI_STEEP * clamp((SASTRUGI_FADE.y - pixel / SASTRUGI) / (SASTRUGI_FADE.y - SASTRUGI_FADE.x), 0.0, 1.0);
    vec2 along = frame.wind.xy, across = vec2(-along.y, along.x);
    vec2 phase = vec2(dot(at, across), dot(at, along)) / SASTRUGI + vec2(2.0, 2.4) * warp.xy + 1.5 * warp.yz;
    seen *= clamp(2.8 * vec2(warp.z, -warp.x) + 0.45, 0.0, 1.0);  // not everywhere
    // Drifts are steep in the lee.
    vec2 part = fract(phase);
    part = abs(2.0 * mix(part, part * part, 0.5) - 1.0);
    seen *= part * part * (6.0 - 4.0 * part) - 1.0;
    float back = 6.2832 * (dot(at, along) / WHALEBACKS + 0.4 * warp.y + 2.2 * warp.z + 0.002 * dot(at, across));
    return across * seen.x + along * (seen.y + WHALEBACKS_STEEP * clamp(4.0 * warp.z + 0.4, 0.0, 1.0) * sin(back));
}
