"""The list of sessions that can be resumed, with pictures and summaries."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from imgui_bundle import imgui

from app.engine.autosave import EndedSession
from app.files.cards import Card
from app.model.numbers import spaced
from app.picture.style import FAINT_TEXT, em
from app.window.panel.dialog_window import dialog_window
from app.window.panel.widgets import heading, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.gallery import CardStock
    from app.window.sessions import Sessions

WIDTH = 30.0  # heights of the font
PICTURE = 10.4, 5.85
MOST_ROWS = 4  # visible at once


def session_list(sessions: Sessions, stock: CardStock, place: tuple[float, float], room: tuple[float, float]) -> None:
    """Lay out the list around a `place`, in so much `room`, unless it is empty."""
    if not sessions.listed:
        return
    stock.begin_frame()
    height = 5.2 + (PICTURE[1] + 1.0) * min(len(sessions.listed), MOST_ROWS)
    title = "Sessions that were not closed" if not sessions.listed[0].index.closed else "Earlier sessions"
    with dialog_window(f"{title}###sessions", (WIDTH, height), place, room) as (is_expanded, is_open):
        if is_expanded:
            below = imgui.get_frame_height_with_spacing() + em(0.2)
            if imgui.begin_child("rows", imgui.ImVec2(0.0, -below), imgui.ChildFlags_.nav_flattened.value):
                for session in sessions.listed:
                    imgui.push_id(session.folder.name)
                    if _row(session, stock):
                        sessions.resume(session)
                    imgui.pop_id()
            imgui.end_child()
            if imgui.button("Not now"):
                is_open = False
            tooltip_on_hover("Ctrl+Shift+O lists them later")
    if not is_open:
        sessions.close_list()


def _row(session: EndedSession, stock: CardStock) -> bool:
    """Show a session. Returns whether it was chosen."""
    index, size = session.index, imgui.ImVec2(em(PICTURE[0]), em(PICTURE[1]))
    begin = imgui.get_cursor_pos()
    texture = stock.texture(Card(f"session {session.picture}", index.name, "", picture=session.picture))
    if texture is not None:
        imgui.image(imgui.ImTextureRef(texture.glo), size)
    else:
        imgui.dummy(size)
    imgui.same_line(0.0, em(0.8))
    imgui.begin_group()
    heading(index.name or "land")
    when = time.strftime("%d %B, %H:%M", time.localtime(index.time))
    minutes = max(round(index.seconds / 60.0), 1)
    edits = f"{spaced(index.edits)} {'edit' if index.edits == 1 else 'edits'}" if index.edits else "no edits"
    imgui.text_unformatted(f"cycle {spaced(index.cycle)}, {edits}")
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{when}, {spaced(minutes)} min")
    chosen = imgui.button("Go on with it")
    imgui.end_group()
    imgui.set_cursor_pos(imgui.ImVec2(begin.x, max(imgui.get_cursor_pos_y(), begin.y + size.y + em(0.6))))
    imgui.dummy(imgui.ImVec2(0.0, 0.0))
    return chosen
