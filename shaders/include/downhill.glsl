// Which way the ground falls in a cell; 0 where it is level. `surface` holds its slopes to the east and south.
vec2 downhill_from(sampler2D surface, ivec2 cell) {
    vec2 downhill = -texelFetch(surface, cell, 0).yz;
    return downhill / max(length(downhill), 1e-6);
}
