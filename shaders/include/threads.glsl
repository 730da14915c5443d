// Rivers that part into threads: as wide and deep as the water that passes through each cell makes them. In the map of
// flow they are a field that is 1 at the water's edge, so that between cells it has a smooth outline; where it is
// above, it grows by the logarithm of their depth, so that from afar it is hardly more than the part that they cover.
#include "map.glsl"

const float EDGE = 1.5;      // of the discharge of the smallest stream that is seen: what a cell at the edge carries
const float WHOLE_LINE = 0.75;     // what streams have which are lines, and cover all of a pixel as wide as a cell
const float FLATTENED = 0.35;

// The part of a pixel as wide as a cell that running water covers.
float running_part(float field) {
    return min(field / WHOLE_LINE, 1.0);
}

// From the root of the discharge of a cell in cubic metres a second, as the width of a stream goes with it.
float thread_field(float root) {
    float beside_edge = 2.0 * root / sqrt(EDGE * exp2(frame.streams.x)) - 1.0;
    return beside_edge < 1.0 ? max(beside_edge, 0.0) : 1.0 + FLATTENED * log2(beside_edge);
}

// The same root from the field.
float thread_root(float field) {
    float beside_edge = field < 1.0 ? field : exp2((field - 1.0) / FLATTENED);
    return 0.5 * (beside_edge + 1.0) * sqrt(EDGE * exp2(frame.streams.x));
}
