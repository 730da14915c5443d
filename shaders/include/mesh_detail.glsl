// How detailed the mesh of the ground is at a place: see select_nodes in app/picture/passes/mesh.py.
#include "map.glsl"

// Distance from the camera as the nodes were chosen by it: the height counts only outside of the span of all heights.
float node_distance(vec2 east_south) {
    float beyond = max(max(frame.heights.x - frame.camera.y, frame.camera.y - frame.heights.y), 0.0);
    return length(vec3(east_south - frame.camera.xz, beyond));
}

// How far a vertex has moved onto the next coarser grid; `whole` is the distance at which it has arrived there.
float morph_at(vec2 east_south, float whole) {
    return smoothstep(0.86, 0.99, node_distance(east_south) / whole);
}
