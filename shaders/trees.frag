// Trees near enough to be seen as bodies.
#include "leaves.glsl"
#include "dissolve.glsl"
#include "outline.glsl"

#ifndef SHADOWS
#define SHADOWS 1
#endif

#if SHADOWS == 1
#include "tree_shadow.glsl"
#endif

uniform sampler2D detail;

in vec3 position;
in vec3 normal;
in vec3 inside;
in vec2 sun_in;
in vec3 lit_place;
in vec2 light_in;
in vec2 in_spray;
in vec3 air_kept;
in vec3 air_added;
flat in vec3 albedo;
flat in float bare;
flat in float shown;
flat in float snowy;

out vec4 colour;

#ifndef SAMPLES
#define SAMPLES 0  // for each pixel
#endif

const vec3 BARK = vec3(0.105, 0.083, 0.064);
const vec3 DEAD_WOOD = vec3(0.165, 0.150, 0.132);
const float LEAFY = 1.6, SHARPER = -1.5;  // tiles of noise on a tree; by mipmaps, in which leaves would be a blur
const float RIM = 0.9, RIM_OF_SPRAYS = 0.3;  // light that the rim of a crown lets through

void main() {
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 rounded = normalize(normal);
    vec3 side = abs(rounded);
    bool solid = in_spray == vec2(0.0);
    vec2 plane = !solid ? 0.30 * in_spray + inside.xy : side.y > max(side.x, side.z) ? inside.xz : (side.x > side.z ? inside.zy : inside.xy);
    vec4 grain = texture(detail, plane * LEAFY, SHARPER);
    float leafy = step(0.5, light_in.y), grassy = leafy * step(light_in.y, 0.9);
    float crowned = leafy - grassy;
    // The outline is of twigs, and of boughs that reach farther than others.
    float facing_eye = abs(dot(rounded, to_eye));
    float rim = facing_eye * 1.7 + (grain.x - 0.5) * 1.9 + (grain.w - 0.5) * 2.2 - 0.22;
    float cut = 0.86 - length(in_spray) - (grain.x - 0.5) * 2.4 - (grain.w - 0.5) * 0.8;
    float within = crowned > 0.5 ? (solid ? rim : cut) : 1.0;
    // Without leaves one sees through between the twigs.
    float from_twig = min(abs(grain.y - 0.5), abs(grain.w - 0.5));
    if (crowned * bare > 0.05) within = min(within, mix(0.105, 0.0, bare) - from_twig);
#if SAMPLES > 0
    // The part of the pixel that the leaves cover, or edges would be of steps. Between two levels a tree appears sample
    // by sample, without a screen of dots; neighbours begin with different samples.
    float part = shown * clamp(0.5 + within / max(fwidth(within), 1e-4), 0.0, 1.0);
    int covered = int(part * float(SAMPLES) + (shown < 1.0 ? dissolve_pattern() : 0.5));
    if (covered == 0) discard;
    int first = int(abs(inside.x) * 7.0) % SAMPLES;
    int mask = ((1 << covered) - 1) << first;
    gl_SampleMask[0] = (mask | mask >> SAMPLES) & ((1 << SAMPLES) - 1);
#else
    if (within < 0.0 || dissolve_pattern() >= shown) discard;
#endif
    vec3 bent = normalize(rounded + crowned * (1.3 * vec3(grain.y - 0.5, 0.6 * (grain.x - 0.5), grain.z - 0.5) + 0.9 * (grain.w - 0.5)));
    vec3 wood = mix(BARK, DEAD_WOOD, bare);
    vec3 own = mix(wood, mix(albedo, wood, 0.7 * bare), leafy) * (crowned > 0.5 ? 0.52 + 0.96 * grain.x : 0.62 + 0.76 * grain.x);
    own = mix(own, ON_BOUGHS, 0.75 * leafy * snowy * smoothstep(0.22, 0.68, bent.y + 1.2 * (grain.w - 0.5)));  // on what faces up
    float between = mix(0.38, 1.08, smoothstep(0.30, 0.62, grain.x + 0.6 * (grain.w - 0.5)));  // dark between the boughs
#if SHADOWS == 1
    float sun = sun_in.x * sun_past_trees(lit_place, sun_in.y);
#else
    float sun = sun_in.x * sun_in.y;
#endif
    vec3 radiance = light_on_leaves(own, bent, to_eye, sun * between, light_in.x * mix(between, 1.0, 0.3 * leafy), 1.0 - grassy);
    // Against the sun the thin leaves at the rim glow.
    float against = max(-dot(to_eye, frame.sun.xyz), 0.0), thin = 1.0 - facing_eye;
    radiance += crowned * (solid ? RIM : RIM_OF_SPRAYS) * against * thin * thin * sun * own * frame.sun_light.rgb * THROUGH_LEAVES;
    colour = vec4(radiance * air_kept + air_added, outline_key());
}
