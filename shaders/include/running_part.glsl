// How much of a pixel as wide as a cell running water covers, by the map of flow.

const float WHOLE_LINE = 0.75;  // what streams have there that cover all of it
const float STREAM_BESIDE = 1e-3;  // the cover, not seen, that marks a stream in a neighbouring cell

float running_part(float known) {
    return min(known / WHOLE_LINE, 1.0);
}
