"""Everything that a key does, in one table: it handles the keys, makes the key sheet, the menu, the tooltips and the
README's list of keys.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """A thing that a person can have done. `command` is the name of a method of `Commands`."""

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
    Action(("Space",), "Pause", "stop the simulation, or let it go on", "toggle_pause", "Simulation"),
    Action((".",), "Step", "pause, and run a single cycle", "step", "Simulation"),
    Action(("[",), "Slower", "fewer cycles for each frame", "slower", "Simulation"),
    Action(("]",), "Faster", "more cycles for each frame, up to as many as go", "faster", "Simulation"),
    Action(("R",), "Reset", "start again from cycle 0", "reset", "Simulation"),
    Action(("N",), "New seed", "start again with other random numbers", "new_seed", "Simulation"),
    Action(("B",), "Blur", "smooth the ground once, 3×3 cells; nothing is lost", "smooth", "Simulation"),
    Action(("C",), "Compare", "the land and a copy of it, side by side; again: back to one", "compare", "Simulation"),
    Action(
        ("Shift+C",),
        "Compare anew",
        "two worlds side by side, both from the start",
        "compare_from_start",
        "Simulation",
    ),
    Action(("L",), "Link cameras", "one camera for all worlds, or one for each", "link_cameras", "Camera"),
    Action(("F",), "Frame all", "show the whole land from here", "frame_all", "Camera"),
    Action(("T",), "Top view", "look straight down, north up; again: back", "top_view", "Camera"),
    Action(("Home",), "Opening view", "the view that the scene opens with", "opening_view", "Camera"),
    Action(("G",), "Fly", "fly with W A S D, Q and E, mouse to look, Shift for speed", "toggle_fly", "Camera"),
    Action(("O",), "Next overlay", "lay the next map over the ground", "next_overlay", "View"),
    Action(("M",), "Minimap", "show or hide the map in the corner", "toggle_minimap", "View"),
    Action(("Tab",), "Panel", "show or hide the panel, for recordings", "toggle_panel", "View"),
    Action(("F11",), "Full screen", "fill the screen, or go back", "toggle_full_screen", "View"),
    Action(("Ctrl++", "Ctrl+="), "Larger text", "make panel and text larger", "larger_interface", "View"),
    Action(("Ctrl+-",), "Smaller text", "make panel and text smaller", "smaller_interface", "View"),
    Action(("Ctrl+O",), "Open", "open a heightmap, a saved world or a preset", "open_dialog", "Files"),
    Action(("Ctrl+S",), "Save", "save the world (.npz) or its parameters (.toml)", "save_dialog", "Files"),
    Action(("F12",), "Screenshot", "write the picture, without the panel, to a PNG", "screenshot", "Files"),
    Action(
        ("F5",), "Reload shaders", "compile the shaders again; a faulty one changes nothing", "reload_shaders", "Help"
    ),
    Action(("?", "F1"), "Keys", "show or hide the list of keys", "toggle_key_sheet", "Help"),
    Action(
        ("Esc",),
        "Close",
        "close the list of keys, a dialog or errors, leave fly mode, the way of the water or full screen",
        "close",
        "Help",
    ),
    Action(("Ctrl+Q",), "Quit", "leave the program", "quit", "Help"),
)

# What the mouse does, for the key sheet. It is handled by `CameraControl`.
MOUSE: tuple[tuple[str, str], ...] = (
    ("left click", "light up the land that drains to a place, and the way of its water to the ocean"),
    ("Ctrl + left click", "let a spring well up there, or end the one that is there"),
    ("left drag", "orbit around what is in the middle"),
    ("right or middle drag", "pan: the ground stays under the pointer; also with Shift + left drag"),
    ("wheel", "zoom towards the pointer"),
    ("on the minimap", "a click or a drag looks there"),
    ("on the line between two worlds", "a drag moves it, a double click puts it in the middle"),
    ("drag on a slider", "move it from where it is, with Shift finer; Esc takes it back"),
    ("on a slider", "Ctrl + click or a double click lets you type a number: Enter takes it, Esc does not"),
    ("under World", "what has the sign of Reset makes the world anew: once a drag ends, or on Enter"),
)

BY_KEY: dict[str, Action] = {key: action for action in ACTIONS for key in action.keys}
BY_COMMAND: dict[str, Action] = {action.command: action for action in ACTIONS}
