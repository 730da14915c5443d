"""The table of all actions. Key handling, menus, tooltips and the guide's list of keys derive from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.messages import Step
from app.scene.edits import Blur
from app.window.commands import camera, files, moments, running, view, worlds
from app.window.commands.attempt import attempt
from app.window.guide import KEYS_PAGE

if TYPE_CHECKING:
    from app.window.application import Application


@dataclass(frozen=True)
class Action:
    """An action of a key, a button or a menu item."""

    keys: tuple[str, ...]  # as `KeyPressed.chord` names them
    label: str
    help: str
    name: str
    does: Callable[[Application], object]
    group: str

    @property
    def key_text(self) -> str:
        return " or ".join(self.keys)

    @property
    def tooltip(self) -> str:
        return f"{self.label}: {self.help}  ({self.key_text})"

    def run(self, application: Application) -> None:
        attempt(application, lambda: self.does(application))


# Keys, label, name, function and help
_Row = tuple[str, str, str, "Callable[[Application], object]", str]


# fmt: off
_BY_GROUP: dict[str, tuple[_Row, ...]] = {
    "Simulation": (
        ("Space", "Pause", "toggle_pause", running.toggle_pause,
         "stop or resume the simulation"),
        (".", "Step", "step", lambda app: app.simulation.ask(Step()),
         "pause, and run a single cycle"),
        (",", "Step back", "step_back", moments.step_back,
         "pause, and go back by one cycle"),
        ("Ctrl+.", "Give up cycle", "give_up_cycle", running.give_up_cycle,
         "end a long cycle that runs, as if it had not begun, and pause"),
        ("[", "Slower", "slower", lambda app: running.change_speed(app, -1),
         "fewer cycles per frame, down to one per second"),
        ("]", "Faster", "faster", lambda app: running.change_speed(app, +1),
         "more cycles per frame, up to full speed"),
        ("R", "Reset", "reset", lambda app: app.documents.restart("reset"),
         "restart from cycle 0"),
        ("N", "New seed", "new_seed", running.new_seed,
         "restart with another random seed"),
        ("B", "Blur", "smooth", lambda app: app.documents.ask_as_step(Blur(), "blur"),
         "smooth the ground once with a 3×3 filter that conserves mass"),
        ("C", "Compare", "compare", worlds.compare,
         "compare the land with a copy; again: end the comparison"),
        ("Shift+C", "Compare anew", "compare_from_start", worlds.compare_from_start,
         "compare two worlds, both from cycle 0"),
    ),
    "Time": (
        ("Ctrl+Z", "Undo", "undo", moments.undo,
         "undo the last change of parameters or edit of the land"),
        ("Ctrl+Shift+Z Ctrl+Y", "Redo", "redo", moments.redo,
         "redo what was undone last"),
        ("Shift+V", "Versions", "toggle_versions", lambda app: app.versions.toggle(),
         "keep the land under a name, go back to such a version, see two side by side"),
        ("H", "Time line", "toggle_timeline", view.toggle_timeline,
         "show or hide the strip with all cycles since the start"),
    ),
    "Camera": (
        ("L", "Link cameras", "link_cameras", worlds.link_cameras,
         "one camera for all worlds, or one each"),
        ("F", "Frame all", "frame_all", lambda app: app.camera.frame_all(),
         "fit the whole land into view, from the same direction"),
        ("T", "Top view", "top_view", lambda app: app.camera.top_view(),
         "look straight down, north up; again: back"),
        ("Home", "Opening view", "opening_view", lambda app: app.camera.open(app.documents.scene.camera, at_once=False),
         "return to the initial view of the scene"),
        ("K", "Camera key", "camera_key", camera.camera_key,
         "put a camera key for this view at this cycle"),
        ("Shift+K", "Follow keys", "follow_path", camera.follow_path,
         "let the camera follow its keys while cycles run; again: stop"),
        ("G", "Fly", "toggle_fly", camera.toggle_fly,
         "fly with W A S D, Q and E, mouse to look, Shift for speed"),
    ),
    "Brushes": (
        ("V", "Brush", "toggle_brush", lambda app: app.brushing.toggle(),
         "select the last brush, or none"),
        ("1", "Brushes of land", "brush_land", lambda app: app.brushing.choose_group("Land"),
         "raise, lower, smooth and so on; again: the next"),
        ("2", "Brushes of material", "brush_material", lambda app: app.brushing.choose_group("Material"),
         "rock and loose kinds; again: the next"),
        ("3", "Brushes of water", "brush_water", lambda app: app.brushing.choose_group("Water"),
         "pour, lakes, river beds, springs; again: the next"),
        ("4", "Brushes of rates", "brush_rates", lambda app: app.brushing.choose_group("Rates"),
         "rain, uplift, protection; again: the next"),
        ("5", "Brushes of plants", "brush_plants", lambda app: app.brushing.choose_group("Plants"),
         "sow and clear; again: the next"),
        ("6", "Stamps", "brush_forms", lambda app: app.brushing.choose_group("Forms"),
         "forms of land, and images"),
        ("+ =", "Larger brush", "larger_brush", lambda app: app.brushing.step("radius", +1.0),
         "a larger radius; also Ctrl + wheel"),
        ("-", "Smaller brush", "smaller_brush", lambda app: app.brushing.step("radius", -1.0),
         "a smaller radius; also Ctrl + wheel"),
        ("I", "Stronger brush", "stronger_brush", lambda app: app.brushing.step("strength", +1.0),
         "more at each touch; also Shift + wheel"),
        ("U", "Weaker brush", "weaker_brush", lambda app: app.brushing.step("strength", -1.0),
         "less at each touch; also Shift + wheel"),
        ("Shift+I", "Harder brush", "harder_brush", lambda app: app.brushing.step("hardness", +1.0),
         "a sharper edge; also Alt + wheel"),
        ("Shift+U", "Softer brush", "softer_brush", lambda app: app.brushing.step("hardness", -1.0),
         "a softer edge; also Alt + wheel"),
        ("Y", "Denser dabs", "denser_dabs", lambda app: app.brushing.step("spacing", -1.0),
         "dabs closer to one another; also Ctrl + Shift + wheel"),
        ("Shift+Y", "Sparser dabs", "sparser_dabs", lambda app: app.brushing.step("spacing", +1.0),
         "dabs farther from one another; also Ctrl + Shift + wheel"),
    ),
    "View": (
        ("O", "Next overlay", "next_overlay", lambda app: view.step_overlay(app, +1),
         "drape the next map that shows something over the ground"),
        ("Shift+O", "Previous overlay", "previous_overlay", lambda app: view.step_overlay(app, -1),
         "drape the previous map over the ground"),
        ("0", "No overlay", "toggle_overlay", view.toggle_overlay,
         "see the ground without a map; again: the last one"),
        ("/", "Search", "search", lambda app: app.panel.begin_search(),
         "find a parameter by its name, what it does, or its unit"),
        ("F6", "Keyboard", "next_focus", lambda app: app.panel.move_keyboard(),
         "move the keyboard on: scene, panel, menus, time line"),
        ("M", "Minimap", "toggle_minimap", view.toggle_minimap,
         "show or hide the minimap"),
        ("Tab", "Panel", "toggle_panel", view.toggle_panel,
         "show or hide panel, menus and time line"),
        ("F11", "Full screen", "toggle_full_screen", lambda app: app.host.toggle_full_screen(),
         "enter or leave full screen"),
        ("Ctrl++ Ctrl+=", "Larger text", "larger_interface", lambda app: view.step_interface_size(app, +1),
         "enlarge panel and text"),
        ("Ctrl+-", "Smaller text", "smaller_interface", lambda app: view.step_interface_size(app, -1),
         "shrink panel and text"),
    ),
    "Files": (
        ("P", "Gallery", "toggle_gallery", lambda app: app.panel.toggle_gallery(),
         "all presets, your own and recent files, with pictures"),
        ("Ctrl+O", "Open", "open_dialog", lambda app: app.panel.ask_for_file_to_open(),
         "open a heightmap, a saved world or a preset"),
        ("Ctrl+T", "Open tiles", "open_folder_dialog", lambda app: app.panel.ask_for_folder_to_open(),
         "open a folder of tiles as one model"),
        ("Ctrl+S", "Save", "save_dialog", lambda app: app.panel.ask_for_file_to_save(),
         "save the world (.npz), its parameters (.toml) or its journal (.journal.toml)"),
        ("Ctrl+Shift+S", "Save preset", "save_preset", files.save_preset,
         "save the parameters as a preset of your own, for the gallery"),
        ("Ctrl+Shift+O", "Earlier sessions", "sessions", lambda app: app.sessions.list_all(),
         "resume an earlier session"),
        ("Ctrl+E", "Export", "export_dialog", files.export_dialog,
         "write heights, maps, meshes or pictures of the land for other programs"),
        ("F9", "Record", "record", lambda app: files.record(app, with_panel=False),
         "record the scene, without the panel; again: stop"),
        ("Shift+F9", "Record window", "record_window", lambda app: files.record(app, with_panel=True),
         "record the window with its panel"),
        ("F12", "Screenshot", "screenshot", files.screenshot,
         "save the picture, without the panel, as PNG"),
    ),
    "Help": (
        ("F5", "Reload shaders", "reload_shaders", view.reload_shaders,
         "recompile the shaders; if one fails, the old ones stay"),
        ("F1", "Guide", "toggle_guide", lambda app: app.guide.toggle(),
         "open or close the guide, a page for each subject"),
        ("?", "Keys", "toggle_keys", lambda app: app.guide.toggle(KEYS_PAGE),
         "open or close the guide's list of keys"),
        ("Shift+F1", "Tour", "begin_tour", lambda app: app.panel.begin_tour(),
         "a first tour in six steps, from the camera to the time line"),
        ("Esc", "Close", "close", view.close,
         "close the guide, a dialog or errors; leave fly mode, a brush, the ruler, a flow path or full screen"),
        ("Ctrl+Q", "Quit", "quit", lambda app: app.host.close(),
         "leave the program"),
    ),
}
# fmt: on

ACTIONS: tuple[Action, ...] = tuple(
    Action(tuple(keys.split()), label, help, name, does, group)
    for group, rows in _BY_GROUP.items()
    for keys, label, name, does, help in rows
)

# Mouse gestures, for the guide. `Pointing` and `CameraControl` handle them.
MOUSE: tuple[tuple[str, str], ...] = (
    ("left click", "show the catchment of a point, and its flow path to the ocean"),
    ("Ctrl + left click", "add a spring, or remove the one that is there"),
    ("Shift + left click", "measure from here; again: to there, with length, rise and profile; Esc ends it"),
    ("with a brush: left drag", "paint; Shift: in a straight line, Ctrl: the opposite; Alt moves the camera"),
    ("with a brush: wheel", "with Ctrl its radius, with Shift its strength, with Alt its hardness"),
    ("left drag", "orbit around the centre of the view"),
    ("right or middle drag", "pan; also Shift + left drag"),
    ("wheel", "zoom towards the pointer"),
    ("on the minimap", "click or drag to look there"),
    ("on the divider between two worlds", "drag to move it, double click to centre it"),
    ("drag on a slider", "change the value, with Shift in finer and with Ctrl in coarser steps; Esc restores it"),
    ("on a slider", "Ctrl + click or double click to type a number; Enter accepts, Esc cancels"),
    ("on the name of a parameter", "double click to reset it, right click for all that can be done with it"),
    ("on the name of a group", "click to see all its parameters, right click to pin or reset it"),
    ("under World", "parameters with the sign of Reset rebuild the world, when a drag ends or on Enter"),
)

# Gamepad controls, for the guide. They are handled by `Viewer.handle` and `CameraControl.steer`.
GAMEPAD: tuple[tuple[str, str], ...] = (
    ("gamepad: sticks", "fly: the left one moves, the right one looks; faster high above the ground"),
    ("gamepad: triggers", "sink and rise"),
    ("gamepad: bumpers", "fly slower and faster"),
    ("gamepad: A, B, Start", "pause; leave fly mode; gallery, where A opens the card that the cross leads to"),
)

BY_KEY: dict[str, Action] = {key: action for action in ACTIONS for key in action.keys}
BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}
