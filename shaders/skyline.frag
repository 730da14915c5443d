// The ground and the crowns on it, as water mirrors both, in metres: elevation, and how high crowns stand over it, less where
// they are few.
#include "map.glsl"

uniform sampler2D surface;
uniform sampler2D canopy;       // a single texel where nothing grows
uniform float tree_height;  // of a full-grown tree, metres

out vec2 result;

const float TALLER = 1.25;  // the tallest of a cell stand out over their mean
const float CLOSED = 8.0;  // how soon crowns hide what is behind, with their area

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 crowns = texelFetch(canopy, min(cell, textureSize(canopy, 0) - 1), 0);
    float area = crowns.x + crowns.y;
    float tall = TALLER * tree_height * crowns.z / max(area, 1e-4);
    result = vec2(texelFetch(surface, cell, 0).x, tall * (1.0 - exp(-CLOSED * area)) / frame.map.w);
}
