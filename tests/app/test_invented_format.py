"""An invented format of heights, declared in one file: all that follows from the tables of formats knows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.sources.heightmap import read_heightmap

ROOT = Path(__file__).parents[2]

# In a program of its own, as rows are added before the tables are read.
PROGRAM = """
import sys
import tests.app.invented_format
from app.cli.main import main
from app.sources.heightmap import FORMATS, read_heightmap
import numpy as np
assert FORMATS[-1].suffixes == (".csv",), "the file dialog lists it"
small = ["noise", "--size", "32", "--set", "world.past=0", "--set", "world.worn=0"]
assert main(["export", *small, "--out", "land", "--heights", "csv,npy"]) == 0
np.save("read.npy", read_heightmap("land/ground.csv").elevation)
open("ragged.csv", "w").write("1,2,3,4,5,6,7,8\\n" * 20 + "1,2\\n")
assert main(["simulate", "ragged.csv", "--cycles", "0"]) == 1
main(["export", "--help"])
"""


@pytest.mark.slow
def test_a_format_of_one_file_is_read_written_and_listed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = read_heightmap(tmp_path / "land" / "ground.npy").elevation
    np.testing.assert_allclose(np.load(tmp_path / "read.npy"), written, rtol=1e-8)
    assert "table of heights, in metres" in " ".join(done.stdout.split()), "the help lists it"
    assert "ragged.csv: expected 8 numbers in each line" in done.stderr
