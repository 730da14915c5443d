"""Below the parameters of snowballs: runs of many at once, how far one is, and the blur after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from app.model.numbers import spaced
from app.picture.style import FAINT_TEXT
from app.window.actions import BY_NAME
from app.window.commands import running
from app.window.panel.widgets import tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

# As in the article's comparison (Talle 2020)
BALLS: tuple[int, ...] = (35_000, 50_000, 100_000)


def snowball_runs(application: Application) -> None:
    """A button for each number of balls; while they fall, a progress bar and a button to stop instead."""
    run = application.simulation.status.snowball_run
    gap = imgui.get_style().item_inner_spacing.x
    width = imgui.get_content_region_avail().x
    if run is None:
        button = imgui.ImVec2((width - len(BALLS) * gap) / (len(BALLS) + 1), 0.0)
        for balls in BALLS:
            if imgui.button(f"{spaced(balls)}###roll {balls}", button):
                running.roll_snowballs(application, balls)
            tooltip_on_hover(
                f"Run {spaced(balls)} snowballs, with all other processes paused",
                "even if this process is off",
            )
            imgui.same_line(0.0, gap)
        blur = BY_NAME["smooth"]
        if imgui.button(f"{blur.label}###smooth", button):
            blur.run(application)
        tooltip_on_hover(blur.tooltip)
    else:
        fallen, balls = run
        cancel = imgui.calc_text_size("Cancel").x + 2.0 * imgui.get_style().frame_padding.x
        size = imgui.ImVec2(width - cancel - gap, 0.0)
        imgui.progress_bar(fallen / balls, size, f"{spaced(fallen)} of {spaced(balls)}")
        imgui.same_line(0.0, gap)
        if imgui.button("Cancel###cancel snowballs"):
            running.cancel_snowballs(application)
        tooltip_on_hover("Stop this run")
    snapshot = application.snapshot
    if snapshot is not None and snapshot.snowballs:
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{spaced(snapshot.snowballs)} so far")
