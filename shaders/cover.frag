// What covers the ground of each cell, so that places between cells can be a blend of how they look.
#include "kinds.glsl"

uniform sampler2D kinds;      // colours; how stony, sandy, clayey
uniform sampler2D wetness;
uniform sampler2D grass;
uniform sampler2D wind_path;  // how often the wind touches the ground
uniform bool with_materials;
uniform bool with_wetness;
uniform bool with_wind_path;

layout(location = 0) out vec4 loose_colour;  // its root; how stony
layout(location = 1) out vec4 cover;         // wetness, grass, rippled sand, clay

const float UNKNOWN_WETNESS = 0.15;
const float WINDY = 0.30;  // of the wind's paths: enough to keep sand rippled all over

// A layer that the world does not have is a single 0.
float layer(sampler2D layer, ivec2 cell) {
    return texelFetch(layer, min(cell, textureSize(layer, 0) - 1), 0).x;
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec3 albedo = vec3(0.0), feel = vec3(0.0);
    if (with_materials) {
        Kinds here = kinds_of(cell);
        albedo = mix(texelFetch(kinds, ivec2(here.first, 0), 0).rgb, texelFetch(kinds, ivec2(here.second, 0), 0).rgb, here.part);
        feel = mix(texelFetch(kinds, ivec2(here.first, 1), 0).xyz, texelFetch(kinds, ivec2(here.second, 1), 0).xyz, here.part);
    }
    float windy = with_wind_path ? smoothstep(0.0, WINDY, layer(wind_path, cell)) : 0.0;
    float wet = with_wetness ? layer(wetness, cell) : UNKNOWN_WETNESS;
    loose_colour = vec4(sqrt(albedo), feel.x);
    cover = vec4(wet, layer(grass, cell), feel.y * windy, feel.z);
}
