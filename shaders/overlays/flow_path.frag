// The flow path from a place and the catchment of the place, in one map.
uniform sampler2D flow_path;
uniform sampler2D catchment;
uniform bool known;

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = known ? vec4(texelFetch(flow_path, cell, 0).x, texelFetch(catchment, cell, 0).x, 0.0, 0.0) : vec4(0.0);
}
