// Shafts of rain and snow that hang from the clouds and drift with them: upright squares that face the eye.
#include "clip.glsl"
#include "rain.glsl"

uniform int shafts;  // along each side of their lattice

out vec3 position;
out vec2 in_square;   // from −1 to 1 across, from 0 at the ground to 1 at the clouds
flat out float seed;
flat out float thick;

const float LATTICE = 1.5;  // sides of the map

void main() {
    int number = gl_VertexID / 6, corner = gl_VertexID % 6;
    float side = frame.heights.w, spacing = LATTICE * side / float(shafts);
    // Cells of the sky that the clouds drift in, those of them that are over the map; from the far side to the near one.
    vec2 drifted = frame.cloud_drift.xy / frame.clouds.z, low = 0.5 * (map_extent() - LATTICE * side);
    ivec2 first = ivec2(ceil((low - drifted) / spacing)), at = ivec2(number % shafts, number / shafts);
    vec2 ahead = normalize(0.5 * map_extent() - frame.camera.xz + vec2(1e-3));
    if (abs(ahead.x) > abs(ahead.y)) at = at.yx;
    if (ahead.x > 0.0) at.x = shafts - 1 - at.x;
    if (ahead.y > 0.0) at.y = shafts - 1 - at.y;
    vec2 cell = vec2(first + at), chances = vec2(hash(cell + 3.7), hash(cell.yx + 11.3));
    vec2 place = (cell + 0.15 + 0.7 * chances) * spacing + drifted;
    thick = rain_at(place) * smoothstep(0.05 * side, 0.30 * side, distance(place, frame.camera.xz));
    seed = 31.0 * chances.x;
    in_square = vec2(corner == 1 || corner == 2 || corner == 4 ? 1.0 : -1.0, corner == 2 || corner == 4 || corner == 5 ? 1.0 : 0.0);

    float ground = min(ground_height(surface, clamp(place, vec2(0.0), map_extent())), frame.clouds.x);
    vec2 to_eye = normalize(frame.camera.xz - place), across = vec2(to_eye.y, -to_eye.x);
    float high = mix(ground, frame.clouds.x, in_square.y);
    // What has fallen farther has been carried farther.
    vec2 carried = frame.wind.xy * 0.25 * (frame.clouds.x - high);
    position = vec3(0.0, high, 0.0);
    position.xz = place + carried + across * in_square.x * spacing * mix(1.4, 1.0, in_square.y);
    gl_Position = thick > 0.0 ? clip_position(vec4(position, 1.0)) : vec4(2.0, 2.0, 2.0, 1.0);
}
