// Layers of the world, cell by cell.

// The value of a cell; outside the map that of the nearest. A layer that the world does not have is a single 0.
float layer(sampler2D layer, ivec2 cell) {
    return texelFetch(layer, clamp(cell, ivec2(0), textureSize(layer, 0) - 1), 0).x;
}
