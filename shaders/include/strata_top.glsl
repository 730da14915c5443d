// Where the top of the strata lies at a place, and how much of the ground there is of an intrusion.
// INTRUDED is that of kernels/rock.py.
#ifndef INTRUSIONS
#define INTRUSIONS 0  // 1: there are some
#endif

uniform sampler2D strata_rise;  // metres, more by INTRUDED in an intrusion; a single 0 where there are no strata

const float INTRUDED = 524288.0;

struct StrataTop {
    float height;    // metres
    float intruded;  // from 0 to 1: an intrusion stands where it is over a half
};

StrataTop strata_top_at(vec2 uv) {
#if INTRUSIONS == 1
    // Cells are told apart before they are mixed: between the two heights lies none.
    vec4 rises = textureGather(strata_rise, uv, 0);
    vec4 inside = step(0.5 * INTRUDED, rises);
    rises -= INTRUDED * inside;
    vec2 part = fract(uv * vec2(textureSize(strata_rise, 0)) - 0.5);
    vec4 weights = vec4((1.0 - part.x) * part.y, part.x * part.y, part.x * (1.0 - part.y), (1.0 - part.x) * (1.0 - part.y));
    return StrataTop(dot(weights, rises), dot(weights, inside));
#else
    return StrataTop(textureLod(strata_rise, uv, 0.0).x, 0.0);
#endif
}
