"""Sweeps: a recipe defines many worlds, all cores or a cluster run them, and one Zarr store holds the results."""
