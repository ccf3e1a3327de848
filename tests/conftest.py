"""One thread for each worker, and the environment's programs on the path, activated or not.

Tiny models run fastest on one thread, and spinning threads would fight over two cores.
"""

import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # read when torch and NumPy are first imported

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
