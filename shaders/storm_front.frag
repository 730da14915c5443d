// A billow of dust, lit as a ball whose rim is frayed, in the shade of the dust around: the front is lit at its top and
// where it faces the sun.
#include "sky.glsl"

uniform sampler2D detail;

in vec3 position;
in vec2 in_square;
flat in float seed;
flat in float dense;
in float above;

const vec2 IN_STORM = vec2(0.95, 0.15);  // heights of the front, between which the dust above hides the sun and the sky
const float SUN_FROM_BEHIND = 0.62, SUN_FROM_AHEAD = 0.35;  // how much of the sun
const float SKY_HIDDEN = 0.3;
const vec2 LAYERS = vec2(1.2, 4.0);  // how dense dust is at its top and at its foot

layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;

void main() {
    float drift = 0.02 * frame.dust.w / frame.heights.w;
    // Each is turned in its own way: no two show the same rows of texels, nor any along their edges.
    vec2 turn = vec2(cos(6.3 * seed), sin(6.3 * seed)), turned = mat2(turn.x, turn.y, -turn.y, turn.x) * in_square;
    vec4 coarse = textureLod(detail, 0.055 * turned + seed + vec2(0.0, -drift), 1.0);
    vec4 fine = textureLod(detail, 0.15 * turned + 0.7 * seed + vec2(drift, -2.0 * drift), 1.0);
    float from_middle = length(in_square), away = from_middle + 1.1 * (coarse.x - 0.5) + 0.55 * (fine.x - 0.5);
    // It has frayed to nothing before its square ends, and all around alike, or straight edges would be seen.
    float whole = 1.0 - smoothstep(0.35, 1.0, from_middle);
    float within = smoothstep(IN_STORM.x, IN_STORM.y, above + 0.5 * (coarse.w - 0.5));
    float cover = (1.0 - smoothstep(0.42, 0.80, away)) * smoothstep(-1.0, -0.2, in_square.y) * whole;
    cover = dense * (1.0 - pow(1.0 - cover, mix(LAYERS.x, LAYERS.y, within)));

    vec3 to_eye = normalize(frame.camera.xyz - position), right = normalize(vec3(to_eye.z, 0.0, -to_eye.x) + vec3(1e-6, 0.0, 0.0));
    vec3 up = cross(to_eye, right);
    vec2 frayed = 1.9 * (coarse.yz - 0.5) + 0.5 * (fine.yz - 0.5);
    vec2 bulge = in_square + vec2(dot(turn, frayed), turn.x * frayed.y - turn.y * frayed.x);
    float towards = sqrt(max(1.0 - dot(bulge, bulge), 0.08));
    vec3 normal = normalize(bulge.x * right + bulge.y * up + towards * to_eye);
    // Light is thrown on within: the side away from the sun is dim, and not dark.
    float lit = 0.08 + 0.64 * max(0.20 + 0.80 * dot(normal, frame.sun.xyz), 0.0);
    float forward = max(-dot(to_eye, frame.sun.xyz), 0.0);
    float from_ahead = smoothstep(-0.6, 0.8, dot(frame.sun.xz, frame.wind.xy));
    float hidden = within * mix(SUN_FROM_BEHIND, SUN_FROM_AHEAD, from_ahead);
    vec3 sunlight = frame.sun_light.rgb * (lit + 0.25 * forward * forward * forward) * (1.0 - hidden);
    vec3 light = DUST * (sunlight + 0.55 * (1.0 - SKY_HIDDEN * within) * sky_light(normal)) * (0.88 + 0.24 * fine.w);

    vec3 air_kept, air_added;
    air_before(position, air_kept, air_added);
    added = vec4(cover * (light * air_kept + air_added), 0.0);
    kept = vec4(vec3(1.0 - cover), 1.0);
}
