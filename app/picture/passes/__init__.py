"""Render passes. Each sets all the GL state that it needs, and reads snapshots, never the live world."""
