// Which water stands at a place.
#include "map.glsl"

uniform sampler2D water_level;  // of each cell, in metres; the ground where it is dry
uniform bool level_is_known;    // before the first cycle it is not: then the sea stands wherever it can

// Whether water of this level stands at a place: 1 where it does, 0 where all the cells around are another's or are dry
// below it, as land behind a dam is.
float belongs(vec2 uv, float level) {
    if (!level_is_known) return 1.0;
    vec4 levels = textureGather(water_level, uv, 0);
    if (!any(equal(levels, vec4(level)))) return 0.0;
    return 1.0 - smoothstep(0.15, 0.45, dot(gather_weights(uv), vec4(lessThan(levels, vec4(level)))));
}
