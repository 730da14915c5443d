// The land around a block, as it stands in its light.
#ifndef STORM
#define STORM 0
#endif
#ifndef CLOUDS
#define CLOUDS 0  // 2: with depth, and they cast shadows
#endif

#include "clip.glsl"
#include "map.glsl"
#include "sky.glsl"
#if CLOUDS > 1
#include "clouds.glsl"
#endif

uniform float way_to_end;   // from the eye to the horizon of the table, in metres
uniform vec4 raised_sides;  // how much of its height the land beside each has over the table: west, east, north, south

in vec3 place;   // east and south, and its height in metres between
in vec2 along;   // where on the map its land is from, mirrored at each border, in sides of the block
in vec2 slopes;  // of that land, to the east and south
in vec4 turned;  // how much of each slope the land here has, to the east and south: of that to the east first
in vec2 beside;  // slopes that it has besides

out vec3 position;
out vec2 from;
out vec2 smooth_slopes;  // as they are seen
out vec4 of_slopes;      // as `turned`, as far as the land is raised
out vec2 own_slopes;     // as `beside`
out float sun_past;      // sunlight that comes past clouds
out vec3 air_kept;
out vec3 air_added;

const float LEAST_RAISED = 0.02;  // below that there is the table
const float LEAST_WAY = 0.2;      // sides from the block to the horizon of the table
// Haze over the land beyond the block: its optical depth a side away, for one over the block, of which half grows by the
// square; its scale height in sides; and where all is hidden, in sides.
const float HAZE_BEYOND = 3.4, HAZE_HEIGHT = 0.16;
const vec2 ALL_HIDDEN = vec2(1.7, 2.4);

// How far a place lies beyond the block, as the eye sees it, and from where the block ends there to the horizon: in sides.
vec2 beyond_block(vec2 place, vec2 low, vec2 high) {
    vec2 eye = frame.camera.xz, way = place - eye;
    float far = max(length(way), 1e-3);
    vec2 direction = way / far, inverse = 1.0 / (direction + mix(vec2(1e-6), vec2(-1e-6), lessThan(direction, vec2(0.0))));
    vec2 leaves = max((low - eye) * inverse, (high - eye) * inverse);
    float leave = max(min(leaves.x, leaves.y), 0.0);
    return vec2(max(far - leave, 0.0), way_to_end - leave) / frame.heights.w;
}

void main() {
    vec2 low = vec2(0.5 * frame.map.z), high = map_extent() - low;
    vec2 away = place.xz - clamp(place.xz, low + frame.map.z, high - frame.map.z), part = away * away;
    vec2 of_side = mix(raised_sides.yw, raised_sides.xz, lessThan(away, vec2(0.0)));
    float raised = dot(part, of_side) / max(part.x + part.y, 1e-6);
    // The ground bends down like that of a small globe: as far as it is seen, a line of sight along it meets the horizon.
    vec2 beyond = beyond_block(place.xz, low, high);
    float bent = frame.heights.w * length(frame.sunward.zw) * beyond.x * beyond.x / (4.0 * max(beyond.y, LEAST_WAY));
    position = vec3(place.x, mix(frame.heights.z, place.y * frame.map.w, raised) - bent, place.z);
    sun_past = 1.0;
#if CLOUDS > 1
    sun_past = sun_past_clouds(position);
#endif
    smooth_slopes = slopes * frame.map.w;
    of_slopes = turned * raised;
    own_slopes = beside * (frame.map.w * raised);
    from = along;
    air_before(position, air_kept, air_added);
    float over = max(position.y + bent - frame.air.z, 0.0) / (HAZE_HEIGHT * frame.heights.w);
    float depth = 0.5 * HAZE_BEYOND * frame.air.x * frame.heights.w * beyond.x * (1.0 + beyond.x) * exp(-over);
    vec3 kept = exp(-depth * HAZE_HUES) * (1.0 - smoothstep(ALL_HIDDEN.x, ALL_HIDDEN.y, beyond.x));
    // It lies behind the air over the block.
    air_added += air_kept * horizon_colour(normalize(position - frame.camera.xyz)) * (1.0 - kept);
    air_kept *= kept;
    gl_Position = clip_position(vec4(position, 1.0));
    if (raised < LEAST_RAISED) gl_Position.z = 2.0 * gl_Position.w;  // beyond what is drawn
}
