// The ground with the crowns of its trees, as water mirrors both: the elevation of their tops, in metres.
#include "map.glsl"

uniform sampler2D surface;
uniform sampler2D canopy;
uniform float tree_height;  // of a full-grown tree, metres

out float result;

const float CLOSED = 2.0;  // how soon crowns hide what is behind, with their area

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 crowns = texelFetch(canopy, cell, 0);
    float area = crowns.x + crowns.y;
    float tall = tree_height * crowns.z / max(area, 1e-4);
    result = texelFetch(surface, cell, 0).x + tall * (1.0 - exp(-CLOSED * area)) / frame.map.w;
}
