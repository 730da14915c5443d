// What covers the ground of each cell, so that places between cells can be a blend of how they look.
#include "kinds.glsl"
#include "layer.glsl"

uniform sampler2D kinds;      // colours; how coarse their grain is
uniform sampler2D wetness;
uniform sampler2D water;      // depth in metres
uniform sampler2D measured;   // wetness where none stands, as it was found last, and before: measured_wetness.frag
uniform sampler2D measured_before;
uniform float since;          // the part of the time until it is found anew that has passed; below 0: none is known
uniform sampler2D grass;
uniform sampler2D wind_path;  // how often the wind touches the ground
uniform float told_of;        // part of its mean that is of the cycles there have been, and not of the time before
uniform bool with_materials;
// Where moisture is not simulated grass alone tells of it: the wetness that it needs to grow at all, and how much more
// to grow fully. 0 where moisture is simulated.
uniform vec2 told_by_grass;

layout(location = 0) out vec4 loose_colour;  // its root; how coarse the grain is
layout(location = 1) out vec4 cover;         // wetness, grass, how much wind touches it, from 0 to 1 how broad the wet ground is

const float WINDY = 0.30;  // of the wind's paths: enough to keep sand rippled all over
const float SOAKED = 0.6;  // wetness from where on it is looked at what is around
const int AROUND = 2;      // cells
const vec2 BROAD = vec2(0.30, 0.60);  // the least wetness there

// Not every cycle finds it anew. Between, it goes from what it was to what it is, or all shores would jump at once.
float wetness_at(ivec2 cell) {
    if (since < 0.0 || layer(water, cell) > 0.0) return layer(wetness, cell);
    return mix(layer(measured_before, cell), layer(measured, cell), since);
}

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 loose = vec4(0.0);
    if (with_materials) {
        Kinds here = kinds_of(cell);
        loose = mix(texelFetch(kinds, ivec2(here.first, 0), 0), texelFetch(kinds, ivec2(here.second, 0), 0), here.part);
    }
    // A land begins with sand that wind has rippled.
    float windy = smoothstep(0.0, WINDY, layer(wind_path, cell) + WINDY * (1.0 - told_of));
    loose_colour = vec4(sqrt(loose.rgb), loose.a);
    float wet = wetness_at(cell), least = wet;
    if (wet > SOAKED) {
        for (int side = -AROUND; side <= AROUND; side += 2 * AROUND) {
            least = min(least, wetness_at(cell + ivec2(side, 0)));
            least = min(least, wetness_at(cell + ivec2(0, side)));
        }
    }
    float grown = layer(grass, cell);
    if (grown > 0.0) wet = max(wet, told_by_grass.x + told_by_grass.y * min(grown, 1.0));
    cover = vec4(wet, grown, windy, smoothstep(BROAD.x, BROAD.y, least));
}
