// Standing water: the sea is one plane to the horizon, a lake one square for each tile of the map that it lies in.
#include "map.glsl"

#ifndef SEA
#define SEA 1
#endif

#if SEA == 1
void main() {
    // Four triangles from the point under the camera to points at infinity.
    int corner = gl_VertexID % 3, side = gl_VertexID / 3 + corner - 1;
    vec4 place = vec4(frame.camera.x, frame.water.w * frame.map.w, frame.camera.z, 1.0);
    if (corner > 0) place = vec4(side % 2 == 0 ? side % 4 - 1 : 0, 0.0, side % 2 == 1 ? side % 4 - 2 : 0, 0.0);
    gl_Position = frame.view_projection * place;
}
#else
uniform float tile;  // cells along its side

in vec3 lake;  // first column and row, level in metres

out vec2 map_place;
flat out float level;

void main() {
    vec2 cell = min(lake.xy + tile * vec2(gl_VertexID % 2, gl_VertexID / 2), frame.map.xy - 1.0);
    map_place = (cell + 0.5) * frame.map.z;
    level = lake.z;
    gl_Position = frame.view_projection * vec4(map_place.x, level * frame.map.w, map_place.y, 1.0);
}
#endif
