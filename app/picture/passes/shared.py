"""Numbers that both Python and the shaders need, declared once."""

from __future__ import annotations

HAZE_HUES = 0.75, 1.0, 1.25  # optical depth of haze: small particles take more of blue (Ångström 1929)
HORIZON_TILES = 8, 8  # of the map of horizons, across and down: one for each direction
HIGHEST_BLOCKS = 3.0  # cells by which blocks of massive rock stand out, at most
HIGHEST_LEDGES = 5.0  # and by which its beds do


def glsl() -> str:
    """Their declarations in GLSL."""
    hues = ", ".join(str(float(part)) for part in HAZE_HUES)
    across, down = HORIZON_TILES
    return (
        f"const vec3 HAZE_HUES = vec3({hues});\n"
        f"const ivec2 HORIZON_TILES = ivec2({across}, {down});\n"
        f"const float HIGHEST_BLOCKS = {float(HIGHEST_BLOCKS)};\n"
        f"const float HIGHEST_LEDGES = {float(HIGHEST_LEDGES)};\n"
    )
