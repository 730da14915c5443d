// What glaciers look like: how much ice hides the ground, how much firn lies on it, how open crevasses are, and how
// much of it is covered by rock.
#include "map.glsl"

uniform sampler2D surface;
uniform sampler2D ice;         // metres
uniform sampler2D ice_speed;   // metres in a year
uniform sampler2D ice_debris;  // metres of sediment
uniform sampler2D ice_runoff;  // below 1 where more snow falls than melts

in vec2 uv;
out vec4 result;

const float HALF_HIDDEN = 15.0;             // metres of ice
const float REACH = 1.5;                    // cells, over which it is stretched
const vec2 CRACKS = vec2(0.02, 0.16);       // 1/year
const vec2 BRITTLE = vec2(12.0, 45.0);      // metres: thinner ice is too slow and stiff at its bed to open
const vec2 MELTS = vec2(0.80, 1.10);        // of the rain, between which firn ends
const vec2 DIRTY = vec2(0.00, 0.10);        // of the thickness
const vec2 MELTED_OUT = vec2(1.3, 4.5);     // of the rain
const vec2 LATERAL = vec2(6.0, 24.0);       // metres of ice beside valley sides, from which rock falls onto it
const float FED = 20.0;                     // metres: thinner ice, up the flow, is fed by the walls above it
const float FALLS_APART = 5.5;              // cells between walls from which much rock falls
const vec2 CRUMBLING = vec2(0.44, 0.78);    // of noise: those walls
const int STEPS = 28;                       // by which a place is traced up the ice
const float STEP = 1.8;                     // cells
const float SHORTER = 80.0;                 // metres: in thinner ice steps are shorter, so that all end where it begins
const float KEEPS = 0.6;                    // part of its way that ice keeps over bumps of a cell
const int HALVINGS = 4;                     // of the last one
const float AROUND = 1.2;                   // cells, over which its slope counts
const float FADES = 0.4;                    // of all steps, after which rock has spread over the ice
const int FOLDED = 6;                       // steps over which places are drawn out to bands
const float BANDS_APART = 2.1;              // cells

float thickness(vec2 at) {
    return textureLod(ice, at, 0.0).x;
}

float speed(vec2 at) {
    return textureLod(ice_speed, at, 0.0).x;
}

float firn_at(vec2 at) {
    return 1.0 - smoothstep(MELTS.x, MELTS.y, textureLod(ice_runoff, at, 0.0).x);
}

vec2 slope(vec2 at) {
    return textureLod(surface, at, 0.0).yz;
}

vec2 direction(vec2 slope) {
    return slope / max(length(slope), 1e-4);
}

// Strain that opens crevasses, 1/year: along the flow where ice becomes faster, and, for less, across it by shear.
float strain(vec2 up) {
    vec2 along = REACH * up / frame.map.xy, across = vec2(-along.y, along.x) * frame.map.yx / frame.map.xy;
    float faster = speed(uv - along) - speed(uv + along), sheared = abs(speed(uv - across) - speed(uv + across));
    return (max(faster, 0.0) + 0.35 * sheared) / (2.0 * REACH * frame.map.z);
}

// Smooth noise of cells, from 0 to 1.
float noise(vec2 at) {
    vec2 low = floor(at), part = smoothstep(0.0, 1.0, at - low);
    return mix(mix(hash(low), hash(low + vec2(1.0, 0.0)), part.x),
               mix(hash(low + vec2(0.0, 1.0)), hash(low + vec2(1.0)), part.x), part.y);
}

// How much rock lies on the ice where it comes from, from 0 to 1: that of walls which crumble goes on as a lateral
// moraine, and, where two glaciers have met, as a medial one. And bands, around 0.5, that the flow draws out.
vec2 carried_on_top() {
    vec2 at = uv, rises = vec2(0.0), before = uv;
    float bands = 0.0, thick = thickness(uv);
    int steps = 0;
    for (; steps < STEPS && thick > FED; steps++) {
        if (steps < FOLDED) bands += noise(at * frame.map.xy / BANDS_APART);
        vec2 aside = AROUND * vec2(1.0, steps % 2 == 0 ? 1.0 : -1.0) / frame.map.xy;
        rises = mix(0.5 * (slope(at + aside) + slope(at - aside)), rises, KEEPS);
        before = at;
        at += STEP * clamp(thick / SHORTER, 0.3, 1.0) * direction(rises) / frame.map.xy;
        thick = thickness(at);
    }
    for (int k = 0; k < HALVINGS && thick <= FED; k++) {  // to where it begins, wherever steps ended beyond
        vec2 middle = 0.5 * (before + at);
        if (thickness(middle) > FED) before = middle;
        else at = middle;
    }
    float crumbles = smoothstep(CRUMBLING.x, CRUMBLING.y, noise(at * frame.map.xy / FALLS_APART));
    float stays = 1.0 - smoothstep(FADES, 1.0, float(steps) / float(STEPS));
    return vec2(stays * crumbles, steps > 0 ? bands / float(min(steps, FOLDED)) : 0.5);
}

void main() {
    float thick = thickness(uv);
    result = vec4(0.0);
    if (thick <= 0.0) return;
    float firn = firn_at(uv);
    float open = smoothstep(CRACKS.x, CRACKS.y, strain(direction(slope(uv)))) * smoothstep(BRITTLE.x, BRITTLE.y, thick);
    float dirt = 0.0;
    if (firn < 1.0) {
        vec2 top = carried_on_top();
        float within = smoothstep(DIRTY.x, DIRTY.y, textureLod(ice_debris, uv, 0.0).x / max(thick, 1.0));
        float melted = smoothstep(MELTED_OUT.x, MELTED_OUT.y, textureLod(ice_runoff, uv, 0.0).x);
        float bands = clamp(0.5 + 2.0 * (top.y - 0.5), 0.0, 1.0);
        float lateral = 1.0 - smoothstep(LATERAL.x, LATERAL.y, thick);
        dirt = within * max(max(0.9 * top.x, lateral), mix(0.10, 0.80, melted) * mix(0.5, 1.0, bands));
    }
    result = vec4(thick / (thick + HALF_HIDDEN), firn, open, dirt);
}
