"""Everything at once gives the same bits on any number of threads, also on more than there are cores."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.numba_settings import usual_threads
from tests.nets.profile import is_nightly

MOST = 16
THREADS = (1, 2, 3, 5, 8, MOST) if is_nightly() else (1, 5, MOST)
CYCLES = 18  # after which all that happens in turn has happened

# Numba reads how many threads there may be when it is imported, so this is a program of its own.
PROGRAM = """
import hashlib
import sys

from app.numba_settings import configure_numba

configure_numba()
import numba

from app.bench.world import everything, plant
from app.engine.simulator import Simulator
from app.engine.creation import create_world
from kernels import blocks

blocks.WORTH_SHARING = 0  # also of small maps
rows, columns, cycles, *threads = map(int, sys.argv[1:])
assert numba.config.NUMBA_NUM_THREADS == max(threads)
scene = everything(max(rows, columns)).with_values(
    {"world.rows": rows, "world.columns": columns, "droplets.count": 300, "wind.count": 200}
)
for number in threads:
    world, made = create_world(scene)
    simulator = Simulator(made, world, number)
    plant(world)
    for _ in range(cycles):
        simulator.run_cycle()
    assert numba.get_num_threads() == number
    digest = hashlib.sha256(world.trees.tobytes())
    for name in sorted(world.layers):
        digest.update(world.layers[name].tobytes())
    digest.update(repr(world.ledger).encode())
    print(digest.hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "columns"),
    [(97, 140), *(pytest.param(*shape, marks=pytest.mark.nightly) for shape in ((40, 56), (150, 211), (333, 140)))],
)
def test_same_bits_on_one_to_sixteen_threads(rows: int, columns: int) -> None:
    command = [sys.executable, "-c", PROGRAM, *map(str, (rows, columns, CYCLES, *THREADS))]
    environment = {**os.environ, "NUMBA_NUM_THREADS": str(MOST)}
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    digests = done.stdout.split()
    assert len(digests) == len(THREADS)
    assert len(set(digests)) == 1


@pytest.mark.parametrize(("said", "expected"), [("", 8), ("3", 3), ("4,2", 4), ("64", 8), ("0", 8), ("all", 8)])
def test_where_nobody_says_how_many_threads_the_environment_does(
    monkeypatch: pytest.MonkeyPatch, said: str, expected: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert usual_threads(8) == expected
