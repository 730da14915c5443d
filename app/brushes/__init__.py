"""Brushes: edits of a world between two cycles."""
