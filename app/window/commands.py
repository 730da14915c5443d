"""The commands, by key, button or menu. The table `app.window.actions` names these methods."""

from __future__ import annotations

import math
import os
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.engine.messages import DiscardBranch, GoTo, Pause, Run, Save, Step
from app.files.atomic import free_path
from app.model.camera_path import CameraKey, read_camera_path, write_camera_path
from app.model.curves import write_curve
from app.model.errors import UserError
from app.model.field_parameters import masked_by
from app.model.numbers import spaced
from app.model.overlays import OVERLAYS
from app.model.parameters import Value
from app.processes.droplets import read_springs, write_springs
from app.scene.comparison import NAMES
from app.scene.edits import Blur, CancelSnowballs, Refine, RollSnowballs
from app.scene.scene import KEYS, curve_of
from app.scene.shown_overlays import neighbour
from app.window.actions import BY_COMMAND, Action
from app.window.camera_moves import ALONG_WATER, OVER_LAND, key_of
from app.window.part_choice import Asked
from app.window.undo import LandStep, ValueStep

if TYPE_CHECKING:
    from app.window.application import Application

# Cycles per frame, and frames that these take, from slow to fast; the last is full speed.
FULL_SPEED = (0, 1)
SPEEDS: tuple[tuple[int, int], ...] = (
    *((1, frames) for frames in (60, 20, 6, 2)),
    *((cycles, 1) for cycles in (1, 2, 5, 10, 20, 50, 100)),
    FULL_SPEED,
)
FRAMES_PER_SECOND = 60

LARGEST_SEED = 2**31 - 1
SAVED = (".npz", ".toml")  # the endings of what can be saved
JOURNAL = ".journal.toml"
NO_OVERLAY = "none"
INTERFACE_SIZES: tuple[float, ...] = (0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5)


class Commands:
    """Each public method is one thing to be done. A `UserError` becomes a notice, see `run`."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._last_overlay = NO_OVERLAY  # before there was none

    def run(self, action: Action) -> None:
        """Do what a row of the table says."""
        self.attempt(getattr(self, action.command))

    def attempt(self, command: Callable[[], None]) -> None:
        """Do something, and show what was wrong where it cannot be done."""
        try:
            command()
        except UserError as error:
            self._application.notices.complain(str(error))

    def change(self, path: str, value: Value) -> None:
        """Change a parameter."""
        self.attempt(lambda: self._application.change(path, value))

    def change_back(self, path: str, values: Sequence[Value]) -> None:
        """Give a parameter the value in each world that it had there before."""
        self.attempt(lambda: self._application.change_back(path, values))

    def reset_parameters(self, paths: Sequence[str]) -> None:
        """Give parameters, and curves, the values that they were opened with, as one step of undo."""
        opened = self._application.documents.opened
        if len(paths) == 1 and not paths[0].startswith(KEYS):
            self.change(paths[0], opened.value(paths[0]))
        else:
            values = {path: opened.value(path) for path in paths}
            self.attempt(lambda: self._application.change_together(values, f"reset {len(paths)} changes"))

    def mask_by(self, path: str, image: Path | str) -> None:
        """Let a field be nothing where a picture is black, and as it was where it is white."""
        self.change(path, masked_by(str(self._application.documents.scene.value(path)), str(image)))

    def set_key(self, path: str) -> None:
        """Let a parameter have its value of now in this cycle, and follow a curve through all its keys."""
        self.attempt(lambda: self._application.set_key(path, self._application.documents.scene.value(path)))

    def remove_key(self, path: str, cycle: int) -> None:
        """Take a key from a parameter's curve."""
        curve = curve_of(self._application.documents.scene, path)
        self.change(KEYS + path, write_curve([key for key in curve if key.cycle != cycle]))

    # Simulation.

    def toggle_pause(self) -> None:
        simulation = self._application.simulation
        simulation.ask(Run() if simulation.paused else Pause())

    def step(self) -> None:
        self._application.simulation.ask(Step())

    def slower(self) -> None:
        self._change_speed(-1)

    def faster(self) -> None:
        self._change_speed(+1)

    def _change_speed(self, steps: int) -> None:
        simulation, status = self._application.documents.scene.simulation, self._application.simulation.status
        # Where the sliders were set to a number between two of ours, both directions lead to a neighbour.
        pace = simulation.cycles_per_frame / simulation.frames_per_cycle or math.inf
        if pace == math.inf and steps < 0 and status.state == "running":
            pace = status.cycles_per_second / FRAMES_PER_SECOND  # a limit above what it does would change nothing
            below = [index for index, speed in enumerate(SPEEDS[:-1]) if speed[0] / speed[1] < pace]
            index = max(below, default=0)
        else:
            below = [index for index, speed in enumerate(SPEEDS) if (speed[0] / speed[1] or math.inf) <= pace]
            index = min(max(max(below, default=0) + steps, 0), len(SPEEDS) - 1)
        cycles, frames = SPEEDS[index]
        values: dict[str, Value] = {"simulation.cycles_per_frame": cycles, "simulation.frames_per_cycle": frames}
        self._application.change_together(values, "speed")

    def reset(self) -> None:
        self._application.documents.restart("reset")

    def new_seed(self) -> None:
        self._application.change("world.seed", random.randint(0, LARGEST_SEED))
        self._application.documents.restart("new seed")

    def smooth(self) -> None:
        self._application.documents.ask_as_step(Blur(), "blur")

    def refine(self, times: int) -> None:
        """Go on with the present land in finer cells."""
        self._application.documents.ask_as_step(Refine(times), f"refine ×{times}")

    def roll_snowballs(self, balls: int) -> None:
        self._application.documents.ask_as_step(RollSnowballs(balls), f"{spaced(balls)} snowballs")

    # Time.

    def undo(self) -> None:
        """Take back what was done last: a change of parameters, or what was done to the land."""
        application = self._application
        if application.documents.restart_waits:
            application.documents.take_restart_back()
            return
        match application.undo.undo():
            case None:
                raise UserError("there is nothing to undo")
            case ValueStep(before=values) as step:
                application.set_values(values)
            case LandStep(going=going, seen=seen) as step:
                assert going is not None
                application.go_to(going)
                if seen is not None:
                    application.set_values(seen.before)
        application.notices.say(f"undone: {step.name}")

    def redo(self) -> None:
        """Do again what was undone last."""
        match self._application.undo.redo():
            case None:
                raise UserError("there is nothing to do again")
            case ValueStep(after=values) as step:
                self._application.set_values(values)
            case LandStep(after=moment, seen=seen) as step:
                assert moment is not None
                if seen is not None:
                    self._application.set_values(seen.after)
                self._application.go_to(GoTo(moment.branch, moment.cycle, moment.edits, pause=False))
        self._application.notices.say(f"done again: {step.name}")

    def step_back(self) -> None:
        """Pause, and bring back the land of one cycle before."""
        status = self._application.simulation.status
        moment = status.timeline.target or status.moment
        branch = status.timeline.branches.get(moment.branch)
        if branch is None or moment.cycle <= status.timeline.branches[status.timeline.root(moment.branch)].first:
            raise UserError("this is the first cycle")
        self._application.go_to(GoTo(moment.branch, moment.cycle - 1))

    def go_to_cycle(self, branch: int, cycle: int) -> None:
        """Pause, and bring back the land of a branch of the time line after a cycle."""
        self._application.go_to(GoTo(branch, cycle))

    def discard_branch(self, branch: int) -> None:
        """Throw away a branch of the time line."""
        self._application.simulation.ask(DiscardBranch(branch))

    def toggle_timeline(self) -> None:
        self._application.panel.timeline_visible = not self._application.panel.timeline_visible

    def cancel_snowballs(self) -> None:
        self._application.simulation.ask(CancelSnowballs())

    def compare(self) -> None:
        """Compare the land with a copy of it, as it is now, or go on with one world alone."""
        application = self._application
        if application.documents.comparing:
            (kept, *_) = application.documents.edited_worlds
            application.documents.keep((kept,))
            application.notices.say(f"{NAMES[kept]} continues alone")
        else:
            self.add_world()

    def add_world(self) -> None:
        """Compare the world that the panel shows with a copy of it."""
        self.attempt(self._application.add_world)

    def compare_from_start(self) -> None:
        """Compare the land with another world; both begin anew."""
        self._application.compare_from_start()
        self._application.notices.say("A and B restart from the same land; the panel changes B")

    def remove_world(self) -> None:
        """Go on without the world that the panel changes."""
        documents = self._application.documents
        removed = documents.edited_worlds[0]
        documents.keep(tuple(world for world in range(len(documents.scenes)) if world != removed))

    def link_cameras(self) -> None:
        """Let all worlds be seen from one camera, or each from its own."""
        if not self._application.documents.comparing:
            raise UserError("there is one world alone; with several, each can have its own camera")
        self._application.link_cameras(not self._application.cameras.linked)

    def take_from(self, source: str) -> None:
        """Give climate and processes of a preset to the worlds that the panel changes."""
        from app.files.opening import open_compared

        self.attempt(lambda: self._application.take_from(open_compared(source)))

    def set_spring(self, number: int, drops: float) -> None:
        """Let a spring give so many drops in a cycle."""
        springs = list(read_springs(self._application.documents.scene.droplets.springs))
        springs[number] = springs[number]._replace(drops=drops)
        self.change("droplets.springs", write_springs(springs))

    def end_spring(self, number: int) -> None:
        """Let a spring well up no more."""
        springs = read_springs(self._application.documents.scene.droplets.springs)
        self.change("droplets.springs", write_springs((*springs[:number], *springs[number + 1 :])))

    def continue_without(self, process: str) -> None:
        """Switch a process off and go on, where it has stopped the simulation."""
        self._application.change(f"{process}.enabled", False, in_all=True)
        self._application.simulation.ask(Run())

    # Camera.

    def camera_key(self) -> None:
        """Put a key for the present view on the time line, at the cycle of now."""
        application = self._application
        cycle = application.simulation.status.cycle
        keys = [key for key in self._camera_keys if key.cycle != cycle]
        self._set_camera_keys([*keys, key_of(cycle, application.camera.parameters())])
        application.notices.say(f"camera key in cycle {spaced(cycle)}")

    def follow_path(self) -> None:
        """Let the camera follow its keys, or no more."""
        application = self._application
        if application.camera_follow.following:
            application.camera_follow.following = False
            return
        if not self._camera_keys:
            raise UserError(f"the camera has no keys yet; {BY_COMMAND['camera_key'].key_text} puts one at this view")
        application.camera_follow.begin()

    def hold_camera_key(self, cycle: int, hold: int) -> None:
        """Let the camera stay at a key for some cycles, as far as the next one allows."""
        later = min((key.cycle for key in self._camera_keys if key.cycle > cycle), default=cycle + hold)
        hold = max(0, min(hold, later - cycle))
        self._set_camera_keys([key._replace(hold=hold) if key.cycle == cycle else key for key in self._camera_keys])

    def remove_camera_key(self, cycle: int) -> None:
        """Take a key from the camera's path."""
        self._set_camera_keys([key for key in self._camera_keys if key.cycle != cycle])

    def clear_camera_path(self) -> None:
        """Take all keys from the camera's path."""
        self._set_camera_keys([])

    def move_camera(self, move: str, cycles: int) -> None:
        """Put the keys of a ready-made move on the time line, from the cycle of now on, and follow them."""
        application = self._application
        first, view = application.simulation.status.cycle, application.camera.parameters()
        snapshot = application.snapshot
        course = snapshot.survey.course if snapshot and snapshot.survey else None

        def put() -> None:
            if move in OVER_LAND:
                keys = OVER_LAND[move](view, first, cycles)
            elif snapshot is None or course is None or len(course.places) < 2:
                raise UserError("click on the land first: the camera follows the water from there")
            else:
                keys = ALONG_WATER[move](course, snapshot.shape, first, cycles)
            self._set_camera_keys([*(key for key in self._camera_keys if key.cycle < first), *keys])
            application.camera_follow.begin()

        self.attempt(put)

    @property
    def _camera_keys(self) -> tuple[CameraKey, ...]:
        return read_camera_path(self._application.documents.scene.view.camera_path)

    def _set_camera_keys(self, keys: Sequence[CameraKey]) -> None:
        self.change("view.camera_path", write_camera_path(keys))

    def frame_all(self) -> None:
        self._application.camera.frame_all()

    def top_view(self) -> None:
        self._application.camera.top_view()

    def opening_view(self) -> None:
        self._application.camera.open(self._application.documents.scene.camera, at_once=False)

    def toggle_fly(self) -> None:
        self._application.camera.toggle_fly()
        if self._application.camera.flying:
            self._application.notices.say("flying: W A S D, Q down, E up, mouse to look, wheel for speed, Esc to leave")

    # Brushes.

    def toggle_brush(self) -> None:
        self._application.brushing.toggle()

    def brush_land(self) -> None:
        self._application.brushing.choose_group("Land")

    def brush_material(self) -> None:
        self._application.brushing.choose_group("Material")

    def brush_water(self) -> None:
        self._application.brushing.choose_group("Water")

    def brush_rates(self) -> None:
        self._application.brushing.choose_group("Rates")

    def brush_plants(self) -> None:
        self._application.brushing.choose_group("Plants")

    def brush_forms(self) -> None:
        self._application.brushing.choose_group("Forms")

    def larger_brush(self) -> None:
        self._application.brushing.step("radius", +1.0)

    def smaller_brush(self) -> None:
        self._application.brushing.step("radius", -1.0)

    def stronger_brush(self) -> None:
        self._application.brushing.step("strength", +1.0)

    def weaker_brush(self) -> None:
        self._application.brushing.step("strength", -1.0)

    def harder_brush(self) -> None:
        self._application.brushing.step("hardness", +1.0)

    def softer_brush(self) -> None:
        self._application.brushing.step("hardness", -1.0)

    def denser_dabs(self) -> None:
        self._application.brushing.step("spacing", -1.0)

    def sparser_dabs(self) -> None:
        self._application.brushing.step("spacing", +1.0)

    def press_gamepad(self, button: str) -> None:
        """Do what a button of a gamepad is for: in the gallery it chooses, elsewhere it flies."""
        application = self._application
        gallery, camera = application.panel.gallery, application.camera
        match button:
            case "start":
                self.toggle_gallery()
            case "left" | "right" | "up" | "down" if gallery.is_open:
                gallery.move(button)
            case "a" if gallery.is_open:
                gallery.choose()
            case "b" if gallery.is_open:
                gallery.close()
            case "a":
                self.toggle_pause()
            case "b" if camera.flying:
                camera.toggle_fly()
            case "left bumper" | "right bumper" if camera.flying:
                camera.scroll(1.0 if button == "right bumper" else -1.0, 0.0, 0.0)

    # View.

    def next_overlay(self) -> None:
        self._change_overlay(+1)

    def previous_overlay(self) -> None:
        self._change_overlay(-1)

    def _change_overlay(self, steps: int) -> None:
        application = self._application
        shown = application.documents.scene.view.overlay
        name = neighbour(shown, steps, application.documents.scenes, application.snapshot)
        self.show_overlay(name)

    def toggle_overlay(self) -> None:
        shown = self._application.documents.scene.view.overlay
        if shown != NO_OVERLAY:
            self._last_overlay = shown
        elif self._last_overlay == NO_OVERLAY:
            raise UserError(f"there is no overlay; {BY_COMMAND['next_overlay'].key_text} shows one")
        self.show_overlay(self._last_overlay if shown == NO_OVERLAY else NO_OVERLAY)

    def show_overlay(self, name: str) -> None:
        """Drape a map over the ground."""
        self._application.change("view.overlay", name)
        self._application.notices.say(f"overlay: {OVERLAYS[name].label}")

    def search(self) -> None:
        """Let a person type what parameter is looked for."""
        self._application.panel.begin_search()

    def next_focus(self) -> None:
        self._application.panel.keyboard.go_on()

    def toggle_minimap(self) -> None:
        self._application.change("view.minimap", not self._application.documents.scene.view.minimap)

    def toggle_panel(self) -> None:
        self._application.panel.visible = not self._application.panel.visible

    def toggle_full_screen(self) -> None:
        self._application.host.toggle_full_screen()

    def larger_interface(self) -> None:
        self._change_interface_size(+1)

    def smaller_interface(self) -> None:
        self._change_interface_size(-1)

    def _change_interface_size(self, steps: int) -> None:
        index = INTERFACE_SIZES.index(self._application.interface_size) + steps
        self._application.interface_size = INTERFACE_SIZES[min(max(index, 0), len(INTERFACE_SIZES) - 1)]

    # Files.

    def open_dialog(self) -> None:
        self._application.panel.ask_for_file_to_open()

    def open_folder_dialog(self) -> None:
        self._application.panel.ask_for_folder_to_open()

    def save_dialog(self) -> None:
        self._application.panel.ask_for_file_to_save()

    def toggle_gallery(self) -> None:
        gallery = self._application.panel.gallery
        if gallery.is_open:
            gallery.close()
        else:
            gallery.open()

    def open(self, source: Path | str) -> None:
        """Open a preset, a generator, a file or a folder of tiles."""
        from app.files.opening import is_file, is_model, open_scene

        def open_it() -> None:
            if is_model(str(source)):
                self._application.part_choice.begin(Asked(Path(source)))
                return
            self._application.open(open_scene(str(source)))
            if is_file(str(source)):
                self._application.library.note(Path(source))

        self.attempt(open_it)

    def compare_with(self, source: str) -> None:
        """Compare the world that the panel shows with a copy of it that has climate and processes of a preset."""
        from app.files.opening import open_compared

        def compare() -> None:
            other = open_compared(source)
            self._application.add_world()
            self._application.take_from(other)

        self.attempt(compare)

    def last_session(self) -> None:
        """Go on with the session before this one, as it was left."""
        session = self._application.last_session
        if session is None:
            raise UserError("there is no other session that could be gone on with")
        self._application.offering = False
        self._application.open(*session.scenes)
        session.settle()

    def decline_session(self) -> None:
        """Go on without the session that was offered. It can still be opened later."""
        self._application.offering = False
        if self._application.last_session:
            self._application.last_session.settle()

    @staticmethod
    def target(path: Path) -> Path:
        """Where `save` writes: a name without an ending gets that of a world. Raises `UserError` for another one."""
        suffix = path.suffix.lower()
        if suffix not in SAVED:
            if any(letter.isalpha() for letter in suffix):
                raise UserError(
                    f"{path.name}: a world is saved as .npz, its parameters as .toml, its journal as {JOURNAL}"
                )
            if not path.name:
                raise UserError(f"{path}: a file needs a name")
            path = path.with_name(path.name + SAVED[0])
        return path

    def save(self, path: Path) -> None:
        """Write the parameters where the name ends in .toml, and the world with them otherwise.

        One that ends in .journal.toml gets all that was done, from which `thalweg replay` makes the world again.
        """
        try:
            path = self.target(path)
            if path.suffix.lower() == ".toml" and not path.name.lower().endswith(JOURNAL):
                self._save_preset(path)
            else:
                seen, world = self._application.seen_scene, self._application.documents.edited_worlds[0]
                self._application.simulation.ask(Save(path, world, seen))
        except UserError as error:
            self.save_failed(path, str(error))

    def save_preset(self) -> None:
        """Ask for the name of a preset, in the folder of the person's own."""
        folder = self._application.library.own_folder
        if folder is None:
            raise UserError("there is no folder for presets of one's own here; Ctrl+S saves one elsewhere")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{folder}: cannot be made: {error.strerror}") from error
        self._application.panel.ask_for_preset_to_save(folder)

    def saved(self, path: Path) -> None:
        """A world, a preset or a journal is written: say so, and keep what is seen now for its card in the gallery."""
        self._application.notices.say(f"saved {path}")
        if path.name.lower().endswith(JOURNAL):
            return
        self._application.library.note(path)
        pixels = self._application.sides.pixels()
        if pixels is not None:
            left, right = (round(part * pixels.shape[1]) for part in self._application.panel.free_of_scene)
            self._application.stock.keep_picture(path, pixels[:, left:right] if right > left else pixels)

    def save_failed(self, path: Path, why: str) -> None:
        """Say so, and ask once more where to save it."""
        self._application.notices.complain(why)
        self._application.panel.ask_again_for_file_to_save(path, why)

    def _save_preset(self, path: Path) -> None:
        from app.files.atomic import write_atomically
        from app.files.paths import named_from
        from app.scene.scene import preset_to_toml

        scene = named_from(msgspec.structs.replace(self._application.seen_scene, saved_world=""), path.parent)
        with write_atomically(path) as file:
            file.write(preset_to_toml(scene).encode())
        self.saved(path)

    def export_dialog(self) -> None:
        """Ask what to write of the land for other programs, or leave that; what is being written goes on."""
        exporting = self._application.exporting
        if exporting.is_open:
            exporting.close()
        else:
            exporting.open(_picture_folder())

    def screenshot(self) -> None:
        pixels = self._application.picture()
        if pixels is None:
            raise UserError("there is no picture yet")
        path = free_path(_picture_folder(), self._picture_name, ".png")
        # Compressing takes a while, for which the window shall not stand still.
        threading.Thread(target=self._write_screenshot, args=(path, pixels.copy()), name="screenshot").start()

    @property
    def _picture_name(self) -> str:
        """How pictures of now are called."""
        snapshot = self._application.snapshot
        return f"thalweg-{self._application.documents.name}-{snapshot.cycle if snapshot else 0:06d}"

    def record(self) -> None:
        """Record the scene; what records already, stops."""
        self._record(with_panel=False)

    def record_window(self) -> None:
        """Record the window, with its panel; what records already, stops."""
        self._record(with_panel=True)

    def _record(self, *, with_panel: bool) -> None:
        recording = self._application.recording
        if recording.current is not None:
            recording.stop()
        else:
            recording.begin(_picture_folder(), self._picture_name, with_panel=with_panel)

    def _write_screenshot(self, path: Path, pixels: NDArray[np.uint8]) -> None:
        def write() -> None:
            from app.files.recorder import write_png

            write_png(path, pixels)
            self._application.notices.say(f"saved {path}")

        self.attempt(write)

    # Help.

    def reload_shaders(self) -> None:
        error = self._application.sides.reload_shaders()
        if error:
            raise UserError(error)
        self._application.notices.say("shaders reloaded")

    def begin_tour(self) -> None:
        self._application.panel.tour.begin()

    def toggle_key_sheet(self) -> None:
        self._application.panel.key_sheet_open = not self._application.panel.key_sheet_open

    def close(self) -> None:
        """Close what lies over the scene, the topmost first."""
        application = self._application
        if application.panel.close_topmost() or application.notices.dismiss_all():
            return
        if application.offering:
            self.decline_session()
            return
        if application.camera.flying:
            application.camera.toggle_fly()
        elif application.brushing.is_active:
            application.brushing.choose("")
        elif application.asked_place is not None:
            application.ask_about(None)
        elif application.host.full_screen:
            application.host.toggle_full_screen()

    def quit(self) -> None:
        self._application.host.close()


def _picture_folder() -> Path:
    """Where the program was started, or the person's folder of pictures where nothing may be written there."""
    from app.files.atomic import working_folder

    here = working_folder()
    if os.access(here, os.W_OK) and here != Path(here.anchor):
        return here
    import platformdirs

    pictures = platformdirs.user_pictures_path()
    pictures.mkdir(parents=True, exist_ok=True)
    return pictures
