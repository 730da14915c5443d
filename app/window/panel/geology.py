"""Below the parameters of rivers and uplift: the geological time, and what has worn the land."""

from __future__ import annotations

from imgui_bundle import imgui

from app.model.numbers import measured, time_text
from app.model.snapshot import Snapshot
from app.picture.style import FAINT_TEXT
from app.window.panel.widgets import tooltip_on_hover

CUBIC_KILOMETRE = 1e9  # cubic metres
WORN = "worn "  # how the causes in the ledger begin that make loose material of rock


def geology_lines(snapshot: Snapshot | None) -> None:
    """How old the land is, and the rock that each process has worn."""
    if snapshot is None:
        return
    lines = [f"age of the land: {time_text(snapshot.years)}"] if snapshot.years else []
    worn = {cause: volume for cause, volume in snapshot.ledger.rock.lost.items() if cause.startswith(WORN)}
    total = sum(worn.values())
    lines += [
        f"{cause}: {measured(volume / CUBIC_KILOMETRE)} km³ of rock, {volume / total:.0%}"
        for cause, volume in sorted(worn.items(), key=lambda item: -item[1])
        if volume > 0.0
    ]
    for line in lines:
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), line)
        tooltip_on_hover("since this world began here; the ledger has all of it")
