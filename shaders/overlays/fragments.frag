// Rivers of the land as it lies, in the form of overlays/rivers.frag: no lakes.
uniform sampler2D fragments;
uniform bool known;

out vec4 result;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy);
    result = known ? vec4(texelFetch(fragments, cell, 0).x, 0.0, 0.0, 0.0) : vec4(0.0);
}
