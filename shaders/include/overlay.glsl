// Overlays: a value for each place, and the colour that stands for it. Their numbers are in app/passes/overlays.py.
#include "map.glsl"

#ifndef OVERLAY
#define OVERLAY 1
#endif

uniform sampler2D palette;  // one row of colours, linear light
uniform sampler2D initial;  // the surface that the world started with
uniform sampler2D overlay_layer;  // of the overlays that show a layer

float overlay_value(vec2 uv, vec4 place) {
    switch (int(frame.overlay.x)) {
        case 1: return place.x;
        case 2: return degrees(atan(length(place.yz)));
        case 3: return place.w;
        case 4: return place.x - textureLod(initial, uv, 0.0).x;
        case 5: return textureLod(overlay_layer, uv, 0.0).x;
        case 6: return log2(max(textureLod(overlay_layer, uv, 0.0).x, 1e-30));
    }
    return 0.0;
}

// The overlay's colour at a place, with its opacity.
vec4 shown_overlay(vec2 uv, vec4 place) {
    float t = (overlay_value(uv, place) - frame.overlay.z) / max(frame.overlay.w - frame.overlay.z, 1e-9);
    vec4 colour = textureLod(palette, vec2(clamp(t, 0.002, 0.998), 0.5), 0.0);
    return vec4(colour.rgb, colour.a * frame.overlay.y);
}

vec3 with_overlay(vec3 albedo, vec2 uv, vec4 place) {
#if OVERLAY == 0
    return albedo;
#else
    if (frame.overlay.x == 0.0) return albedo;
    vec4 colour = shown_overlay(uv, place);
    return mix(albedo, colour.rgb, colour.a);
#endif
}
