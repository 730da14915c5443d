// Sand and dust that fly over a cell, seen in the air as a plume: what a ray meets of it before the ground.
#include "map.glsl"

uniform float dust_plume;  // how thick it is seen

const int PLUME_STEPS = 14;        // along a ray
const float PLUME_HEIGHT = 0.035;  // of the longer side, over which it thins
const float PLUME_DEPTH = 260.0;   // optical depth from one end of that side to the other, for a metre that flies

// The part of what is seen at a place that the plume hides.
float hidden_by_plume(vec3 place, sampler2D flying, sampler2D land, sampler2D noise) {
    vec3 way = frame.camera.xyz - place;
    float side = frame.heights.w, height = PLUME_HEIGHT * side, far = length(way);
    vec3 direction = way / far;
    float reach = min(min(far, 3.0 * height / max(direction.y, 0.01)), side), depth = 0.0;
    for (int i = 0; i < PLUME_STEPS; ++i) {
        vec3 at = place + direction * (reach * (float(i) + 0.5) / float(PLUME_STEPS));
        vec2 uv = map_uv(at.xz);
        if (uv != clamp(uv, 0.0, 1.0)) continue;
        float over = max(at.y - textureLod(land, uv, 0.0).x * frame.map.w, 0.0) / height;
        // It billows, and drifts with the wind.
        vec2 drifting = (at.xz - frame.dust.w * frame.wind.xy) / side;
        float billows = textureLod(noise, 1.7 * drifting + 0.5 * at.y / side, 1.0).w;
        depth += textureLod(flying, uv, 0.0).x * exp(-over) * mix(0.15, 1.85, smoothstep(0.40, 0.62, billows));
    }
    return 1.0 - exp(-dust_plume * PLUME_DEPTH * depth * reach / (side * float(PLUME_STEPS)));
}
