"""Out of nbgrader's gradebook and feedback folder, in the shapes that learning platforms take.

``results`` reads the gradebook, ``tables`` lays grades out for a platform, ``cells`` writes CSV that no
spreadsheet runs, ``feedback`` names feedback files for bulk upload, ``plugins`` offers the same to
``nbgrader export``.
"""
