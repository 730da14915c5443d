"""Content of the guide: the open page, its history, and pictures, read on a thread."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.files import guide
from app.files.guide import INDEX, Chapter, Page, page_of

log = logging.getLogger(__name__)

KEYS_PAGE = "keys"  # the page that lists the keys
MOST_TEXTURES = 24

Pixels = NDArray[np.uint8]


class Guide:
    """The reading state of the guide. `page` is the open page, or the last one."""

    def __init__(self, context: moderngl.Context) -> None:
        self.is_open = False
        self.page = INDEX
        self.search = ""
        self.pictures = GuidePictures(context)
        self._before: list[str] = []

    @property
    def chapters(self) -> list[Chapter]:
        """The pages that match the search, by chapter."""
        found = [
            Chapter(chapter.title, tuple(page for page in chapter.pages if page.has(self.search)))
            for chapter in guide.chapters()
        ]
        return [chapter for chapter in found if chapter.pages]

    @property
    def text(self) -> str:
        """Of the page, in Markdown."""
        return guide.page(self.page).text

    @property
    def can_go_back(self) -> bool:
        return bool(self._before)

    def toggle(self, page: str = "") -> None:
        """Open the guide, at a page if given; close it if that page is already open."""
        if self.is_open and page in ("", self.page):
            self.is_open = False
            return
        self.is_open = True
        if page:
            self.go_to(page)

    def go_to(self, page: str) -> None:
        """Open another page."""
        if page != self.page:
            self._before.append(self.page)
            self.page = page

    def go_back(self) -> None:
        """Go back to the previous page."""
        if self._before:
            self.page = self._before.pop()

    def follow(self, target: str) -> bool:
        """Open the page of a link. Returns whether it leads to a page."""
        name = page_of(target)
        if name:
            self.go_to(name)
        return bool(name)

    def first_found(self) -> Page | None:
        """The first page that the search finds."""
        return next((page for chapter in self.chapters for page in chapter.pages), None) if self.search else None


class GuidePictures:
    """Textures of pictures in pages, by link target. The last used are kept."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="guide")
        self._read: dict[str, Future[Pixels | None]] = {}
        self._textures: dict[str, moderngl.Texture | None] = {}  # the last used is last

    def texture(self, target: str) -> moderngl.Texture | None:
        """The texture of a link; None while it is read, or if there is none."""
        if target in self._textures:
            texture = self._textures[target] = self._textures.pop(target)
            return texture
        reading = self._read.setdefault(target, self._reader.submit(read_picture, target))
        if reading.done():
            del self._read[target]
            self._textures[target] = self._made_from(reading.result())
            while len(self._textures) > MOST_TEXTURES:
                self._release(next(iter(self._textures)))
        return None

    def has(self, target: str) -> bool:
        """Whether the picture of a link is loaded."""
        return self._textures.get(target) is not None

    def release(self) -> None:
        """Release the textures and stop reading."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        for target in tuple(self._textures):
            self._release(target)

    def _made_from(self, pixels: Pixels | None) -> moderngl.Texture | None:
        if pixels is None:
            return None
        rows, columns, channels = pixels.shape
        texture = self._context.texture((columns, rows), channels, pixels.tobytes(), alignment=1)
        texture.build_mipmaps()
        return texture

    def _release(self, target: str) -> None:
        texture = self._textures.pop(target)
        if texture is not None:
            texture.release()


def read_picture(target: str) -> Pixels | None:
    """The picture of a link, `[row, column, (red, green, blue)]`, top row first; None if there is none."""
    from imagecodecs import jpeg8_decode

    try:
        return np.ascontiguousarray(jpeg8_decode(guide.picture(target).read_bytes())[..., :3], np.uint8)
    except (OSError, ValueError, RuntimeError) as error:
        log.debug("%s: it cannot be read: %s", target, error)
        return None
