// Light that comes from the land to each place where all that it faces is land: read down the slope along its normal, as
// the mean over half as much land.
#include "bounce.glsl"

uniform sampler2D surface;
uniform sampler2D lit_land;  // light that it sends on, times its area; that area
uniform float reach;         // of the longer side of the map: from how far away most of it comes

in vec2 uv;

out vec4 result;

void main() {
    vec2 size = vec2(textureSize(lit_land, 0));
    // The slope is that of ground as wide as a texel.
    vec2 slope = vec2(0.0), texel = 0.25 / size;
    for (int k = 0; k < 4; ++k) slope += 0.25 * textureLod(surface, uv + texel * vec2(k % 2 * 2 - 1, k / 2 * 2 - 1), 0.0).yz;
    slope *= frame.map.w;
    vec2 across = -slope * inversesqrt(1.0 + dot(slope, slope));
    vec2 step_down = across * (reach * frame.heights.w) / map_extent();
    vec4 light = textureLod(lit_land, uv + step_down, log2(max(0.5 * reach * max(size.x, size.y), 1.0)));
    result = vec4(bounced_roots(light.rgb / light.a), 1.0);
}
