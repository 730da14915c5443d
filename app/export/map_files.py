"""Maps as files: one per map or layers of one EXR, and a list of them with units and scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.export.geotiff import Band, write_geotiff
from app.export.heights import MOST_SHADES, write_exr
from app.export.landscape import Landscape
from app.export.maps import Map, unit_length
from app.export.sheet import Sheet
from app.files.atomic import write_atomically

Array = NDArray[Any]

LIST_FILE = "maps.json"
LAYERED_FILE = "maps.exr"
SINGLE = "V"  # name of the channel of a layer with only one


@dataclass(frozen=True)
class MapFile:
    """The values of a map in the cells of a sheet: float32, or uint8 for ids and masks (0 and 1)."""

    map: Map
    values: Array
    sheet: Sheet

    @classmethod
    def of(cls, map: Map, landscape: Landscape, sheet: Sheet) -> MapFile:
        return cls(map, _laid_out(map, map.values(landscape), sheet), sheet)

    @property
    def span(self) -> tuple[float, float]:
        """The values of the lowest and the highest shade of a picture."""
        match self.map.kind:
            case "direction":
                return -1.0, 1.0
            case "parts":
                return 0.0, 1.0
        low, high = float(self.values.min()), float(self.values.max())
        if self.map.channels:  # symmetric about 0
            high = max(-low, high)
            low = -high
        return low, high if high > low else low + 1.0

    def channels(self, single: str) -> dict[str, Array]:
        """The channels of an EXR; `single` is the name of an only one."""
        values = self.values.astype(np.uint32) if self.map.kind == "id" else self.values.astype(np.float32)
        if not self.map.channels:
            return {single: values}
        return {name: values[..., number] for number, name in enumerate(self.map.channels)}


def _laid_out(map: Map, values: Array, sheet: Sheet) -> Array:
    if map.kind in ("id", "mask"):
        return np.ascontiguousarray(sheet.labels(values).astype(np.uint8))
    if sheet.back is not None or values.shape[:2] != (sheet.rows, sheet.columns):
        bands = [values] if values.ndim == 2 else [values[..., band] for band in range(values.shape[-1])]
        # Interpolation can overshoot the range of values.
        laid = [sheet.numbers(band.astype(np.float64)).clip(band.min(), band.max()) for band in bands]
        values = laid[0] if values.ndim == 2 else np.stack(laid, axis=-1)
        if map.kind == "direction":
            values = unit_length(values)
    return np.ascontiguousarray(values, np.float32)


# Writers of single maps.


def _write_tiff(path: Path, file: MapFile) -> None:
    row, sheet = file.map, file.sheet
    bands = tuple(Band(f"{row.help}, {channel}", row.unit) for channel in row.channels) or (Band(row.help, row.unit),)
    write_geotiff(path, file.values, sheet.place, bands, sheet.unmapped)


def _write_png(path: Path, file: MapFile) -> None:
    from imagecodecs import png_encode

    with write_atomically(path) as out:
        out.write(png_encode(_shades(file)))


def _shades(file: MapFile) -> Array:
    """A map as an image: 8 bits for masks, ids and weights, 16 for others; components of directions are colours."""
    kind, values = file.map.kind, file.values
    if kind == "id":
        return values
    if kind == "mask":
        return 255 * values
    low, high = file.span
    most, dtype = (255, np.uint8) if kind == "parts" else (MOST_SHADES, np.uint16)
    shades = np.rint(most * np.clip((values - np.float64(low)) / (high - low), 0.0, 1.0)).astype(dtype)
    if values.ndim == 3 and values.shape[-1] == 2:  # an image needs a third channel
        shades = np.concatenate([shades, np.full((*shades.shape[:2], 1), (most + 1) // 2, dtype)], axis=-1)
    return np.ascontiguousarray(shades)


def _write_exr(path: Path, file: MapFile) -> None:
    write_exr(path, file.channels("Y"))


def _write_npy(path: Path, file: MapFile) -> None:
    with write_atomically(path) as out:
        np.save(out, file.values, allow_pickle=False)


@dataclass(frozen=True)
class MapFormat:
    """A format of maps: description, suffix, writer, and approximate size per channel."""

    help: str
    suffix: str
    write: Callable[[Path, MapFile], None]
    bytes_per_cell: float
    scaled: bool = False


MAP_FORMATS: dict[str, MapFormat] = {
    "tif": MapFormat("GeoTIFF, float32", ".tif", _write_tiff, 3.0),
    "png": MapFormat("PNG of 8 or 16 bits, with its scale in maps.json", ".png", _write_png, 1.5, scaled=True),
    "exr": MapFormat("OpenEXR, float32", ".exr", _write_exr, 3.0),
    "npy": MapFormat("NumPy array, float32", ".npy", _write_npy, 4.0),
}
LAYERED = "layered"  # the other format: all maps as layers of one EXR


# The list of maps.


class Entry(msgspec.Struct, omit_defaults=True):
    """The entry of a map in the list. The value of a shade is `offset` + shade × `step`."""

    name: str
    file: str
    help: str
    kind: str
    lowest: float
    highest: float
    unit: str = ""
    channels: tuple[str, ...] = ()
    names: list[str] = msgspec.field(default_factory=list)
    offset: float | None = None
    step: float | None = None


def entry_of(file: MapFile, name: str, landscape: Landscape, *, scaled: bool) -> Entry:
    """The entry of a map in a file of this name."""
    row = file.map
    low, high = file.span
    most = 255 if row.kind == "parts" else MOST_SHADES
    scaled = scaled and row.kind not in ("id", "mask")
    return Entry(
        row.name, name, row.help, row.kind, float(file.values.min()), float(file.values.max()), row.unit, row.channels,
        row.names(landscape), low if scaled else None, (high - low) / most if scaled else None,
    )  # fmt: skip


def write_list(path: Path, entries: list[Entry]) -> None:
    """Write the list of maps as JSON."""
    with write_atomically(path) as out:
        out.write(msgspec.json.format(msgspec.json.encode(entries)) + b"\n")


def write_layered(path: Path, files: Iterator[MapFile]) -> list[MapFile]:
    """Write all maps as layers of one EXR, with channels named MAP.CHANNEL. They must share a sheet."""
    channels: dict[str, Array] = {}
    written = []
    for file in files:
        channels |= {f"{file.map.name}.{name}": values for name, values in file.channels(SINGLE).items()}
        written.append(file)
    write_exr(path, channels)
    return written
