// The clouds over the land, seen from below: with depth, or in one step as a sheet.
#include "clouds.glsl"
#include "sky.glsl"

#ifndef CLOUD_STEPS
#define CLOUD_STEPS 1  // through their depth; 1: as a sheet
#endif

#ifndef CLOUDS
#define CLOUDS 2  // 1: of levels that have no clouds with depth
#endif

// Optical, for a field that is 1 more than where clouds begin, from their base to the tops. Where pixels are enlarged,
// edges are soft: sharp ones would be stairs.
#if CLOUDS == 1
const float CLOUD_DEPTH = 12.0;
const float CLOUDS_LIT = 0.36;
const float RIM = 0.09;   // of the field: half the width of their edges
const float DOME = 0.16;  // a sheet bends down by this far away: heaps without depth on a plane would be lozenges there
#else
const float RIM = 0.0;
const float CLOUDS_LIT = CLOUD_STEPS > 1 ? 0.95 : 0.5;
const float CLOUD_DEPTH = CLOUD_STEPS > 1 ? 85.0 : 44.0;  // mirrored as a sheet
#endif
// Where they are blurred, for each radian: of the field, the half width of the rims of a sheet, and by how much less dense
// it is.
const float SOFTENS = 1.8, THINS = 14.0;
const float TAPERS = 0.26;  // by how much less field there is at the tops
#if CLOUD_STEPS > 1
#include "mean_land.glsl"
// Of a cloud's depth: a step where there is none, and within one, which is left after so many steps beside it.
const float STRIDE = 1.0 / 13.0, STEP = 1.0 / 28.0;
const int MISSES = 2;
const float SMOOTHEST = 3.2;  // level of detail of the waves of clouds: puffs are finer
// Puffs, of which each scale leans to both sides: that makes heaps of waves on a plane, and not columns. Tiles of the
// noise of clouds.
const float HEAPS = 2.9, PUFFS = 5.3, CURLS = 13.0, LEANS = 1.5;
const float FRINGE = 0.05;  // of the field: beyond clouds, where they have no puffs of their own
const vec2 SWELLS = vec2(0.17, 0.085);  // of the field: by how much puffs, and curls on them, stand out
const float FLAT_UP_TO = 0.25;  // of a cloud's depth: bases have no puffs
const mat2 TURNED = mat2(0.83, 0.56, -0.56, 0.83), AGAINST = mat2(-0.41, 0.91, -0.91, -0.41);
// Light is followed towards the sun by that much of a cloud's depth; for each unit of the field there, how much of light
// that goes straight on is lost, and of what was scattered often; how much of the light that is.
const float SUNWARD = 0.22;
const vec2 TOWARDS_SUN = vec2(30.0, 4.0), SCATTERED = vec2(0.6, 0.4);
const float DEEP = 2.3;        // by how much less light comes to the bottom than to the top of the thickest
const float WHITENED = 0.55;   // how far light that is scattered so often is white
const float BASES_SEE = 0.75;  // of the light of the sky, of that at tops
const float TORN = 2.5;  // by how much of their depth a storm blows tops ahead of bases
const float FLAT = 0.03;  // of the field: what is no thicker has no depth
const float DENSE = 3.0, DENSEST = 0.2;  // for a field that is so much more than where a cloud begins; at most
const float RAGGED = 0.06;  // of the field, over which edges are wisps
const float CLOUD_ALBEDO = 0.15, SILVER = 0.5;
#else
const float SHADED = 0.71;  // light of the sky in them, of that at tops
#endif

#if CLOUD_STEPS > 1
// How much thicker clouds are than where they begin at a part of their depth: heaps, which are narrower higher up. Where
// there is none, whatever their finer waves are, these are not read.
float heap_at(vec2 of_tile, vec2 lean, float part, float begin, float level_of_detail) {
    float thick = 0.8 * textureLod(detail, of_tile, max(level_of_detail, SMOOTHEST)).w - begin - FLAT - TAPERS * part * part;
    if (thick + 0.2 <= -FRINGE) return thick;
    return thick + 0.2 * textureLod(detail, HEAPS * (TURNED * of_tile + lean) + 0.31, max(level_of_detail + 1.9, SMOOTHEST)).w;
}

// By how much puffs on them stand out, around 0: folded waves are round, with creases between.
float puffs_at(vec2 of_tile, vec2 lean, float level_of_detail) {
    vec2 waves = vec2(textureLod(detail, PUFFS * (TURNED * of_tile + lean), level_of_detail + 2.3).w,
                      textureLod(detail, PUFFS * (AGAINST * of_tile + lean), level_of_detail + 2.3).w);
    vec2 folded = abs(2.0 * waves - 1.0);
    return min(folded.x + folded.y, 1.5) - 0.6;
}

// The same of curls on puffs.
float curls_at(vec2 of_tile, vec2 lean, float level_of_detail) {
    return min(abs(4.0 * textureLod(detail, CURLS * (TURNED * of_tile + lean.yx), level_of_detail + 3.7).w - 2.0), 1.5) - 0.6;
}
#endif

// Clouds with flat bases, whose tops are the higher the thicker they are, and whose edges are ragged; lit by the sun through
// the clouds before it. Over an angle of `blur` only their mean is seen. Gives what they add, and what they keep of what is
// behind; `jitter`, from 0 to 1, is where in its step a ray looks.
vec4 clouds_before(vec3 from, vec3 direction, float blur, float jitter) {
    float up = max(direction.y, 0.004), thickness = frame.clouds.y - frame.clouds.x;
    float base = max(frame.clouds.x - from.y, 0.12 * frame.heights.w);  // one looks at them from below
#if CLOUDS == 1
    float over = up + DOME;
#else
    float over = up;
#endif
    // Directions that waves mirror jump from pixel to pixel: only how rough these are tells what they see.
    float pixel = (blur > 0.0 ? blur : length(fwidth(direction))) * base / over;
    // As far as a pixel is wide: across, and along what it sees of them, where it looks at them from the side.
#if CLOUDS == 1
    float along = pixel / over;
#else
    float along = 0.5 * pixel * inversesqrt(up);
#endif
    float level_of_detail = max(log2(along * frame.clouds.z * 512.0), 0.0);
    if (direction.y <= 0.006) return vec4(0.0, 0.0, 0.0, 1.0);
    vec2 to_sun = frame.sun.xz / max(frame.sun.y, 0.25) * 0.35 * thickness;
    float toward = max(dot(direction, frame.sun.xyz), 0.0), forward = toward * toward;
    forward *= forward;
    vec3 sunlight = frame.sun_light.rgb;
#if CLOUD_STEPS > 1
    sunlight = mix(sunlight, vec3(dot(sunlight, vec3(0.3, 0.6, 0.1))), WHITENED);
#endif
    vec3 sunlit = sunlight * (CLOUDS_LIT + 0.3 * forward * forward), shaded = sky_light(vec3(0.0, 0.4, 0.0));
    vec3 light = vec3(0.0);
    float left = 1.0;
    float begin = clouds_begin(from.xz + direction.xz * ((base + 0.4 * thickness) / over));
#if CLOUD_STEPS > 1
    vec3 from_ground = CLOUD_ALBEDO * mean_land();
    float tiles = thickness * frame.clouds.z, along_ray = CLOUD_DEPTH / min(up + 0.25, 1.0);
    vec2 torn = TORN * frame.dust.z * thickness * frame.wind.xy;
    vec2 sunwards = SUNWARD * frame.clouds.z * to_sun;
    float part = jitter * STRIDE, stride = STRIDE;
    int misses = 0;
    for (int i = 0; i < CLOUD_STEPS && part < 1.0; ++i) {
        vec2 at = from.xz + direction.xz * ((base + part * thickness) / over) - torn * part;
        vec2 of_tile = at * frame.clouds.z - frame.cloud_drift.xy, lean = vec2(LEANS * part * tiles, 0.0);
        float thick = heap_at(of_tile, lean, part, begin, level_of_detail);
        bool within = thick > -FRINGE;
        if (within && stride == STRIDE) {
            // It has begun on the way here.
            part = max(part - STRIDE + STEP, jitter * STEP);
            stride = STEP;
            misses = 0;
            continue;
        }
        misses = within ? 0 : misses + 1;
        if (misses > MISSES) stride = STRIDE;
        float dense = 0.0, lies_deep = 0.0;
        if (within) {
            lies_deep = max(sqrt(max(thick, 0.0) / TAPERS + part * part) - part, 0.0);
            thick += dot(vec2(puffs_at(of_tile, lean, level_of_detail), curls_at(of_tile, lean, level_of_detail)), SWELLS) * smoothstep(0.0, FLAT_UP_TO, part) * smoothstep(-0.4 * FRINGE, 2.0 * FRINGE, thick);
            dense = thick > 0.0 ? DENSE * thick * min(thick / RAGGED, 1.0) * smoothstep(0.0, 0.05, part) : 0.0;
            dense = min(dense, DENSEST);
        }
        if (dense > 0.0) {
            vec2 leans_there = lean + vec2(LEANS * SUNWARD * tiles, 0.0);
            float nearer = max(heap_at(of_tile + sunwards, leans_there, part + SUNWARD, begin, level_of_detail + 0.5)
                + SWELLS.x * puffs_at(of_tile + sunwards, leans_there, level_of_detail + 0.5), 0.0);
            vec2 past = SCATTERED * exp(-nearer * TOWARDS_SUN - DEEP * lies_deep);
            vec3 lit = sunlit * (past.x + past.y + SILVER * forward * past.x) + shaded * mix(1.0, BASES_SEE, min(lies_deep, 1.0)) + from_ground * (1.0 - part);
            float opacity = 1.0 - exp(-along_ray * stride * dense);
            light += left * opacity * lit;
            left *= 1.0 - opacity;
            if (left < 0.02) break;  // what is behind is seen by less than a step of a screen's
        }
        part += stride;
    }
#else
    vec2 at = from.xz + direction.xz * ((base + 0.5 * thickness) / over);
    float soft = RIM + SOFTENS * blur, inside = cloud_field(at, level_of_detail, begin - soft) - begin;
    float rim = max(inside + soft, 0.0);
    float thick = inside < soft ? rim * rim / max(4.0 * soft, 1e-4) : inside;
    float dense = 0.22 * thick / (1.0 + THINS * blur), sunward = 1.1 * thick / (1.0 + THINS * blur);
    left = exp(-CLOUD_DEPTH * dense / min(up + 0.25, 1.0));
    light = (1.0 - left) * (sunlit * exp(-7.0 * sunward) + SHADED * shaded);
#endif
    // Far away they pass into the haze of the horizon.
    float far = exp(-0.08 * base / (up * frame.heights.w)) * smoothstep(0.006, 0.045, up);
    return vec4(light * far, 1.0 - far * (1.0 - left));
}

vec3 with_clouds(vec3 from, vec3 direction, float blur, vec3 behind) {
    vec4 clouds = clouds_before(from, direction, blur, 0.5);
    return clouds.rgb + behind * clouds.a;
}
