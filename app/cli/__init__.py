"""The commands without a window, and the command line."""
