"""The frame block: one uniform block for all shaders, declared once."""

from __future__ import annotations

import moderngl
import numpy as np

from app.model import overlays
from app.picture.passes import shared

# name, GLSL type, content. Only mat4 and vec4, whose layout is the same in std140 and in NumPy.
# fmt: off
FIELDS: tuple[tuple[str, str, str], ...] = (
    ("view_projection", "mat4", "picture space to the clip space of the whole picture"),
    ("crop", "vec4", "from there to that of the part that is drawn: factors (x, y); shifts (x, y)"),
    ("subpixels", "vec4", "of the whole picture, for each unit of clip space (x, y); 0; 0"),
    ("rays", "mat4", "places in the picture (x, y, 1, 0) from -1 to 1 to directions in picture space"),
    ("camera", "vec4", "position of the camera; time in seconds"),
    ("sun", "vec4", "unit vector towards the sun; tangent of its height"),
    ("sun_light", "vec4", "colour of sunlight; exposure as a factor"),
    ("sky_light", "mat4", "light from the sky: all around, more upwards, more sunwards; the sky overhead"),
    ("horizon", "mat4", "colour of the horizon, by powers of (1 + cosine to the sun) / 2: 0, 1, 6 and 24"),
    ("sunward", "vec4", "unit vector to the sun's place on the compass, and slope down to the horizon (east, south)"),
    ("table", "vec4", "the table under a block in full light; 0"),
    ("table_sun", "vec4", "what it loses where the sun does not come; 0"),
    ("table_sky", "vec4", "and what where the sky does not; 0"),
    ("map", "vec4", "columns, rows, cell size in metres, exaggeration of heights"),
    ("heights", "vec4", "lowest and highest ground, base of the block, in picture space; longer side of the map"),
    ("air", "vec4",
        "haze per metre; height over which it thins; height it starts at; a storm's front, sides along the wind"),
    ("fog", "vec4",
        "optical depth from above; 1 over the height of its layer, 1/m; density of air at the camera, and of dust"),
    ("clouds", "vec4",
        "heights of their base and tops, picture space; tiles of noise per metre; noise where they begin"),
    ("cloud_drift", "vec4",
        "tiles that they have drifted (east, south); opacity of wisps; part of sunlight that they take"),
    ("cloud_line", "vec4",
        "noise by which clouds begin earlier, by powers of the way along the wind from the middle, in half sides"),
    ("ground_look", "vec4", "snow line in the relief; greenness; sediment that hides ground; light that hollows lose"),
    ("wind", "vec4", "the way it blows (east, south); how much loose material is dune sand; how much of it drifts"),
    ("waves", "vec4", "wave number where it is deep, 1/m; waves since the loop began; waves in a loop; height in m"),
    ("fronts", "vec4", "how steep fronts are; how much they are scattered; foam; how many stand before the shore"),
    ("beach", "vec4", "how high and how far inland waves run, m; part of wetness lost in a period; shelter from wind"),
    ("loop", "vec4", "seconds until the sea repeats; part of them gone; 0; 0"),
    ("water", "vec4", "clarity; strength of waves; their length; level of the sea in metres, or NO_SEA"),
    ("streams", "vec4", "log₂ of the smallest stream, m³/s; half the width of 1 m³/s, cells; speed, cells a second;"
        " warmth at height 0 by which they freeze, °C"),
    ("strata", "vec4",
        "1 over the depth of the table of strata, 1/m; thickness of a stratum, about, in m; season from −1 to 1;"
        " slope of slip faces of dunes"),
    ("beds", "vec4", "the way across the beds of rock (east, up, south); 0"),
    ("dust", "vec4", "of a storm: extinction at the lowest ground, 1/m; height over which it thins; strength; drift"),
    ("rain", "vec4", "how much falls, to 1; warmth at height 0, °C, and its fall, °C/m; how much follows altitude"),
    ("part", "vec4", "lower left corner in the scene of what is drawn, in pixels; how far land is below an overlay; 0"),
    ("overlay", "vec4", "what the overlay shows, of app/model/overlays.py; opacity; low and high end of its range"),
)
# fmt: on

NO_SEA = -1e30

BLOCK = "Frame"
INCLUDE = "frame.glsl"
BINDING = 0

_TYPES = {"mat4": np.dtype((np.float32, 16)), "vec4": np.dtype((np.float32, 4))}
LAYOUT = np.dtype([(name, _TYPES[kind]) for name, kind, _ in FIELDS])


def glsl() -> str:
    """The declaration of the block in GLSL, with constants."""
    lines = [f"    {kind} {name};  // {text}" for name, kind, text in FIELDS]
    return f"layout(std140) uniform {BLOCK} {{\n" + "\n".join(lines) + "\n} frame;\n" + overlays.glsl() + shared.glsl()


class FrameBlock:
    """The buffer behind the block."""

    def __init__(self, context: moderngl.Context) -> None:
        self.values = np.zeros((), LAYOUT)
        self._buffer = context.buffer(reserve=LAYOUT.itemsize, dynamic=True)

    def upload(self) -> None:
        """Send `values` to the shaders."""
        self._buffer.write(self.values.tobytes())
        self._buffer.bind_to_uniform_block(BINDING)

    def release(self) -> None:
        self._buffer.release()
