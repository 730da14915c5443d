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
#ifndef DETAIL_SCALES
#define DETAIL_SCALES 1
#endif
#if DETAIL_SCALES > 1
in vec3 in_crown;
flat in vec3 through_crown;
#endif
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
const float LEAFY = 1.6, SHARPER = DETAIL_SCALES > 1 ? -0.8 : -1.5;  // tiles of noise on a tree; by mipmaps, in which leaves would be a blur
const float DENSE = 0.60;  // how much sunlight a crown takes on its way, for half its width
const float SUNNY = 1.3;  // light on its sunny side, with what leaves pass on to each other
const float EDGE_ON = 0.8;
const float ROUND = 0.6;   // how far leaves face away from the middle of the crown, and not of their bough
const vec2 UNDERSIDE = vec2(-1.1, 0.3);  // heights in a crown between which it sees more and more of the sky
const float LEAST_SKY = 0.6;             // of it, below
const float RIM = 0.9, RIM_OF_SPRAYS = 0.3;  // light that the rim of a crown lets through

void main() {
    vec3 to_eye = normalize(frame.camera.xyz - position);
    vec3 rounded = normalize(normal);
#if DETAIL_SCALES > 1
    vec3 side = abs(normalize(cross(dFdx(inside), dFdy(inside)) + vec3(0.0, 1e-12, 0.0)));  // of the triangle, or leaves would be drawn out
#else
    vec3 side = abs(rounded);
#endif
    bool solid = in_spray == vec2(0.0);
    vec2 plane = !solid ? 0.30 * in_spray + inside.xy : side.y > max(side.x, side.z) ? inside.xz : (side.x > side.z ? inside.zy : inside.xy);
#if DETAIL_SCALES > 1
    // Leaves are as fine as a pixel is in the mean: by its length, those on what is seen aslant would be hair.
    vec2 across = dFdx(plane), down = dFdy(plane);
    float texels = LEAFY * float(textureSize(detail, 0).x);
    vec4 grain = textureLod(detail, plane * LEAFY, max(0.5 * log2(max(abs(across.x * down.y - across.y * down.x), 1e-12)) + log2(texels) + SHARPER, 0.0));
#else
    vec4 grain = texture(detail, plane * LEAFY, SHARPER);
#endif
    float leafy = step(0.5, light_in.y), grassy = leafy * step(light_in.y, 0.9);
    float crowned = leafy - grassy;
    // The outline is of twigs, and of boughs that reach farther than others.
    float facing_eye = abs(dot(rounded, to_eye));
    float rim = facing_eye * 1.7 + (grain.x - 0.5) * 1.9 + (grain.w - 0.5) * 2.2 - 0.22;
    float cut = 0.86 - length(in_spray) - (grain.x - 0.5) * 2.4 - (grain.w - 0.5) * 0.8;
#if DETAIL_SCALES > 1
    float edge = dot(normalize(cross(dFdx(position), dFdy(position))), to_eye);
    cut -= EDGE_ON * (1.0 - smoothstep(0.10, 0.45, abs(edge)));  // no spray is seen from its edge
#endif
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
#if DETAIL_SCALES > 1
    // Light falls through the crown as a whole, from its sunny side to the other.
    float aside = dot(in_crown, through_crown), leaves_before = max(sqrt(max(aside * aside + 1.0 - dot(in_crown, in_crown), 0.0)) - aside, 0.0);
    float falls_through = mix(1.0, SUNNY * exp(-DENSE * leaves_before), crowned);
    rounded = normalize(mix(rounded, normalize(in_crown + vec3(0.0, 1e-3, 0.0)), ROUND * crowned));
#endif
    vec3 bent = normalize(rounded + crowned * (1.3 * vec3(grain.y - 0.5, 0.6 * (grain.x - 0.5), grain.z - 0.5) + 0.9 * (grain.w - 0.5)));
    vec3 wood = mix(BARK, DEAD_WOOD, bare);
    vec3 own = mix(wood, mix(albedo, wood, 0.7 * bare), leafy) * (crowned > 0.5 ? 0.52 + 0.96 * grain.x : 0.62 + 0.76 * grain.x);
    own = mix(own, ON_BOUGHS, 0.55 * leafy * snowy * smoothstep(0.22, 0.68, bent.y + 1.2 * (grain.w - 0.5)));  // on what faces up
    float between = mix(0.38, 1.08, smoothstep(0.30, 0.62, grain.x + 0.6 * (grain.w - 0.5)));  // dark between the boughs
#if SHADOWS == 1
    float sun = sun_in.x * sun_past_trees(lit_place, sun_in.y);
#else
    float sun = sun_in.x * sun_in.y;
#endif
    float open = light_in.x;
#if DETAIL_SCALES > 1
    sun *= falls_through;
    open *= mix(1.0, mix(LEAST_SKY, 1.0, smoothstep(UNDERSIDE.x, UNDERSIDE.y, in_crown.y)), crowned);
#endif
    vec3 radiance = light_on_leaves(own, bent, to_eye, sun * between, open * mix(between, 1.0, 0.3 * leafy), 1.0 - grassy);
    // Against the sun the thin leaves at the rim glow.
    float against = max(-dot(to_eye, frame.sun.xyz), 0.0), thin = 1.0 - facing_eye;
    radiance += crowned * (solid ? RIM : RIM_OF_SPRAYS) * against * thin * thin * sun * own * frame.sun_light.rgb * THROUGH_LEAVES;
    colour = vec4(radiance * air_kept + air_added, outline_key());
}
