"""Student processes that start in a moment: forks of one process that has imported everything already.

``process.WarmProcess`` starts that process under bubblewrap and asks it for forks; ``kernel.WarmKernel`` is one fork,
used like ``sandbox.kernel.Kernel``, and becomes a cold kernel where anything is in the way. Inside the sandbox
``zygote`` forks, ``walls`` takes every right from the fork, and ``shell`` runs the cells. Each fork serves one
submission and ends with it: it has namespaces, folders in memory, a user number and random state of its own, so it
sees neither the process it comes from nor any other fork.
"""
