// The ground with its depressions filled, and how much was filled in, in one map.
uniform sampler2D filled;
uniform sampler2D lake_depth;
uniform bool known;

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = known ? vec4(texelFetch(filled, cell, 0).x, texelFetch(lake_depth, cell, 0).x, 0.0, 0.0) : vec4(-1e30, 0.0, 0.0, 0.0);
}
