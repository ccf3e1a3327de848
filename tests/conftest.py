"""One thread for each worker: tiny models run fastest on one, and spinning threads would fight over two cores."""

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # read when torch and NumPy are first imported
