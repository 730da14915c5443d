"""What runs a world: cycles, the thread that they run on, what is published of them, and the kernels they need."""
