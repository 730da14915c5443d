// How wet the ground was when it was looked at last: what water stood on, as wet as water leaves it.
#include "layer.glsl"

uniform sampler2D wetness;
uniform sampler2D water;  // depth in metres

out float result;

const float LEFT_BY_WATER = 0.6;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = layer(water, cell) > 0.0 ? LEFT_BY_WATER : layer(wetness, cell);
}
