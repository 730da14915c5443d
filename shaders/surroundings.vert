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

uniform vec4 raised_sides;  // how much of its height the land beside each has over the table: west, east, north, south

in vec3 place;   // east and south, and its height in metres between
in vec2 along;   // where on the map its land is from, mirrored at each border, in sides of the block
in vec2 slopes;  // of that land, to the east and south
in vec4 turned;  // how much of each slope the land here has, to the east and south: of that to the east first

out vec3 position;
out vec2 from;
out vec2 smooth_slopes;  // as they are seen
out vec4 of_slopes;      // as `turned`, as far as the land is raised
out float sun_past;      // sunlight that comes past clouds
out vec3 air_kept;
out vec3 air_added;

const float LEAST_RAISED = 0.02;  // below that there is the table

void main() {
    vec2 low = vec2(0.5 * frame.map.z), high = map_extent() - low;
    vec2 beside = place.xz - clamp(place.xz, low + frame.map.z, high - frame.map.z), part = beside * beside;
    vec2 of_side = mix(raised_sides.yw, raised_sides.xz, lessThan(beside, vec2(0.0)));
    float raised = dot(part, of_side) / max(part.x + part.y, 1e-6);
    position = vec3(place.x, mix(frame.heights.z, place.y * frame.map.w, raised), place.z);
    sun_past = 1.0;
#if CLOUDS > 1
    sun_past = sun_past_clouds(position);
#endif
    smooth_slopes = slopes * frame.map.w;
    of_slopes = turned * raised;
    from = along;
    air_before(position, air_kept, air_added);
    gl_Position = clip_position(vec4(position, 1.0));
    if (raised < LEAST_RAISED) gl_Position.z = 2.0 * gl_Position.w;  // beyond what is drawn
}
