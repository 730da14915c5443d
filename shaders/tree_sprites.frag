// Small trees: the outline of a crown in a square, and light on it as on a rounded body.
#include "leaves.glsl"
#include "outline.glsl"

uniform sampler2D detail;

in vec2 middle;
flat in vec4 outline;
flat in vec4 to_sun;
flat in vec4 sun_part;
flat in vec3 sky_part;
flat in float hidden_below;
flat in vec3 air_added;
flat in vec4 own;
flat in vec4 lobes;
#ifndef SNOWY
#define SNOWY 0
#endif
#if SNOWY == 1
flat in vec4 snow;
#endif
#ifndef SAMPLES
#define SAMPLES 0  // for each pixel
#endif
#if SNOWY == 1 && SAMPLES > 0
flat in vec3 shadow;
flat in vec3 snow_in_shadow;
const float SHADOW_WIDE = 0.62, SHADOW_ENDS = 0.2;  // of the crown; at its tip
const float SHADOW_HIDES = 0.75;
#endif

out vec4 colour;

const float LEANS = 0.22;  // see trees.vert
const float TIERS = 4.5;
const float DARK_BELOW = 0.75, TOPS_FROM = 0.75;  // of the sun, in woods; part of the height of a crown
const vec2 SNOW_LIES = vec2(0.10, 0.80);  // on what is turned up so far: boughs are, one above the other
const float SKY_BETWEEN = 0.35;  // of the light of the sky that comes between the boughs
const float GRAIN = 0.022;  // of the noise, across a square: as fine as a few pixels show

void main() {
    vec2 square = gl_PointCoord * 2.0 - 1.0;
    vec2 at = middle + vec2(square.x, -square.y);  // from the foot, upwards
#if SNOWY == 1 && SAMPLES > 0
    float along = clamp(dot(at, shadow.xy) / max(dot(shadow.xy, shadow.xy), 1e-4), 0.0, 1.0);
    float beyond = length(at - along * shadow.xy) - SHADOW_WIDE * outline.x * mix(1.0, SHADOW_ENDS, along);
    float shaded = SHADOW_HIDES * shadow.z * clamp(0.5 - beyond / max(fwidth(beyond), 1e-4), 0.0, 1.0);
#endif
    at.x += LEANS * (fract(0.806 * own.x) - 0.5) * at.y;
    vec4 grain = texture(detail, vec2(square.x, square.y) * GRAIN + own.x);
    float ragged = (grain.x - 0.5) * 1.0 + (grain.w - 0.5) * 0.8;
    float conifer = sun_part.w;
    // A cone seen from above is a triangle on an ellipse, an egg an ellipse.
    float high = (at.y - outline.z) / max(outline.y - outline.z, 1e-3);
    float beside = abs(at.x) / outline.x;
    float rim = at.x / outline.x;
    float below = (at.y - outline.z) / max(outline.w, 1e-3);
    float tier = fract(3.0 * own.x + TIERS * high) - 0.5;  // of branches, each wider at its foot
    float cone = (1.15 + 0.5 * tier) * beside + high + ragged - 1.0;
    float foot_of_cone = length(vec2(rim, below)) + ragged - 1.0;
    // A broad crown is three lobes, each tree's its own.
    vec2 round_at = vec2(rim, high * 2.0 - 1.0);
    float larger = 0.20 * (fract(own.x) - 0.5);
    vec3 lobe = vec3(round_at - lobes.xy, 1.0 / (0.58 + larger));
    vec3 beside_it = vec3(round_at - lobes.zw, 1.0 / (0.54 - larger)), over_it = vec3(round_at + 0.72 * (lobes.xy + lobes.zw) - vec2(0.0, 0.06), 1.0 / (0.57 - 0.5 * larger));
    if (dot(beside_it.xy, beside_it.xy) < dot(lobe.xy, lobe.xy)) lobe = beside_it;
    if (dot(over_it.xy, over_it.xy) < dot(lobe.xy, lobe.xy)) lobe = over_it;
    vec2 on_lobe = lobe.xy * lobe.z;
    float egg = length(on_lobe) + 1.6 * ragged - 1.0;
    float crown = conifer > 0.5 ? min(high < 0.0 ? 1.0 : cone, foot_of_cone) : egg;
    float trunk = step(abs(at.x), 0.10 * outline.x) * step(0.0, at.y) * step(at.y, outline.z + 0.2);
    bool between_twigs = to_sun.w > 0.05 && abs(grain.y - 0.5) > mix(0.24, 0.05, to_sun.w);
#if SAMPLES > 0
    // The part of the pixel that the crown covers: so small an outline is of steps otherwise.
    float within = clamp(0.5 - crown / max(fwidth(crown), 1e-4), 0.0, 1.0);
    within = max(between_twigs ? 0.0 : within, trunk);
    int covered = int(within * float(SAMPLES) + 0.5);
#if SNOWY == 1
    if (covered == 0) {
        covered = int(shaded * float(SAMPLES) + 0.5);
        if (covered == 0) discard;
        gl_SampleMask[0] = (1 << covered) - 1;
        colour = vec4(snow_in_shadow + air_added, outline_key());
        return;
    }
#else
    if (covered == 0) discard;
#endif
    gl_SampleMask[0] = (1 << covered) - 1;
#else
    if ((crown > 0.0 || between_twigs) && trunk < 0.5) discard;
#endif

    vec2 bulge = conifer > 0.5 ? vec2(rim, 0.4 * clamp(round_at.y, -1.0, 1.0)) : 0.62 * clamp(round_at, -1.0, 1.0) + 0.42 * on_lobe;
    vec3 normal = vec3(bulge, 0.0);
    normal.z = sqrt(max(1.0 - dot(normal, normal), 0.04));
    vec3 up = vec3(0.0, own.zw);
    normal = normalize(normal + 0.25 * conifer * up + 1.1 * vec3(grain.y - 0.5, 0.4 * (grain.w - 0.5), grain.z - 0.5));
    float facing = dot(normal, to_sun.xyz);
    // Dark between its boughs, and below each tier of branches.
    float gap = 1.6 * (grain.x - 0.5) + 0.8 * (grain.w - 0.5) - 0.5 * conifer * tier;
    float open = mix(0.28, 1.04, clamp(0.5 + 0.5 * dot(normal, up) + gap, 0.0, 1.0));
    // In woods the sun comes to the tops.
    float sun = 1.0 - DARK_BELOW * hidden_below * (1.0 - smoothstep(0.0, TOPS_FROM, high));
    float lit = clamp((facing + 0.25) / 1.25, 0.0, 1.0) * mix(0.5, 1.0, open);
    // Against the sun its thin rim glows.
    float thin = 1.0 - normal.z;
    vec3 through = own.y * (0.7 + 1.2 * thin * thin) * THROUGH_LEAVES * clamp(0.75 - 0.5 * facing, 0.0, 1.0);
    vec3 radiance = sun_part.rgb * sun * (lit + through) + sky_part * mix(open, 1.0, SKY_BETWEEN);
#if SNOWY == 1
    radiance *= 1.0 + snow.rgb * 0.50 * snow.a * smoothstep(SNOW_LIES.x, SNOW_LIES.y, dot(normal, up) - 0.5 * conifer * tier + 1.3 * (grain.w - 0.5));
#endif
    colour = vec4(radiance * (0.55 + 0.90 * grain.x) + air_added, outline_key());
}
