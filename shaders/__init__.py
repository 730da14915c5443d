"""Shaders: a `.vert` and a `.frag` for each pass, shared code in `include/`."""
