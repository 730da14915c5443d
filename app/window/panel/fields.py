"""What the panel shows of fields beside their texts: how an expression looks on the land, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import moderngl
import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.model import palettes
from app.model.errors import UserError
from app.model.field_parameters import FIELD_LAYERS
from app.model.overlays import OVERLAYS, overlay_range
from app.model.parameters import Declaration
from app.model.snapshot import Snapshot
from app.picture.style import FAINT_TEXT, WARNING, em
from app.sources.fields import preview
from app.window.panel.widgets import icon_button

if TYPE_CHECKING:
    from app.window.application import Application

PREVIEW_WIDTH = 7.0  # heights of the font
CYCLES_BETWEEN_PREVIEWS = 50  # while the land changes
GREY = 196.0  # on which the colours of an overlay are seen that lets through what is below


class FieldPreviews:
    """Below the text of each field: its picture, or what is wrong, and buttons."""

    def __init__(self, application: Application) -> None:
        self._application = application
        # By paths: what the picture was made of, the picture, and what is wrong
        self._made: dict[str, tuple[object, moderngl.Texture | None, str]] = {}

    def row(self, declaration: Declaration, text: str) -> None:
        """Show the field that a text makes, which may still be typed."""
        if not text.strip():
            self._forget(declaration.path)
            return
        texture, wrong = self._preview(declaration, text)
        if wrong:
            imgui.push_text_wrap_pos(0.0)
            imgui.text_colored(imgui.ImVec4(*WARNING), wrong)
            imgui.pop_text_wrap_pos()
        if texture is not None:
            width = em(PREVIEW_WIDTH)
            imgui.image(imgui.ImTextureRef(texture.glo), imgui.ImVec2(width, width * texture.height / texture.width))
            imgui.same_line()
        imgui.begin_group()
        self._buttons(declaration)
        imgui.end_group()

    def _buttons(self, declaration: Declaration) -> None:
        commands, scene = self._application.commands, self._application.documents.scene
        overlay = overlay_of(declaration.name)
        is_shown = scene.view.overlay == overlay
        icon = icons.ICON_FA_EYE_SLASH if is_shown else icons.ICON_FA_EYE
        if icon_button(
            icon, f"show {declaration.path}", "Hide the field" if is_shown else "Show the field on the land"
        ):
            commands.change("view.overlay", "none" if is_shown else overlay)
        imgui.same_line()
        if icon_button(icons.ICON_FA_ERASER, f"clear {declaration.path}", "Remove the field: 1 everywhere"):
            commands.change(declaration.path, "")
        low, high = ("0", "1") if OVERLAYS[overlay].palette is palettes.PROTECTED else ("¼", "4")
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{low} to {high}")

    def _preview(self, declaration: Declaration, text: str) -> tuple[moderngl.Texture | None, str]:
        snapshot = self._application.snapshot
        if snapshot is None:
            return None, ""
        made_of = text, snapshot.world, snapshot.cycle // CYCLES_BETWEEN_PREVIEWS
        if declaration.path not in self._made or self._made[declaration.path][0] != made_of:
            self._forget(declaration.path)
            self._made[declaration.path] = made_of, *self._made_now(declaration, text, snapshot)
        return self._made[declaration.path][1:]

    def _made_now(self, declaration: Declaration, text: str, snapshot: Snapshot) -> tuple[moderngl.Texture | None, str]:
        try:
            picture = coloured(preview(snapshot, declaration.name, text), overlay_of(declaration.name), snapshot)
        except UserError as error:
            return None, str(error).removeprefix(f"{declaration.path}: ")
        rows, columns = picture.shape[:2]
        return self._application.sides.context.texture((columns, rows), 3, picture.tobytes(), alignment=1), ""

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


def coloured(values: NDArray[np.float32], overlay: str, snapshot: Snapshot) -> NDArray[np.uint8]:
    """Values in the colours of an overlay, [row, column, (red, green, blue)]."""
    row = OVERLAYS[overlay]
    low, high = (row.scaled(end) for end in overlay_range(overlay, snapshot))
    scaled = np.vectorize(row.scaled, otypes=[np.float64])(values)
    part = np.clip((scaled - low) / (high - low), 0.0, 1.0)
    colours = palettes.interpolated(row.palette, 256)[np.rint(255.0 * part).astype(int)]
    opacity = colours[..., 3:]
    shown: NDArray[np.uint8] = np.empty((*values.shape, 3), np.uint8)
    shown[...] = 255.0 * colours[..., :3] * opacity + GREY * (1.0 - opacity) + 0.5
    return shown
