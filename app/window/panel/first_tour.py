"""The first tour: a few steps, each a small box that points at a thing and says what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from imgui_bundle import imgui

from app.picture.style import ACCENT, FAINT_TEXT, OVER_SCENE, em, faded
from app.window.panel.messages import BOX_FLAGS
from app.window.panel.places import Rectangle, beside, place_of
from app.window.panel.widgets import heading

if TYPE_CHECKING:
    from app.window.application import Application

NAME = "##first tour"
WIDTH, GAP = 23.0, 1.2  # heights of the font
WIDEST_PART = 0.42  # of the window
PANEL = "Panel"  # the window of that name


@dataclass(frozen=True)
class Step:
    """`at` are names that `place_of` knows, of which the first on the screen is pointed at; without any it is the
    scene. What is `watched` changes when the person has done it.
    """

    title: str
    text: str
    watched: Callable[[Application], object]
    at: tuple[str, ...] = ()


def _view(application: Application) -> object:
    return application.camera.parameters()


def _pace(application: Application) -> object:
    return application.simulation.paused, application.documents.scene.simulation.cycles_per_frame


def _values(application: Application) -> object:
    return application.documents.scenes


def _gallery(application: Application) -> object:
    return application.panel.is_covered


def _edits(application: Application) -> object:
    return len(application.undo.done)


def _moment(application: Application) -> object:
    return application.history.is_going, len(application.undo.undone)


# fmt: off
STEPS: tuple[Step, ...] = (
    Step("Look around",
        "Drag with the left button to turn the land, with the right one to move it; the wheel comes nearer. G flies.",
        _view),
    Step("Pause and speed",
        "Space stops the simulation and lets it go on, . runs one cycle, [ and ] make it slower and faster.", _pace,
        ("toggle_pause",)),
    Step("Change something",
        "Drag a slider: most act at once, while the land evolves. Rest on a name to read what it does.", _values,
        ("slider", PANEL)),
    Step("Other lands", "The gallery has all presets, yours and the files you opened last. P opens it from anywhere.",
        _gallery, ("toggle_gallery",)),
    Step("Lend a hand",
        "Brushes raise, lower and smooth the land, pour water and sow plants, while everything else goes on.", _edits,
        ("##toolbar",)),
    Step("Nothing is lost",
        "This strip has all cycles since the start: drag on it to go back. Ctrl+Z undoes the last action.",
        _moment, ("time line",)),
)
# fmt: on


class FirstTour:
    """Goes from step to step: by a button, by Enter, or when a person has done what it is about."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._step: int | None = None
        self._watched: object = None  # as it was when the step began
        self._begins = False

    @property
    def is_on(self) -> bool:
        return self._step is not None

    @property
    def step(self) -> Step | None:
        """What is shown."""
        return None if self._step is None else STEPS[self._step]

    def begin(self) -> None:
        """Show the first step."""
        self._step, self._begins = 0, True

    def end(self) -> None:
        """Leave it, for good: it does not begin by itself any more."""
        self._step = None
        library = self._application.library
        if not library.welcome.tour:
            library.welcome = msgspec.structs.replace(library.welcome, tour=True)

    def go_on(self) -> None:
        """Show the next step; after the last one, none."""
        if self._step is None:
            return
        self._step, self._begins = self._step + 1, True
        if self._step == len(STEPS):
            self.end()

    def gui(self, scene: tuple[float, float]) -> None:
        """A frame. The box of a step about the scene stands with its lower middle at `scene`."""
        step, application = self.step, self._application
        if step is None or application.snapshot is None:
            return
        is_covered = application.panel.is_covered
        if self._begins:
            self._begins, self._watched = False, step.watched(application)
        elif step.watched(application) != self._watched and not application.camera.dragging:
            if is_covered or not imgui.is_any_item_active():
                self.go_on()
            return
        if is_covered:
            return
        target = next((place for name in step.at if (place := place_of(name))), None)
        if step.at and target is None:  # it is not on the screen, so there is nothing to say
            self.go_on()
            return
        self._box(step, target, scene)
        if imgui.is_key_pressed(imgui.Key.enter, False) and not imgui.get_io().want_text_input:
            self.go_on()

    def _box(self, step: Step, target: Rectangle | None, scene: tuple[float, float]) -> None:
        window = imgui.internal.find_window_by_name(NAME)
        size = (window.size.x, window.size.y) if window is not None else (em(WIDTH + 2.0), em(8.0))
        screen = imgui.get_main_viewport().size
        if target is None:
            left = max(min(scene[0] - size[0] / 2.0, screen.x - size[0]), 0.0)
            imgui.set_next_window_pos(imgui.ImVec2(left, max(scene[1] - size[1], 0.0)))
        else:
            box = beside(target, size, (screen.x, screen.y), em(GAP))
            imgui.set_next_window_pos(imgui.ImVec2(box.left, box.top))
            self._point(box, target)
        imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
        imgui.push_style_color(imgui.Col_.border.value, imgui.ImVec4(*faded(ACCENT, 0.7)))
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(em(1.0), em(0.8)))
        imgui.begin(NAME, None, BOX_FLAGS)
        imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
        heading(step.title)
        imgui.same_line(0.0, em(0.6))
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{STEPS.index(step) + 1} of {len(STEPS)}")
        imgui.push_text_wrap_pos(min(em(WIDTH), WIDEST_PART * screen.x))
        imgui.text_unformatted(step.text)
        imgui.pop_text_wrap_pos()
        imgui.spacing()
        is_last = step is STEPS[-1]
        if imgui.button(f"{'Done' if is_last else 'Next'}###next"):
            self.go_on()
        imgui.same_line(0.0, em(0.5))
        if not is_last and imgui.button("Skip###skip"):
            self.end()
        imgui.same_line(0.0, em(0.8))
        imgui.align_text_to_frame_padding()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), "Enter · Esc")
        imgui.end()
        imgui.pop_style_var()
        imgui.pop_style_color(2)

    def _point(self, box: Rectangle, target: Rectangle) -> None:
        """A frame around the thing, and a line to it from the box."""
        drawing = imgui.get_foreground_draw_list()
        colour = imgui.color_convert_float4_to_u32(imgui.ImVec4(*ACCENT))
        thickness, out = 2.0 * imgui.get_style().font_scale_dpi, em(0.2)
        low = imgui.ImVec2(target.left - out, target.top - out)
        high = imgui.ImVec2(target.right + out, target.bottom + out)
        drawing.add_rect(low, high, colour, em(0.4), thickness)
        begin, end = (
            imgui.ImVec2(
                min(max((of.left + of.right) / 2.0, to.left), to.right),
                min(max((of.top + of.bottom) / 2.0, to.top), to.bottom),
            )
            for of, to in ((target, box), (box, Rectangle(low.x, low.y, high.x, high.y)))
        )
        drawing.add_line(begin, end, colour, thickness)
