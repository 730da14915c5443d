"""Numba functions on plain arrays and numbers: one file per process, and what they share."""
