"""Grade a class: many submissions at once, stored as ``nbgrader autograde`` would have left them.

``submissions`` reads what was handed in, ``grader`` makes of one submission a Result and touches nothing, ``pool`` lets
several processes do so, ``store`` puts a Result into the gradebook and ``folders`` into autograded/, and ``run`` goes
through a class with all of them.

``cluster`` stands in the place of ``pool`` where a Dask cluster grades: ``parcel`` makes of lessons and submissions
what can travel, ``worker`` is what Dask calls on the other machine, ``station`` the process there that grades.
"""
