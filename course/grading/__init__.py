"""The instructor's side: collecting, grading in a sandbox, exporting grades, and what the class understood."""
