// How much of a river's water is seen where it runs into a lake, in the length of its way in the map of flow.
#include "map.glsl"

vec2 way_with_plume(vec2 along, float strength) {
    return along * (0.5 + 0.5 * strength);
}

// At a place, from that of the cells around it in which water stands: elsewhere ways are whole.
float plume_strength(sampler2D flow, vec2 uv) {
    vec4 east = textureGather(flow, uv, 1), south = textureGather(flow, uv, 2);
    vec4 strength = clamp(2.0 * sqrt(east * east + south * south) - 1.0, 0.0, 1.0);
    if (strength == vec4(0.0)) return 0.0;
    vec4 weight = gather_weights(uv) * vec4(greaterThan(textureGather(flow, uv, 3), vec4(0.0)));
    return dot(weight, strength) / max(dot(weight, vec4(1.0)), 1e-4);
}
