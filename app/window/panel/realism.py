"""Realism of the land: measures beside the ranges of real terrain, and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui, implot

from app.model.realism import MEASURES, Curve, Measure, Realism, Verdict
from app.model.snapshot import Snapshot
from app.picture.style import ACCENT, FAINT_TEXT, GOOD, TEXT, WARNING, Colour, em, faded
from app.scene.comparison import NAMES
from app.window.panel import plots
from app.window.panel.widgets import faint, heading, tooltip_on_hover

MARKS: dict[Verdict, Colour] = {
    "inside": GOOD,
    "below": WARNING,
    "above": WARNING,
    "any": faded(FAINT_TEXT, 0.5),
    "none": faded(FAINT_TEXT, 0.5),
}
MARK_WIDTH, GAP = 0.9, 0.8  # heights of the font
REAL = "real terrain"
LAW = WARNING  # the fitted line


@dataclass(frozen=True)
class CurvePlot:
    """How a curve is drawn: title, axes, and unit conversions."""

    name: str
    title: str
    help: str
    logarithmic: bool = False
    x_unit: float = 1.0
    y_unit: float = 1.0
    steps: bool = False


CURVES: tuple[CurvePlot, ...] = (
    CurvePlot("slope_area", "slope by area, km²", "Mean gradient of river beds; θ is how it falls.", True, 1e-6),
    CurvePlot("hack", "way, km, by area, km²", "The longest way upstream (Hack's law).", True, 1e-6, 1e-3),
    CurvePlot("hypsometry", "height by part above", "Relative height over the part of the land that lies higher."),
    CurvePlot(
        "slopes",
        "slopes, % by °",
        "Part of the land in each degree; hillslopes of young ranges crowd at 30 to 35°.",
        y_unit=100.0,
        steps=True,
    ),
)
WIDE_ENOUGH_FOR_TWO = 17.0  # heights of the font
PLOT_HEIGHT = 7.5
AROUND_POINTS = 0.08  # margin around the points, as a fraction of the logarithmic range


def realism(snapshots: Sequence[Snapshot], shown: Snapshot | None, whose: str) -> None:
    """The section, with a column of values for each world, and the curves of the `shown` one.

    `whose` says which of several worlds that is.
    """
    surveys = [snapshot.survey for snapshot in snapshots]
    found = [survey.realism for survey in surveys if survey and survey.realism]
    if not found or len(found) < len(surveys):
        faint("the land is being surveyed")
        return
    _faint(f"measured after cycle {found[0].cycle}; green: as in {REAL}")
    imgui.spacing()
    columns = _Columns.fitting(found)
    columns.header()
    for each in MEASURES:
        columns.row(each, [one.values[each.name] for one in found])
    imgui.spacing()
    if shown is not None and shown.survey is not None and shown.survey.realism is not None:
        _curves(shown.survey.realism, whose)


@dataclass(frozen=True)
class _Columns:
    """Right edges of the columns, relative to the rows. Without room they stand below the titles."""

    value_rights: tuple[float, ...]
    range_right: float | None
    width: float

    @classmethod
    def fitting(cls, found: Sequence[Realism]) -> _Columns:
        def widest(texts: Sequence[str]) -> float:
            return max(imgui.calc_text_size(text).x for text in texts) + em(GAP)

        right = imgui.get_content_region_avail().x
        labels = em(MARK_WIDTH) + widest([each.title for each in MEASURES])
        values = [widest([each.text(one.values[each.name]) for each in MEASURES]) for one in found]
        ranges = widest([REAL, *(each.range_text for each in MEASURES)])
        if labels + sum(values) > right:
            return cls((), None, right)
        beside = labels + sum(values) + ranges <= right
        last = right - ranges if beside else right
        return cls(
            tuple(last - sum(values[world + 1 :]) for world in range(len(values))), right if beside else None, right
        )

    def header(self) -> None:
        """Column titles, if needed."""
        if len(self.value_rights) < 2 and self.range_right is None:
            return
        imgui.begin_group()
        imgui.text_unformatted("")
        if len(self.value_rights) > 1:
            for right, name in zip(self.value_rights, NAMES, strict=False):
                _ending_at(right, name)
        if self.range_right is not None:
            _ending_at(self.range_right, REAL, FAINT_TEXT)
        imgui.end_group()

    def row(self, each: Measure, values: Sequence[float | None]) -> None:
        """A measure with its values, and below it the meaning of those out of range."""
        imgui.begin_group()
        verdicts = [each.verdict(value) for value in values]
        shown: Verdict = next((verdict for verdict in verdicts if verdict != "inside"), "inside")
        _mark(MARKS[shown])
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), each.title)
        colours = [
            MARKS[verdict] if each.is_bounded and value is not None else TEXT
            for value, verdict in zip(values, verdicts, strict=True)
        ]
        if self.value_rights:
            for right, value, colour in zip(self.value_rights, values, colours, strict=True):
                _ending_at(right, each.text(value), colour)
        else:
            self._below([each.text(value) for value in values], colours)
        if self.range_right is not None:
            _ending_at(self.range_right, each.range_text, FAINT_TEXT)
        meanings = list(dict.fromkeys(filter(None, (each.meaning(value) for value in values))))
        lines = [f"{REAL}: {each.range_text}"] if self.range_right is None and each.is_bounded else []
        imgui.indent(em(MARK_WIDTH))
        for line in lines + meanings:
            _faint(line)
        imgui.unindent(em(MARK_WIDTH))
        imgui.end_group()
        tooltip_on_hover(each.help, f"{REAL}: {each.range_text}", *meanings)

    def _below(self, values: Sequence[str], colours: Sequence[Colour]) -> None:
        """Values with the letters of their worlds."""
        imgui.text_unformatted("")
        right = em(MARK_WIDTH)
        for letter, value, colour in zip(NAMES, values, colours, strict=False):
            text = f"{letter} {value}" if len(values) > 1 else value
            width = imgui.calc_text_size(text).x
            if right + width > self.width:
                imgui.text_unformatted("")
                right = em(MARK_WIDTH)
            _ending_at(right + width, text, colour)
            right += width + em(GAP)


def _faint(text: str) -> None:
    """Faint text, wrapped."""
    imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*FAINT_TEXT))
    imgui.text_wrapped(text)
    imgui.pop_style_color()


def _mark(colour: Colour) -> None:
    """A dot before a label."""
    place, height = imgui.get_cursor_screen_pos(), imgui.get_text_line_height()
    middle = imgui.ImVec2(place.x + em(0.3), place.y + height / 2.0)
    imgui.get_window_draw_list().add_circle_filled(middle, em(0.2), imgui.get_color_u32(imgui.ImVec4(*colour)))
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + em(MARK_WIDTH))


def _ending_at(right: float, text: str, colour: Colour = TEXT) -> None:
    """Right-aligned text on the same line."""
    imgui.same_line(right - imgui.calc_text_size(text).x)
    imgui.text_colored(imgui.ImVec4(*colour), text)


def _curves(found: Realism, whose: str) -> None:
    """The plots of the shown world."""
    if whose:
        heading(f"Curves{whose}")
    plots.prepare()
    two = imgui.get_content_region_avail().x >= em(WIDE_ENOUGH_FOR_TWO)
    if not imgui.begin_table("curves", 2 if two else 1, imgui.TableFlags_.sizing_stretch_same.value):
        return
    for plot in CURVES:
        if plot.name in found.curves:
            imgui.table_next_column()
            imgui.text_disabled(plot.title)
            tooltip_on_hover(plot.help)
            _curve(plot, found.curves[plot.name])
    imgui.end_table()


def _curve(plot: CurvePlot, curve: Curve) -> None:
    flags = plots.PLOT_FLAGS | implot.Flags_.no_legend.value
    if not implot.begin_plot(f"##{plot.name}", imgui.ImVec2(-1.0, em(PLOT_HEIGHT)), flags):
        return
    x, y = curve.x * plot.x_unit, curve.y * plot.y_unit
    implot.setup_axes("", "", plots.AXIS_FLAGS, plots.AXIS_FLAGS)
    if plot.logarithmic:
        for axis, values in ((implot.ImAxis_.x1, x), (implot.ImAxis_.y1, y)):
            low, high = float(values.min()), float(values.max())
            room = (high / low) ** AROUND_POINTS
            implot.setup_axis_scale(axis.value, implot.Scale_.log10.value)
            implot.setup_axis_format(axis.value, "%g")
            implot.setup_axis_limits(axis.value, low / room, high * room, implot.Cond_.always.value)
    colour = imgui.ImVec4(*ACCENT)
    if plot.steps:
        steps = implot.Spec(line_color=colour, fill_color=colour, fill_alpha=0.35)
        steps.flags = implot.StairsFlags_.shaded.value
        implot.plot_stairs(plot.title, x, y, spec=steps)
    elif curve.law is None:
        implot.plot_shaded(plot.title, x, np.zeros_like(y), y, spec=implot.Spec(fill_color=colour, fill_alpha=0.2))
        implot.plot_line(plot.title, x, y, spec=implot.Spec(line_color=colour))
    else:
        dots = implot.Spec(marker=implot.Marker_.circle.value, marker_size=em(0.14), marker_fill_color=colour)
        dots.marker_line_color = colour
        implot.plot_scatter(plot.title, x, y, spec=dots)
        ends = curve.x[[0, -1]]
        fitted = curve.law.factor * ends**curve.law.exponent
        line = implot.Spec(line_color=imgui.ImVec4(*LAW), line_weight=1.6)
        implot.plot_line("fitted", ends * plot.x_unit, fitted * plot.y_unit, spec=line)
    implot.end_plot()
