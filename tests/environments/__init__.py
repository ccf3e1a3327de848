"""Lessons in other environments: what Colab ships, and the oldest versions that the package admits."""
