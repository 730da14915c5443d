// How much of a pixel as wide as a cell running water covers, by the map of flow.

const float WHOLE_LINE = 0.75;  // what streams have there that cover all of it

float running_part(float known) {
    return clamp(known / WHOLE_LINE, 0.0, 1.0);
}
