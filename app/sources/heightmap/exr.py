"""OpenEXR: half, float or integer channels. It has no cell size."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from app.model.errors import UserError
from app.sources.heightmap.raster import Raster, check_size

# The usual names of the channel that holds heights, the most specific first.
HEIGHT_CHANNELS = ("Y", "R")


def read_exr(path: Path) -> Raster:
    """The channel `Y`, `R` or else the first, in metres."""
    import OpenEXR

    with _no_output():
        (west, north), (east, south) = OpenEXR.File(str(path), header_only=True).header()["dataWindow"]
        check_size(int(south) - int(north) + 1, int(east) - int(west) + 1)
        file = OpenEXR.File(str(path), separate_channels=True)
    # A part whose pixels cannot be decoded is left out without an exception.
    if not file.parts:
        raise ValueError("its pixels are damaged or cut off")
    channels = file.channels()
    if not channels:
        raise UserError("it has no channels; expected one that holds heights, named Y")
    name = next((name for name in HEIGHT_CHANNELS if name in channels), next(iter(channels)))
    taken = f"channel {name} of {len(channels)}" if len(channels) > 1 else ""
    if len(file.parts) > 1:
        taken = f"{taken or f'channel {name}'} in the first of {len(file.parts)} parts"
    return Raster(channels[name].pixels, taken=taken)


@contextlib.contextmanager
def _no_output() -> Iterator[None]:
    """Discard what the library prints to Python's output and the standard error of the process."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        with contextlib.redirect_stdout(None):
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
