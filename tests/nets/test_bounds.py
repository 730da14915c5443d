"""Kernels compiled with a test of each index: none is beyond its array."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# Presets that run each build of each process, with settings: several kinds of rock and loose material for the last
CASES: tuple[tuple[str, dict[str, bool]], ...] = (
    ("badlands", {}),
    ("braided", {}),
    ("delta", {}),
    ("dune-field", {}),
    ("island", {}),
    ("ledges", {}),
    ("meanders", {}),
    ("ridged", {}),
    ("old-range", {}),
    ("old-range", {"materials.enabled": True}),
)
COLUMNS, CYCLES = 48, 34  # two turns of all plants

PROGRAM = """
from app.numba_settings import configure_numba
configure_numba()
from tests.nets.test_bounds import check_all
check_all()
"""


TESTS_OF_KERNELS = ("-m", "pytest", "-q", "-n", "0", "-x", "-p", "no:cacheprovider", "tests/kernels")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels that look are compiled to, once for all tests."""
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.nightly
@pytest.mark.parametrize("arguments", [("-c", PROGRAM), TESTS_OF_KERNELS], ids=["presets", "tests of kernels"])
def test_no_index_is_beyond_its_array(arguments: tuple[str, ...], kernels: Path) -> None:
    """In a process of its own, as Numba reads at its start whether it should look."""
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(kernels), "NUMBA_NUM_THREADS": "3"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=os.environ | checked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def check_all() -> None:
    """What the test above asserts of presets."""
    import numpy as np

    from app.engine.builds import RIVERS, STREAMS, WAVES, all_builds, prepare
    from app.engine.survey import USUAL_RUNOFF, Surveyor, Wanted
    from app.model.snapshot import SURVEYED_FLOW
    from kernels.neighbours import OUTLET
    from kernels.routing import accumulate
    from tests.app.small import bits, simulated, small_preset

    with pytest.raises(IndexError):  # or nobody looks
        accumulate(np.full((8, 8), OUTLET, np.int8), np.array([64], np.int32), np.ones((8, 8)))

    prepare(WAVES)
    ran = {RIVERS, STREAMS, WAVES}
    everything = Wanted(rivers=True, place=(5, 5), channels=True, traffic=0.1, realism=True, streams=True)
    runoff = replace(USUAL_RUNOFF, lasts=True)
    for name, settings in CASES:
        found = []
        for threads in (1, 3):  # with several, the others would wait for ever for one that has met such an index
            simulator = simulated(CYCLES, small_preset(name, COLUMNS, **settings), threads)
            simulator.verify()
            ran |= simulator.prepared
            found.append(bits(simulator.world))
            surveyor, rivers = Surveyor(), simulator.scene.rivers
            for filling in (1, 1, 0):  # fronts of water advance from the second on, and no streams run beside them
                wanted = replace(everything, filling=filling)
                survey = surveyor.survey(simulator.world, rivers, wanted, runoff=runoff)
                simulator.advance()
            assert survey is not None and SURVEYED_FLOW in survey.layers and survey.realism is not None, name
        assert found[0] == found[1], name
    assert ran == set(all_builds())
