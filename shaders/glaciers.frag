// What glaciers look like: how much ice hides the ground, how much firn lies on it, how much it is stretched or sheared,
// and how dirty it is.
#include "map.glsl"

uniform sampler2D ice;         // metres
uniform sampler2D ice_speed;   // metres in a year
uniform sampler2D ice_debris;  // metres of sediment
uniform sampler2D ice_runoff;  // below 1 where more snow falls than melts

in vec2 uv;
out vec4 result;

const float REACH = 1.5;  // texels
const vec2 HIDES = vec2(0.5, 6.0);          // metres of ice
const vec2 CRACKS = vec2(0.02, 0.20);       // 1/year
const vec2 DIRTY = vec2(0.030, 0.300);      // of the thickness
const vec2 MELTS = vec2(0.80, 1.10);        // between which firn ends

void main() {
    vec2 texel = REACH / frame.map.xy;
    float thick = textureLod(ice, uv, 0.0).x;
    vec2 change = vec2(
        textureLod(ice_speed, uv + vec2(texel.x, 0.0), 0.0).x - textureLod(ice_speed, uv - vec2(texel.x, 0.0), 0.0).x,
        textureLod(ice_speed, uv + vec2(0.0, texel.y), 0.0).x - textureLod(ice_speed, uv - vec2(0.0, texel.y), 0.0).x);
    float strain = length(change) / (2.0 * REACH * frame.map.z);
    float firn = 1.0 - smoothstep(MELTS.x, MELTS.y, textureLod(ice_runoff, uv, 0.0).x);
    float dirty = smoothstep(DIRTY.x, DIRTY.y, textureLod(ice_debris, uv, 0.0).x / max(thick, 1.0));
    result = vec4(smoothstep(HIDES.x, HIDES.y, thick), firn, smoothstep(CRACKS.x, CRACKS.y, strain), dirty);
}
