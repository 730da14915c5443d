// Colour of the sky and of the air, in linear light.
#include "frame.glsl"

// Whether there is the dust of a storm in the air. Where a program does not say, the frame tells; in software both ways
// are paid for then.
#ifndef STORM
#define STORM 2
#endif

uniform sampler2D sky;  // by the sine of half the angle to the sun on the compass, and the root of the height's sine

// The cosine of the angle between the places on the compass of a direction and of the sun.
float cosine_to_sun(vec3 direction) {
    return dot(direction.xz, frame.sunward.xy) * inversesqrt(max(dot(direction.xz, direction.xz), 1e-12));
}

// The colour of the horizon, and of the air before it, in a direction of length 1. Towards what lies below the eye, the
// sides of the compass come together.
vec3 horizon_colour(vec3 direction) {
    float toward = 0.5 + 0.5 * dot(direction.xz, frame.sunward.xy);
    float to2 = toward * toward, to4 = to2 * to2, to8 = to4 * to4, to16 = to8 * to8;
    return frame.horizon[0].rgb + frame.horizon[1].rgb * toward + frame.horizon[2].rgb * (to2 * to4) + frame.horizon[3].rgb * (to8 * to16);
}

// The clear sky in a direction; below the horizon, that.
vec3 clear_sky(vec3 direction) {
    vec2 place = sqrt(clamp(vec2(0.5 - 0.5 * cosine_to_sun(direction), direction.y), 0.0, 1.0));
    vec2 size = vec2(textureSize(sky, 0));
    return textureLod(sky, (place * (size - 1.0) + 0.5) / size, 0.0).rgb;
}

// Light that falls from the sky, and from the land around, on ground that faces `normal`.
vec3 sky_light(vec3 normal) {
    return frame.sky_light[0].rgb + frame.sky_light[1].rgb * normal.y + frame.sky_light[2].rgb * dot(normal.xz, frame.sunward.xy);
}

// The same of the sky alone, where `seen` of it is, and of the land that hides the rest, whose light is `bounced`.
vec3 light_around(vec3 normal, float seen, vec3 bounced) {
    float up = 0.5 + 0.5 * normal.y;
    vec3 sky = (frame.sky_light[0].rgb + frame.sky_light[1].rgb) * up + frame.sky_light[2].rgb * dot(normal.xz, frame.sunward.xy);
    return sky * seen + bounced * (1.0 - up * seen);
}

// About the sky in a direction, for shaders that can read no further texture, and where it is mirrored dimly.
vec3 plain_sky(vec3 direction) {
    return mix(horizon_colour(direction), frame.sky_light[3].rgb, min(1.19 * sqrt(max(direction.y, 0.0)), 1.0));
}

const vec3 DUST = vec3(0.78, 0.58, 0.37);
const vec3 DUST_EXTINCTION = vec3(0.82, 1.0, 1.30);

// Light that dust throws into an eye that looks in a direction: most of it goes on the way it came.
vec3 dust_light(vec3 direction) {
    float toward_sun = max(dot(direction, frame.sun.xyz), 0.0);
    vec3 sunlight = frame.sun_light.rgb * (0.14 + 0.10 * max(frame.sun.y, 0.0) + 0.30 * pow(toward_sun, 4.0));
    return DUST * (sunlight + 0.74 * sky_light(vec3(0.0, 1.0, 0.0)));
}

// Mean density along the path between two heights of air that thins exponentially over `scale`, 1 where it starts; `high`
// is that at the other one.
float mean_density(float one, float other, float scale, float high) {
    float low = exp(-max(one - frame.air.z, 0.0) / scale), rise = (other - one) / scale;
    return max(abs(rise) > 1e-3 ? (low - high) / rise : low, 0.0);
}

const float AIR_REACH = 4.0;  // longer sides of the map: of air that is seen at most

// What the air between `position` and the camera does: it keeps a part of the light and adds that of the sky behind.
void air_before(vec3 position, out vec3 kept, out vec3 added) {
    vec3 path = position - frame.camera.xyz;
    float distance = length(path);
    vec3 direction = path / max(distance, 1e-3);
    // Far out at sea it hardly thickens: all of the sea would be grey.
    float through_air = distance / (1.0 + distance / (AIR_REACH * frame.heights.w));
    float depth = frame.air.x * through_air * mean_density(position.y, frame.camera.y, frame.air.y, frame.fog.z);
    // Thin air is bluer than the horizon behind much of it. Powers of 0.5, 1 and 1.5 by a root, which costs less.
    float green = exp(-depth), root = sqrt(green);
    kept = vec3(root, green, green * root);
    added = horizon_colour(direction) * (1.0 - kept);
#if STORM > 0
#if STORM == 2
    if (frame.dust.x > 0.0)
#endif
    {
        float dusty = frame.dust.x * distance * mean_density(position.y, frame.camera.y, frame.dust.y, frame.fog.w);
        vec3 through = exp(-dusty * DUST_EXTINCTION);
        kept *= through;
        added = added * through + dust_light(direction) * (1.0 - through);
    }
#endif
}

// The sky behind the dust of a storm, which lies thick over the ground and reaches thinly up.
vec3 dusty_sky(vec3 direction, vec3 behind) {
    float up = max(direction.y, 0.0);
    float depth = frame.dust.x * frame.dust.y * frame.fog.w / (up + 0.02) + 0.55 * frame.dust.z / (up + 0.35);
    vec3 through = exp(-depth * DUST_EXTINCTION);
    return behind * through + dust_light(direction) * (1.0 - through);
}
