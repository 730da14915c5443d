// The air around the globe, as layers that scatter and absorb (Hillaire 2020). Lengths in kilometres; the numbers are
// those of app/picture/passes/atmosphere.py.
uniform vec2 radii;              // of the ground and of the air's top
uniform vec2 scale_heights;      // over which air and haze thin
uniform vec3 rayleigh_scattering;
uniform vec3 haze_scattering;
uniform vec3 haze_extinction;
uniform vec3 ozone_absorption;
uniform vec2 ozone_layer;        // its middle and half of its thickness
uniform float ground_albedo;

const float PI = 3.14159265;

struct Air {
    vec3 rayleigh;    // scattered for each kilometre by air, and by haze
    vec3 haze;
    vec3 extinction;  // lost of the light on its way
};

Air air_at(float height) {
    vec2 density = exp(-max(height, 0.0) / scale_heights);
    float ozone = max(1.0 - abs(height - ozone_layer.x) / ozone_layer.y, 0.0);
    Air air;
    air.rayleigh = rayleigh_scattering * density.x;
    air.haze = haze_scattering * density.y;
    air.extinction = air.rayleigh + haze_extinction * density.y + ozone_absorption * ozone;
    return air;
}

// From a radius and the cosine of the angle to the zenith: how far it is to the top of the air.
float to_top(float radius, float up) {
    return -radius * up + sqrt(max(radius * radius * (up * up - 1.0) + radii.y * radii.y, 0.0));
}

// Whether the ray meets the ground, and how far it goes until there or to the top.
bool meets_ground(float radius, float up, out float reach) {
    float within = radius * radius * (up * up - 1.0) + radii.x * radii.x;
    bool meets = up < 0.0 && within > 0.0;
    reach = meets ? max(-radius * up - sqrt(within), 0.0) : to_top(radius, up);
    return meets;
}

// Where a step of a ray ends, as a part of all: steps are short near its start, where most air is.
float step_end(int i, int steps) {
    float part = (float(i) + 1.0) / float(steps);
    return part * part;
}

// Places in tables by the height and the cosine of an angle to the zenith, finer near the ground and the horizon.
vec2 transmittance_uv(sampler2D table, float height, float up) {
    vec2 place = vec2(0.5 + 0.5 * sign(up) * sqrt(abs(up)), sqrt(clamp(height / (radii.y - radii.x), 0.0, 1.0)));
    return (place * vec2(textureSize(table, 0) - 1) + 0.5) / vec2(textureSize(table, 0));
}

vec2 scattering_uv(sampler2D table, float height, float sun_up) {
    vec2 place = vec2(0.5 + 0.5 * sun_up, sqrt(clamp(height / (radii.y - radii.x), 0.0, 1.0)));
    return (place * vec2(textureSize(table, 0) - 1) + 0.5) / vec2(textureSize(table, 0));
}
