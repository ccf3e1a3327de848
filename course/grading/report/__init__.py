"""What a class understood: one page that opens offline, and its numbers as CSV.

``gather`` reads gradebook and notebooks, ``sections`` finds where an exercise is taught, ``statistics`` and
``likeness`` compute, ``summary`` puts it together, ``headlines`` says what follows from it, and ``page`` and
``numbers`` write it down.
"""
