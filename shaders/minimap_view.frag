// The minimap in its corner, with its border, and the place and view of the camera on it.
#include "map.glsl"

uniform sampler2D minimap;
uniform int samples;      // along a side of a pixel
uniform vec4 rectangle;   // left, bottom, width, height in pixels of the target
uniform vec4 looking;     // direction of the camera on the map (east, south), half the tangent of its width, pixels per texel
uniform vec2 looked_at;   // target of the camera, east and south in metres

out vec4 colour;

void main() {
    vec2 pixel = gl_FragCoord.xy - rectangle.xy;
    float border = min(min(pixel.x, rectangle.z - pixel.x), min(pixel.y, rectangle.w - pixel.y)) / looking.w;
    vec2 at = vec2(pixel.x, rectangle.w - pixel.y) / rectangle.zw;
    vec3 shown = vec3(0.0);
    ivec2 first = ivec2(pixel) * samples;
    for (int k = 0; k < samples * samples; ++k) shown += texelFetch(minimap, first + ivec2(k % samples, k / samples), 0).rgb;
    shown /= float(samples * samples);

    // What the camera sees: a cone from where it stands.
    vec2 here = at * map_extent() - frame.camera.xz;
    float pixel_size = map_extent().x / rectangle.z * looking.w;
    float forward = dot(here, looking.xy);
    float sideways = abs(dot(here, vec2(-looking.y, looking.x)));
    float inside = smoothstep(pixel_size, -pixel_size, sideways - forward * looking.z) * step(0.0, forward);
    float fade = 1.0 - smoothstep(0.0, 1.2 * frame.heights.w, forward);
    shown = mix(shown, vec3(1.0), 0.22 * inside * fade);
    float edge = smoothstep(1.6 * pixel_size, 0.4 * pixel_size, abs(sideways - forward * looking.z)) * step(0.0, forward);
    shown = mix(shown, vec3(1.0), 0.75 * edge * fade);

    float dot_size = distance(at * map_extent(), looked_at) / pixel_size;
    shown = mix(shown, vec3(0.07), smoothstep(5.0, 4.0, dot_size));
    shown = mix(shown, vec3(1.0, 0.80, 0.36), smoothstep(3.6, 2.6, dot_size));
    float stand = length(here) / pixel_size;
    shown = mix(shown, vec3(0.07), smoothstep(6.0, 5.0, stand));
    shown = mix(shown, vec3(1.0), smoothstep(4.6, 3.6, stand));

    shown = mix(vec3(0.08, 0.09, 0.10), shown, smoothstep(1.0, 2.0, border));
    colour = vec4(shown, 1.0);
}
