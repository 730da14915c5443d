// Depth below the level of the water at the nearest coast: negative on land, and 0 just where the coast is.
uniform sampler2D coast;
uniform sampler2D heights;  // ground, level of the water

out float result;

const float OFFSHORE = 0.75;  // cells: from there on it is surely wet

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    vec4 here = texelFetch(coast, cell, 0);
    vec2 wet = gl_FragCoord.xy;
    if (here.x < 0.0) wet += here.yz * (here.x - OFFSHORE);
    ivec2 last = textureSize(coast, 0) - 1;
    float level = texelFetch(heights, here.x < 0.0 ? clamp(ivec2(wet), ivec2(0), last) : cell, 0).y;
    result = level - texelFetch(heights, cell, 0).x;
}
