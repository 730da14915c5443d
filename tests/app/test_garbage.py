"""When garbage is looked for."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, weakref
from app.cli.garbage import LOADED, collect_late

class Cycle:
    def __init__(self):
        self.own = self

usual = gc.get_threshold()
collect_late()
early = weakref.ref(Cycle())
stays = [[] for _ in range(LOADED // 2)]
print("early", early() is not None, gc.get_freeze_count() == 0)
stays += [[] for _ in range(LOADED)]
print("loaded", early() is None, gc.get_freeze_count() > LOADED, gc.get_threshold() == usual, not gc.callbacks)
late = weakref.ref(Cycle())
stays += [[] for _ in range(2 * usual[0])]
print("late", late() is None)
"""


def test_it_is_looked_for_once_all_is_loaded_and_as_usual_from_then_on() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["early True True", "loaded True True True True", "late True"]
