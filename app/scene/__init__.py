"""Scenes: the start of a world and all parameters of the program, as one value."""
