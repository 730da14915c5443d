"""Content of the gallery: cards and pictures, read on a thread, so that no frame waits for a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.files.card_pictures import keep_picture, read_picture, write_picture
from app.files.cards import Card, all_cards
from app.files.library import Library
from app.window.card_loops import CardLoops

TEXTURES_PER_FRAME = 6
SECONDS_FOR_TEXTURES = 0.004  # per frame; the rest waits for the next frame
MOST_TEXTURES = 160

Pixels = NDArray[np.uint8]


class CardStock:
    """The cards as read last, and textures of visible ones."""

    def __init__(self, context: moderngl.Context, library: Library) -> None:
        self._context = context
        self._library = library
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gallery")
        self._cards: tuple[Card, ...] = ()
        self._being_read: Future[list[Card]] | None = None
        self._pictures: dict[str, Future[Pixels | None]] = {}  # being read
        self._textures: dict[str, moderngl.Texture | None] = {}  # by source; the last used is last
        self._made, self._since = 0, 0.0  # textures, in this frame
        self.loops = CardLoops(context, library)

    @property
    def cards(self) -> Sequence[Card]:
        """All known cards, in order."""
        if self._being_read is not None and self._being_read.done():
            self._cards, self._being_read = tuple(self._being_read.result()), None
        return self._cards

    @property
    def is_reading(self) -> bool:
        """Whether cards are still being read."""
        return self._being_read is not None

    def is_settled(self, card: Card) -> bool:
        """Whether the picture of a card is known."""
        return card.source in self._textures

    def read_anew(self) -> None:
        """Read all cards again. The old ones stay until then."""
        for card in self._cards:  # names may refer to other files now
            if card.path is not None:
                self._release(card.source)
        self._being_read = self._reader.submit(all_cards, self._library)

    def begin_frame(self) -> None:
        self._made, self._since = 0, time.perf_counter()

    def texture(self, card: Card) -> moderngl.Texture | None:
        """The texture of a card; None while it is read, or if there is none."""
        if card.source in self._textures:
            texture = self._textures[card.source] = self._textures.pop(card.source)
            return texture
        picture = self._pictures.get(card.source)
        if picture is None:
            self._pictures[card.source] = self._reader.submit(read_picture, card, self._library.pictures)
        elif picture.done() and self._has_time:
            del self._pictures[card.source]
            self._textures[card.source] = self._made_from(picture.result())
            self._made += 1
            self._forget_oldest()
            return self._textures[card.source]
        return None

    def keep_picture(self, path: Path, pixels: Pixels) -> None:
        """Keep a picture for the card of a saved file."""
        self._reader.submit(keep_picture, path, pixels, self._library.pictures)

    def write_picture(self, place: Path, pixels: Pixels) -> None:
        """Write a picture in the size of a card."""
        self._reader.submit(write_picture, place, pixels)

    def release(self) -> None:
        """Release the textures and stop reading."""
        self.loops.release()
        self._reader.shutdown(wait=False, cancel_futures=True)
        for source in tuple(self._textures):
            self._release(source)

    @property
    def _has_time(self) -> bool:
        return self._made < TEXTURES_PER_FRAME and time.perf_counter() - self._since < SECONDS_FOR_TEXTURES

    def _made_from(self, pixels: Pixels | None) -> moderngl.Texture | None:
        if pixels is None:
            return None
        rows, columns, channels = pixels.shape
        texture = self._context.texture((columns, rows), channels, pixels.tobytes(), alignment=1)
        texture.repeat_x = texture.repeat_y = False
        return texture

    def _forget_oldest(self) -> None:
        while len(self._textures) > MOST_TEXTURES:
            self._release(next(iter(self._textures)))

    def _release(self, source: str) -> None:
        self._pictures.pop(source, None)
        texture = self._textures.pop(source, None)
        if texture is not None:
            texture.release()
