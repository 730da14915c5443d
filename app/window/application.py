"""The application: what is open in the window, and the parts that actions and the panel read and change.

Nothing here draws a frame, or knows the panel: that is the viewer's, in `app.window.viewer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.engine.thread import SimulationThread
from app.files.library import Library
from app.model.snapshot import Snapshot
from app.picture.history import FrameTimes
from app.picture.passes.quality import KnownLevels
from app.picture.sides import Side, Sides
from app.scene.captions import picture_labels
from app.scene.scene import Scene
from app.window.brushing import Brushing
from app.window.camera_control import CameraControl
from app.window.camera_follow import CameraFollow
from app.window.cameras import Cameras
from app.window.documents import Documents
from app.window.editing import Editing
from app.window.events import Event
from app.window.exporting import Exporting
from app.window.gallery import CardStock
from app.window.guide import Guide
from app.window.history import History
from app.window.layout import Layout
from app.window.notices import Notices
from app.window.part_choice import PartChoice
from app.window.recording import Recording
from app.window.ruler import Ruler
from app.window.sessions import LookUp, Sessions
from app.window.springs import Springs
from app.window.stack import Stack
from app.window.undo import Undo
from app.window.versions import Versions
from app.window.views import Views
from app.window.watching import Watching


class Host(Protocol):
    """The interface of the window to the application."""

    def close(self) -> None: ...

    def toggle_full_screen(self) -> None: ...

    @property
    def full_screen(self) -> bool: ...

    def capture_pointer(self, captured: bool) -> None: ...

    def waiting_events(self) -> Sequence[Event]:
        """The pending events, which stay pending."""
        ...

    def events(self) -> Sequence[Event]:
        """The pending events, handed over."""
        ...


class PanelControls(Protocol):
    """The interface of the panel to actions and to its own parts."""

    visible: bool
    timeline_visible: bool

    @property
    def is_covered(self) -> bool: ...

    @property
    def is_laid_out(self) -> bool: ...

    @property
    def shows_timeline(self) -> bool: ...

    @property
    def width_left_of_scene(self) -> float: ...

    def toggle_gallery(self) -> None: ...

    def close_topmost(self) -> bool: ...

    def begin_search(self) -> None: ...

    def begin_tour(self) -> None: ...

    def move_keyboard(self) -> None: ...

    def ask_for_file_to_open(self) -> None: ...

    def ask_for_folder_to_open(self) -> None: ...

    def ask_for_image(self, chosen: Callable[[Path], None]) -> None: ...

    def ask_for_file_to_save(self) -> None: ...

    def ask_for_preset_to_save(self, folder: Path) -> None: ...

    def ask_again_for_file_to_save(self, path: Path, why: str) -> None: ...


class Application:
    """A landscape in a window, or several side by side: simulation, pictures, cameras, and what is open.

    Each world has the same place among the scenes of `documents` and in `sides`. The viewer sets `panel`.
    """

    panel: PanelControls

    def __init__(
        self,
        context: moderngl.Context,
        simulation: SimulationThread,
        host: Host,
        *,
        content_scale: float = 1.0,
        known_levels: KnownLevels | None = None,
        library: Library | None = None,
        look_up_sessions: LookUp = tuple,
        refines: bool = False,
    ) -> None:
        self.refines = refines  # whether pictures at rest are drawn at higher levels of quality
        self.simulation: SimulationThread = simulation
        self.host: Host = host
        self.content_scale = content_scale
        self.interface_size = 1.0  # user setting: factor on the content scale
        self.last_overlay = "none"  # the overlay that was hidden last
        self.pixel_size = (0, 0)  # of the window
        self.time = 0.0  # seconds since the first frame
        self.notices = Notices()
        self.waiting_saves: set[Path] = set()  # not written yet
        self.frame_times = FrameTimes()
        self.library = library or Library()
        self.stock = CardStock(context, self.library)
        self.guide = Guide(context)
        self.documents = Documents(simulation)
        self.cameras = Cameras()
        self.sides = Sides(context, known_levels=known_levels)
        self.layout = Layout(self.sides)
        self.views = Views(self.sides, self.layout, self.cameras, self.documents)
        self.undo = Undo()
        self.ruler = Ruler(self.sides, self.views)
        self.editing = Editing(self.documents, self.undo, simulation, self.views.follow)
        self.springs = Springs(self.documents, self.editing, self.views, self.notices)
        self.brushing = Brushing(
            simulation, self.documents, self.editing, self.sides, self.views, self.springs, self.notices
        )
        self.watching = Watching(simulation, self.documents, self.sides, self.views, self.notices)
        self.history = History(simulation, self.documents, self.views)
        self.stack = Stack(simulation, self.documents, self.views, self.history)
        self.brushing.drawn = self.stack.take_stroke
        self.camera_follow = CameraFollow(simulation, self.documents, self.views)
        self.recording = Recording(self.sides, self.documents, self.notices)
        self.exporting = Exporting(simulation, self.documents, self.views, self.notices)
        self.part_choice = PartChoice(self.library, self.notices, lambda scenes: self.open(*scenes))
        self.versions = Versions(
            simulation, self.documents, self.views, self.stock, self.notices, lambda scenes: self.open(*scenes)
        )
        self.sessions = Sessions(look_up_sessions, lambda scenes: self.open(*scenes), self.versions.take_over)

    @property
    def camera(self) -> CameraControl:
        """The camera that mouse and keys move."""
        return self.views.camera

    @property
    def seen_scene(self) -> Scene:
        """The scene that the panel shows, opening with what is seen now."""
        return self.views.seen_scene

    @property
    def side(self) -> Side:
        """The side whose numbers the panel shows."""
        return self.views.side

    @property
    def snapshot(self) -> Snapshot | None:
        return self.views.snapshot

    @property
    def interface_scale(self) -> float:
        return self.content_scale * self.interface_size

    def open(self, *scenes: Scene) -> None:
        """Leave what is shown for another scene, or several that are compared."""
        self.part_choice.close()
        self.views.opening = True
        self.sessions.forget_resumed()
        self.documents.open(*scenes)

    def picture(self) -> NDArray[np.uint8] | None:
        """The current picture, `[row, column, (red, green, blue)]`, top row first."""
        if self.snapshot is not None and min(self.layout.pixel_size) >= 1:
            self.begin_picture(whole=True)
            self.sides.go_on()
        return self.sides.pixels()

    def begin_picture(self, *, whole: bool = False) -> bool:
        """Begin to draw if anything visible has changed. Returns whether it has.

        A picture that is not `whole` may be hasty.
        """
        # Until the copy of a world arrives, the numbers may differ.
        count = len(self.sides.shown)
        scenes = self.documents.seen
        scenes = scenes if len(scenes) == count else (self.documents.seen_scene,) * count
        cameras = [self.views.camera_of(side).camera() for side in self.sides.shown]
        labels = picture_labels(scenes, *((self.snapshot.cycle, self.snapshot.years) if self.snapshot else (0, 0.0)))
        for side in self.sides.shown:
            side.covered_left = round(self.panel.width_left_of_scene * self.layout.pixels_per_unit)
        minimap = self.recording.shows_minimap
        return self.sides.begin(
            cameras,
            scenes,
            time=self.time,
            minimap=minimap,
            labels=labels,
            hasty=self.follows_hand and not whole,
            at_rest=self._rests,
        )

    @property
    def follows_hand(self) -> bool:
        """Whether pictures should follow a hand that moves the view, as soon as software can, before all else.

        Once the view rests, it is drawn as it should be. A clip has whole pictures.
        """
        if self.recording.current is not None or not self.side.picture.software:
            return False
        return self._view_moves

    @property
    def _rests(self) -> bool:
        """Whether neither land nor view move, and no clip is made."""
        return (
            self.refines
            and self.simulation.status.state in ("paused", "failed")
            and self.recording.current is None
            and not self.brushing.is_drawing
            and not self.camera.flying
            and not self._view_moves
        )

    @property
    def _view_moves(self) -> bool:
        return any(camera.moving for camera in self.cameras.in_use(self.views.worlds_shown))

    def release(self) -> None:
        """Release all graphics resources. The caller stops the simulation."""
        self.stock.release()
        self.recording.release()
        self.exporting.release()
        self.part_choice.close()
        self.sides.release()
