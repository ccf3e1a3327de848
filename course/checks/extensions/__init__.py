"""Checks of what goes beyond the core lessons: other encodings, and a head taken away."""
