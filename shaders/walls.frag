// Strata on the sides of the block, under what lies on them.
#include "map.glsl"
#include "sky.glsl"
#include "strata.glsl"
#include "detail.glsl"
#include "outline.glsl"

#ifndef MATERIALS
#define MATERIALS 0
#endif
#ifndef BEDS
#define BEDS 0  // 1: loose material lies in beds
#endif

#ifndef ROOFS
#define ROOFS 0  // 1: intrusions have roofs
#endif
#if ROOFS == 1
in float roof;  // metres below the top of the strata
#endif

uniform sampler2D loose_colour;  // root of the albedo

in vec3 position;
in vec3 air_kept;
in vec3 air_added;
flat in vec3 normal;
in float ground;
in float lying;
in float strata_top;
in float intruded;
flat in int edge;  // 0 north, 1 east, 2 south, 3 west

out vec4 colour;

const vec3 STRATA[5] = vec3[5](
    vec3(0.255, 0.205, 0.165), vec3(0.330, 0.275, 0.215), vec3(0.215, 0.180, 0.158),
    vec3(0.300, 0.235, 0.180), vec3(0.370, 0.318, 0.250)
);
const float TABLE_ALBEDO = 0.42;
const vec3 LOOSE = vec3(0.470, 0.392, 0.272);

// Layers of rock: each has its thickness and colour by a hash of its number; gently folded.
vec3 rock_layers(float along, float height, float thickness) {
    float fold = sin(along * 0.55 + 1.0) + 0.5 * sin(along * 1.37 + 4.0) + 0.25 * sin(along * 3.1);
    vec4 grain = texture(detail, vec2(along * 1.7, height / thickness * 0.31));
    float level = (height / thickness) + fold * 0.35 + (grain.x - 0.5) * 0.22;
    float layer = floor(level), within = level - layer;
    float seam = hash(vec2(layer, 3.7)) * 0.5 + 0.25;
    float blur = clamp(fwidth(level), 0.02, 0.5);
    vec3 lower = STRATA[int(hash(vec2(layer, 1.0)) * 4.999)];
    vec3 upper = STRATA[int(hash(vec2(layer, 9.0)) * 4.999)];
    vec3 below = STRATA[int(hash(vec2(layer - 1.0, 9.0)) * 4.999)];
    vec3 rock = mix(lower, upper, smoothstep(seam - blur, seam + blur, within));
    rock = mix(below, rock, smoothstep(0.0, blur * 2.0, within));
    return rock * (0.86 + 0.28 * grain.w);
}

// Light that the table throws back at a wall: less from where the block's shadow lies, which is short at noon.
vec3 from_table(float occlusion) {
    float away = clamp(0.5 - 0.5 * dot(normal.xz, frame.sunward.xy), 0.0, 1.0);
    float lit = 1.0 - away * (1.0 - smoothstep(0.0, 3.0, frame.sun.w));
    return 0.5 * TABLE_ALBEDO * (frame.sun_light.rgb * frame.sun.y * lit + sky_light(vec3(0.0, 1.0, 0.0)) * occlusion);
}

#if BEDS == 1
uniform sampler2D edge_beds;  // by place and by side and bed: the root of the albedo, and the depth of its foot in metres

// The bed at a depth below the ground, as a fraction of all beds, beside one cell.
vec3 bed_beside(int place, float depth) {
    int count = textureSize(edge_beds, 0).y / 4, first = edge * count;
    float all = texelFetch(edge_beds, ivec2(place, first + count - 1), 0).a;
    for (int bed = 0; bed < count; bed++) {
        vec4 told = texelFetch(edge_beds, ivec2(place, first + bed), 0);
        if (depth * all < told.a) return told.rgb;
    }
    return texelFetch(edge_beds, ivec2(place, first), 0).rgb;
}

// Root of the albedo of loose material at a depth as a fraction of all of it. Contacts lead from cell to cell.
vec3 bed_at(vec2 cells, float depth) {
    float place = (edge % 2 == 0 ? cells.x : cells.y) - 0.5;
    int last = int(edge % 2 == 0 ? frame.map.x : frame.map.y) - 1;
    int west = clamp(int(floor(place)), 0, last), east = min(west + 1, last);
    return mix(bed_beside(west, depth), bed_beside(east, depth), clamp(place - float(west), 0.0, 1.0));
}
#endif

void main() {
    float along = (abs(normal.x) > 0.5 ? position.z : position.x) / frame.heights.w * 24.0;
    float depth = ground - position.y;
    float block = max(frame.heights.y - frame.heights.z, 1e-3);
#if MATERIALS == 1
    vec2 cells = position.xz / frame.map.z;
    vec4 grain = texture(detail, vec2(along, position.y / frame.heights.w * 24.0) * 0.7);
    StrataTop top = StrataTop(strata_top, intruded);
#if ROOFS == 1
    // Its side or its roof, whichever is nearer, in cells
    top.intruded = min(intruded, 0.5 + (strata_top - position.y / frame.map.w - roof) * frame.map.w / frame.map.z);
#endif
    Rock bed = rock_in_strata(cells, top, position.y / frame.map.w, grain.w - 0.5, true, detail);
    vec3 albedo = bed.albedo * mix(0.75 + 0.5 * grain.x, 0.90 + 0.2 * grain.w, bed.bedded);
#if BEDS == 1
    vec3 loose = bed_at(cells, depth / max(lying, 1e-6));
#else
    vec3 loose = textureLod(loose_colour, map_uv(position.xz), 0.0).rgb;
#endif
    loose *= loose * (0.88 + 0.24 * grain.x);
#else
    vec3 albedo = rock_layers(along, position.y - frame.heights.z, block / 11.0);
    vec3 loose = LOOSE;
#endif
    float edge = max(fwidth(depth), 1e-4);
    albedo = mix(albedo, loose, smoothstep(edge, -edge, depth - lying) * step(1e-4, lying));

    float sun = max(dot(normal, frame.sun.xyz), 0.0);
    float occlusion = mix(0.45, 1.0, smoothstep(0.0, 0.35, (position.y - frame.heights.z) / block));
    vec3 from_sky = sky_light(normal);  // quiet, as on the table
    from_sky = mix(from_sky, vec3(dot(from_sky, vec3(0.333))), 0.5);
    vec3 radiance = albedo * (frame.sun_light.rgb * sun + from_sky * occlusion + from_table(occlusion));
    colour = vec4(radiance * air_kept + air_added, -outline_key());
}
