// At the lowest levels the light alone tells where woods of the climate stand.
#include "frame.glsl"

const vec3 WOODED_GROUND = vec3(0.040, 0.060, 0.026);  // with trees that are not drawn
const float WOODED_MOST = 0.92;
const float WOODED_FROM = 9.0, SIDE_OF_CROWNS = 1.4;  // by how many layers of crowns; see slanted_crowns

// How far ground is that of woods, of whose crowns so much of the sun's light comes past.
float wooded_by(float past_crowns) {
    // Low light is lost in far fewer crowns.
    return 1.0 - pow(past_crowns, WOODED_FROM * frame.sun.w / length(vec2(frame.sun.w, SIDE_OF_CROWNS)));
}
