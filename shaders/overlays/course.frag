// The way of the water of a place, and the place's catchment, in one map.
uniform sampler2D course;
uniform sampler2D catchment;
uniform bool known;

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = known ? vec4(texelFetch(course, cell, 0).x, texelFetch(catchment, cell, 0).x, 0.0, 0.0) : vec4(0.0);
}
