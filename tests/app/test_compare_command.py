"""`thalweg compare`: worlds of the same land in numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.compare import FIGURES
from app.cli.main import main

SMALL = ["--size", "48", "--set", "world.reference_cell_size=0", "--set", "droplets.count=200"]


def test_a_column_for_each_world(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "basic", *SMALL, "--cycles", "40", "--set", "rivers.channel_flow=0.5"]
    assert main([*words, "--with", "droplets.friction=0.2", "--with", "droplets.enabled=false"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["A", "B", "C"]
    rows = dict(zip((name for name, _ in FIGURES), (line.split()[-3:] for line in lines), strict=False))
    assert lines[0].startswith("channels, cells")
    assert rows["migration, cells in 1000 cycles"][2] == "–", "where no drops run there are no channels"
    worn = [float(value) for value in rows["rock worn, m³"]]
    assert worn[0] > worn[1] > worn[2] == 0.0, "friction slows drops, and without drops nothing is worn"
    assert all(float(value) < 1e-9 for value in rows["imbalance"])
    assert lines[-2:] == ["B: droplets on; droplets: friction 0.2 1/t", "C: droplets off; droplets: friction 0.05 1/t"]


def test_one_world_is_no_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", "noise", *SMALL]) == 1
    assert "name two worlds at least" in capsys.readouterr().err
