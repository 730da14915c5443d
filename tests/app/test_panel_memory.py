"""What the panel remembers of a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.window.panel.memory import PanelMemory, PanelState


def test_pins_are_there_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "panel.json"
    first = PanelMemory(path)
    first.toggle(first.state.pinned_groups, "wind")
    first.toggle(first.state.pinned_parameters, "droplets.count")
    first.toggle(first.state.pinned_sections, "view")
    first.toggle(first.state.unfolded, "wind")
    first.toggle(first.state.unfolded, "wind")
    state = PanelMemory(path).state
    assert state == PanelState(pinned_sections=["view"], pinned_groups=["wind"], pinned_parameters=["droplets.count"])
    assert [file.name for file in path.parent.iterdir()] == ["panel.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pinned_groups": 3}', "[" * 100_000, "\xff"])
def test_a_file_that_cannot_be_read_is_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "panel.json"
    path.write_text(text, encoding="latin-1")
    assert PanelMemory(path).state == PanelState()


def test_what_another_version_has_written_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "panel.json"
    path.write_text('{"pinned_groups": ["nothing of ours"], "of_the_future": 1}')
    assert PanelMemory(path).state.pinned_groups == ["nothing of ours"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = PanelMemory(tmp_path / "file" / "panel.json")
    memory.toggle(memory.state.unfolded, "wind")
    assert memory.state.unfolded == ["wind"]
    assert PanelMemory().state == PanelState(), "of one memory another knows nothing"
