// The map of shadows that light.frag bakes, and how soft their edges are.

uniform sampler2D shade;  // height up to which there is shadow; how far away is what casts it; that height on water

const float SUN_WIDTH = 0.07;  // in slopes
const float SOFTEST = 0.3;     // cells, at least
