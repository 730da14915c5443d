// Colour of the sky and of the air, in linear light.
#include "frame.glsl"

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
    colour = mix(colour, vec3(1.26, 1.06, 0.82), low_sun * exp(-7.0 * up) * (0.10 + 0.55 * pow(toward_sun, 2.0)));
    colour += warm * (0.16 * pow(toward_sun, 8.0) + 0.6 * pow(toward_sun, 200.0));
    return colour;
}

// Light that falls from the sky on ground that faces `normal`.
vec3 sky_light(vec3 normal) {
    return mix(SKY_LIGHT_BELOW, SKY_LIGHT_ABOVE, normal.y * 0.5 + 0.5) * 0.74;
}

// What the air between `position` and the camera does: it keeps a part of the light and adds that of the sky behind.
void air_before(vec3 position, out vec3 kept, out vec3 added) {
    vec3 path = position - frame.camera.xyz;
    float distance = length(path);
    vec3 direction = path / max(distance, 1e-3);
    // Mean density along the path of air that thins exponentially with height.
    float scale = frame.air.y;
    float low = exp(-max(position.y - frame.air.z, 0.0) / scale);
    float high = exp(-max(frame.camera.y - frame.air.z, 0.0) / scale);
    float rise = (frame.camera.y - position.y) / scale;
    float density = abs(rise) > 1e-3 ? (low - high) / rise : low;
    float depth = frame.air.x * distance * max(density, 0.0);
    kept = exp(-depth * vec3(0.75, 1.0, 1.32));
    added = clear_sky(normalize(vec3(direction.x, max(direction.y, 0.02), direction.z))) * (1.0 - kept);
}
