"""One thread for each worker, the environment's programs on the path, activated or not, and Ctrl-C as in a terminal.

Tiny models run fastest on one thread, and spinning threads would fight over two cores.
"""

import os
import signal
import sys
from pathlib import Path

from hypothesis import settings

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # read when torch and NumPy are first imported

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

# A shell lets what it runs in the background ignore Ctrl-C, and so would every program that a test starts and stops.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")
