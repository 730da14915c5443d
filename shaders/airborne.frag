// Sand in the air as its mean across the wind over some cells: that of each parcel of it is a line.
#include "frame.glsl"

uniform sampler2D airborne;  // metres over a cell

out float result;

const int ASIDE = 4;        // places to either side
const float APART = 1.3;    // cells from one to the next

void main() {
    vec2 aside = APART * vec2(-frame.wind.y, frame.wind.x);
    float sum = 0.0, weights = 0.0;
    for (int i = -ASIDE; i <= ASIDE; ++i) {
        float weight = float(1 + ASIDE - abs(i));
        sum += weight * textureLod(airborne, (gl_FragCoord.xy + float(i) * aside) / frame.map.xy, 0.0).x;
        weights += weight;
    }
    result = sum / weights;
}
