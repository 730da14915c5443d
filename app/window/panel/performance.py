"""Plots of frame times and of the sediment budget, and the ledger itself."""

from __future__ import annotations

import numpy as np
from imgui_bundle import imgui, implot
from numpy.typing import NDArray

from app.model.ledger import Account, Ledger
from app.model.numbers import measured
from app.picture.history import FrameTimes, LedgerHistory
from app.picture.sides import Side
from app.picture.style import ACCENT, FAINT_TEXT, Colour, em
from app.window.panel import plots
from app.window.panel.widgets import faint, heading, right_aligned

CURVES: dict[str, Colour] = {
    "rock eroded": (0.80, 0.62, 0.48, 1.0),
    "sediment stored": (0.90, 0.80, 0.52, 1.0),
    "off the map": ACCENT,
}
assert tuple(CURVES) == LedgerHistory.CURVES

VOLUME_UNITS: tuple[tuple[str, float], ...] = (("km³", 1e9), ("million m³", 1e6), ("m³", 1.0))
ROUNDING = 1e-9  # of all there ever was: less than this is nothing


def performance(frame_times: FrameTimes, side: Side, whose: str) -> None:
    """The plots and the ledger. `whose` says of which world, if there are several."""
    plots.prepare()
    _frame_times(frame_times)
    if side.snapshot is not None:
        _ledger_plot(side.ledger_history, whose)
        _ledger_table(side.snapshot.ledger, whose)


def volume_unit(cubic_metres: float) -> tuple[str, float]:
    """The unit that suits a volume, and its size in cubic metres."""
    return next((unit for unit in VOLUME_UNITS if abs(cubic_metres) >= unit[1]), VOLUME_UNITS[-1])


def volume_text(cubic_metres: float) -> str:
    """A volume with three digits in a unit that suits it."""
    unit, size = volume_unit(cubic_metres)
    return f"{measured(cubic_metres / size)} {unit}"


def _frame_times(frame_times: FrameTimes) -> None:
    values = frame_times.values()
    heading("Frame time")
    imgui.same_line()
    faint("ms, the last frames")
    if implot.begin_plot(
        "##frame times", imgui.ImVec2(-1.0, em(6.0)), plots.PLOT_FLAGS | implot.Flags_.no_legend.value
    ):
        implot.setup_axes("", "", plots.AXIS_FLAGS | implot.AxisFlags_.no_tick_labels.value, plots.AXIS_FLAGS)
        if len(values):
            longest = max(float(values.max()) * 1.15, 20.0)
            implot.setup_axes_limits(0.0, frame_times.LENGTH, 0.0, longest, implot.Cond_.always.value)
            _shaded("frame", values, ACCENT)
        implot.end_plot()


def _shaded(name: str, values: NDArray[np.float32], colour: Colour) -> None:
    implot.plot_shaded(name, values, spec=implot.Spec(fill_color=imgui.ImVec4(*colour), fill_alpha=0.2))
    implot.plot_line(name, values, spec=implot.Spec(line_color=imgui.ImVec4(*colour)))


def _ledger_plot(history: LedgerHistory, whose: str) -> None:
    imgui.spacing()
    heading(f"Sediment budget{whose}")
    imgui.same_line()
    unit, size = volume_unit(max(float(history.curve(name).max(initial=0.0)) for name in CURVES))
    faint(f"{unit} over cycles")
    if implot.begin_plot("##ledger", imgui.ImVec2(-1.0, em(9.0)), plots.PLOT_FLAGS):
        implot.setup_axes("", "", plots.AXIS_FLAGS, plots.AXIS_FLAGS)
        implot.setup_axis_format(implot.ImAxis_.y1.value, "%.3g")
        implot.setup_legend(implot.Location_.north_west.value)
        for name, colour in CURVES.items():
            spec = implot.Spec(line_color=imgui.ImVec4(*colour), line_weight=1.6)
            implot.plot_line(name, history.cycles(), history.curve(name) / size, spec=spec)
        implot.end_plot()


def _ledger_table(ledger: Ledger, whose: str) -> None:
    flags = imgui.TableFlags_.row_bg.value | imgui.TableFlags_.sizing_stretch_prop.value
    imgui.spacing()
    heading(f"Ledger{whose}")
    if not imgui.begin_table("ledger", 2, flags):
        return
    for substance, account in ledger.accounts().items():
        _account(substance, account)
    imgui.end_table()


def _account(substance: str, account: Account) -> None:
    stored = account.expected()
    is_nothing = abs(stored) <= ROUNDING * (account.scale + sum(account.gained.values()))
    _row(substance, volume_text(0.0 if is_nothing else stored), is_total=True)
    for cause, volume in account.gained.items():
        _row(f"   + {cause}", volume_text(volume))
    for cause, volume in account.lost.items():
        _row(f"   − {cause}", volume_text(volume))


def _row(label: str, amount: str, *, is_total: bool = False) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    if is_total:
        heading(label)
    else:
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), label)
    imgui.table_next_column()
    right_aligned(amount)
