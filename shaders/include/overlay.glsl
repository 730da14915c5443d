// Overlays: a value at each place, and its colour. Their table is in app/model/overlays.py.
#include "map.glsl"
#include "lines.glsl"
#include "detail.glsl"

#ifndef OVERLAY
#define OVERLAY 1
#endif

#ifndef LINES
#define LINES 1  // rivers, as an overlay
#endif

#ifndef FLOW_PATH
#define FLOW_PATH 1  // the flow path from a place
#endif

uniform sampler2D palette;  // a row of colours in linear light, and a row with the strength of their hatching
uniform sampler2D overlay_layer;  // a layer, a map drawn for the overlay, or the initial ground
uniform sampler2D flow_path;  // the flow path from the place under the pointer; its catchment: 1 inside

const vec3 LAKE = vec3(0.055, 0.16, 0.29);
const vec3 FLOW_PATH_COLOUR = vec3(0.72, 0.93, 1.0);
const vec3 DIVIDE = vec3(1.0, 0.78, 0.32);
const vec3 RAISED = vec3(0.075, 0.25, 0.45);
const vec3 CONTOUR = vec3(0.045, 0.035, 0.025);
const float ARROWS_APART = 20.0;  // pixels: least distance; the largest is twice that, or a cell
const float HATCHES_APART = 9.0;  // pixels: least distance; the largest is twice that
const float STEADY = 0.35;  // least length of a mean of directions for which an arrow is drawn

// The bearing of a direction (east, south), in degrees clockwise from north.
float bearing(vec2 way) {
    return dot(way, way) > 0.0 ? mod(degrees(atan(way.x, -way.y)), 360.0) : 0.0;
}

float overlay_value(vec2 uv, vec4 place) {
    switch (int(frame.overlay.x)) {
        case OVERLAY_ELEVATION: return place.x;
        case OVERLAY_SLOPE: return degrees(atan(length(place.yz)));
        case OVERLAY_SEDIMENT: return place.w;
        case OVERLAY_CHANGE: return place.x - textureLod(overlay_layer, uv, 0.0).x;
        case OVERLAY_LAYER: return textureLod(overlay_layer, uv, 0.0).x;
        case OVERLAY_MAGNITUDE: return log2(max(textureLod(overlay_layer, uv, 0.0).x, 1e-30));
        case OVERLAY_KIND: return texelFetch(overlay_layer, ivec2(clamp(uv * frame.map.xy, vec2(0.0), frame.map.xy - 1.0)), 0).x;
        case OVERLAY_FIELD: return length(textureLod(overlay_layer, uv, 0.0).xy);
        case OVERLAY_CONTOURS: return textureLod(overlay_layer, uv, 0.0).x;
        case OVERLAY_ARROWS: return bearing(textureLod(overlay_layer, uv, 0.0).xy);
    }
    return 0.0;
}

// Opacity of the overlay by whether it has a value: the sea has neither contours nor arrows.
float overlay_tells(vec2 uv) {
    switch (int(frame.overlay.x)) {
        case OVERLAY_CONTOURS: return step(frame.water.w, textureLod(overlay_layer, uv, 0.0).x - 1e-4 * frame.map.z);
        case OVERLAY_ARROWS: return smoothstep(0.2, 0.7, length(textureLod(overlay_layer, uv, 0.0).xy));
    }
    return 1.0;
}

float part_of_span(float value) {
    return clamp((value - frame.overlay.z) / max(frame.overlay.w - frame.overlay.z, 1e-9), 0.001, 0.999);
}

vec4 palette_colour(float value) {
    return textureLod(palette, vec2(part_of_span(value), 0.25), 0.0);
}

// The picture below an overlay is dark and nearly grey.
vec3 below_overlay(vec3 colour) {
#if OVERLAY == 0
    return colour;
#else
    float luminance = dot(colour, vec3(0.2126, 0.7152, 0.0722));
    return mix(colour, 0.5 * mix(colour, vec3(luminance), 0.8), frame.part.z);
#endif
}

// Lines at a constant distance on the ground, antialiased: 1 on a line.
float hatches(vec2 cells, float apart) {
    float at = (cells.x + cells.y) * 0.7071 / apart, across = max(fwidth(at), 1e-6);
    float line = abs(fract(at) - 0.5);
    return (1.0 - smoothstep(0.16 - 0.5 * across, 0.16 + 0.5 * across, line)) * (1.0 - smoothstep(0.2, 0.5, across));
}

// One of two hues that meet in a palette is hatched, for people who cannot tell them apart.
vec3 with_hatches(vec3 colour, float value, vec2 uv, float pixel) {
    float hatched = textureLod(palette, vec2(part_of_span(value), 0.75), 0.0).x;
    float level = log2(max(2.0 * HATCHES_APART * pixel, 0.25)), finer = exp2(floor(level));
    vec2 cells = uv * frame.map.xy;
    float line = mix(hatches(cells, finer), hatches(cells, 2.0 * finer), smoothstep(0.75, 1.0, fract(level)));
    return colour * (1.0 - 0.5 * hatched * line);
}

// Borders between cells of different kinds: 1 on a border.
float border_of_kinds(vec2 uv, float pixel) {
    ivec2 last = ivec2(frame.map.xy) - 1, cell = clamp(ivec2(uv * frame.map.xy), ivec2(0), last);
    vec2 inside = uv * frame.map.xy - vec2(cell);
    float kind = texelFetch(overlay_layer, cell, 0).x, nearest = 1.0;
    for (int side = 0; side < 4; ++side) {
        ivec2 towards = ivec2(side == 0 ? -1 : int(side == 1), side == 2 ? -1 : int(side == 3));
        float away = side == 0 ? inside.x : side == 1 ? 1.0 - inside.x : side == 2 ? inside.y : 1.0 - inside.y;
        bool differs = texelFetch(overlay_layer, clamp(cell + towards, ivec2(0), last), 0).x != kind;
        if (differs) nearest = min(nearest, away);
    }
    float width = clamp(0.7 * pixel, 0.06, 0.4);
    return (1.0 - smoothstep(0.5 * width, width, nearest)) * (1.0 - smoothstep(0.5, 1.0, pixel));
}

// The overlay's colour at a place, with its opacity.
vec4 shown_overlay(vec2 uv, vec4 place) {
    vec4 colour = palette_colour(overlay_value(uv, place));
    return vec4(colour.rgb, colour.a * overlay_tells(uv) * frame.overlay.y);
}

// Lakes, and rivers over them. The map of this overlay holds rivers and the depth of lakes. `pixel` is the size of a
// pixel in cells.
vec3 with_rivers(vec3 albedo, vec2 uv, float pixel) {
    float lake = smoothstep(0.0, 0.02 * frame.map.z, textureLod(overlay_layer, uv, 0.0).y);
    albedo = mix(albedo, LAKE, 0.75 * lake * frame.overlay.y);
    vec2 river = nearest_line(overlay_layer, uv * frame.map.xy, pixel, 0.07, 0.07);
    vec4 colour = palette_colour(river.x);
    return mix(albedo, colour.rgb, river.y * colour.a * min(1.0, 1.4 * frame.overlay.y));
}

// Noise from 0 to 1 that is stretched along a vector field and moves with it. The map is divided into overlapping
// tiles, each with one direction.
float streaks(vec2 uv) {
    float tile = max(max(frame.map.x, frame.map.y) / 40.0, 2.0);
    vec2 cells = uv * frame.map.xy, at = cells / tile, corner = floor(at), part = smoothstep(0.0, 1.0, at - corner);
    float sum = 0.0, squares = 0.0;
    for (int k = 0; k < 4; ++k) {
        vec2 step_to = vec2(k % 2, k / 2), middle = (corner + step_to) * tile;
        vec2 weights = mix(1.0 - part, part, step_to);
        vec2 along = textureLod(overlay_layer, middle / frame.map.xy, 0.0).xy;
        float speed = length(along);
        along = speed > 1e-5 ? along / speed : vec2(1.0, 0.0);
        vec2 away = (cells - middle) / tile;
        vec2 place = vec2(dot(away, along) - 0.25 * speed * frame.camera.w, 6.0 * dot(away, vec2(-along.y, along.x)));
        float weight = weights.x * weights.y;
        sum += weight * (texture(detail, place / 14.0 + vec2(hash(corner + step_to), hash(corner + step_to + 3.1))).x - 0.5);
        squares += weight * weight;
    }
    return smoothstep(-0.16, 0.16, sum * inversesqrt(squares));
}

// The wind: speed as colour, with streaks along its direction.
vec3 with_wind(vec3 albedo, vec2 uv) {
    float speed = length(textureLod(overlay_layer, uv, 0.0).xy);
    vec4 colour = palette_colour(speed);
    float shade = mix(1.0, mix(0.35, 1.50, streaks(uv)), smoothstep(0.0, 0.15, speed));
    return mix(albedo, colour.rgb * shade, colour.a * frame.overlay.y);
}

// A surface coloured by its height, with contours, each fifth one wider; blue where it is above the ground.
vec3 with_contours(vec3 albedo, vec2 uv, vec4 place) {
    vec2 here = textureLod(overlay_layer, uv, 0.0).xy;
    vec4 colour = shown_overlay(uv, place);
    vec3 surface = mix(colour.rgb, RAISED, 0.85 * smoothstep(0.0, 0.02 * frame.map.z, here.y));
    float lines = here.x * CONTOURS / max(frame.overlay.w - frame.overlay.z, 1e-9), across = fwidth(lines);
    float line = abs(fract(lines + 0.5) - 0.5) / max(across, 1e-6);  // pixels away
    float width = mod(floor(lines + 0.5), 5.0) < 0.5 ? 1.1 : 0.6;
    float drawn = (1.0 - smoothstep(width - 0.5, width + 0.5, line)) * (1.0 - smoothstep(0.20, 0.45, across));
    return mix(albedo, mix(surface, CONTOUR, 0.75 * drawn), colour.a);
}

// Arrows at the centres of squares of 2^level cells, along the mean direction of each square. Returns the fractions of
// a pixel covered by the arrow, and by the arrow with its rim. `pixel` is its size in cells.
vec2 arrows(vec2 cells, float level, float pixel) {
    float side = exp2(level);
    vec2 middle = (floor(cells / side) + 0.5) * side;
    vec2 way = textureLod(overlay_layer, middle / frame.map.xy, level).xy;
    float steady = length(way);
    if (steady < STEADY) return vec2(0.0);
    way /= steady;
    vec2 away = (cells - middle) / side, at = vec2(dot(away, way), abs(dot(away, vec2(-way.y, way.x))));
    float shaft = max(at.y - 0.05, max(-0.38 - at.x, at.x - 0.10));
    float head = max(0.85 * (at.y - 0.62 * (0.40 - at.x)), 0.06 - at.x);
    float outside = min(shaft, head), blur = 0.6 * pixel / side;
    return 1.0 - smoothstep(vec2(-blur), vec2(blur), vec2(outside, outside - 0.055));
}

// Directions as colours, and arrows of about constant size on the screen: from afar, one represents many cells.
vec3 with_arrows(vec3 albedo, vec2 uv, vec4 place, float pixel) {
    vec4 colour = shown_overlay(uv, place);
    float level = log2(max(2.0 * ARROWS_APART * pixel, 1.0)), finer = floor(level);
    vec2 mean_way = textureLod(overlay_layer, uv, max(log2(4.0 * pixel), 0.0)).xy;
    colour.rgb = palette_colour(bearing(mean_way)).rgb;
    vec2 cells = uv * frame.map.xy;
    vec2 drawn = mix(arrows(cells, finer, pixel), arrows(cells, finer + 1.0, pixel), smoothstep(0.75, 1.0, level - finer));
    vec3 shown = mix(albedo, colour.rgb, colour.a);
    float opacity = min(1.0, 1.4 * frame.overlay.y);
    shown = mix(shown, vec3(0.02), 0.75 * opacity * drawn.y);
    return mix(shown, vec3(0.92), opacity * drawn.x);
}

vec3 with_overlay(vec3 albedo, vec2 uv, vec4 place, float pixel) {
#if OVERLAY == 0
    return albedo;
#else
    int shown = int(frame.overlay.x);
    if (shown == OVERLAY_NONE) return albedo;
    albedo = below_overlay(albedo);
#if LINES == 1
    if (shown == OVERLAY_RIVERS) return with_rivers(albedo, uv, pixel);
#endif
    if (shown == OVERLAY_FIELD) return with_wind(albedo, uv);
    if (shown == OVERLAY_CONTOURS) return with_contours(albedo, uv, place);
    if (shown == OVERLAY_ARROWS) return with_arrows(albedo, uv, place, pixel);
    vec4 colour = shown_overlay(uv, place);
    if (shown == OVERLAY_KIND) colour.rgb *= 1.0 - 0.7 * border_of_kinds(uv, pixel);
    else colour.rgb = with_hatches(colour.rgb, overlay_value(uv, place), uv, pixel);
    return mix(albedo, colour.rgb, colour.a);
#endif
}

float flow_path_line(vec2 uv, float pixel) {
    return nearest_line(flow_path, uv * frame.map.xy, pixel, 0.12, 0.12).y;
}

// Highlights the catchment of a place, and draws the flow path as a bright line on `dry` ground (0 to 1). Elsewhere the
// path is drawn on the surface of the water, as the bed appears shifted by refraction.
vec3 with_flow_path(vec3 albedo, vec2 uv, float pixel, float dry) {
#if FLOW_PATH == 0
    return albedo;
#else
    float inside = textureLod(flow_path, uv, 0.0).y;
    float grey = dot(albedo, vec3(0.2126, 0.7152, 0.0722));
    albedo = mix(0.45 * mix(albedo, vec3(grey), 0.6), albedo * 1.35 + 0.015, smoothstep(0.4, 0.6, inside));
    float width = min(max(0.22, 0.22 * pixel), 0.4);
    albedo = mix(albedo, DIVIDE, 0.85 * (1.0 - smoothstep(0.5 * width, width, abs(inside - 0.5))));
    return mix(albedo, FLOW_PATH_COLOUR, dry * flow_path_line(uv, pixel));
#endif
}

// Fraction of the water that is left out, so that an overlay on the ground below is visible.
float left_out_for_overlay(vec2 uv, vec4 place) {
#if OVERLAY == 1
    int shown = int(frame.overlay.x);
    if (shown != OVERLAY_NONE && shown != OVERLAY_RIVERS) return shown_overlay(uv, place).a;
#endif
    return 0.0;
}

// The flow path on the surface of standing water: 1 on the line.
float flow_path_on_water(vec2 uv, float pixel) {
#if FLOW_PATH == 1
    return flow_path_line(uv, pixel);
#else
    return 0.0;
#endif
}

// Fraction of streams that is left out, so that overlay and flow path are visible.
float water_left_out(vec2 uv, vec4 place, float pixel) {
    return max(left_out_for_overlay(uv, place), flow_path_on_water(uv, pixel));
}
