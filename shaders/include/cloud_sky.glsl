// The clouds over the land, seen from below: with depth, or in one step as a sheet.
#include "clouds.glsl"
#include "sky.glsl"

#ifdef DEEP_CLOUDS
const int CLOUD_STEPS = 16;
#else
const int CLOUD_STEPS = 1;
#endif

const float CLOUD_DEPTH = 26.0;  // optical, for a field that is 1 more than where clouds begin, from their base to the tops

// Clouds with flat bases, whose tops are the higher the thicker they are; lit by the sun through the clouds before it. Over
// an angle of `blur` only their mean is seen.
vec3 with_clouds(vec3 from, vec3 direction, float blur, vec3 behind) {
    float up = max(direction.y, 0.004), thickness = frame.clouds.y - frame.clouds.x;
    float base = max(frame.clouds.x - from.y, 0.12 * frame.heights.w);  // one looks at them from below
    // As coarse as that or a pixel is there, and as the way from step to step.
    float pixel = max(length(fwidth(direction)), blur) * base / (up * up), stride = 1.75 * thickness / (up * float(CLOUD_STEPS));
    float level_of_detail = max(log2(max(pixel, CLOUD_STEPS > 1 ? stride : 0.0) * frame.clouds.z * 512.0), 0.0);
    vec2 to_sun = frame.sun.xz / max(frame.sun.y, 0.25) * 0.35 * thickness;
    float toward = max(dot(direction, frame.sun.xyz), 0.0), forward = toward * toward;
    forward *= forward;
    vec3 sunlit = frame.sun_light.rgb * (0.36 + 0.3 * forward * forward), shaded = sky_light(vec3(0.0, 0.4, 0.0));
    vec3 light = vec3(0.0);
    float left = 1.0;
    for (int i = 0; i < CLOUD_STEPS; ++i) {
        float part = (float(i) + 0.5) / float(CLOUD_STEPS);
        vec2 at = from.xz + direction.xz * ((base + part * thickness) / up);
#ifdef DEEP_CLOUDS
        float least = frame.clouds.w + 0.22 * part * part;
        float dense = max(cloud_field(at, level_of_detail, least) - least, 0.0) * smoothstep(0.0, 0.12, part);
        if (dense == 0.0) continue;
        float towards_sun = cloud_field(at + to_sun, level_of_detail + 1.0, frame.clouds.w);
        float sunward = max(towards_sun - frame.clouds.w, 0.0) * (1.2 - part);
#else
        float thick = max(cloud_field(at, level_of_detail, frame.clouds.w) - frame.clouds.w, 0.0);
        float dense = 0.22 * thick, sunward = 0.7 * thick;
#endif
        float opacity = 1.0 - exp(-CLOUD_DEPTH * dense / (float(CLOUD_STEPS) * min(up + 0.25, 1.0)));
        light += left * opacity * (sunlit * (0.12 + 0.88 * exp(-7.0 * sunward)) + shaded * (0.55 + 0.45 * part));
        left *= 1.0 - opacity;
        if (left < 0.004) break;  // what is behind is seen by less than a step of a screen's
    }
    // Far away they pass into the haze of the horizon.
    float far = exp(-0.10 * base / (up * frame.heights.w)) * smoothstep(0.004, 0.06, up);
    return mix(behind, light + behind * left, far);
}
