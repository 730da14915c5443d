"""Rendering of snapshots with OpenGL."""
