"""What all plots of the panel have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from imgui_bundle import imgui, implot
from numpy.typing import NDArray

from app.picture.style import FAINT_TEXT, NOTHING, WARNING, WATER, em, faded

GROUND = (0.80, 0.62, 0.48, 1.0)

PLOT_FLAGS = implot.Flags_.no_menus.value | implot.Flags_.no_box_select.value | implot.Flags_.no_mouse_text.value
AXIS_FLAGS = implot.AxisFlags_.no_menus.value | implot.AxisFlags_.no_highlight.value | implot.AxisFlags_.auto_fit.value


def prepare() -> None:
    """To be called in each frame that has plots, before the first."""
    if implot.get_current_context() is None:
        implot.create_context()
    _style()


def release() -> None:
    """Give back what the plots keep, before ImGui itself ends."""
    if implot.get_current_context() is not None:
        implot.destroy_context()


def profile(unit: str, along: NDArray[Any], ground: NDArray[Any], water: NDArray[Any], height: float) -> None:
    """A plot of ground and water's surface in metres over the way along them, which is in `unit`; all are [point].

    `height` is in logical units; -1: all that is free.
    """
    prepare()
    if not implot.begin_plot("##profile", imgui.ImVec2(-1.0, height), PLOT_FLAGS | implot.Flags_.no_legend.value):
        return
    implot.setup_axes(unit, "m", AXIS_FLAGS, AXIS_FLAGS)
    floor = np.full_like(ground, ground.min())
    for name, upper, lower, colour in (("water", water, ground, WATER), ("ground", ground, floor, GROUND)):
        spec = implot.Spec(fill_color=imgui.ImVec4(*colour), fill_alpha=0.5)
        implot.plot_shaded(name, along, lower, upper, spec=spec)
    for name, line, colour in (("ground", ground, GROUND), ("water", water, WATER)):
        implot.plot_line(name, along, line, spec=implot.Spec(line_color=imgui.ImVec4(*colour)))
    implot.end_plot()


def _style() -> None:
    style = implot.get_style()
    for colour, value in {
        implot.Col_.frame_bg: NOTHING,
        implot.Col_.plot_bg: (1.0, 1.0, 1.0, 0.03),
        implot.Col_.plot_border: NOTHING,
        implot.Col_.legend_bg: NOTHING,
        implot.Col_.legend_border: NOTHING,
        implot.Col_.axis_text: FAINT_TEXT,
        implot.Col_.axis_grid: (1.0, 1.0, 1.0, 0.10),
        implot.Col_.axis_tick: NOTHING,
        implot.Col_.crosshairs: faded(WARNING, 0.5),
    }.items():
        style.set_color_(colour, imgui.ImVec4(*value))
    style.plot_min_size = imgui.ImVec2(em(5.0), em(4.0))
    style.plot_padding = imgui.ImVec2(em(0.2), em(0.3))
    style.label_padding = imgui.ImVec2(em(0.3), em(0.2))
    style.legend_padding = imgui.ImVec2(em(0.4), em(0.3))
    style.legend_inner_padding = imgui.ImVec2(em(0.2), em(0.15))
