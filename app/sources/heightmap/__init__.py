"""Terrain from a file: elevations in metres on square cells, whatever format they came in.

`read_heightmap` is the whole story from a path to a `Heightmap`; `FORMATS` is the table of what can be read, with one
module of this package per format. Readers only decode: what holds for every format (sizes, NODATA, metres, square
cells) is done once, in `reading`.
"""

from app.sources.heightmap.formats import FORMATS, SUFFIXES, Format
from app.sources.heightmap.numpy_files import is_saved_world
from app.sources.heightmap.reading import DEFAULT_RELIEF, Heightmap, read_heightmap
from app.sources.heightmap.resampling import resample

__all__ = [
    "DEFAULT_RELIEF",
    "FORMATS",
    "SUFFIXES",
    "Format",
    "Heightmap",
    "is_saved_world",
    "read_heightmap",
    "resample",
]
