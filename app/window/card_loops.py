"""Loops of cards in the window: the card that is pointed at moves, once its loop has been drawn."""

from __future__ import annotations

import shutil
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.engine.workers import start_program
from app.files.card_loops import FPS, Frames, loop_file, read_loop, remove_oldest, words_of
from app.files.cards import Card
from app.files.library import Library

REST = 0.5  # seconds that the pointer rests on a card before its loop is drawn


class CardLoops:
    """The loop of one card at a time. A program of its own draws what is not in the cache yet, after all others."""

    def __init__(self, context: moderngl.Context, library: Library) -> None:
        """Without a cache of the user there are none."""
        self._context = context
        self._folder = library.loops
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="loops")
        self._source = ""  # of the card that is pointed at
        self._since = 0.0
        self._frames: list[moderngl.Texture] = []
        self._reading: Future[Frames] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._place = Path()
        self._failed: set[Path] = set()

    @property
    def is_drawing(self) -> bool:
        """Whether the loop of the card that is pointed at is on its way."""
        return self._process is not None or self._reading is not None

    def texture(self, card: Card) -> moderngl.Texture | None:
        """The present frame of the card that is pointed at; None until there is one."""
        if self._folder is None:
            return None
        if card.source != self._source:
            self.leave()
            self._source, self._since = card.source, time.monotonic()
            self._place = loop_file(card, self._folder)
        passed = time.monotonic() - self._since
        if not self._frames:
            self._go_on(card, self._folder, has_rested=passed > REST)
        return self._frames[int(passed * FPS) % len(self._frames)] if self._frames else None

    def leave(self) -> None:
        """No card is pointed at any more."""
        self._source = ""
        self._reading = None
        for texture in self._frames:
            texture.release()
        self._frames = []
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.communicate()

    def release(self) -> None:
        self.leave()
        self._reader.shutdown(wait=False, cancel_futures=True)

    def _go_on(self, card: Card, folder: Path, *, has_rested: bool) -> None:
        """The next step on the way to frames: draw, wait, read."""
        if self._reading is not None:
            if self._reading.done():
                frames, self._reading = self._reading.result(), None
                self._frames = [self._made_from(frame) for frame in frames]
                if not frames:
                    self._failed.add(self._place)
            return
        if self._place in self._failed:
            return
        if self._process is not None:
            if self._process.poll() is None:
                return
            self._process.communicate()
            self._process = None
            if not self._place.exists():
                self._failed.add(self._place)
                return
            self._reader.submit(remove_oldest, folder)
        if self._place.exists():
            self._reading = self._reader.submit(read_loop, self._place)
        elif has_rested and (words := words_of(card)):
            self._start(words, folder)

    def _start(self, words: list[str], folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            first = [*filter(None, [shutil.which("nice")])]  # what is seen and simulated goes first
            self._process = start_program([*words, "--out", str(self._place)], before=first)
        except OSError:
            self._failed.add(self._place)

    def _made_from(self, pixels: NDArray[np.uint8]) -> moderngl.Texture:
        rows, columns, channels = pixels.shape
        texture = self._context.texture((columns, rows), channels, pixels.tobytes(), alignment=1)
        texture.repeat_x = texture.repeat_y = False
        return texture
