// Rivers, and the depth of lakes, in one map.
uniform sampler2D rivers;
uniform sampler2D lake_depth;
uniform bool known;

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = known ? vec4(texelFetch(rivers, cell, 0).x, texelFetch(lake_depth, cell, 0).x, 0.0, 0.0) : vec4(0.0);
}
