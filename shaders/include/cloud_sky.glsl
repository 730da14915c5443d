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
const float ERODED = 0.13;       // of the field, that is taken from their edges where their finest waves are lowest
// Where they are blurred, for each radian: of the field, the half width of the rims of a sheet, and by how much less dense
// it is.
const float SOFTENS = 1.8, THINS = 14.0;
const float TAPERS = 0.26;       // by how much less field there is at the tops
const float LIT_BASE = 0.2, SHADED_BASE = 0.42;  // light of sun and sky at flat bases, of that at tops

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
    for (int i = 0; i < CLOUD_STEPS; ++i) {
        float part = (float(i) + jitter) / float(CLOUD_STEPS);
        vec2 at = from.xz + direction.xz * ((base + part * thickness) / over);
#if CLOUD_STEPS > 1
        float least = begin - 0.3 * ERODED + TAPERS * part * part;
        // Waves that shift with height, as much as they are long, make heaps and not columns; the finest fray their edges.
        vec2 fine = at * frame.clouds.z - frame.cloud_drift.xy;
        float thick = 0.75 * textureLod(detail, fine, level_of_detail).w - least;
        if (thick + 0.25 <= 0.0) continue;
        fine += part * vec2(0.030, -0.021);
        thick += 0.25 * textureLod(detail, 3.7 * fine + 0.31, level_of_detail + 1.9).x;
        if (thick <= 0.0) continue;
        // Folded, they are puffs with creases between them.
        float frays = 0.65 * abs(2.0 * textureLod(detail, 9.0 * fine, level_of_detail + 3.2).w - 1.0)
                    + 0.35 * textureLod(detail, 37.0 * fine.yx, level_of_detail + 5.2).w;
        frays = min(1.8 * frays, 1.0);
        float dense = max(thick - ERODED * (1.0 - frays) * 1.9 * (0.4 + 0.6 * part), 0.0) * smoothstep(0.0, 0.10, part);
        if (dense == 0.0) continue;
        float towards_sun = cloud_field(at + to_sun, level_of_detail + 1.0, begin);
        float sunward = max(towards_sun - begin, 0.0) * (1.2 - part);
#else
        float soft = RIM + SOFTENS * blur, inside = cloud_field(at, level_of_detail, begin - soft) - begin;
        float rim = max(inside + soft, 0.0);
        float thick = inside < soft ? rim * rim / max(4.0 * soft, 1e-4) : inside;
        float dense = 0.22 * thick / (1.0 + THINS * blur), sunward = 1.1 * thick / (1.0 + THINS * blur);
#endif
        float opacity = 1.0 - exp(-CLOUD_DEPTH * dense / (float(CLOUD_STEPS) * min(up + 0.25, 1.0)));
        light += left * opacity * (sunlit * exp(-7.0 * sunward) * mix(LIT_BASE, 1.0, min(2.5 * part, 1.0)) + shaded * mix(SHADED_BASE, 1.0, part));
        left *= 1.0 - opacity;
        if (left < 0.004) break;  // what is behind is seen by less than a step of a screen's
    }
    // Far away they pass into the haze of the horizon.
    float far = exp(-0.10 * base / (up * frame.heights.w)) * smoothstep(0.004, 0.06, up);
    return vec4(light * far, 1.0 - far * (1.0 - left));
}

vec3 with_clouds(vec3 from, vec3 direction, float blur, vec3 behind) {
    vec4 clouds = clouds_before(from, direction, blur, 0.5);
    return clouds.rgb + behind * clouds.a;
}
