"""The brush of the pointer: tool, material, size and strength."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Annotated, ClassVar

import msgspec

from app.brushes.material import SEDIMENT
from app.brushes.plants import ALL_PLANTS
from app.brushes.tools import RATES, TOOLS, Tool
from app.model.parameters import Declaration, Parameters, declarations, parameter
from app.model.plants import GRASS
from app.model.snapshot import Snapshot
from app.window.editing import Editing
from kernels.brushes import FORMS

FACTOR, STEP = 1.15, 0.05  # per key press or wheel notch: for logarithmic sliders, and for others
BY_WHEEL = {  # with Shift, Ctrl and Alt
    (False, True, False): "radius",
    (True, False, False): "strength",
    (False, False, True): "hardness",
    (True, True, False): "spacing",
}
DROPS_OF_LARGE_DAB, DROPS_PER_CELL = 4000.0, 0.04  # per dab of full strength: maximum, and per cell


class BrushParameters(Parameters, frozen=True, kw_only=True):
    """How a brush is used."""

    title: ClassVar[str] = "Brush"

    # fmt: off
    # Relative to the longer side of the land, so that it fits any land; shown in metres
    radius: Annotated[float, parameter(0.002, 0.5, "how far it reaches; also Ctrl + wheel, + and -", unit="m",
        log=True)] = 0.06
    strength: Annotated[float, parameter(0.01, 1.0, "how much a touch does; also Shift + wheel, I and U",
        unit="")] = 0.5
    hardness: Annotated[float, parameter(0.0, 1.0,
        "the part of the radius in which it acts fully; also Alt + wheel, Shift+I, Shift+U")] = 0.35
    spacing: Annotated[float, parameter(0.05, 2.0,
        "from dab to dab, relative to the radius; also Ctrl + Shift + wheel, Y and Shift+Y", log=True)] = 0.25
    level: Annotated[float, parameter(-20_000.0, 20_000.0, "the height that the land or the lake comes to",
        unit="m")] = 0.0
    # fmt: on


SETTINGS = {declaration.name: declaration for declaration in declarations(BrushParameters, "brush.")}


class Brush:
    """The tool that the pointer holds, if any, and its settings."""

    def __init__(
        self, editing: Editing, snapshot: Callable[[], Snapshot | None], under_pointer: Callable[[], Snapshot | None]
    ) -> None:
        """`snapshot` returns the land that the panel shows, `under_pointer` the one that is painted."""
        self.settings = BrushParameters()
        self.level_is_told = False  # otherwise the land determines it
        self.mask = ""  # expression of where it acts; empty: everywhere
        self.image = ""  # image for the stamp, if chosen
        self.tool_name = ""  # empty: the pointer moves the camera
        self._editing = editing
        self._snapshot = snapshot
        self._snapshot_under_pointer = under_pointer
        self._chosen: dict[str, str] = {}  # by the kind of choice: loose, plant, form, rate
        self._last_tool = "raise"
        self._last_of_group: dict[str, str] = {}
        self._overlay_before: str | None = None  # while a tool shows its own overlay

    # The tool.

    @property
    def tool(self) -> Tool | None:
        return TOOLS.get(self.tool_name)

    @property
    def is_active(self) -> bool:
        return bool(self.tool_name)

    def choose(self, name: str) -> None:
        """Select a tool, or none."""
        before = self.tool
        self.tool_name = name
        if name:
            self._last_tool = name
            self._last_of_group[TOOLS[name].group] = name
        self._show_overlay_of(before, self.tool)

    def toggle(self) -> None:
        """Select the last tool again, or none."""
        self.choose("" if self.is_active else self._last_tool)

    def choose_group(self, group: str) -> None:
        """Select the last used tool of a group; again: the next tool of the group."""
        names = [name for name, tool in TOOLS.items() if tool.group == group]
        current = self._last_of_group.get(group, names[0])
        if self.tool is not None and self.tool.group == group:
            current = names[(names.index(self.tool_name) + 1) % len(names)]
        self.choose(current)

    def _show_overlay_of(self, before: Tool | None, tool: Tool | None) -> None:
        if tool is not None and tool.shows:
            if before is None or not before.shows:
                self._overlay_before = self._editing.overlay
            self._editing.show_overlay(tool.shows.format(choice=self.choice_of(self.tool_name)))
        elif before is not None and before.shows and self._overlay_before is not None:
            self._editing.show_overlay(self._overlay_before)
            self._overlay_before = None

    def choose_option(self, name: str) -> None:
        """Select the material, plant, form or rate that the tool works with."""
        tool = self.tool
        if tool is not None:
            self._chosen[tool.choice] = name
            self._show_overlay_of(tool, tool)

    def choices(self, name: str) -> tuple[str, ...]:
        """The choices of a tool on the current land."""
        snapshot = self._snapshot()
        match TOOLS[name].choice:
            case "loose":
                return snapshot.materials.names if snapshot and snapshot.materials else (SEDIMENT,)
            case "plant":
                trees = snapshot.flora.names if snapshot else ()
                return (GRASS, *trees) if name == "sow" else (ALL_PLANTS, GRASS, *trees)
            case "rate":
                return RATES
            case "form":
                return (*FORMS, self.image) if self.image else tuple(FORMS)
        return ()

    def choice_of(self, name: str) -> str:
        """The current choice of a tool; empty if it has none."""
        known = self.choices(name)
        chosen = self._chosen.get(TOOLS[name].choice, "")
        return chosen if chosen in known or not known else known[0]

    # Sizes.

    @property
    def radius(self) -> float:
        """In metres."""
        snapshot = self._snapshot_under_pointer()
        if snapshot is None:
            return self.settings.radius
        return self.settings.radius * max(snapshot.shape) * snapshot.cell_size

    def set(self, name: str, value: float) -> None:
        """Set a setting to a value, clamped to its range."""
        declaration = SETTINGS[name]
        value = min(max(value, declaration.low), declaration.high)
        self.settings = msgspec.structs.replace(self.settings, **{name: value})

    def step(self, name: str, steps: float) -> None:
        """Change a setting by steps, as keys and wheel do."""
        value = getattr(self.settings, name)
        self.set(name, value * FACTOR**steps if SETTINGS[name].log else value + STEP * steps)

    def shown(self, name: str) -> tuple[Declaration, float]:
        """A setting as its slider shows it; the radius is in metres."""
        declaration, value = SETTINGS[name], getattr(self.settings, name)
        if name != "radius":
            return declaration, value
        metres = self.radius / value
        low, high = declaration.low * metres, declaration.high * metres
        return dataclasses.replace(declaration, low=low, high=high), value * metres

    def set_shown(self, name: str, value: float) -> None:
        """Set a setting from the value of its slider."""
        self.set(name, value * self.settings.radius / self.radius if name == "radius" else value)

    def scroll(self, amount: float, *, shift: bool, control: bool, alt: bool) -> bool:
        """Change the brush by the wheel. Returns whether the wheel was used for it."""
        if not self.is_active:
            return False
        if not (shift or control or alt):
            return False
        self.step(BY_WHEEL.get((shift, control, alt), "radius"), amount)
        return True

    def amount(self, tool: Tool) -> float:
        """The effect of one dab at the current strength, in the unit of the tool."""
        strength, spacing = self.settings.strength, self.settings.spacing
        match tool.amount:
            case "metres":
                return strength * tool.full * self.radius * (spacing if tool.gesture == "paint" else 1.0)
            case "part":
                return min(strength * (spacing if tool.gesture == "paint" else 1.0) * 1.5, 1.0)
            case "seeds":
                return strength * spacing * 2.0
        snapshot = self._snapshot()
        cell = snapshot.cell_size if snapshot else 1.0
        cells = math.pi * (self.radius / cell) ** 2
        return max(1.0, min(strength * DROPS_PER_CELL * cells, DROPS_OF_LARGE_DAB))
