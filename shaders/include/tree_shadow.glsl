// The shadows of the trees near the camera.

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 1
#endif

uniform sampler2DShadow tree_shadow;
uniform mat4 shadow_matrix;  // from picture space
uniform float shadow_strength;

const float THROUGH_CROWNS = 0.12;  // of the sunlight

// The part of the sunlight that comes past the trees; `otherwise` where the map of their shadows has its end.
float sun_past_trees(vec3 position, float otherwise) {
    vec3 at = (shadow_matrix * vec4(position, 1.0)).xyz;
    vec2 border = min(at.xy, 1.0 - at.xy);
    float inside = clamp(14.0 * min(border.x, border.y), 0.0, 1.0);
    if (inside == 0.0) return otherwise;
#if DETAIL_SCALES > 1
    vec2 texel = 0.9 / vec2(textureSize(tree_shadow, 0));
    float right = textureLod(tree_shadow, vec3(at.xy + vec2(texel.x, 0.4 * texel.y), at.z), 0.0);
    float left = textureLod(tree_shadow, vec3(at.xy + vec2(-texel.x, -0.4 * texel.y), at.z), 0.0);
    float sun = 0.5 * (right + left);
    if (sun > 0.0 && sun < 1.0)  // most places are all in the sun or all in a shadow
        sun = 0.5 * sun + 0.25 * (textureLod(tree_shadow, vec3(at.xy + vec2(-0.4 * texel.x, texel.y), at.z), 0.0)
                                + textureLod(tree_shadow, vec3(at.xy + vec2(0.4 * texel.x, -texel.y), at.z), 0.0));
#else
    float sun = textureLod(tree_shadow, at, 0.0);
#endif
    return mix(otherwise, mix(THROUGH_CROWNS, 1.0, sun), inside * shadow_strength);
}
