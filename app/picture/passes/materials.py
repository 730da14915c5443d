"""Materials as textures: colours of loose kinds, and of the rock at each depth of the strata."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.materials import MOST_KINDS, Material, Materials
from app.picture.passes.benches import bench_table
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.targets import released_on_error

CONTACT = 0.03  # width of the transition between two rocks, as a fraction of a stratum
SEAM = 0.26  # darkening of the contact itself
BRIGHTEST, CONTRAST, COLOURFULNESS = 0.52, 0.75, 0.80  # of albedos, relative to the colours in files
USUAL_REPOSE = 33.0  # degrees, of dry sand, in a world without materials
MASSIVE, BEDDED = 0.03, 0.10  # porosity of massive and of fully bedded rock
FIRM, SOFT = 0.5, 0.8  # erodibility of rock that stands in ledges, and of such that rain cuts into rills


def albedo(material: Material) -> NDArray[np.float64]:
    """The fraction of light that the ground reflects: [channel], linear.

    Files have perceived colours. The albedo of real ground is darker and less saturated.
    """
    colour = np.array(material.linear_colour)
    luminance = max(float(colour @ (0.2126, 0.7152, 0.0722)), 1e-6)
    seen: NDArray[np.float64] = BRIGHTEST * luminance**CONTRAST * (1.0 + COLOURFULNESS * (colour / luminance - 1.0))
    return seen


def grain_of(material: Material) -> float:
    """Apparent grain size of loose material: 0 clay, 1/3 soil, 2/3 sand, 1 stones.

    Coarse grains settle fast (Ferguson and Church 2004), and settling is relative to that of sand.
    """
    settles = np.array([0.2, 0.5, 1.0, 2.5])
    return float(np.interp(material.deposition or 0.0, settles, (0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0)))


def kinds_table(materials: Materials) -> NDArray[np.float32]:
    """[kind, channel]: albedo in linear light, and grain size (see `grain_of`)."""
    table = np.zeros((MOST_KINDS, 4), np.float32)
    for number, material in enumerate(materials.loose):
        table[number] = (*albedo(material), grain_of(material))
    return table


def stratum_thickness(materials: Materials) -> float:
    """Mean thickness of the strata in metres, infinite for a single one."""
    contacts = int(np.count_nonzero(np.diff(materials.strata)))
    return len(materials.strata) * materials.metres_per_step / contacts if contacts else np.inf


def softness(rock: Material) -> float:
    """From 0, rock that breaks into blocks, to 1, such that weathers to clay, which rain washes off."""
    return _between(FIRM, SOFT, rock.erodibility) * _between(MASSIVE, BEDDED, rock.porosity)


def look_of(rock: Material) -> tuple[float, float, float, float]:
    """Albedo of a rock in linear light, and its fabric: 0 massive, 0.5 in beds, 1 in beds and soft."""
    red, green, blue = albedo(rock).tolist()
    return red, green, blue, 0.5 * (_between(MASSIVE, BEDDED, rock.porosity) + softness(rock))


def strata_table(materials: Materials) -> NDArray[np.float64]:
    """[step, channel]: albedo of the rock at each depth in linear light, and its fabric."""
    table: NDArray[np.float64] = np.array([look_of(rock) for rock in materials.rocks])[materials.strata]
    width = CONTACT * stratum_thickness(materials) / materials.metres_per_step  # in steps
    if not np.isfinite(width):
        return table
    reach = max(1, min(int(3.0 * width), len(table) - 1))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(width, 0.3)) ** 2)
    weights /= weights.sum()
    padded = np.pad(table, ((reach, reach), (0, 0)), mode="edge")
    soft = np.stack([np.convolve(padded[:, channel], weights, "valid") for channel in range(4)], axis=1)
    contacts = np.pad(np.diff(materials.strata.astype(np.int64)) != 0, (0, 1)).astype(np.float64)
    seams = np.convolve(np.pad(contacts, reach), weights / weights.max(), "valid")
    soft[-1, 3] = table[-1, 3]  # it continues below
    soft[:, :3] *= 1.0 - SEAM * np.minimum(seams, 1.0)[:, None]
    return soft


class MaterialTextures:
    """The materials of a world for the shaders; recreated when they change."""

    def __init__(self, context: moderngl.Context, mipmaps: Mipmaps) -> None:
        self._context = context
        self._mipmaps = mipmaps
        self._made_for: Materials | None = None
        self._textures: dict[str, moderngl.Texture] = {}
        self.thickness = np.inf  # of a stratum, in metres
        self._changes = 0

    def show(self, materials: Materials | None) -> bool:
        """Make textures of the materials. Returns whether they changed."""
        if materials is self._made_for:
            return False
        textures = {} if materials is None else self._make(materials)
        self.release()
        self._textures, self._made_for = textures, materials
        self._changes += 1
        if materials is not None:
            self.thickness = stratum_thickness(materials)
        return True

    def _make(self, materials: Materials) -> dict[str, moderngl.Texture]:
        # 8 bits suffice for the root of a colour.
        pixels = strata_table(materials)
        pixels[:, :3] = np.sqrt(pixels[:, :3])
        steps = (len(pixels), 1)
        with released_on_error() as keep:
            kinds = keep(self._context.texture((MOST_KINDS, 1), 4, kinds_table(materials).tobytes(), dtype="f4"))
            kinds.filter = (moderngl.NEAREST, moderngl.NEAREST)
            strata = keep(self._context.texture(steps, 4, np.rint(255.0 * pixels).astype(np.uint8).tobytes()))
            self._mipmaps.build(strata)  # blend beds finer than a pixel
            strata.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
            numbers = keep(self._context.texture(steps, 1, materials.strata.astype(np.float32).tobytes(), dtype="f4"))
            numbers.filter = (moderngl.NEAREST, moderngl.NEAREST)
            raised = bench_table(materials)
            soft = np.array([softness(rock) for rock in materials.rocks])[materials.strata[: len(raised)]]
            of_slopes = np.stack([raised, soft], axis=1).astype(np.float32)
            benches = keep(self._context.texture((len(raised), 1), 2, of_slopes.tobytes(), dtype="f4"))
            self._mipmaps.build(benches)
            benches.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
            textures = {"kinds": kinds, "strata": strata, "rock_numbers": numbers, "benches": benches}
            for texture in textures.values():
                texture.repeat_x = texture.repeat_y = False
            return textures

    @property
    def version(self) -> int:
        """A number of the materials, another after each change; 0 without materials."""
        return 0 if self._made_for is None else self._changes

    @property
    def depth(self) -> float:
        """Depth of the table of strata in metres; its last rock continues below."""
        materials = self._made_for
        return 1.0 if materials is None else len(materials.strata) * materials.metres_per_step

    @property
    def intrusion(self) -> tuple[float, float, float, float]:
        """Root of the albedo of the rock of intrusions, and its fabric; 0 if there are none."""
        if self._made_for is None or not self._made_for.intruded:
            return 0.0, 0.0, 0.0, 0.0
        red, green, blue, bedded = look_of(self._made_for.rocks[0])
        return math.sqrt(red), math.sqrt(green), math.sqrt(blue), bedded

    @property
    def slip_slope(self) -> float:
        """The slope of slip faces of dunes: tangent of the angle of repose of the most mobile kind."""
        loose = self._made_for.loose if self._made_for is not None else ()
        of_dunes = max(loose, key=lambda material: material.suspension or 0.0, default=None)
        repose = USUAL_REPOSE if of_dunes is None or of_dunes.repose is None else of_dunes.repose
        return math.tan(math.radians(repose))

    def textures(self) -> dict[str, moderngl.Texture]:
        """The textures by their names in shaders; none without materials."""
        return self._textures

    def release(self) -> None:
        for texture in self._textures.values():
            texture.release()
        self._textures = {}
        self._made_for = None


def _between(low: float, high: float, value: float) -> float:
    return min(max((value - low) / (high - low), 0.0), 1.0)
