// Relief between ten cells and one that the map is too coarse for, in cells. A part of the picture only.
#include "joints.glsl"
#include "snow.glsl"
#include "benches.glsl"
#include "between_cells.glsl"
#include "packed_streak.glsl"
#include "soft_rock.glsl"

uniform sampler2D surface;
uniform sampler2D burden;  // what raises the ground beside rock and sediment; one texel where nothing does
uniform sampler2D fractures;
uniform sampler2D calm;  // how far it may stand out
uniform float texels_per_cell;
uniform sampler2D surveyed_flow;  // m³/s
uniform float usual_flow;         // of most cells, m³/s; 0: no water runs
uniform bool tells_hollows;       // whether streaks on gentle ground are of its hollows, too
uniform bool in_blocks;           // whether massive rock is
uniform float amount;
uniform float snow_line;  // as a fraction of the relief of the land

out vec2 result;  // height; streak, with how far bumps of the map are rounded

const int WAY = 6;         // steps up and down the slope along which streaks are drawn out
const float STEP = 0.8;    // cells
const float LEAST_ROUGH = 0.15; // how far blocks stand out of rock that is not shattered
const float BODIES_TILE = 131.0;  // cells: bodies of rock with few or many ledges
const float MOST_STANDS = 1.3;  // slope
const float LEDGES_ALONE = 0.4;   // how high ledges are that only light tells of
const vec2 LEDGED = vec2(0.40, 0.85);  // slopes from which on crags have ledges
const float STAINED = 0.75;  // how much of its tone a wall has by its blocks, and not by streaks
const float CHUTES_APART = 4.1, TONGUES_APART = 15.0;  // cells
const float CHUTE_STEEP = 0.11;  // slope of the levees between
const float ON_PEDIMENTS = 0.7;
const vec2 TALUS = vec2(2.0, 8.0);  // thick, beside what hides the ground
const float CHUTES_SORT = 0.19;  // how much finer stones in chutes are, as a streak
const float LONG = 0.5;          // how far chutes and tongues take the place of shorter streaks
// Washes on fans: trunks and branches, which run into them at an angle whose tangent is JOINS.
const float TRUNKS_APART = 19.0, BRANCHES_APART = 7.9, JOINS = 0.9;  // cells
const vec2 TRUNKS_WIDE = vec2(0.90, 0.45), BRANCHES_WIDE = vec2(0.90, 0.50);  // from where on a wave is one: narrow, wide
const float EVEN_FANS = 0.75, EVEN_BESIDE_SWALES = 0.6;  // how far they take the place of shorter streaks
const float THREADS_SHOW = 0.36; // as a streak
const vec2 FLOW_LINES = vec2(2.5, 7.0);  // powers of two of the usual discharge, from which on lines follow it
const float LINES_SHOW = 0.36, LINES_ON_PLAINS = 0.24;  // as a streak; added to that
// Of swales and old channels: how far beside them they are looked at, in cells, by turns; the depth beside that, of which
// most of them are told; as a streak; slopes from which on ribs and gullies tell of water instead.
const vec2 SWALES = vec2(2.2, 6.0);
const float SWALES_DEEP = 0.0025, SWALES_SHOW = 0.30;
const vec2 SWALES_END = vec2(0.16, 0.36);
const float BROAD = 21.0, NARROW = 7.3;  // cells in a tile of the noise of streaks

// How much more water than in most cells runs there, from 0 to 1.
float runs_at(vec2 uv) {
    return smoothstep(FLOW_LINES.x, FLOW_LINES.y, log2(textureLod(surveyed_flow, uv, 0.0).x / usual_flow + 1.0));
}

// Streaks that run down the slope as debris and water do, from 0 to 1: noise that is averaged along the way down (Cabral
// and Leedom 1993), lines where much water runs, and where `gentle` swales,
// which lie lower than what is on both of their sides.
float streak_at(vec2 cell, float gentle) {
    float lod = log2(float(textureSize(fractures, 0).x) / (NARROW * texels_per_cell)) - 0.5;
    vec2 sum = vec2(0.0);
    float runs = 0.0, weights = 0.0;
    vec2 lies_low = vec2(0.0);  // sum; that of sizes
    int swales = tells_hollows && gentle > 0.0 ? 1 : 0;  // in software a loop is left out, and a branch is not
    for (int side = -1; side <= 1; side += 2) {
        vec2 at = cell;
        for (int i = 0; i < WAY; ++i) {
            vec2 uv = at / frame.map.xy;
            vec3 here = textureLod(surface, uv, 0.0).xyz;
            vec2 slope = here.yz;
            vec2 noise = vec2(textureLod(fractures, at / BROAD + 0.17, lod - 1.0).x, textureLod(fractures, at.yx / NARROW, lod).x);
            float weight = 1.0 - (float(i) + 0.5) / float(WAY);
            sum += weight * (noise - 0.5);
            if (usual_flow > 0.0 && i < WAY / 2) runs += weight * runs_at(uv);
            weights += weight;
            for (int k = 0; k < swales; ++k) {
                float apart = (i & 1) == 0 ? SWALES.x : SWALES.y;
                vec2 aside = apart * vec2(-slope.y, slope.x) / (max(length(slope), 1e-4) * frame.map.xy);
                float beside = textureLod(surface, uv + aside, 0.0).x + textureLod(surface, uv - aside, 0.0).x;
                float low = weight * (0.5 * beside - here.x) / (apart * frame.map.z);
                lies_low += vec2(low, abs(low) + weight * SWALES_DEEP);
            }
            at -= float(side) * STEP * slope / max(length(slope), 0.02);
        }
    }
    sum /= weights;
    float swale = gentle * lies_low.x / max(lies_low.y, 1e-6);
    return clamp(0.5 + (1.0 - 0.5 * abs(swale)) * (1.3 * sum.x + 1.5 * sum.y) + (LINES_SHOW + float(swales) * gentle * LINES_ON_PLAINS) * runs / weights + SWALES_SHOW * swale, 0.0, 1.0);
}

// How much of a slope is talus, on which debris runs down in chutes and comes to rest in tongues between levees.
float talus_at(float steepness, float sediment, float buried) {
    float slides = smoothstep(0.28, 0.48, steepness) * (1.0 - smoothstep(0.90, 1.30, steepness));
    float thick = sediment / frame.ground_look.z;
    return slides * smoothstep(TALUS.x, TALUS.y, thick) * (1.0 - frame.wind.z) * exp(-buried / frame.ground_look.z);
}

// How much of a place is a fan or a plain of what rivers put down, which shift over it from thread to thread. Pediments of
// rock have some of these, too.
float fan_at(float steepness, float sediment, float buried) {
    float gentle = smoothstep(0.008, 0.03, steepness) * (1.0 - smoothstep(0.16, 0.32, steepness));
    float thick = sediment / frame.ground_look.z;
    float plain = mix(ON_PEDIMENTS, 1.0 - frame.wind.z, smoothstep(0.5 * TALUS.x, TALUS.y, thick));
    return gentle * plain * exp(-buried / frame.ground_look.z);
}

// Fractured rock in tiles of a width in cells, projected onto a wall from the side, or blocks would be drawn out down it.
vec4 rock_of_wall(vec3 at, vec2 rise, float width, float lod) {
    float part = smoothstep(0.3, 0.7, rise.x * rise.x / dot(rise, rise));
    vec4 to_south = vec4(0.0), to_east = vec4(0.0);
    if (part < 1.0) to_south = textureLod(fractures, at.xy / width, lod);
    if (part > 0.0) to_east = textureLod(fractures, at.zy / width + 0.43, lod);
    return mix(to_south, to_east, part);
}

void main() {
    vec2 cell = gl_FragCoord.xy / texels_per_cell;
    vec4 here = texture(surface, cell / frame.map.xy);
    float buried = texture(burden, cell / frame.map.xy).x, sediment = here.w;
    here.w += buried;
    float most = amount * texture(calm, cell / frame.map.xy).x;
    Flank flank = flank_at(surface, cell, here, most);
    // Rock is broken into blocks, of which this shows those that its texels can; some faces are massive, some not.
    float lod = log2(float(textureSize(fractures, 0).x) / (BLOCKS_TILE * texels_per_cell));
    vec4 massif = textureLod(fractures, cell.yx / MASSIFS_TILE + 0.31, 3.5);
    float above_line = relative_height(here.x * frame.map.w) - snow_line;
    float snow = snow_cover(place_for_snow(above_line, length(here.yz), 0.0, 0.0), vec2(0.0));
    float shattered = smoothstep(0.42, 0.80, massif.x) * (1.0 - snow);
    float block = textureLod(fractures, (cell + BENT * (massif.yz - 0.5)) / BLOCKS_TILE, lod).x - 0.5;
    // Rock without beds stands in walls that its joints shape, and not in ribs alone.
    float wall = textureSize(benches, 0).x > 1 ? 0.0 : wall_of_rock(length(flank.slope), here.w);
    float crag = textureSize(benches, 0).x > 1 || !in_blocks ? 0.0 : crag_of_rock(length(flank.slope), sediment, buried);
    vec3 at = vec3(cell.x, here.x * frame.map.w / frame.map.z, cell.y);
    vec4 body = vec4(0.5);
    float stands = 1.0;  // what stands out of a wall by so much changes its height on the map by more
    if (max(wall, crag) > 0.0) {
        float blur = log2(max(length(flank.slope), 1.0));
        block = mix(block, rock_of_wall(at, flank.slope, BLOCKS_TILE, lod + blur).x - 0.5, wall);
        body = rock_of_wall(at, flank.slope, BODIES_TILE, 3.0);
        stands = mix(1.0, min(length(flank.slope), MOST_STANDS), wall);
    }
    float turn = OBLIQUE * wall * (massif.y - 0.5);
    flank.slope = mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * flank.slope;
    float couloir = wall > 0.0 ? most * wall * couloir_at(cell, flank.slope, block, smoothstep(0.35, 0.65, massif.w)) : 0.0;
    flank.strength *= mix(1.0, FEW_RIBS * (0.2 + 1.6 * smoothstep(0.40, 0.65, massif.x)), wall);
    // Soft rock is not carved by ribs. In software a loop is left out, and a branch is not.
    float texel = frame.map.z / texels_per_cell, rounded = 0.0, lowered = 0.0;
    float bare = in_blocks ? min(most, 1.0) * weathers_to_clay(flank.slope, here.w) : 0.0;
    StrataTop top = strata_top_at(cell / frame.map.xy);
    float soft = bare * softness_at(top, here.x, 2.0 * texel), around = bare * softness_at(top, here.x, 2.0 * ROUNDED_OVER);
    for (int k = 0; k < (around > 0.0 ? 1 : 0); ++k) {
        vec3 form = rounded_form(surface, cell, here.x);
        rounded = around * ROUNDED;  // thin hard beds are undermined
        lowered = rounded * (form.x - smooth_height(surface, clamp(cell - 0.5, vec2(0.0), frame.map.xy - 1.0))) * frame.map.w / frame.map.z;
        vec2 rise = form.yz * frame.map.w;
        float steep = min(length(rise), STEEPEST_RILLED), wide = WIDEST_GULLY;
        float strength = soft * GULLY_SIDES * steep * smoothstep(GULLIES_FROM.x, GULLIES_FROM.y, length(rise));
        for (int octave = 0; octave < GULLY_OCTAVES; ++octave) {
            float seen = strength * smoothstep(GULLIES_FADE.x, GULLIES_FADE.y, wide / texel);
            vec3 gully = gullies_at(cell * frame.map.z / wide, float(octave), rise);
            lowered += 0.25 * seen * wide / frame.map.z * gully.x;
            rise += 0.25 * JOINING * seen * gully.yz;  // finer ones run down the sides of wider ones
            wide *= GULLIES_FINER;
            strength *= FINER_FLATTER;
        }
        flank.strength *= 1.0 - soft;
    }
    Carved carved = carved(flank, cell, RIB_OCTAVES);
    float rough = (1.0 - soft) * max(carved.strength, 0.5 * most * max(wall, flank.crest)) * mix(LEAST_ROUGH, 1.0, max(shattered, 0.6 * max(wall, flank.crest))) * BLOCKS_RISE * BLOCKS_TILE * stands * block;
    float carved_height = carved.height + rough + couloir + lowered;
    if (crag > 0.0) {
        vec3 some = smoothstep(-0.10, 0.14, vec3(body.y, body.w, body.x) - vec3(0.43, 0.50, 0.53));
        carved_height += min(most, 1.0) * crag * blocks_at(at, flank.slope, vec3(0.1 * block), vec3(0.5, 0.75, 1.0) * some);
    }
    // Cliffs stand on the same bed on ribs and in gullies.
    float lies = here.x + carved_height * frame.map.z / frame.map.w;
    float span = length(here.yz) * frame.map.z / texels_per_cell;
    Bench bench = bench_at(strata_top_at(cell / frame.map.xy), lies, length(here.yz) * frame.map.w, here.w, 3.0 * block + 3.0 * (massif.y - 0.5), span);
    float height = carved_height + min(most, 1.0) * bench.height;
    float streak = streak_at(cell, 1.0 - smoothstep(SWALES_END.x, SWALES_END.y, length(flank.slope)));
    float stands_in_beds = max(wall, crag * smoothstep(LEDGED.x, LEDGED.y, length(flank.slope)));
    if (stands_in_beds > 0.0) {
        vec3 some = smoothstep(-0.30, 0.0, vec3(body.x - 0.5, body.y - 0.5, 0.5 - body.z) + 0.10);
        vec2 pillar = pillar_at(at);
        float apart = LEDGES_APART * (in_blocks ? min(WIDE_CELLS / frame.map.z, 1.0) : 1.0);
        float stood = dot(vec3(at.x, lies * frame.map.w / frame.map.z, at.z), frame.beds.xyz) + 0.35 * pillar.x;
        height += min(most, 1.0) * stands_in_beds * ledges_at(stood, massif.x - 0.5, (in_blocks ? 1.0 : LEDGES_ALONE) * pillar.y * some, apart, 1.0 / texels_per_cell);
    }
    if (wall > 0.0) {
        streak = mix(streak, clamp(0.5 + 0.6 * (body.w - 0.5) + 0.8 * block, 0.0, 1.0), STAINED * wall);
    }
    float talus = talus_at(length(flank.slope), sediment, buried);
    if (talus > 0.0) {
        vec3 tongue = ribs(cell, 13, TONGUES_APART, flank.slope, CHUTE_STEEP);
        vec3 chute = ribs(cell, 14, CHUTES_APART, flank.slope + tongue.yz, CHUTE_STEEP);
        float some = smoothstep(-0.10, 0.18, massif.w - 0.5 + 0.5 * tongue.x);  // not on each tongue
        height += most * talus * (tongue.x + some * chute.x);
        vec2 high = vec2(tongue.x / TONGUES_APART, some * chute.x / CHUTES_APART) * (TAU / CHUTE_STEEP);
        streak = clamp(mix(streak, 0.5, LONG * talus) + CHUTES_SORT * talus * (high.x + 0.8 * high.y), 0.0, 1.0);
    }
    float fan = fan_at(length(flank.slope), sediment, buried);
    if (fan > 0.0) {
        vec3 trunk = ribs(cell, 15, TRUNKS_APART, flank.slope, 1.0);
        trunk.x *= TAU / TRUNKS_APART;
        vec2 into = flank.slope - JOINS * length(flank.slope) * trunk.yz;
        float branch = ribs(cell, 16, BRANCHES_APART, into, TAU / BRANCHES_APART).x;
        vec2 wide = clamp(0.5 + 3.0 * (massif.wz - 0.5) + 0.8 * block, 0.0, 1.0);
        float from = mix(TRUNKS_WIDE.x, TRUNKS_WIDE.y, wide.x), branches_from = mix(BRANCHES_WIDE.x, BRANCHES_WIDE.y, wide.y);
        float washes = smoothstep(from - 0.10, from + 0.10, trunk.x);
        washes = max(washes, smoothstep(branches_from - 0.15, branches_from + 0.15, branch) * smoothstep(-0.5, 0.5, trunk.x));
        streak = clamp(mix(streak, 0.46, (tells_hollows ? EVEN_BESIDE_SWALES : EVEN_FANS) * fan) + fan * THREADS_SHOW * washes, 0.0, 1.0);
    }
    result = vec2(height, with_rounded(streak, rounded));
}
