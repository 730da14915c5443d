// The crowns of trees spread over the map, each over the four cells whose middles are around its place.
flat in vec2 place;
flat in vec4 crowns;

out vec4 spread;

void main() {
    vec2 share = max(1.0 - abs(gl_FragCoord.xy - place), 0.0);
    spread = crowns * share.x * share.y;
}
