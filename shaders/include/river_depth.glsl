// How deep a stream is.

// Metres of depth in a stream of 1 m³/s, which is so wide, and how the depth of others grows with their discharge, as
// their width does with its root (Leopold and Maddock 1953).
const float DEPTH = 0.35, DEPTH_AT_WIDTH = 5.0, DEEPENING = 0.4;

// Metres, of a stream so many metres wide.
float depth_at_width(float width) {
    return DEPTH * pow(max(width, 1e-3) / DEPTH_AT_WIDTH, 2.0 * DEEPENING);
}
