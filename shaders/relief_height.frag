// Relief between ten cells and one that the map is too coarse for, in cells. A part of the picture only.
#include "ribs.glsl"
#include "snow.glsl"

uniform sampler2D surface;
uniform sampler2D fractures;
uniform sampler2D calm;  // how far it may stand out
uniform float texels_per_cell;
uniform float amount;
uniform float snow_line;  // as a fraction of the relief of the land

out float result;

void main() {
    vec2 cell = gl_FragCoord.xy / texels_per_cell;
    vec2 uv = cell / frame.map.xy;
    vec2 texel = 1.5 / frame.map.xy;
    vec4 here = texture(surface, uv);
    // The mean of some cells: what a single one has is rough. Where they do not agree, the map has relief of its own.
    vec2 east = texture(surface, uv + vec2(texel.x, 0.0)).yz, west = texture(surface, uv - vec2(texel.x, 0.0)).yz;
    vec2 south = texture(surface, uv + vec2(0.0, texel.y)).yz, north = texture(surface, uv - vec2(0.0, texel.y)).yz;
    vec2 slope = 0.2 * (here.yz + east + west + south + north) * frame.map.w;
    float steepness = length(slope);
    float all = 0.2 * (length(here.yz) + length(east) + length(west) + length(south) + length(north)) * frame.map.w;
    float strength = amount * texture(calm, uv).x * rib_strength(steepness, here.w) * smoothstep(0.25, 0.85, steepness / max(all, 1e-4));
    float height = 0.0, width = WIDEST;
    for (int octave = 0; octave < RIB_OCTAVES; ++octave) {
        vec3 rib = ribs(cell, octave, width, slope, strength);
        height += rib.x;
        slope += rib.yz;  // finer gullies run down the flanks of wider ones
        width *= FINER;
    }
    // Rock is broken into blocks, of which this shows those that its texels can; some faces are massive, some not.
    float lod = log2(float(textureSize(fractures, 0).x) / (BLOCKS_TILE * texels_per_cell));
    vec4 massif = textureLod(fractures, cell.yx / MASSIFS_TILE + 0.31, 3.5);
    float snow = snow_cover(relative_height(here.x * frame.map.w) - snow_line, length(here.yz));
    float shattered = smoothstep(0.42, 0.80, massif.x) * (1.0 - snow);
    float block = textureLod(fractures, (cell + BENT * (massif.yz - 0.5)) / BLOCKS_TILE, lod).x - 0.5;
    result = height + strength * mix(0.15, 1.0, shattered) * BLOCKS_RISE * BLOCKS_TILE * block;
}
