"""From what a learning platform exports to nbgrader's submitted/<student>/<assignment>/.

``archive`` opens files safely, ``layouts`` reads who handed in what and when, ``roster`` finds the student,
``assignments`` finds the lesson, ``store`` keeps every attempt and puts the chosen one in place, and ``run``
does all of it in that order.
"""
