// Where a lake is cut by the edge of the map: for each of its rectangles, a wall on every side that is an edge.
#include "clip.glsl"
#include "map.glsl"

in vec4 rectangle;  // first column and row, how many more it extends over
in float level_of_lake;  // metres

out vec3 position;
flat out vec3 normal;
flat out float level;

const float OUTSIDE = 0.01;  // cells before the wall of the ground, so that both never fight for a pixel

void main() {
    int side = gl_VertexID / 6, corner = gl_VertexID % 6;
    vec2 low = rectangle.xy, high = low + rectangle.zw;
    vec2 from, to;
    bool at_edge;
    switch (side) {
        case 0: from = low; to = vec2(high.x, low.y); normal = vec3(0.0, 0.0, -1.0); at_edge = low.y == 0.0; break;
        case 1: from = vec2(high.x, low.y); to = high; normal = vec3(1.0, 0.0, 0.0); at_edge = high.x == frame.map.x - 1.0; break;
        case 2: from = vec2(low.x, high.y); to = high; normal = vec3(0.0, 0.0, 1.0); at_edge = high.y == frame.map.y - 1.0; break;
        default: from = low; to = vec2(low.x, high.y); normal = vec3(-1.0, 0.0, 0.0); at_edge = low.x == 0.0; break;
    }
    bool far = corner == 1 || corner == 2 || corner == 4, top = corner == 2 || corner == 4 || corner == 5;
    vec2 cell = (at_edge && far ? to : from) + 0.5 + OUTSIDE * normal.xz;
    level = level_of_lake;
    float height = top || !at_edge ? level * frame.map.w : min(level * frame.map.w, frame.heights.x);
    position = vec3(cell.x, 0.0, cell.y) * frame.map.z + vec3(0.0, height, 0.0);
    gl_Position = clip_position(vec4(position, 1.0));
}
