// The fog of a morning, on the floors of valleys.
#include "map.glsl"
#include "sky.glsl"

uniform sampler2D valleys;  // height of their floors, m

// Lets fog lie before a place, nearer to it than the air between it and the camera.
void add_fog(vec3 position, inout vec3 kept, inout vec3 added) {
    vec2 uv = map_uv(position.xz);
    float above = max(position.y - textureLod(valleys, uv, 0.0).x * frame.map.w, 0.0) * frame.fog.y;
    vec3 to_eye = normalize(frame.camera.xyz - position);
    // A level layer that ends softly: one looks through more of it the lower one looks.
    float depth = frame.fog.x * exp(-above * above) / (abs(to_eye.y) + 0.15);
    vec2 edge = min(uv, 1.0 - uv);
    depth *= smoothstep(0.0, 0.06, min(edge.x, edge.y));  // none hangs over the walls of a block
    float clear = exp(-depth);
    float against = 0.5 - 0.5 * dot(to_eye, frame.sun.xyz);
    vec3 light = frame.sun_light.rgb * (0.05 + 0.22 * against * against * against) + 0.85 * sky_light(vec3(0.0, 1.0, 0.0));
    added += kept * (1.0 - clear) * light;
    kept *= clear;
}
