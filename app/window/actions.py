"""All actions in one table, from which key handling, key sheet, menu, tooltips and the README's list of keys follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """An action of the user. `command` is the name of a method of `Commands`."""

    keys: tuple[str, ...]  # as `KeyPressed.chord` names them
    label: str
    help: str
    command: str
    group: str

    @property
    def key_text(self) -> str:
        return " or ".join(self.keys)

    @property
    def tooltip(self) -> str:
        return f"{self.label}: {self.help}  ({self.key_text})"


ACTIONS: tuple[Action, ...] = (
    Action(("Space",), "Pause", "stop or resume the simulation", "toggle_pause", "Simulation"),
    Action((".",), "Step", "pause, and run a single cycle", "step", "Simulation"),
    Action((",",), "Step back", "pause, and bring back the land of one cycle before", "step_back", "Simulation"),
    Action(("[",), "Slower", "fewer cycles per frame, down to one per second", "slower", "Simulation"),
    Action(("]",), "Faster", "more cycles per frame, up to full speed", "faster", "Simulation"),
    Action(("R",), "Reset", "restart from cycle 0", "reset", "Simulation"),
    Action(("N",), "New seed", "restart with another random seed", "new_seed", "Simulation"),
    Action(("B",), "Blur", "smooth the ground once with a 3×3 filter that conserves mass", "smooth", "Simulation"),
    Action(("C",), "Compare", "compare the land with a copy of it; again: back to one", "compare", "Simulation"),
    Action(
        ("Shift+C",),
        "Compare anew",
        "compare two worlds, both from cycle 0",
        "compare_from_start",
        "Simulation",
    ),
    Action(("Ctrl+Z",), "Undo", "take back the last change, or go back to before the last edit", "undo", "Time"),
    Action(("Ctrl+Shift+Z", "Ctrl+Y"), "Redo", "do again what was undone last", "redo", "Time"),
    Action(("H",), "Time line", "show or hide the strip with all cycles since the start", "toggle_timeline", "Time"),
    Action(("L",), "Link cameras", "one camera for all worlds, or one each", "link_cameras", "Camera"),
    Action(("F",), "Frame all", "fit the whole land into view, from the same direction", "frame_all", "Camera"),
    Action(("T",), "Top view", "look straight down, north up; again: back", "top_view", "Camera"),
    Action(("Home",), "Opening view", "return to the initial view of the scene", "opening_view", "Camera"),
    Action(("K",), "Camera key", "put a key for this view on the time line, at this cycle", "camera_key", "Camera"),
    Action(
        ("Shift+K",),
        "Follow keys",
        "let the camera follow its keys while cycles run; again: no more",
        "follow_path",
        "Camera",
    ),
    Action(("G",), "Fly", "fly with W A S D, Q and E, mouse to look, Shift for speed", "toggle_fly", "Camera"),
    Action(("V",), "Brush", "take the last brush, or lay it down", "toggle_brush", "Brushes"),
    Action(("1",), "Brushes of land", "raise, lower, smooth and so on; again: the next", "brush_land", "Brushes"),
    Action(("2",), "Brushes of material", "rock and loose kinds; again: the next", "brush_material", "Brushes"),
    Action(("3",), "Brushes of water", "pour, lakes, river beds, springs; again: the next", "brush_water", "Brushes"),
    Action(("4",), "Brushes of rates", "rain, uplift, protection; again: the next", "brush_rates", "Brushes"),
    Action(("5",), "Brushes of plants", "sow and clear; again: the next", "brush_plants", "Brushes"),
    Action(("6",), "Stamps", "forms of land, and images", "brush_forms", "Brushes"),
    Action(("+", "="), "Larger brush", "a larger radius; also Ctrl + wheel", "larger_brush", "Brushes"),
    Action(("-",), "Smaller brush", "a smaller radius; also Ctrl + wheel", "smaller_brush", "Brushes"),
    Action(("I",), "Stronger brush", "more at each touch; also Shift + wheel", "stronger_brush", "Brushes"),
    Action(("U",), "Weaker brush", "less at each touch; also Shift + wheel", "weaker_brush", "Brushes"),
    Action(("Shift+I",), "Harder brush", "a sharper edge; also Alt + wheel", "harder_brush", "Brushes"),
    Action(("Shift+U",), "Softer brush", "a softer edge; also Alt + wheel", "softer_brush", "Brushes"),
    Action(("Y",), "Denser dabs", "dabs closer to one another; also Ctrl + Shift + wheel", "denser_dabs", "Brushes"),
    Action(
        ("Shift+Y",),
        "Sparser dabs",
        "dabs farther from one another; also Ctrl + Shift + wheel",
        "sparser_dabs",
        "Brushes",
    ),
    Action(("O",), "Next overlay", "drape the next map that shows something over the ground", "next_overlay", "View"),
    Action(("Shift+O",), "Previous overlay", "drape the map before over the ground", "previous_overlay", "View"),
    Action(("0",), "No overlay", "see the ground without a map; again: the last one", "toggle_overlay", "View"),
    Action(("/",), "Search", "find a parameter by its name, what it does, or its unit", "search", "View"),
    Action(("F6",), "Keyboard", "move the keyboard on: scene, panel, menus, time line", "next_focus", "View"),
    Action(("M",), "Minimap", "show or hide the minimap", "toggle_minimap", "View"),
    Action(("Tab",), "Panel", "show or hide panel, menus and time line", "toggle_panel", "View"),
    Action(("F11",), "Full screen", "enter or leave full screen", "toggle_full_screen", "View"),
    Action(("Ctrl++", "Ctrl+="), "Larger text", "enlarge panel and text", "larger_interface", "View"),
    Action(("Ctrl+-",), "Smaller text", "shrink panel and text", "smaller_interface", "View"),
    Action(("P",), "Gallery", "all presets, your own and recent files, with pictures", "toggle_gallery", "Files"),
    Action(("Ctrl+O",), "Open", "open a heightmap, a saved world or a preset", "open_dialog", "Files"),
    Action(("Ctrl+T",), "Open tiles", "open a folder of tiles as one model", "open_folder_dialog", "Files"),
    Action(
        ("Ctrl+S",),
        "Save",
        "save the world (.npz), its parameters (.toml) or its journal (.journal.toml)",
        "save_dialog",
        "Files",
    ),
    Action(
        ("Ctrl+Shift+S",),
        "Save preset",
        "save the parameters as a preset of your own, for the gallery",
        "save_preset",
        "Files",
    ),
    Action(
        ("Ctrl+Shift+O",),
        "Last session",
        "go on with the land of the session before this one, as it was left",
        "last_session",
        "Files",
    ),
    Action(
        ("Ctrl+E",),
        "Export",
        "write heights, maps, meshes or pictures of the land for other programs",
        "export_dialog",
        "Files",
    ),
    Action(("F9",), "Record", "record the scene, without the panel; again: stop", "record", "Files"),
    Action(("Shift+F9",), "Record window", "record the window with its panel", "record_window", "Files"),
    Action(("F12",), "Screenshot", "save the picture, without the panel, as PNG", "screenshot", "Files"),
    Action(
        ("F5",), "Reload shaders", "recompile the shaders; if one fails, the old ones stay", "reload_shaders", "Help"
    ),
    Action(("?", "F1"), "Keys", "show or hide the list of keys", "toggle_key_sheet", "Help"),
    Action(
        ("Shift+F1",),
        "Tour",
        "a first tour in six steps, from the camera to the time line",
        "begin_tour",
        "Help",
    ),
    Action(
        ("Esc",),
        "Close",
        "close the list of keys, a dialog or errors; leave fly mode, a brush, a flow path or full screen",
        "close",
        "Help",
    ),
    Action(("Ctrl+Q",), "Quit", "leave the program", "quit", "Help"),
)

# What the mouse does, for the key sheet. It is handled by `CameraControl`.
MOUSE: tuple[tuple[str, str], ...] = (
    ("left click", "show the catchment of a point, and its flow path to the ocean"),
    ("Ctrl + left click", "add a spring, or remove the one that is there"),
    ("with a brush: left drag", "paint; Shift: in a straight line, Ctrl: the contrary; Alt moves the camera"),
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

# What a gamepad does, likewise. It is handled by `Commands.press_gamepad` and `CameraControl.steer`.
GAMEPAD: tuple[tuple[str, str], ...] = (
    ("gamepad: sticks", "fly: the left one moves, the right one looks; faster high above the ground"),
    ("gamepad: triggers", "sink and rise"),
    ("gamepad: bumpers", "fly slower and faster"),
    ("gamepad: A, B, Start", "pause; leave fly mode; gallery, where A opens the card that the cross leads to"),
)

BY_KEY: dict[str, Action] = {key: action for action in ACTIONS for key in action.keys}
BY_COMMAND: dict[str, Action] = {action.command: action for action in ACTIONS}
