"""Strokes of the brush in the scene."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from imgui_bundle import imgui
from pyglm import glm

from app.brushes.tools import TOOLS, Tool
from app.engine.thread import SimulationThread
from app.model.layered_map import TOUCHES
from app.picture.ground import Ground
from app.picture.sides import Side, Sides
from app.scene.edits import Dab, Stroke
from app.window.brush import Brush
from app.window.documents import Documents
from app.window.editing import Editing
from app.window.notices import Notices
from app.window.springs import Springs
from app.window.views import Views

DABS_PER_SECOND = 20.0  # while the pointer rests
LONGEST_WAIT = 0.15  # seconds: a picture waits so long for the land that shows the stroke
LARGEST_NUMBER = 2**53  # of a stroke
DIGITS = 3  # decimals of cells in a journal; at least millimetres


class Brushing(Brush):
    """The brush, and the stroke that is being drawn with it."""

    def __init__(
        self,
        simulation: SimulationThread,
        documents: Documents,
        editing: Editing,
        sides: Sides,
        views: Views,
        springs: Springs,
        notices: Notices,
    ) -> None:
        super().__init__(editing, lambda: views.snapshot, lambda: views.pointed_side.snapshot)
        self._simulation = simulation
        self._documents = documents
        self._sides = sides
        self._views = views
        self._springs = springs
        self._notices = notices
        self.drawn: Callable[[int], None] = lambda number: None  # called with the number of a stroke that has ended
        self._drawing: _Drawing | None = None
        self._end_of_last: tuple[float, float] | None = None  # where a straight line continues
        self.pointer: tuple[float, float] | None = None  # in the window, in logical units

    def choose(self, name: str) -> None:
        """Select a tool, or none. The current stroke ends."""
        self.cancel()
        super().choose(name)

    @property
    def is_drawing(self) -> bool:
        return self._drawing is not None

    # Strokes.

    def press(self, x: float, y: float, *, shift: bool, control: bool) -> None:
        """Begin a stroke at a place of the window."""
        place = self._place(x, y)
        tool = self.tool
        if tool is None or place is None:
            return
        if tool.act is None:
            self._springs.toggle(self._views.cell_at(*place))
            self._switch_on(tool)
            return
        name = tool.opposite if control and tool.opposite else self.tool_name
        self._switch_on(TOOLS[name])
        if name == "pour":
            self._tell_of_dry_slope(place)
        level = self.settings.level if self.level_is_told else 0.0
        if tool.takes_level and not self.level_is_told:
            level = self._views.height_at(*place)
        self._drawing = _Drawing(
            name,
            number=random.randrange(LARGEST_NUMBER),
            world=self._views.painted_world,
            level=level,
            places=[place],
        )
        if TOOLS[name].gesture == "paint":
            if shift and self._end_of_last is not None:
                self._drawing.places = [self._end_of_last]
                self._draw_to(place)
            else:
                self._drawing.dabs.append(self._dab(place))
            self._send(self._drawing)
            self._sides.abandon()  # it would delay the picture that shows the touch

    def move(self, x: float, y: float) -> None:
        """The pointer has moved."""
        self.pointer = (x, y)
        if self._drawing is None:
            return
        place = self._place(x, y)
        if place is None:
            return
        gesture = TOOLS[self._drawing.tool].gesture
        if gesture == "paint":
            self._draw_to(self._in_line(place))
        elif gesture == "curve":
            if math.dist(place, self._drawing.places[-1]) > self.radius:
                self._drawing.places.append(place)
            self._drawing.end = place
        else:
            self._drawing.end = place

    def release(self) -> None:
        """End the stroke."""
        drawing, self._drawing = self._drawing, None
        if drawing is None:
            return
        gesture = TOOLS[drawing.tool].gesture
        if gesture == "paint":
            self._end(drawing)
            self._end_of_last = drawing.places[-1]
            return
        places = drawing.places
        if drawing.end is not None and drawing.end != places[-1] and gesture != "stamp":
            places = [*places, drawing.end]
        if gesture == "stamp" or len(places) > 1:
            drawing.dabs = [self._dab(place) for place in places]
            self._end(drawing)

    def cancel(self) -> None:
        """Stop drawing. The drawn part stays and can be undone."""
        if self._drawing is not None and TOOLS[self._drawing.tool].gesture == "paint":
            self._end(self._drawing)
        self._drawing = None

    def update(self, dt: float) -> None:
        """Let `dt` seconds pass: continue flowing brushes under a resting pointer, and send new dabs."""
        drawing = self._drawing
        if drawing is None or TOOLS[drawing.tool].gesture != "paint":
            return
        if TOOLS[drawing.tool].flows and not drawing.dabs:
            drawing.rested += dt
            while drawing.rested > 1.0 / DABS_PER_SECOND:
                drawing.rested -= 1.0 / DABS_PER_SECOND
                if len(drawing.dabs) < 4:  # no catching up after a slow frame
                    drawing.dabs.append(self._dab(drawing.places[-1]))
        else:
            drawing.rested = 0.0
        self._send(drawing)

    @property
    def awaits_land(self) -> bool:
        """Whether land with the stroke is about to arrive, so that a picture without it would only delay it."""
        drawing, snapshot = self._drawing, self._snapshot_under_pointer()
        if drawing is None or snapshot is None or drawing.sent_at is None:
            return False
        # An older snapshot may still arrive; the first with the touch follows on a cycle.
        is_touched = snapshot.version % TOUCHES > 0 or snapshot.cycle > drawing.cycle_when_sent + 1
        has_come = is_touched and snapshot.version != drawing.version_when_sent
        if has_come or time.perf_counter() - drawing.sent_at > LONGEST_WAIT:
            drawing.sent_at, drawing.picture_after_wait = None, self._sides.pictures + 1
        return drawing.sent_at is not None

    def _draw_to(self, place: tuple[float, float]) -> None:
        """Add dabs along a straight line to a place, at the distance of the spacing."""
        assert self._drawing is not None
        step = self.settings.spacing * self.radius
        last = self._drawing.places[-1]
        distance = math.dist(last, place)
        for number in range(1, int(distance / step) + 1):
            part = number * step / distance
            between = (last[0] + part * (place[0] - last[0]), last[1] + part * (place[1] - last[1]))
            self._drawing.dabs.append(self._dab(between))
            self._drawing.places[-1:] = [between]

    def _in_line(self, place: tuple[float, float]) -> tuple[float, float]:
        """With Shift, the place projected onto the straight line of the stroke."""
        drawing = self._drawing
        assert drawing is not None
        if not imgui.get_io().key_shift:
            drawing.line = None
            return place
        if drawing.line is None:
            drawing.line = drawing.places[-1]
        first = drawing.line
        if abs(place[0] - first[0]) > abs(place[1] - first[1]):
            return (place[0], first[1])
        return (first[0], place[1])

    def _end(self, drawing: _Drawing) -> None:
        """Send the last dabs."""
        self._send(drawing)
        if drawing.sent:
            self.drawn(drawing.number)

    def _send(self, drawing: _Drawing) -> None:
        """Send the dabs that were not sent yet."""
        if not drawing.dabs:
            return
        tool = TOOLS[drawing.tool]
        radius, angle = self._stamped(drawing) if tool.gesture == "stamp" else (self.radius, 0.0)
        part = Stroke(
            drawing.tool,
            tuple(drawing.dabs),
            radius=self._rounded(radius),
            amount=round(
                self.amount(tool) * (radius / self.radius if tool.gesture == "stamp" else 1.0), 3 + self._digits
            ),
            hardness=round(self.settings.hardness, 4),
            level=self._rounded(drawing.level),
            angle=round(angle, 2),
            choice=self.choice_of(drawing.tool),
            number=drawing.number,
            first=drawing.sent,
            world=drawing.world,
            mask=self.mask,
        )
        drawing.dabs = []
        drawing.sent += len(part.dabs)
        snapshot = self._snapshot_under_pointer()
        # What has come meanwhile is drawn first: waiting for the next would delay both.
        is_drawn = part.begins or snapshot is None or self._views.pointed_side.drawn_version == snapshot.version
        if drawing.sent_at is None and is_drawn and self._sides.pictures >= drawing.picture_after_wait:
            drawing.sent_at = time.perf_counter()
            drawing.version_when_sent = snapshot.version if snapshot else 0
            drawing.cycle_when_sent = self._simulation.status.cycle
        if part.begins:
            self._documents.ask_as_step(part, f"{tool.label} {part.choice.rpartition('/')[2]}".rstrip())
        else:
            self._simulation.ask(part)

    def _stamped(self, drawing: _Drawing) -> tuple[float, float]:
        """Radius and direction of a stamp from its drag; a click uses the radius of the brush."""
        if drawing.end is None:
            return self.radius, 0.0
        across, down = drawing.end[0] - drawing.places[0][0], drawing.end[1] - drawing.places[0][1]
        distance = math.hypot(across, down)
        if distance < 0.15 * self.radius:
            return self.radius, 0.0
        return distance, math.degrees(math.atan2(across, -down))

    def _switch_on(self, tool: Tool) -> None:
        """Switch on the process that the tool needs."""
        path = f"{tool.needs}.enabled"
        if tool.lacks_process(self._documents.scene):
            self._editing.change(path, True)
            self._notices.say(f"{tool.label}: {tool.needs} was off, and is on now")

    def _tell_of_dry_slope(self, place: tuple[float, float]) -> None:
        """Say where water goes that is poured on dry ground: there it is not seen."""
        snapshot, cell = self._snapshot_under_pointer(), self._views.cell_at(*place)
        if snapshot is None or cell is None or self._documents.scene.floods.enabled:
            return
        if "water" not in snapshot.layers or snapshot.layers["water"][cell] <= 0.0:
            self._notices.say("water stands in the lowest hollow below at once; with Floods on, it runs there")

    def _place(self, x: float, y: float) -> tuple[float, float] | None:
        """Metres east and south of the land under a place of the window."""
        hit = self._views.ground_under(x, y)
        return (self._rounded(hit.x), self._rounded(hit.z)) if hit is not None else None

    def _dab(self, place: tuple[float, float]) -> Dab:
        return (self._rounded(place[0]), self._rounded(place[1]), 1.0)

    def _rounded(self, metres: float) -> float:
        return round(metres, self._digits)

    @property
    def _digits(self) -> int:
        """Decimals of lengths on the current land: more for small cells."""
        snapshot = self._snapshot_under_pointer()
        return max(DIGITS, DIGITS - math.floor(math.log10(snapshot.cell_size))) if snapshot else DIGITS

    # Marks.

    @property
    def marks(self) -> BrushMarks | None:
        """The marks of the brush over the land; None if the pointer is not on it."""
        tool = self.tool
        if tool is None or self.pointer is None or (imgui.get_io().want_capture_mouse and not self.is_drawing):
            return None
        place = self._place(*self.pointer)
        if place is None:
            return None
        side = self._views.pointed_side
        if side.snapshot is None:
            return None
        drawing = self._drawing
        is_opposite = bool(tool.opposite) and imgui.get_io().key_ctrl
        marks = BrushMarks(side, self.radius, self.settings.hardness, [place], [], is_opposite)
        if drawing is not None and tool.gesture != "paint":
            if tool.gesture == "stamp":
                radius, _ = self._stamped(drawing)
                return BrushMarks(side, radius, self.settings.hardness, drawing.places[:1], [*drawing.places, place])
            marks.way = [*drawing.places, place]
        return marks


@dataclass
class BrushMarks:
    """Rings on the land of a side, and a path over it; places are metres east and south."""

    side: Side
    radius: float
    hardness: float
    rings: list[tuple[float, float]]
    way: list[tuple[float, float]]
    is_opposite: bool = False

    def on_ground(self, ground: Ground, places: Sequence[tuple[float, float]]) -> list[glm.vec3]:
        """Places in picture space."""
        heights = ground.heights(places)
        return [glm.vec3(east, height, south) for (east, south), height in zip(places, heights, strict=True)]


@dataclass
class _Drawing:
    """A stroke that is being drawn."""

    tool: str
    number: int
    world: int | None
    level: float
    places: list[tuple[float, float]]  # the last dab; for curves and lines all places so far
    dabs: list[Dab] = field(default_factory=list)  # not sent yet
    sent: int = 0
    rested: float = 0.0  # seconds since the last dab
    end: tuple[float, float] | None = None
    line: tuple[float, float] | None = None  # where a straight part began
    sent_at: float | None = None  # time of the last part, until land arrives
    version_when_sent: int = 0  # version of the land shown then
    cycle_when_sent: int = 0  # cycle of the simulation then
    picture_after_wait: int = 0  # number of the picture before which none waits again
