"""Numba functions on plain arrays and numbers: one file per process, and what they share."""

import os

# Waiting threads sleep instead of spinning. A spinning thread takes the core that the other one or the renderer needs:
# on a busy machine that made two threads a hundred times slower than one. Read when Numba first starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
