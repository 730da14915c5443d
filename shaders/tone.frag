// From linear light to the screen: exposure, a filmic curve, a light vignette.
#include "frame.glsl"
#include "tone.glsl"

uniform sampler2D scene;
uniform vec4 part;  // of the picture that is drawn: its size and its lower left corner, as parts of the whole
uniform bool brightness_in_alpha;  // where FXAA follows; a finished picture is opaque

in vec2 uv;
out vec4 colour;

void main() {
    vec3 radiance = textureLod(scene, uv, 0.0).rgb * frame.sun_light.a;
    vec2 from_centre = (uv * part.xy + part.zw - 0.5) * vec2(0.9, 0.7);
    radiance *= 1.0 - 0.45 * dot(from_centre, from_centre);
    // The filmic curve greys strong light; a little more colour makes up for it.
    radiance = max(mix(vec3(dot(radiance, vec3(0.2126, 0.7152, 0.0722))), radiance, 1.14), 0.0);
    vec3 shown = to_srgb(filmic(radiance));
    // Half a level of noise hides the steps of 8 bits in the sky.
    vec2 p = gl_FragCoord.xy + frame.part.xy;
    float noise = fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))) - 0.5;
    shown += noise / 255.0;
    colour = vec4(shown, brightness_in_alpha ? dot(shown, vec3(0.299, 0.587, 0.114)) : 1.0);
}
