"""Thalweg as it is installed: one package, whose import makes `app`, `assets`, `kernels` and `shaders` importable.

In a wheel these four lie inside of it. In a checkout it lies inside of `app`. So no other program of the environment
loses a package with such an everyday name.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
ROOT = str(_HERE if (_HERE / "app").is_dir() else _HERE.parents[2])  # the folder that the four packages lie in
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
