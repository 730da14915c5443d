"""Presets, terrain, fonts, icons and palettes; opened through importlib.resources."""
