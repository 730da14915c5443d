// Colour of the sky and of the air, in linear light.
#include "frame.glsl"

// Whether there is the dust of a storm in the air. Where a program does not say, the frame tells; in software both ways
// are paid for then.
#ifndef STORM
#define STORM 2
#endif

const vec3 ZENITH = vec3(0.13, 0.31, 0.72);
const vec3 HORIZON = vec3(0.60, 0.75, 0.96);
const vec3 SKY_LIGHT_ABOVE = vec3(0.44, 0.54, 0.72);
const vec3 SKY_LIGHT_BELOW = vec3(0.30, 0.27, 0.22);

// The clear sky in a direction: paler and warmer near the horizon, with a glow around the sun.
vec3 clear_sky(vec3 direction) {
    float up = clamp(direction.y, 0.0, 1.0);
    vec3 colour = mix(HORIZON, ZENITH, 1.0 - exp(-8.0 * up));
    float toward_sun = max(dot(direction, frame.sun.xyz), 0.0);
    float low_sun = 1.0 - smoothstep(0.1, 0.7, frame.sun.y);
    vec3 warm = frame.sun_light.rgb / max(frame.sun_light.r, 1e-3);
    // A low sun warms the air near the horizon, most on its own side.
    // Powers by squares, as they cost less than by logarithms.
    float to2 = toward_sun * toward_sun, to4 = to2 * to2, to8 = to4 * to4, to16 = to8 * to8, to64 = to16 * to16 * to16 * to16;
    colour = mix(colour, vec3(1.26, 1.06, 0.82), low_sun * exp(-7.0 * up) * (0.10 + 0.55 * to2));
    colour += warm * (0.16 * to8 + 0.6 * to64 * to64 * to64 * to8);
    return colour;
}

// Light that falls from the sky on ground that faces `normal`.
vec3 sky_light(vec3 normal) {
    return mix(SKY_LIGHT_BELOW, SKY_LIGHT_ABOVE, normal.y * 0.5 + 0.5) * 0.74;
}

const vec3 DUST = vec3(0.78, 0.58, 0.37);
const vec3 DUST_EXTINCTION = vec3(0.82, 1.0, 1.30);

// Light that dust throws into an eye that looks in a direction: most of it goes on the way it came.
vec3 dust_light(vec3 direction) {
    float toward_sun = max(dot(direction, frame.sun.xyz), 0.0);
    vec3 sunlight = frame.sun_light.rgb * (0.14 + 0.10 * max(frame.sun.y, 0.0) + 0.30 * pow(toward_sun, 4.0));
    return DUST * (sunlight + 0.55 * SKY_LIGHT_ABOVE);
}

// Mean density along the path between two heights of air that thins exponentially over `scale`, 1 where it starts.
float mean_density(float one, float other, float scale) {
    float low = exp(-max(one - frame.air.z, 0.0) / scale), high = exp(-max(other - frame.air.z, 0.0) / scale);
    float rise = (other - one) / scale;
    return max(abs(rise) > 1e-3 ? (low - high) / rise : low, 0.0);
}

// What the air between `position` and the camera does: it keeps a part of the light and adds that of the sky behind.
void air_before(vec3 position, out vec3 kept, out vec3 added) {
    vec3 path = position - frame.camera.xyz;
    float distance = length(path);
    vec3 direction = path / max(distance, 1e-3);
    float depth = frame.air.x * distance * mean_density(position.y, frame.camera.y, frame.air.y);
    kept = exp(-depth * vec3(0.75, 1.0, 1.32));
    added = clear_sky(normalize(vec3(direction.x, max(direction.y, 0.02), direction.z))) * (1.0 - kept);
#if STORM > 0
#if STORM == 2
    if (frame.dust.x > 0.0)
#endif
    {
        float dusty = frame.dust.x * distance * mean_density(position.y, frame.camera.y, frame.dust.y);
        vec3 through = exp(-dusty * DUST_EXTINCTION);
        kept *= through;
        added = added * through + dust_light(direction) * (1.0 - through);
    }
#endif
}

// The sky behind the dust of a storm, which lies thick over the ground and reaches thinly up.
vec3 dusty_sky(vec3 direction, vec3 sky) {
    float above = exp(-max(frame.camera.y - frame.air.z, 0.0) / frame.dust.y);
    float up = max(direction.y, 0.0);
    float depth = frame.dust.x * frame.dust.y * above / (up + 0.02) + 0.55 * frame.dust.z / (up + 0.35);
    vec3 through = exp(-depth * DUST_EXTINCTION);
    return sky * through + dust_light(direction) * (1.0 - through);
}
