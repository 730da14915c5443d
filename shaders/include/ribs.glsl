// Ribs and gullies that run down slopes of rock: octaves of waves across the way that water takes.
#include "waves_across.glsl"

const int RIB_OCTAVES = 3;
const float WIDEST = 9.0;   // cells from rib to rib
const float FINER = 0.46;   // each octave beside the one before
const float STEEPNESS = 0.62;  // of a rib's flanks, beside the slope that it runs down
const float STEEPEST = 0.9;
const float ON_SOIL = 0.55;  // of that, hollows and spurs in a mantle of soil
const vec2 MANTLE = vec2(6.0, 18.0);  // how thick that is at most, beside what hides the ground
const vec2 SHARP = vec2(0.12, 0.40);  // cells by which a crest stands over what is around it
const float BLOCKS_TILE = 37.0;  // cells
const float MASSIFS_TILE = 211.0;  // by which they are shattered, and bent by so many cells
const float BENT = 30.0;
const float BLOCKS_RISE = 0.083;  // of the tile, that its heights span

// How high ribs are beside their width: gentle ground has no gullies. Soil is dissected less than rock; what has been
// deposited lies smooth, and so do dunes.
float rib_strength(float steepness, float loose) {
    float thick = loose / frame.ground_look.z, bare = exp(-thick / 3.0);
    float rilled = ON_SOIL * (1.0 - frame.wind.z) * smoothstep(0.03, 0.22, steepness) * (1.0 - smoothstep(MANTLE.x, MANTLE.y, thick));
    return STEEPNESS * mix(rilled, smoothstep(0.08, 0.45, steepness), bare) * min(steepness, STEEPEST);
}

// One octave, on a slope that falls against `rise` in the mean: height in cells, and its slopes to the east and south.
vec3 ribs(vec2 cells, int octave, float width, vec2 rise, float strength) {
    vec2 across = vec2(-rise.y, rise.x) / max(length(rise), 1e-4);
    vec2 wave = waves_across(cells / (width * WAVES_IN_SQUARE) + 17.3 * float(octave), across);
    return strength * vec3(width / TAU * wave.x, wave.y * across);
}

// All of them, of so many octaves.
struct Carved {
    float height;    // in cells
    vec2 slope;      // to the east and south
    float strength;  // 0 where nothing is carved
};

// A slope that is carved.
struct Flank {
    vec2 slope;      // to the east and south: the mean of some cells, as what a single one has is rough
    float strength;  // how steep ribs are on it
    float crest;     // from 0 to 1: how much it is a crest of the map
};

// `here` is what the map says of a place, with all that lies on its rock, `most` how much of what is usual may be carved
// there. Where slopes around do not agree, the map has relief of its own.
Flank flank_at(sampler2D surface, vec2 cell, vec4 here, float most) {
    vec2 uv = cell / frame.map.xy, texel = 1.5 / frame.map.xy;
    vec3 to_east = texture(surface, uv + vec2(texel.x, 0.0)).xyz, to_west = texture(surface, uv - vec2(texel.x, 0.0)).xyz;
    vec3 to_south = texture(surface, uv + vec2(0.0, texel.y)).xyz, to_north = texture(surface, uv - vec2(0.0, texel.y)).xyz;
    vec2 east = to_east.yz, west = to_west.yz, south = to_south.yz, north = to_north.yz;
    float over = (here.x - 0.25 * (to_east.x + to_west.x + to_south.x + to_north.x)) * frame.map.w / frame.map.z;
    float crest = smoothstep(SHARP.x, SHARP.y, over) * exp(-here.w / (3.0 * frame.ground_look.z));
    vec2 slope = 0.2 * (here.yz + east + west + south + north) * frame.map.w;
    float steepness = length(slope);
    float all = 0.2 * (length(here.yz) + length(east) + length(west) + length(south) + length(north)) * frame.map.w;
    return Flank(slope, most * rib_strength(steepness, here.w) * smoothstep(0.25, 0.85, steepness / max(all, 1e-4)), crest);
}

Carved carved(Flank flank, vec2 cell, int octaves) {
    vec2 slope = flank.slope;
    float height = 0.0, width = WIDEST;
    for (int octave = 0; octave < octaves && flank.strength > 0.0; ++octave) {
        vec3 rib = ribs(cell, octave, width, slope, flank.strength);
        height += rib.x;
        slope += rib.yz;  // finer gullies run down the flanks of wider ones
        width *= FINER;
    }
    return Carved(height, slope - flank.slope, flank.strength);
}

Carved carved_at(sampler2D surface, vec2 cell, vec4 here, float most, int octaves) {
    return carved(flank_at(surface, cell, here, most), cell, octaves);
}
