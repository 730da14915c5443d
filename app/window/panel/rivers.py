"""Results of the survey: the flow path from a place with its profile, and lists of lakes, river mouths and falls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.numbers import area_text, length_text, measured
from app.model.overlays import OVERLAYS
from app.model.snapshot import FlowPath, Survey
from app.picture.style import FAINT_TEXT, em
from app.scene.comparison import NAMES
from app.window.panel import plots
from app.window.panel.performance import volume_text
from app.window.panel.widgets import faint, heading, icon_button, right_aligned, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

SHOWN = 12  # lines of a list that are seen without scrolling


def rivers(application: Application) -> None:
    """The section below the parameters."""
    snapshot = application.snapshot
    survey = snapshot.survey if snapshot else None
    imgui.spacing()
    _filling(application, survey)
    if survey is None or not survey.layers:
        faint("the land is being surveyed")
        return
    faint(f"surveyed after cycle {survey.cycle}")
    if survey.flow_path is None:
        faint("click on the land to see its catchment and flow path")
    else:
        _flow_path(application, survey.flow_path)
    _channels(application)
    _lakes(application, survey)
    _mouths(application, survey)
    _falls(application, survey)


def _filling(application: Application, survey: Survey | None) -> None:
    """A button that restarts the fronts of the filling, and their progress."""
    if OVERLAYS[application.documents.scene.view.overlay].survey != "filling":
        return
    if icon_button(icons.ICON_FA_ROTATE_LEFT, "fill again", "Restart the filling from the coast"):
        application.watching.fill_again()
    imgui.same_line()
    imgui.align_text_to_frame_padding()
    done = survey is not None and survey.filled
    imgui.text_unformatted(f"round {survey.fronts if survey else 0}{'; complete' if done else ''}")


def _flow_path(application: Application, flow_path: FlowPath) -> None:
    heading("Flow path")
    imgui.same_line()
    if icon_button(icons.ICON_FA_XMARK, "forget place", "Clear this point (Esc)"):
        application.watching.ask_about(None)
    if imgui.begin_table("flow path", 2, imgui.TableFlags_.sizing_stretch_prop.value):
        _fact("from", f"row {flow_path.row}, column {flow_path.column}")
        _fact("contributing area", area_text(flow_path.catchment))
        _fact("discharge", f"{measured(float(flow_path.discharge[0]))} m³/s")
        _fact("to the outlet", length_text(flow_path.length))
        _fact("drop", length_text(flow_path.drop))
        imgui.end_table()
    if len(flow_path.distances) < 2:
        return
    plots.profile("km downstream", flow_path.distances * np.float32(1e-3), flow_path.ground, flow_path.water, em(8.0))


def _fact(name: str, value: str) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), name)
    imgui.table_next_column()
    right_aligned(value)


CHANNEL_FIGURES: tuple[tuple[str, str, str], ...] = (
    ("width", "width", "median width of channels, in cells"),
    ("relative_width", "at a flow of 1", "width divided by the square root of the flow, in cells"),
    ("migration", "migration", "cells in 1000 cycles"),
    ("bank_wear", "wear of banks", "metres by which banks rose or sank in 1000 cycles"),
)


def _channels(application: Application) -> None:
    """The figures of channels, a column for each world."""
    worlds = [snapshot.survey.channels if snapshot.survey else None for snapshot in application.sides.snapshots]
    if not any(worlds):
        return
    imgui.spacing()
    heading("Channels")
    if not imgui.begin_table("channels", 1 + len(worlds), imgui.TableFlags_.sizing_stretch_prop.value):
        return
    if len(worlds) > 1:
        imgui.table_next_row()
        for name in ("", *NAMES[: len(worlds)]):
            imgui.table_next_column()
            right_aligned(name)
    for field, label, help in CHANNEL_FIGURES:
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), label)
        tooltip_on_hover(help)
        for figures in worlds:
            imgui.table_next_column()
            value = getattr(figures, field) if figures else math.nan
            right_aligned("–" if math.isnan(value) else measured(value))
    imgui.end_table()


def _lakes(application: Application, survey: Survey) -> None:
    imgui.spacing()
    heading("Lakes, filled to their outlets")
    faint(f"{survey.lake_count} with {volume_text(survey.lake_volume)}; click one to show it")
    rows = [
        ((lake.row, lake.column), (volume_text(lake.volume), area_text(lake.area), length_text(lake.depth)))
        for lake in survey.lakes
    ]
    _list(application, survey, "lakes", ("volume", "area", "depth"), rows)


def _mouths(application: Application, survey: Survey) -> None:
    imgui.spacing()
    heading("River mouths")
    faint(f"{survey.mouth_count}; click one to show it")
    rows = [
        ((mouth.row, mouth.column), (f"{measured(mouth.discharge)} m³/s", area_text(mouth.catchment)))
        for mouth in survey.mouths
    ]
    _list(application, survey, "mouths", ("discharge", "catchment"), rows)


def _falls(application: Application, survey: Survey) -> None:
    imgui.spacing()
    heading("Falls")
    if not survey.falls:
        faint("no river drops steeply over more than it is deep")
        return
    faint(f"{survey.fall_count}; click one to show it")
    rows = [
        ((fall.row, fall.column), (length_text(fall.height), f"{measured(fall.discharge)} m³/s"))
        for fall in survey.falls
    ]
    _list(application, survey, "falls", ("height", "discharge"), rows)


def _list(
    application: Application,
    survey: Survey,
    name: str,
    columns: Sequence[str],
    rows: Sequence[tuple[tuple[int, int], Sequence[str]]],
) -> None:
    """A table of places with their texts; a click on a row asks about its place and looks there."""
    if not rows:
        return
    height = imgui.get_text_line_height_with_spacing() * (min(len(rows), SHOWN) + 1.5)
    flags = imgui.TableFlags_.row_bg.value | imgui.TableFlags_.scroll_y.value
    if not imgui.begin_table(name, len(columns), flags, imgui.ImVec2(0.0, height)):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    for column in columns:
        imgui.table_setup_column(column)
    imgui.table_headers_row()
    for number, (place, (first, *others)) in enumerate(rows):
        imgui.table_next_row()
        imgui.table_next_column()
        is_shown = survey.flow_path is not None and survey.flow_path.asked == place
        whole_row = imgui.SelectableFlags_.span_all_columns.value
        if imgui.selectable(f"{first}###{name} {number}", is_shown, whole_row)[0]:
            application.watching.ask_about(place, look_there=True)
        for text in others:
            imgui.table_next_column()
            imgui.text_unformatted(text)
    imgui.end_table()
