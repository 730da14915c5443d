"""Short loops of the gallery's cards, which `thalweg render` draws into the user's cache when they are first wanted."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
from importlib import metadata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.files.card_pictures import SIZE
from app.files.cards import PRESET, Card
from app.scene.families import loop_words

FRAMES, FPS = 10, 6
LOOP_SIZE = SIZE[0] * 2 // 3, SIZE[1] * 2 // 3  # pixels, across and down
QUALITY = "medium"  # of the picture
CYCLES_OF_OWN = 20  # between two frames of a preset of the user
MOST_KEPT = 200

Frames = list[NDArray[np.uint8]]


def words_of(card: Card) -> list[str]:
    """The `thalweg` command that draws the loop of a card, without --out; empty for what has none."""
    if card.problem or card.picture is not None or (card.path is not None and card.path.suffix != PRESET):
        return []
    words = shlex.split(loop_words(card.source, FRAMES)) if card.path is None else [
        "render", str(card.path), "--orbit", "0", "--frames", str(FRAMES), "--cycles-per-frame", str(CYCLES_OF_OWN),
    ]  # fmt: skip
    width, height = LOOP_SIZE
    size = ["--width", str(width), "--height", str(height), "--fps", str(FPS)]
    return [*words, *size, "--set", f"view.quality={QUALITY}", "--threads", "1"]


def loop_file(card: Card, folder: Path) -> Path:
    """Where the loop of a card is kept, as its source is now and this version of the program draws it."""
    changed = 0
    if card.path is not None:
        with contextlib.suppress(OSError):
            changed = card.path.stat().st_mtime_ns
    key = "\n".join((*words_of(card), str(changed), _version()))
    return folder / f"{hashlib.sha256(key.encode(errors='surrogateescape')).hexdigest()[:40]}.webp"


def read_loop(place: Path) -> Frames:
    """The frames of a loop, each `[row, column, (red, green, blue)]`; none where it cannot be read."""
    from imagecodecs import webp_decode

    try:
        content = place.read_bytes()
        frames = [np.ascontiguousarray(webp_decode(content, index)[..., :3], np.uint8) for index in range(FRAMES)]
    except (OSError, ValueError, RuntimeError, IndexError):
        return []
    return frames if len({frame.shape for frame in frames}) == 1 else []


def remove_oldest(folder: Path) -> None:
    """Remove the oldest loops if there are too many."""
    with contextlib.suppress(OSError):
        written = sorted(folder.glob("*.webp"), key=lambda place: place.stat().st_mtime, reverse=True)
        for place in written[MOST_KEPT:]:
            place.unlink(missing_ok=True)


def _version() -> str:
    try:
        return metadata.version("thalweg")
    except metadata.PackageNotFoundError:  # not installed
        return ""
