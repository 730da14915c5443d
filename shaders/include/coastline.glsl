// The coast while it is worked out, in texels of the map: cell (0, 0) has its middle at (0.5, 0.5).

const vec4 NO_SEGMENT = vec4(-1.0);
const vec2 NO_SEED = vec2(-1.0);
const float OPEN_ENOUGH = 0.2;  // part of the surroundings that is open lake: along a straight shore it is about a half
const float LAKES = 0.25;       // the highest waves on lakes, beside those of the sea
const float NARROWS = 0.35;     // of that, where lakes are hardly open enough
const float ROOM = 6.5;         // level of the mipmaps: cells of 90 of the map

uniform sampler2D bodies;       // 1 where water stands; 1 where it is the sea's; 1 out on a lake
uniform float smallest_lake;    // cells across

// From 0 to 1, by how much of the wider surroundings is water, and whether it is the sea's: in bays waves stay low, and on
// lakes lower, most where those are hardly wide enough for any.
float room_for_waves(ivec2 cell) {
    vec2 uv = (vec2(cell) + 0.5) / vec2(textureSize(bodies, 0));
    vec4 near = textureLod(bodies, uv, log2(smallest_lake));
    float sea = near.y + near.z > 0.0 ? near.y / (near.y + near.z) : 1.0;
    vec4 around = textureLod(bodies, uv, ROOM);
    return smoothstep(0.03, 0.36, around.y + around.z) * mix(LAKES * mix(NARROWS, 1.0, smoothstep(OPEN_ENOUGH, 2.0 * OPEN_ENOUGH, near.z)), 1.0, sea);
}

// Whether a wet cell belongs to the sea or to a lake that is large enough to have waves.
bool has_waves(ivec2 cell) {
    vec2 uv = (vec2(cell) + 0.5) / vec2(textureSize(bodies, 0));
    return texelFetch(bodies, cell, 0).y > 0.5 || textureLod(bodies, uv, log2(smallest_lake)).z > OPEN_ENOUGH;
}

vec2 nearest_on_segment(vec2 place, vec2 from, vec2 to) {
    vec2 along = to - from;
    float t = dot(place - from, along) / max(dot(along, along), 1e-12);
    return from + clamp(t, 0.0, 1.0) * along;
}

// The nearer of `best` and the point that is nearest to `place` on a segment of the square between four cells whose
// north-western one is `square`. A segment's ends are told within the square.
void take_nearer(inout vec2 best, inout float best_length, inout vec2 course, vec2 place, ivec2 square, vec4 segment) {
    if (segment == NO_SEGMENT) return;
    vec2 corner = vec2(square) + 0.5;
    vec2 point = nearest_on_segment(place, corner + segment.xy, corner + segment.zw);
    float length_here = distance(point, place);
    if (length_here >= best_length) return;
    best = point;
    best_length = length_here;
    course = segment.zw - segment.xy;
}
