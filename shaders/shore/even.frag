// Evens out the phases along one axis, the more the farther from the coast: crests shall not keep its every kink.
uniform sampler2D phases;
uniform sampler2D coast;
uniform ivec2 along;

out vec2 result;

const float WIDEST = 9.0;           // cells
const float PART_OF_DISTANCE = 0.2;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy), last = textureSize(phases, 0) - 1;
    result = texelFetch(phases, cell, 0).xy;
    float width = min(PART_OF_DISTANCE * texelFetch(coast, cell, 0).x, WIDEST);
    if (result.y < 0.0 || width < 1.0) return;
    // In pairs, so that a slope stays as it is
    float sum = result.x, weights = 1.0;
    for (int i = 1; i <= 4; ++i) {
        float part = float(i) / 4.0, weight = exp(-2.0 * part * part);
        ivec2 away = along * int(round(width * part));
        if (any(lessThan(cell - abs(away), ivec2(0))) || any(greaterThan(cell + abs(away), last))) break;
        vec2 one = texelFetch(phases, cell + away, 0).xy, other = texelFetch(phases, cell - away, 0).xy;
        if (one.y < 0.0 || other.y < 0.0) break;
        sum += weight * (one.x + other.x);
        weights += 2.0 * weight;
    }
    result.x = sum / weights;
}
