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
const float CLOUD_DEPTH = 15.0;
const float RIM = 0.07;   // of the field: half the width of their edges
const float DOME = 0.16;  // a sheet bends down by this far away: heaps without depth on a plane would be lozenges there
#else
const float RIM = 0.0;
const float CLOUD_DEPTH = CLOUD_STEPS > 1 ? 85.0 : 44.0;  // mirrored as a sheet
#endif
// Of the field, that is taken from their edges where their finest waves are lowest; and of it, at their flat bases.
const float ERODED = 0.14, ERODED_AT_BASE = 0.25;
// Where they are blurred, for each radian: of the field, the half width of the rims of a sheet, and by how much less dense
// it is.
const float SOFTENS = 1.8, THINS = 14.0;
const float TAPERS = 0.26;       // by how much less field there is at the tops
#if CLOUD_STEPS > 1
#include "mean_land.glsl"
// Of a cloud's depth: a step where there is none, and within one, which is left after so many steps beside it.
const float STRIDE = 1.0 / 13.0, STEP = 1.0 / 40.0;
const int MISSES = 4;
const float SMOOTHEST = 2.0;  // level of detail of the waves of clouds: puffs are finer
// Puffs, of which each scale leans to both sides: that makes heaps of waves on a plane, and not columns. Tiles of the
// noise of clouds; and how much of the smaller ones there is.
const float HEAPS = 2.9, PUFFS = 5.3, CURLS = 19.0, CURLED = 0.20, LEANS = 1.5;
const mat2 TURNED = mat2(0.83, 0.56, -0.56, 0.83), AGAINST = mat2(-0.41, 0.91, -0.91, -0.41);
// Optical depths of a whole cloud towards the sun, for light that goes straight on and for what was scattered often; how
// much of the light that is; and how much darker creases are.
const vec2 TOWARDS_SUN = vec2(5.5, 0.5), SCATTERED = vec2(0.55, 0.45);
const float CREASED = 0.45;
const float FLAT = 0.03;  // of the field: what is no thicker has no depth
const float DENSE = 4.0, DENSEST = 0.2;  // for a field that is so much more than where a cloud begins; at most
const float CLOUD_ALBEDO = 0.3, SILVER = 1.1;
#else
const float SHADED = 0.71;  // light of the sky in them, of that at tops
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
    if (direction.y <= 0.0) return vec4(0.0, 0.0, 0.0, 1.0);
    vec2 to_sun = frame.sun.xz / max(frame.sun.y, 0.25) * 0.35 * thickness;
    float toward = max(dot(direction, frame.sun.xyz), 0.0), forward = toward * toward;
    forward *= forward;
    vec3 sunlit = frame.sun_light.rgb * (0.36 + 0.3 * forward * forward), shaded = sky_light(vec3(0.0, 0.4, 0.0));
    vec3 light = vec3(0.0);
    float left = 1.0;
    float begin = clouds_begin(from.xz + direction.xz * ((base + 0.4 * thickness) / over));
#if CLOUD_STEPS > 1
    vec3 from_ground = CLOUD_ALBEDO * mean_land();
    float tiles = thickness * frame.clouds.z, along_ray = CLOUD_DEPTH / min(up + 0.25, 1.0);
    float part = jitter * STRIDE, stride = STRIDE;
    int misses = 0;
    for (int i = 0; i < CLOUD_STEPS && part < 1.0; ++i) {
        vec2 at = from.xz + direction.xz * ((base + part * thickness) / over), of_tile = at * frame.clouds.z - frame.cloud_drift.xy;
        vec2 one = TURNED * of_tile, other = AGAINST * of_tile, lean = vec2(LEANS * part * tiles, 0.0);
        float least = begin + FLAT + TAPERS * part * part;
        float thick = 0.75 * textureLod(detail, of_tile, max(level_of_detail, SMOOTHEST)).w - least;
        if (thick + 0.25 > 0.0) thick += 0.25 * textureLod(detail, HEAPS * (one + lean) + 0.31, max(level_of_detail + 1.9, SMOOTHEST)).w;
        bool within = thick > 0.0;
        if (within && stride == STRIDE) {
            // It has begun on the way here.
            part = max(part - STRIDE + STEP, jitter * STEP);
            stride = STEP;
            misses = 0;
            continue;
        }
        misses = within ? 0 : misses + 1;
        if (misses > MISSES) stride = STRIDE;
        float dense = 0.0, puffs = 1.0;
        if (within) {
            // Folded, they are puffs with creases between them.
            vec2 folded = abs(2.0 * vec2(textureLod(detail, PUFFS * (one + lean), level_of_detail + 2.3).w,
                                         textureLod(detail, PUFFS * (other + lean), level_of_detail + 2.3).w) - 1.0);
            float curled = abs(4.0 * textureLod(detail, CURLS * (one - lean.yx), level_of_detail + 4.2).w - 2.0);
            puffs = min(1.6 * mix(folded.x + folded.y, curled, CURLED), 1.0);
            dense = DENSE * max(thick - ERODED * (1.0 - puffs) * mix(ERODED_AT_BASE, 1.0, min(3.0 * part, 1.0)), 0.0) * smoothstep(0.0, 0.05, part);
            dense = min(dense, DENSEST);
        }
        if (dense > 0.0) {
            // As high over this place as the cloud before the sun goes, it is in its shade.
            float above = sqrt(max(cloud_field(at + to_sun, level_of_detail + 1.0, begin) - begin, 0.0) / TAPERS);
            float deep = max(min(above, 1.3) - part, 0.0) + CREASED * (1.0 - puffs) * (1.0 - puffs);
            vec2 past = SCATTERED * exp(-deep * TOWARDS_SUN);
            vec3 lit = sunlit * (past.x + past.y + SILVER * forward * past.x) + shaded * mix(0.5, 1.0, part) + from_ground * (1.0 - part);
            float opacity = 1.0 - exp(-along_ray * stride * dense);
            light += left * opacity * lit;
            left *= 1.0 - opacity;
            if (left < 0.004) break;  // what is behind is seen by less than a step of a screen's
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
    float far = exp(-0.10 * base / (up * frame.heights.w)) * smoothstep(0.004, 0.06, up);
    return vec4(light * far, 1.0 - far * (1.0 - left));
}

vec3 with_clouds(vec3 from, vec3 direction, float blur, vec3 behind) {
    vec4 clouds = clouds_before(from, direction, blur, 0.5);
    return clouds.rgb + behind * clouds.a;
}
