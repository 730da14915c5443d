uniform sampler2D detail;  // tiling noise: height, its two slopes, another height
