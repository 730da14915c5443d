"""The program in its window: input, panel, camera and notices."""
