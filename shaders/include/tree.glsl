// Trees: where they stand, how large they are and what colour they have.
#include "mesh_detail.glsl"
#include "leaves.glsl"
#include "crowns.glsl"

uniform sampler2D surface;
uniform sampler2D light;   // sun visibility, sky visibility, hollowness, sun that comes through crowns
// How far away from the camera the ground has the grid of the map, m; its coarsest grid, cells; how far away it has a
// finer one, m; its finest.
uniform vec4 mesh_reach;
uniform vec4 crown_radius;  // by shape: half the width of a crown, and where it begins
uniform vec4 crown_base;
uniform vec3 scale;        // height of a full-grown tree, m; pixels of a metre at a distance of one metre; part of winter

#ifndef SNOWY
#define SNOWY 0  // 1: snow lies as a layer, which marks show
#endif
#if SNOWY == 1
uniform sampler2D marks;
#endif

in vec2 cell;    // where it stands, column and row
in vec3 growth;  // shape, size, health
in vec4 foliage;  // colour of its leaves; whether it sheds them

// The height of a vertex of the mesh: `odd` tells along which axes it has moved by `morph` towards the vertex before it.
float vertex_height(vec2 at, vec2 odd, float stride, float morph) {
#if DISPLACED == 0
    // No vertex but those in the middles of squares lies between cells: software would pay for all that is read there.
    ivec2 last = ivec2(frame.map.xy) - 1;
    float height = texelFetch(surface, min(ivec2(at), last), 0).x * frame.map.w;
    float before = texelFetch(surface, min(ivec2(at - odd * stride), last), 0).x * frame.map.w;
    return morph > 0.0 ? mix(height, before, morph) : height;
#else
    float coarseness = coarseness_of(stride) + morph;
    float height = mesh_height_at(surface, at, coarseness);
    return morph > 0.0 ? mix(height, mesh_height_at(surface, at - odd * stride, coarseness), morph) : height;
#endif
}

// The mesh as mesh.glsl has it, at a place in cells from the middle of the first: triangles over squares of `stride`
// cells, whose vertices move onto those of squares twice as large.
float mesh_height(vec2 at, float stride, float morph) {
    vec2 last = frame.map.xy - 1.0;
    vec2 even = floor(at / (2.0 * stride)) * 2.0 * stride;
    vec2 moved = mix(min(even + stride, last), even, morph);
    vec2 second = step(moved, at) * step(even + stride, last);  // which of two squares, along each axis
    vec2 begin = mix(even, moved, second), end = mix(moved, min(even + 2.0 * stride, last), second);
    vec2 part = clamp((at - begin) / max(end - begin, 1e-4), 0.0, 1.0);
    vec2 low = even + second * stride, high = low + stride;
    vec2 low_odd = second, high_odd = 1.0 - second;
    float south_west = vertex_height(vec2(low.x, high.y), vec2(low_odd.x, high_odd.y), stride, morph);
    float north_east = vertex_height(vec2(high.x, low.y), vec2(high_odd.x, low_odd.y), stride, morph);
    if (stride > 1.0 || !is_twisted(surface, low)) {
        // Both triangles of a square share its diagonal from south-west to north-east.
        bool upper = part.x + part.y < 1.0;
        float corner = upper ? vertex_height(low, low_odd, stride, morph) : vertex_height(high, high_odd, stride, morph);
        vec2 away = upper ? part : 1.0 - part.yx;
        return corner + away.x * (north_east - corner) + away.y * (south_west - corner);
    }
    // Four meet in its middle; of the squares that come together in a larger one, the last becomes it.
    float coarseness = coarseness_of(stride) + morph;
    float middle = mesh_height_at(surface, low + 0.5 * stride, coarseness);
    if (morph > 0.0) {
        float plain = 0.5 * (south_west + north_east);
        bool becomes = stride < 1.0 && second == vec2(1.0);
        middle = mix(middle, becomes ? mesh_height_at(surface, low, coarseness) : plain, morph);
    }
    vec2 off = part - 0.5;
    // Which of the four: it has a side of the square, which has one of the corners on the diagonal.
    bool sideways = abs(off.x) > abs(off.y), begins = (sideways ? off.x : off.y) < 0.0;
    float common_corner = sideways == begins ? south_west : north_east;
    float corner = begins ? vertex_height(low, low_odd, stride, morph) : vertex_height(high, high_odd, stride, morph);
    float first = begins ? corner : common_corner, then = begins ? common_corner : corner;
    float outward = 2.0 * (sideways ? abs(off.x) : abs(off.y)), along = sideways ? off.y : off.x;
    return mix(middle, 0.5 * (first + then), outward) + along * (then - first);
}

// Where a tree stands on the ground as it is drawn, however coarse that is so far away.
vec3 foot_of(vec2 cell) {
    vec2 at = clamp(cell - 0.5, vec2(0.0), frame.map.xy - 1.0);  // the ground reaches from middle to middle
    vec2 east_south = (at + 0.5) * frame.map.z;
    float away = node_distance(east_south);
    bool finer = away < mesh_reach.z;
    float reach = finer ? mesh_reach.z : mesh_reach.x;
    float stride = exp2(floor(log2(max(away / reach, 1e-6))));
    stride = finer ? clamp(stride, mesh_reach.w, 0.5) : clamp(stride, 1.0, mesh_reach.y);
    float morph = morph_at(east_south, 2.0 * reach * stride);
    return vec3(east_south.x, mesh_height(at, stride, morph), east_south.y);
}

float tree_height(float chance) {
    return scale.x * growth.y * (0.85 + 0.30 * chance);
}

// Height in the picture, in pixels.
float tree_pixels(vec3 foot, float height) {
    return height * scale.y / max(distance(foot + vec3(0.0, 0.5 * height, 0.0), frame.camera.xyz), 1e-6);
}

// How much of a tree of this height in pixels is drawn as in the finer one of two levels that meet at `limit`.
float finer_share(float pixels, float limit) {
    return clamp((pixels / limit - 0.90) / 0.20, 0.0, 1.0);
}

// Two chances from 0 to 1 that are a tree's own.
vec2 chances_of(vec2 cell) {
    return vec2(hash(cell * 7.31 + 3.7), hash(cell.yx * 5.17 + 91.3));
}

// How wide a tree's own crown is, relative to its shape.
float width_of(vec2 chances) {
    return 0.68 + 0.64 * fract(9.7 * chances.y);
}

// Chances on a grid of cells so wide, with smooth passages: what neighbours have in common.
float site_chance(vec2 cell, float wide) {
    vec2 at = cell / wide, corner = floor(at), part = smoothstep(0.0, 1.0, at - corner);
    vec2 low = vec2(hash(corner), hash(corner + vec2(1.0, 0.0))), high = vec2(hash(corner + vec2(0.0, 1.0)), hash(corner + 1.0));
    vec2 across = mix(low, high, part.y);
    return mix(across.x, across.y, part.x);
}

// How much of the leaves that it sheds a tree has shed.
float shed_part(vec2 chances) {
    return clamp(1.4 * scale.z - 0.4 * chances.y, 0.0, 1.0);
}

// `hollow` is how much of a hollow the site is, around 0: there leaves are lush, on ridges dull.
vec3 leaf_colour(vec2 chances, float hollow) {
    vec3 colour = crowns_of(foliage, shed_part(chances));
    // Some stand darker and bluer, some lighter and yellower, and so do some groves.
    colour *= mix(vec3(0.66, 0.77, 0.97), vec3(1.34, 1.23, 0.93), chances.x) * (0.86 + 0.28 * chances.y);
    float site = clamp(site_chance(cell, 9.0) - 1.2 * hollow, 0.0, 1.0);
    colour *= mix(vec3(0.74, 0.90, 1.06), vec3(1.28, 1.10, 0.92), site);
    return mix((growth.x > 0.5 ? SICK : SICK_NEEDLES) * (0.75 + 0.5 * chances.y), colour, 1.0 - sick_part(growth.z));
}

#if SNOWY == 1
// How much snow lies on its boughs: where the ground is white, and least on twigs without leaves.
float snow_on_boughs(vec2 cell, vec2 chances) {
    return smoothstep(0.15, 0.75, textureLod(marks, cell / frame.map.xy, 0.0).w) * (1.0 - 0.75 * shed_part(chances) * foliage.a);
}
#endif
