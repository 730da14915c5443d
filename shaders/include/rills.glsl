// Rills and flow lines finer than the relief that is drawn as a map: further octaves of its ribs, near the camera.
#include "soft_rock.glsl"

const int RILL_OCTAVES = 2;
const float WIDEST_RILL = 1.05;   // cells from rill to rill
const float RILLS_FADE = 0.22;    // pixels beside a width, from which on they are too fine to be seen

struct Rills {
    float height;  // around 0: how much deeper or higher than the ground between, where 1 is all of their depth
    vec2 slope;    // to the east and south
};

// On a slope that falls against `rise`, relief included; `pixel` is the size of a pixel in cells, `strength` how steep their
// flanks are.
Rills rills_at(vec2 cells, vec2 rise, float pixel, float strength, float soft) {
    Rills rills = Rills(0.0, vec2(0.0));
    float width = WIDEST_RILL, part = 1.0;
    for (int octave = 0; octave < RILL_OCTAVES; ++octave) {
        float seen = 1.0 - smoothstep(0.5 * RILLS_FADE, RILLS_FADE, pixel / width);
        if (seen <= 0.0) break;
        vec3 rib = ribs(cells, RIB_OCTAVES + octave, width, rise, seen);
        if (soft > 0.0) {
            vec3 gully = seen * gullies_at(cells / width, float(RIB_OCTAVES + octave), rise);
            rib = mix(rib, vec3(width / TAU * gully.x, gully.yz / TAU), soft);
        }
        rills.height += part * rib.x / width * TAU;
        rills.slope += strength * rib.yz;
        rise += mix(1.0, JOINING, soft) * strength * rib.yz;
        width *= FINER;
        part *= 0.7;
    }
    return rills;
}
