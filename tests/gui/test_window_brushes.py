"""All tools of the brush in the real window."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from app.brushes.tools import TOOLS
from app.files.journal import read_journal
from app.scene.edits import Stroke
from tests.gui.program import Program

GROUPS = tuple(dict.fromkeys(tool.group for tool in TOOLS.values()))


@pytest.fixture
def program(tmp_path: Path):  # type: ignore[no-untyped-def]
    running = Program(tmp_path, "noise", "--size", "64", "--set", "view.quality=low")
    running.pause()
    yield running
    running.end()


def test_every_tool_in_the_real_window_by_mouse_and_keys(program: Program, tmp_path: Path) -> None:
    """Digits go through the tools of each group; what was drawn is in the journal of the world that is saved."""
    x, y = 420, 420
    for number, group in enumerate(GROUPS, 1):
        for _ in [tool for tool in TOOLS.values() if tool.group == group]:
            program.key(str(number))
            time.sleep(0.5)
            program.drag((x, y), (x + 60, y + 12), steps=4)
            time.sleep(0.5)
    program.key("Escape")
    before = program.settled()
    program.key("ctrl+s")
    program.wait_for(lambda: np.abs(program.scene() - before).mean() > 2.0, "the dialog")
    path = tmp_path / "painted.npz"
    program.key("ctrl+a")
    program.xdotool("type", "--delay", "30", str(path))
    program.key("Return")
    program.wait_for(path.exists, "the saved world")
    journal = read_journal(path)
    drawn = {edit.request.tool for edit in journal.edits if isinstance(edit.request, Stroke)}
    assert drawn == {name for name, tool in TOOLS.items() if tool.act is not None}
    again = tmp_path / "again.npz"
    done = subprocess.run(
        [program.process.args[0], "-m", "app", "replay", str(path), "--out", str(again)],  # type: ignore[index]
        capture_output=True, text=True, timeout=120.0, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
