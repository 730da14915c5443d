// When the swell comes to the coast by each place, and how high it is: what it does on the coarse grid of
// app/picture/passes/swell.py, but next to the coast, where it runs straight to it and grows short within a cell.
#include "shore_swell.glsl"

uniform sampler2D coast;
uniform sampler2D phases;
uniform sampler2D swell;  // arrival in radians, height beside that on the open sea
uniform float swell_cells;  // of the map in a texel of it

const float WIDEST_BEACH = 10.0;  // cells

out vec2 result;  // arrival, of the coast's nearest point as far as waves run straight to it; height

// By a cubic B-spline, which is smooth and keeps slopes, out of four taps (Sigg and Hadwiger 2005).
vec2 swell_at(vec2 cells) {
    vec2 size = vec2(textureSize(swell, 0)), at = cells / swell_cells - 0.5, first = floor(at), part = at - first;
    vec2 before = 1.0 - part;
    vec2 w0 = before * before * before / 6.0, w1 = 2.0 / 3.0 - part * part * (1.0 - 0.5 * part);
    vec2 w3 = part * part * part / 6.0, w2 = 1.0 - w0 - w1 - w3;
    vec2 low = w0 + w1, high = w2 + w3;
    vec2 a = (first - 0.5 + w1 / low) / size, b = (first + 1.5 + w3 / high) / size;
    return low.y * (low.x * textureLod(swell, a, 0.0).xy + high.x * textureLod(swell, vec2(b.x, a.y), 0.0).xy)
         + high.y * (low.x * textureLod(swell, vec2(a.x, b.y), 0.0).xy + high.x * textureLod(swell, b, 0.0).xy);
}

void main() {
    vec2 place = gl_FragCoord.xy, size = vec2(textureSize(coast, 0));
    vec4 here = texelFetch(coast, ivec2(place), 0);
    bool on_land = here.x < 0.0;
    if (on_land && here.x > -WIDEST_BEACH) {
        // What runs up a beach came to the coast before it: from there, and not from where each place faces.
        place = clamp(place + here.x * here.yz, vec2(0.5), size - 0.5);
        here = textureLod(coast, place / size, 0.0);
    }
    float straight = STRAIGHT_TEXELS * swell_cells;
    vec2 phase = texelFetch(phases, ivec2(place), 0).xy;
    float away = here.x;
    if (away < straight) {
        // As far out as waves are told by the grid, if there is water.
        vec2 out_there = place + (here.x - straight) * here.yz;
        vec2 there = texelFetch(phases, clamp(ivec2(out_there), ivec2(0), ivec2(size) - 1), 0).xy;
        if (there.y > 0.0) {
            place = out_there;
            away = straight;
            phase = textureLod(phases, place / size, 0.0).xy;
        } else if (on_land) {
            phase.x = 0.0;
        }
    }
    vec2 comes = swell_at(place);
    result = vec2(comes.x + straightness(away, swell_cells) * phase.x, comes.y);
}
