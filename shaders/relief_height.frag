// Relief between ten cells and one that the map is too coarse for, in cells. A part of the picture only.
#include "ribs.glsl"
#include "snow.glsl"
#include "benches.glsl"

uniform sampler2D surface;
uniform sampler2D burden;  // what raises the ground beside rock and sediment; one texel where nothing does
uniform sampler2D fractures;
uniform sampler2D calm;  // how far it may stand out
uniform float texels_per_cell;
uniform float amount;
uniform float snow_line;  // as a fraction of the relief of the land

out float result;

void main() {
    vec2 cell = gl_FragCoord.xy / texels_per_cell;
    vec4 here = texture(surface, cell / frame.map.xy);
    here.w += texture(burden, cell / frame.map.xy).x;
    Carved carved = carved_at(surface, cell, here, amount * texture(calm, cell / frame.map.xy).x, RIB_OCTAVES);
    // Rock is broken into blocks, of which this shows those that its texels can; some faces are massive, some not.
    float lod = log2(float(textureSize(fractures, 0).x) / (BLOCKS_TILE * texels_per_cell));
    vec4 massif = textureLod(fractures, cell.yx / MASSIFS_TILE + 0.31, 3.5);
    float snow = snow_cover(relative_height(here.x * frame.map.w) - snow_line, length(here.yz));
    float shattered = smoothstep(0.42, 0.80, massif.x) * (1.0 - snow);
    float block = textureLod(fractures, (cell + BENT * (massif.yz - 0.5)) / BLOCKS_TILE, lod).x - 0.5;
    float rough = carved.strength * mix(0.15, 1.0, shattered) * BLOCKS_RISE * BLOCKS_TILE * block;
    float most = amount * texture(calm, cell / frame.map.xy).x;
    // Cliffs stand on the same bed on ribs and in gullies.
    float lies = here.x + (carved.height + rough) * frame.map.z / frame.map.w;
    float span = length(here.yz) * frame.map.z / texels_per_cell;
    Bench bench = bench_at(strata_top_at(cell / frame.map.xy), lies, length(here.yz) * frame.map.w, here.w, 3.0 * block + 3.0 * (massif.y - 0.5), span);
    result = carved.height + rough + min(most, 1.0) * bench.height;
}
