// Noise that is drawn out along the way of water.
#include "map.glsl"

// Which of the smaller images of the noise suits pixels that are so many tiles of it wide. Where pixels are
// drawn that others beside them are not, there is no other way to know.
float noise_level(float pixel, sampler2D noise) {
    return log2(max(pixel * float(textureSize(noise, 0).x), 1.0));
}

// Noise, `wide` cells to a tile of it, drawn out along a way by a factor, and drifting: it is laid out in tiles of `side`
// cells that overlap, so that it hardly stretches where the way bends.
vec4 drawn_out_noise(vec2 cells, vec2 along, float side, float factor, float drift, float wide, float level, sampler2D noise) {
    vec2 at = cells / side, corner = floor(at), part = smoothstep(0.0, 1.0, at - corner);
    vec2 across = vec2(-along.y, along.x);
    vec4 sum = vec4(0.0);
    float squares = 0.0;
    for (int k = 0; k < 4; ++k) {
        vec2 step_to = vec2(k % 2, k / 2), tile = corner + step_to;
        vec2 weights = mix(1.0 - part, part, step_to);
        float weight = weights.x * weights.y;
        vec2 away = cells - tile * side;
        vec2 place = vec2((dot(away, along) - drift) / factor, dot(away, across));
        sum += weight * (textureLod(noise, place / wide + vec2(hash(tile), hash(tile + 3.1)), level) - 0.5);
        squares += weight * weight;
    }
    return sum * inversesqrt(squares);  // as strong where tiles overlap as in their middle
}
