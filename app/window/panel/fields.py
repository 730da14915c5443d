"""Previews of expressions of the land: a picture, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import moderngl
import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.model import palettes
from app.model.errors import UserError
from app.model.field_parameters import FIELD_LAYERS, FIELDS
from app.model.overlays import OVERLAYS, overlay_range
from app.model.parameters import Declaration
from app.model.snapshot import Snapshot
from app.picture.style import FAINT_TEXT, WARNING, em
from app.sources.fields import preview
from app.window.commands import changes
from app.window.panel.widgets import icon_button

if TYPE_CHECKING:
    from app.window.application import Application

PREVIEW_WIDTH = 7.0  # heights of the font
CYCLES_BETWEEN_PREVIEWS = 50  # while the land changes
GREY = 196.0  # background of transparent overlay colours


class Look(NamedTuple):
    """How the values of an expression are shown."""

    overlay: str  # the overlay that shows it on the land
    palette: palettes.Stops
    low: float  # at the ends of the palette
    high: float
    scaled: Callable[[float], float]  # scale of the palette
    ends: str  # in words
    cleared: str  # value where it is cleared


def look_of(path: str, values: NDArray[np.float32], snapshot: Snapshot) -> Look:
    """The look of values: a field like its overlay, all else from 0 to the largest, in metres."""
    group, name = path.split(".")
    if group == FIELDS:
        overlay = OVERLAYS[overlay_of(name)]
        ends = "0 to 1" if overlay.palette is palettes.PROTECTED else "¼ to 4"
        low, high = overlay_range(overlay.name, snapshot)
        return Look(overlay.name, overlay.palette, low, high, overlay.scaled, ends, "Remove the field: 1 everywhere")
    highest = float(np.abs(values).max())
    signed = values.min() < 0.0
    palette, low = (palettes.CHANGE, -highest) if signed else (palettes.SAND, 0.0)
    ends = f"{low:.4g} to {highest:.4g} m"
    return Look("material", palette, low, highest or 1.0, float, ends, "Remove it: 0 everywhere")


class FieldPreviews:
    """Rows below expressions: picture or error, and buttons."""

    def __init__(self, application: Application) -> None:
        self._application = application
        # By paths: what the picture was made of, the picture, how it is shown, and what is wrong
        self._made: dict[str, tuple[object, moderngl.Texture | None, Look | None, str]] = {}

    def row(self, declaration: Declaration, text: str) -> None:
        """Show the values of a text, which may be unfinished."""
        if not text.strip():
            self._forget(declaration.path)
            return
        texture, look, wrong = self._preview(declaration, text)
        if wrong:
            imgui.push_text_wrap_pos(0.0)
            imgui.text_colored(imgui.ImVec4(*WARNING), wrong)
            imgui.pop_text_wrap_pos()
        if texture is not None:
            width = em(PREVIEW_WIDTH)
            imgui.image(imgui.ImTextureRef(texture.glo), imgui.ImVec2(width, width * texture.height / texture.width))
            imgui.same_line()
        imgui.begin_group()
        if look is not None:
            self._buttons(declaration, look)
        imgui.end_group()

    def _buttons(self, declaration: Declaration, look: Look) -> None:
        is_shown = self._application.documents.scene.view.overlay == look.overlay
        icon = icons.ICON_FA_EYE_SLASH if is_shown else icons.ICON_FA_EYE
        label = OVERLAYS[look.overlay].label
        tip = f"Hide the overlay: {label}" if is_shown else f"Show on the land: {label}"
        if icon_button(icon, f"show {declaration.path}", tip):
            changes.change(self._application, "view.overlay", "none" if is_shown else look.overlay)
        imgui.same_line()
        if icon_button(icons.ICON_FA_ERASER, f"clear {declaration.path}", look.cleared):
            changes.change(self._application, declaration.path, "")
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), look.ends)

    def _preview(self, declaration: Declaration, text: str) -> tuple[moderngl.Texture | None, Look | None, str]:
        snapshot = self._application.snapshot
        if snapshot is None:
            return None, None, ""
        made_of = text, snapshot.world, snapshot.cycle // CYCLES_BETWEEN_PREVIEWS
        if declaration.path not in self._made or self._made[declaration.path][0] != made_of:
            self._forget(declaration.path)
            self._made[declaration.path] = made_of, *self._made_now(declaration, text, snapshot)
        return self._made[declaration.path][1:]

    def _made_now(
        self, declaration: Declaration, text: str, snapshot: Snapshot
    ) -> tuple[moderngl.Texture | None, Look | None, str]:
        path = declaration.path
        try:
            values = preview(snapshot, path, text)
        except UserError as error:
            return None, None, str(error).removeprefix(f"{path}: ")
        look = look_of(path, values, snapshot)
        picture = coloured(values, look)
        rows, columns = picture.shape[:2]
        texture = self._application.sides.context.texture((columns, rows), 3, picture.tobytes(), alignment=1)
        return texture, look, ""

    def _forget(self, path: str) -> None:
        made = self._made.pop(path, None)
        if made is not None and made[1] is not None:
            made[1].release()

    def release(self) -> None:
        """Give back the pictures."""
        for path in list(self._made):
            self._forget(path)


def overlay_of(name: str) -> str:
    """The overlay that shows a field."""
    return next(overlay.name for overlay in OVERLAYS.values() if overlay.layers == (FIELD_LAYERS[name],))


def coloured(values: NDArray[np.float32], look: Look) -> NDArray[np.uint8]:
    """Values in colours, [row, column, (red, green, blue)]."""
    low, high = look.scaled(look.low), look.scaled(look.high)
    scaled = np.vectorize(look.scaled, otypes=[np.float64])(values)
    part = np.clip((scaled - low) / (high - low), 0.0, 1.0)
    colours = palettes.interpolated(look.palette, 256)[np.rint(255.0 * part).astype(int)]
    opacity = colours[..., 3:]
    shown: NDArray[np.uint8] = np.empty((*values.shape, 3), np.uint8)
    shown[...] = 255.0 * colours[..., :3] * opacity + GREY * (1.0 - opacity) + 0.5
    return shown
