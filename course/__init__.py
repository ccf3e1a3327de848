"""Multi-head attention and positional encoding: what the notebooks, the tests and the grader import."""
