"""Brushes: what a hand does to a world between two cycles."""
