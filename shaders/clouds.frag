// The clouds in the sky with depth, in pixels twice as wide: what they add to what is behind, and what they keep of it.
#include "cloud_sky.glsl"
#include "sky_ray.glsl"

out vec4 colour;

void main() {
    vec2 pixel = 2.0 * (gl_FragCoord.xy + clouds_origin()) - frame.part.xy;
    vec2 p = gl_FragCoord.xy + clouds_origin();
    float jitter = 0.2 + 0.6 * fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715))));
    colour = clouds_before(frame.camera.xyz, sky_direction(pixel), 0.0, jitter);
}
