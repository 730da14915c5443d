"""Overlays: maps that can be laid over the ground, as a table. Their values are computed in include/overlay.glsl.

Those that are neither a layer nor computed from the surface are drawn as maps of their own first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import moderngl
import numpy as np

from app import palettes
from app.materials import Materials
from app.numbers import spaced
from app.passes.maps import LayerTextures
from app.passes.shaders import FullScreen, ShaderLibrary
from app.passes.targets import colour, map_target, release_targets
from app.snapshot import Snapshot

# Palettes as sRGB colours with opacity, evenly spaced from the low end of the range to its high end.
PALETTES: dict[str, tuple[tuple[int, int, int, float], ...]] = {
    "relief": (
        (38, 84, 77, 1), (92, 132, 88, 1), (170, 170, 112, 1),
        (206, 176, 128, 1), (171, 130, 104, 1), (236, 230, 222, 1),
    ),
    "heat": (
        (32, 40, 84, 0.9), (98, 52, 120, 1), (178, 66, 104, 1),
        (236, 112, 76, 1), (250, 196, 106, 1), (252, 246, 208, 1),
    ),
    "sand": (
        (228, 196, 142, 0), (226, 186, 118, 0.75), (210, 146, 72, 1), (168, 92, 44, 1), (104, 50, 32, 1),
    ),
    "worn": (
        (240, 216, 196, 0), (232, 164, 128, 0.75), (204, 96, 70, 1), (150, 42, 40, 1), (84, 18, 30, 1),
    ),
    "water": (
        (196, 226, 240, 0), (150, 206, 232, 0.85), (76, 158, 210, 1), (32, 98, 172, 1), (16, 44, 110, 1),
    ),
    "damp": (
        (206, 178, 132, 0.25), (172, 160, 122, 0.7), (104, 140, 128, 1), (44, 104, 134, 1), (18, 52, 104, 1),
    ),
    "plants": (
        (214, 196, 140, 0), (196, 190, 110, 0.7), (126, 160, 70, 1), (58, 118, 52, 1), (18, 68, 42, 1),
    ),
    "wind": (
        (48, 58, 96, 1), (62, 110, 150, 1), (120, 172, 164, 1), (218, 214, 170, 1), (238, 168, 92, 1), (196, 76, 54, 1),
    ),
    "materials": ((0, 0, 0, 0), (0, 0, 0, 0)),  # those of the world have their own colours
    "change": (
        (140, 34, 30, 1), (206, 94, 66, 0.95), (240, 190, 160, 0.6), (245, 245, 240, 0),
        (166, 200, 224, 0.6), (72, 132, 188, 0.95), (26, 64, 128, 1),
    ),
    "rivers": ((74, 142, 192, 0.85), (46, 108, 176, 0.95), (22, 66, 136, 1), (8, 34, 88, 1)),
    "lakes": palettes.LAKE,
    "accumulation": palettes.ACCUMULATION,
    "distance": ((28, 44, 74, 0), *palettes.DISTANCE),
    "watersheds": palettes.watershed_stops(),
    "filling": ((16, 20, 30, 0.8), (128, 156, 140, 0.15), (20, 70, 150, 1)),
}  # fmt: skip


@dataclass(frozen=True)
class Overlay:
    """One overlay: `number` is the case in the shader, `unit` the legend's.

    `layer` is what it shows where the number is LAYER or higher. With LOGARITHM_OF_LAYER the palette follows its
    magnitude.
    """

    name: str
    number: int
    label: str
    palette: str
    unit: str
    layer: str = ""

    def scaled(self, value: float) -> float:
        """A value as the shader compares it."""
        return math.log2(max(value, 1e-30)) if self.number == LOGARITHM_OF_LAYER else value


# The cases of all overlays that show a layer of the snapshot as it is, or its magnitude.
LAYER, LOGARITHM_OF_LAYER = 5, 6
MAGNITUDES = 1e-4  # of the largest value: where such a palette begins
KINDS = 7  # a layer of whole numbers, each with a colour of its own
LINES = 8  # rivers, beside lakes, drawn as a map
FIELD = 9  # a field of directions and speeds, drawn as a map


OVERLAYS: dict[str, Overlay] = {
    overlay.name: overlay
    for overlay in (
        Overlay("none", 0, "no overlay", "relief", ""),
        Overlay("elevation", 1, "elevation", "relief", "m"),
        Overlay("slope", 2, "slope", "heat", "°"),
        Overlay("sediment", 3, "thickness of sediment", "sand", "m"),
        Overlay("change", 4, "worn (red) and put down (blue) since the start", "change", "m"),
        Overlay("wind_path", LAYER, "how often the wind touches the ground", "heat", "", "wind_path"),
        Overlay("airborne", LAYER, "sand in the air", "sand", "m", "airborne"),
        Overlay("water", LAYER, "depth of lakes and sea", "water", "m", "water"),
        Overlay("stream", LAYER, "how often drops pass", "water", "", "stream"),
        Overlay("discharge", LOGARITHM_OF_LAYER, "water that passes in a cycle", "water", "m", "discharge"),
        Overlay("momentum_east", LAYER, "flow to the west (red) and east (blue)", "change", "", "momentum_east"),
        Overlay("momentum_south", LAYER, "flow to the north (red) and south (blue)", "change", "", "momentum_south"),
        Overlay("wear", LAYER, "worn by snowballs of late", "worn", "m", "wear"),
        Overlay("deposit", LAYER, "put down by snowballs of late", "sand", "m", "deposit"),
        Overlay("traffic", LAYER, "snowballs that came through", "water", "balls", "traffic"),
        Overlay("wetness", LAYER, "how full of water the ground is", "damp", "", "wetness"),
        Overlay("groundwater", LAYER, "groundwater", "water", "m", "groundwater"),
        Overlay("grass", LAYER, "how densely grass stands", "plants", "", "grass"),
        Overlay("canopy", LAYER, "crowns of trees over the ground", "plants", "", "canopy"),
        Overlay("material", KINDS, "what the ground is made of", "materials", "", "material"),
        Overlay("wind", FIELD, "wind near the ground beside the prevailing one", "wind", "×", "wind"),
        Overlay("rivers", LINES, "rivers by Strahler's order, and lakes", "rivers", "", "rivers"),
        Overlay("lakes", LAYER, "depth of lakes that are full", "lakes", "m", "lake_depth"),
        Overlay("watersheds", KINDS, "watersheds", "watersheds", "", "watersheds"),
        Overlay("accumulation", LOGARITHM_OF_LAYER, "land upstream", "accumulation", "km²", "accumulation"),
        Overlay("distance", LAYER, "way to the ocean", "distance", "km", "distance"),
        Overlay("filling", LAYER, "filling from the ocean, front by front", "filling", "", "filling"),
    )
}


def overlay_range(name: str, *snapshots: Snapshot) -> tuple[float, float]:
    """The values at the low and high end of an overlay's palette, which suit all of the snapshots."""
    lows, highs = zip(*(_range(name, snapshot) for snapshot in snapshots), strict=True)
    return min(lows), max(highs)


def _range(name: str, snapshot: Snapshot) -> tuple[float, float]:
    relief = max(snapshot.highest - snapshot.lowest, 1e-3)
    match name:
        case "elevation":
            return snapshot.lowest, snapshot.lowest + relief
        case "slope":
            return 0.0, 45.0
        case "sediment":
            return 0.0, _rounded(0.03 * relief)
        case "change":
            span = _rounded(0.012 * relief)
            return -span, span
        case "wind_path":
            return 0.0, 0.7
        case "airborne":
            return 0.0, _rounded(max(0.5 * largest(snapshot, "airborne"), 1e-6))
        case "water":
            return 0.0, _rounded(max(largest(snapshot, "water"), 1e-6))
        case "discharge":
            high = _rounded(max(largest(snapshot, "discharge"), 1e-6))
            return MAGNITUDES * high, high
        case "momentum_east" | "momentum_south":
            # Both alike. A few rivers carry far more than all others.
            span = _rounded(
                max(0.02 * largest(snapshot, "momentum_east"), 0.02 * largest(snapshot, "momentum_south"), 1e-9)
            )
            return -span, span
        case "wear" | "deposit":
            return 0.0, _rounded(max(0.2 * largest(snapshot, name), 1e-3))
        case "traffic":
            return 0.0, _rounded(max(0.6 * largest(snapshot, name), 1.0))
        case "groundwater":
            return 0.0, _rounded(max(largest(snapshot, name), 1e-6))
        case "wind":
            return 0.0, 2.0
        case "rivers":
            return 1.0, float(max(5, snapshot.survey.highest_order if snapshot.survey else 1))
        case "lakes":
            return 0.0, _rounded(max(0.5 * largest(snapshot, "lake_depth"), 1e-3))
        case "watersheds" | "material":  # such that the colours of whole numbers are met in their middle
            return -0.5, palettes.WATERSHED_COLOURS + 0.5
        case "accumulation":
            cell = snapshot.cell_size**2 * 1e-6
            return cell, max(largest(snapshot, "accumulation"), 2.0 * cell)
        case "distance":
            return 0.0, _rounded(max(largest(snapshot, "distance"), 1e-6))
        case "filling":
            return 0.0, 2.0
    return 0.0, 1.0


def overlay_ends(name: str, *snapshots: Snapshot) -> tuple[str, str]:
    """What the legend says of the low and high end of an overlay's palette, for all of the snapshots."""
    low, high = overlay_range(name, *snapshots)
    unit, surveys = OVERLAYS[name].unit, [snapshot.survey for snapshot in snapshots]
    match name:
        case "material":
            return ("", "") if all(snapshot.materials for snapshot in snapshots) else ("one sort of ground", "")
        case "watersheds":
            return "", " · ".join(f"{survey.watershed_count if survey else 0}" for survey in surveys) + " of them"
        case "filling":
            rounds = max(survey.fronts if survey else 0 for survey in surveys)
            return "", f"round {rounds}{', filled' if all(survey and survey.filled for survey in surveys) else ''}"
    return f"{_legible(low)} {unit}".strip(), f"{_legible(high)} {unit}".strip()


def _legible(value: float) -> str:
    """A number in three digits, or in all that stand before its point."""
    return spaced(value) if 999.5 <= abs(value) < 1e9 else f"{value:.3g}"


def largest(snapshot: Snapshot, name: str) -> float:
    """The largest magnitude in a layer, 0 where the snapshot does not have it."""
    layer = snapshot.layers.get(name)
    return 0.0 if layer is None else max(float(layer.max()), -float(layer.min()))


def legend_colours(name: str, steps: int = 64) -> np.ndarray:
    """The palette of an overlay as sRGB in [0, 1] with opacity, `[steps, 4]`, for legends."""
    return palettes.interpolated(PALETTES[OVERLAYS[name].palette], steps)


def legend_names(name: str, snapshot: Snapshot) -> list[tuple[str, tuple[float, float, float]]]:
    """Names and sRGB in [0, 1] of the colours of an overlay, where each stands for one thing."""
    if name != "material" or snapshot.materials is None:
        return []
    materials = snapshot.materials
    loose = [material.title for material in materials.loose]
    # What is loose and solid has a colour twice: as it lies, and as rock.
    rocks = [f"{rock.title}, solid" if rock.title in loose else rock.title for rock in materials.rocks]
    colours = material_colours(materials)
    return [(title, (r, g, b)) for title, (r, g, b, _) in zip([*loose, *rocks], colours.tolist(), strict=False)]


ROCK_DARKER = 0.80  # than what is loose, which may have the same colour


def material_colours(materials: Materials) -> np.ndarray:
    """sRGB in [0, 1] with opacity by the number of a material, [256, 4]: first the loose ones, then the rocks."""
    colours = np.zeros((256, 4))
    for number, material in enumerate((*materials.loose, *materials.rocks)):
        dark = 1.0 if number < len(materials.loose) else ROCK_DARKER
        colours[number] = [*(dark * int(material.colour[place : place + 2], 16) / 255.0 for place in (1, 3, 5)), 1.0]
    return colours


def palette_texture(context: moderngl.Context, name: str, materials: Materials | None = None) -> moderngl.Texture:
    """The palette of an overlay as one row of linear colours; that of the materials has theirs."""
    if OVERLAYS[name].palette == "materials" and materials is not None:
        colours = material_colours(materials)
    else:
        colours = palettes.interpolated(PALETTES[OVERLAYS[name].palette], 256)
    srgb = colours[:, :3]
    colours[:, :3] = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    texture = context.texture((256, 1), 4, colours.astype(np.float32).tobytes(), dtype="f4")
    texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return texture


class OverlayMaps:
    """One map at a time of those that are drawn first, to be laid over the ground.

    Several layers in one map leave room for other textures: a shader can be sure of only 16.
    """

    # The layers that each is drawn from, by the name of its overlay; `course` can lie over any
    LAYERS: ClassVar[dict[str, tuple[str, ...]]] = {
        "material": ("loose_kinds", "bedrock", "sediment", "strata_rise"),
        "wind": ("wind_field_south", "wind_field_east"),
        "rivers": ("rivers", "lake_depth"),
        "course": ("course", "catchment"),
    }

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawings = {name: FullScreen(context, shaders, f"overlays/{name}.frag") for name in self.LAYERS}
        self._target: moderngl.Framebuffer | None = None
        self._drawn: tuple[object, ...] | None = None

    def texture(
        self, name: str, snapshot: Snapshot, layers: LayerTextures, materials: dict[str, moderngl.Texture]
    ) -> moderngl.Texture:
        """The map of that name, which is drawn where it has changed. `materials` are the textures of the world's."""
        rows, columns = snapshot.shape
        if self._target is None or self._target.size != (columns, rows):
            outgrown, self._drawn = self._target, None
            self._target = map_target(self._context, (columns, rows), (2, "f4"))
            if outgrown is not None:
                release_targets([outgrown])
        read = self.LAYERS[name]
        # Layers can come within a cycle, where nobody wanted them before.
        wanted = (name, snapshot.world, snapshot.cycle, *(snapshot.versions.get(layer) for layer in read))
        if wanted != self._drawn:
            self._drawn = wanted
            program = self._drawings[name].program
            program.bind(**{layer: layers.texture(layer) for layer in read}, **materials)
            program.set(
                known=all(layer in snapshot.layers for layer in read),
                kind_count=len(snapshot.materials.loose) if snapshot.materials else 0,
            )
            self._drawings[name].draw(self._target)
        return colour(self._target)

    def forget(self) -> None:
        """Draw anew, though nothing has changed."""
        self._drawn = None

    def release(self) -> None:
        if self._target is not None:
            release_targets([self._target])
            self._target = None
        self._drawn = None
        for drawing in self._drawings.values():
            drawing.release()


def _rounded(value: float) -> float:
    """To one digit, so that a legend does not flicker while the land changes."""
    digits = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / digits) * digits)
