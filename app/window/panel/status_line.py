"""The status line at the bottom of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.engine.status import State
from app.files.live_recorder import duration
from app.model.ledger import LARGEST_IMBALANCE
from app.model.numbers import measured, spaced, time_text
from app.picture.style import ACCENT, ERROR, FAINT_TEXT, TEXT, WARNING, Colour, em
from app.scene.comparison import NAMES
from app.window.actions import BY_NAME
from app.window.panel.readout import readout
from app.window.panel.side_bar import side_bar
from app.window.panel.widgets import tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application
    from app.window.recording import Recording

RULER_HELP = "Shift + click measures from there"

STATES: dict[State, tuple[str, Colour]] = {
    "loading": (icons.ICON_FA_HOURGLASS_HALF, WARNING),
    "compiling": (icons.ICON_FA_GEARS, WARNING),
    "growing": (icons.ICON_FA_SEEDLING, WARNING),
    "running": (icons.ICON_FA_PLAY, ACCENT),
    "paused": (icons.ICON_FA_PAUSE, FAINT_TEXT),
    "failed": (icons.ICON_FA_TRIANGLE_EXCLAMATION, ERROR),
}


def height() -> float:
    """Of the line, in logical units."""
    return imgui.get_frame_height() + em(0.3)


def status_line(application: Application) -> None:
    """Show what fits, by importance."""
    with side_bar("status", height(), (0.8, 0.15)) as is_seen:
        if is_seen:
            _items(application)


def _items(application: Application) -> None:
    status = application.simulation.status
    snapshot = application.snapshot
    icon, colour = STATES[status.state]
    # A failure is shown in full in its own box.
    words = status.message if status.message and status.state != "failed" else status.state
    if status.compiling is not None and status.state != "failed":
        words = status.compiling.words
    if target := status.timeline.target:
        words = f"on the way to cycle {spaced(target.cycle)}"
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*colour), f"{icon}  {words}")

    if under := readout_under_pointer(application):
        _item(under, TEXT, "what lies under the pointer: height, slope, water, ground, place", RULER_HELP)
    _recording(application.recording)
    exporting = application.exporting
    if exporting.is_writing:
        text = f"exporting {len(exporting.written)} of {len(exporting.files)}"
        _item(text, WARNING, f"into {exporting.folder}; {BY_NAME['export_dialog'].key_text} shows it")
    _item(f"cycle {spaced(status.cycle)}", TEXT, "cycles since the start of this world")
    if snapshot is not None and snapshot.years:
        _item(time_text(snapshot.years), TEXT, "geological time since the land began")
    pace = status.cycles_per_second if status.state == "running" else 0.0
    _item(f"{pace:.0f} cycles/s", FAINT_TEXT, "averaged over the last second")
    total = sum(status.milliseconds.values())
    each = [f"{name}: {milliseconds:.2f} ms" for name, milliseconds in status.milliseconds.items()]
    label = next(iter(status.milliseconds)) if len(status.milliseconds) == 1 else "processes"
    if status.milliseconds:
        _item(f"{label} {total:.1f} ms", FAINT_TEXT, "time of each process in a cycle", *each)
    _item(f"frame {application.frame_times.typical:.0f} ms", FAINT_TEXT, "time to draw a frame, median of the last 30")
    if snapshot is not None:
        imbalances = [shown.imbalance for shown in application.sides.snapshots]
        each = [f"{imbalance:.0e}" for imbalance in imbalances]
        if len(each) > 1:
            each = [f"{name} {text}" for name, text in zip(NAMES, each, strict=False)]
        is_off = max(imbalances) > LARGEST_IMBALANCE
        _item(
            f"mass balance {' · '.join(each)}",
            WARNING if is_off else FAINT_TEXT,
            "mass lost or gained, as a fraction of all rock, sediment and water",
            f"rounding alone leaves less than {LARGEST_IMBALANCE:.0e}",
        )
        rows, columns = snapshot.shape
        _item(f"{columns} × {rows} cells of {measured(snapshot.cell_size)} m", FAINT_TEXT, "size of the map")


def _recording(recording: Recording) -> None:
    """The running recording, and clips being finished."""
    if recorder := recording.current:
        text = f"{icons.ICON_FA_CIRCLE} {duration(recorder.seconds)} · {recorder.bytes / 1e6:.1f} MB"
        if recorder.dropped:
            text += f" · {spaced(recorder.dropped)} dropped"
        key = BY_NAME["record"].key_text
        _item(text, ERROR, f"recording {recorder.path.name}; {key} stops", "dropped: pictures that came too fast")
    for recorder in recording.finishing:
        _item(f"finishing {recorder.path.name}", WARNING, "the clip is there soon")


def _item(text: str, colour: Colour, *help: str) -> None:
    """Another item, if it fits."""
    gap = em(1.6)
    imgui.same_line(0.0, gap)
    if imgui.calc_text_size(text).x > imgui.get_content_region_avail().x:
        imgui.new_line()
        return
    imgui.text_colored(imgui.ImVec4(*colour), text)
    tooltip_on_hover(*help)


def readout_under_pointer(application: Application) -> str:
    """The readout of the cell under the pointer; empty off the land or over the panel."""
    io = imgui.get_io()
    if io.want_capture_mouse or application.camera.flying or application.camera.dragging:
        return ""
    hit = application.views.ground_under(io.mouse_pos.x, io.mouse_pos.y)
    cell = application.views.cell_at(hit.x, hit.z) if hit is not None else None
    snapshot = application.views.pointed_side.snapshot
    return "" if cell is None or snapshot is None else readout(snapshot, cell)
