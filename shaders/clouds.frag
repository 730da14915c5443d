// The clouds in the sky with depth, in pixels twice as wide: what they add to what is behind, and what they keep of it.
#include "cloud_sky.glsl"
#include "map.glsl"
#include "sky_ray.glsl"

out vec4 colour;

void main() {
    vec2 pixel = 2.0 * (gl_FragCoord.xy + clouds_origin()) - frame.part.xy;
    // Of any four neighbours each looks into another quarter of the steps: four that are mixed show no pattern.
    vec2 place = gl_FragCoord.xy + clouds_origin(), corner = mod(floor(place), 2.0);
    float jitter = 0.25 * (2.0 * corner.x + abs(corner.x - corner.y) + hash(place));
    colour = clouds_before(frame.camera.xyz, sky_direction(pixel), 0.0, jitter);
}
