"""From what a learning platform exports to nbgrader's submitted/<student>/<assignment>/.

``archive`` opens files safely, ``layouts`` reads who handed in what and when, ``lessons`` finds the lesson, ``store``
keeps every attempt and puts the chosen one in place, and ``run`` does all of it in that order; the student is found by
``course.grading.roster``.

nbgrader's own ``zip_collect`` is not used: it needs a regular expression for each platform, stops at a second attempt
without a time, and empties a submitted folder before it fills it.
"""
