// Kinds of ground as kernels/materials.py tells them for each cell.

uniform sampler2D loose_kinds;  // kind of which most lies here + 16 × the second + 256 × that one's part of 255

struct Kinds {
    int first, second;
    float part;  // of the second
};

Kinds kinds_of(ivec2 cell) {
    int code = int(texelFetch(loose_kinds, cell, 0).x + 0.5);
    return Kinds(code & 15, code >> 4 & 15, float(code >> 8) / 255.0);
}
