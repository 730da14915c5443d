// Depth is all that is drawn.
void main() {}
