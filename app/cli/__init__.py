"""The commands without a window, and the line that starts them all."""
