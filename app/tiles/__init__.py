"""Analyses of land that is too large for memory, tile by tile."""
