"""What is added to a table is found wherever the table is asked, and nothing else is touched for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


def test_an_invented_overlay_and_an_invented_pass_are_found_in_picture_panel_and_help() -> None:
    command = [sys.executable, "-m", "tests.gui.additions"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    choices = next(line for line in done.stdout.splitlines() if line.startswith("view.overlay "))
    assert "filling bare" in choices
