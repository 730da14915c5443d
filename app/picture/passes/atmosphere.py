"""The sky: scattering of sunlight in air and haze, and the colours of light, haze and sky that follow.

After Hillaire (2020), A Scalable and Production Ready Sky and Atmosphere Rendering Technique. It draws three small
tables: two of the air when haze changes, and one of the sky when the sun does. The last one is read back and integrated
for the light on the ground. All pictures of a context share the skies of late. Lengths in kilometres.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.view_parameters import ViewParameters
from app.picture.passes import unlocked
from app.picture.passes.fixed import FixedTextures
from app.picture.passes.shaders import FullScreen, ShaderLibrary, Uniform
from app.picture.passes.shared import HAZE_HUES
from app.picture.passes.targets import MapTarget, release_all

Colours = NDArray[np.float64]  # [..., red, green, blue]

GROUND, TOP = 6360.0, 6460.0  # radii
SCALE_HEIGHTS = 8.0, 1.2  # of air and haze
RAYLEIGH = np.array((5.802e-3, 13.558e-3, 33.1e-3))  # scattered per km at the ground
OZONE = np.array((0.650e-3, 1.881e-3, 0.085e-3))  # absorbed per km in the middle of its layer
OZONE_LAYER = 25.0, 15.0  # its centre, and half its thickness
HAZE_DEPTH = 0.065  # usual vertical optical depth of haze, in green light
HAZE_SCATTERS = 0.98  # single-scattering albedo
HAZE_FORWARD = 0.76
GLOBE_ALBEDO = 0.3
EYE_HEIGHT = 0.2

# Sunlight at the ground for which the colours of all materials were chosen. Sunlight above the air follows from it.
REFERENCE_SUN = 27.0
REFERENCE_SUNLIGHT = 3.4 * np.array((0.98, 0.88, 0.74))

LAND_ALBEDO = np.array((0.16, 0.14, 0.11))  # of the surroundings, partly in their own shade
# Light from clouds as fractions of sunlight and of skylight above them; and the fraction of the sky that a complete
# cover hides from the ground.
CLOUDS_SEND, CLOUDS_HIDE = (0.12, 0.55), 0.7
MOST_SUNWARD = 0.22  # largest gain in skylight of walls that face the sun, over the mean of all walls
EXPOSURE = 0.70  # with the sun at that height
# Adaptation of the eye, as powers of the ratio to that light: for less light, and for more. Noon is hardly brighter,
# otherwise sunlit ground would look bleached.
ADAPTATION = 0.62, 1.35
BRIGHTEST_SKY = 0.95  # exposed; brighter parts are compressed and desaturated
BLEACHED = 0.35

TRANSMITTANCE_SIZE, SCATTERING_SIZE, SKY_SIZE = (256, 64), (16, 16), (96, 48)
HAZE_POWERS = 0, 1, 6, 24  # of (1 + cosine to the sun) / 2: the basis for the colour of the horizon
HORIZON_AROUND = np.array([math.comb(2 * power, power) / 4**power for power in HAZE_POWERS])  # their means
MOST_SKIES = 8  # that a context keeps, each of 40 kB
TABLE_BESIDE_SKY = 0.80  # brightness of the table below a block, relative to the horizon
QUIET = 0.6  # desaturation of its shadows
# Dust over a desert: its albedo, as it takes more of blue (Patterson, Gillette and Stockton 1977); how much of the
# horizon it covers under a sun in the zenith; the sine of the height over which it thins.
DESERT_DUST = np.array((0.50, 0.455, 0.39))
MOST_DUSTY, DUSTY_UP_TO = 0.65, 0.06
HORIZON = 0.04  # sine of the height up to which the sky blends into the colour of the horizon


class SkyLight(NamedTuple):
    """Light of sun and sky: the radiance of ground is `albedo × light`. Red, green and blue."""

    sunlight: Colours  # on surfaces that face the sun
    around: Colours  # from the sky and from lit land, mean of all walls
    upward: Colours  # added on level ground
    sunward: Colours  # added on walls that face the azimuth of the sun
    horizon: Colours  # [power, colour]: coefficients of HAZE_POWERS
    exposure: float
    fields: dict[str, Colours]  # of the frame block


class Sky:
    """The tables of the current sky; changed ones are redrawn."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._fixed = FixedTextures.of(context)
        self._transmittance = MapTarget(context, (4, "f4"))
        self._scattering = MapTarget(context, (4, "f4"))
        self._seen = MapTarget(context, (4, "f4"))
        self._draw_transmittance = FullScreen(context, shaders, "atmosphere/transmittance.frag")
        self._draw_scattering = FullScreen(context, shaders, "atmosphere/multiple_scattering.frag")
        self._draw_seen = FullScreen(context, shaders, "atmosphere/sky_view.frag")
        self.texture = context.texture(SKY_SIZE, 4, dtype="f2")
        self.texture.repeat_x = self.texture.repeat_y = False
        self._haze: float | None = None
        self._sun: tuple[float, ...] | None = None
        self._light: SkyLight | None = None

    def update(self, view: ViewParameters) -> SkyLight:
        """The light of the sky, drawn unless a picture of the context had the same sun height, air and clouds."""
        sun = view.sun_height, view.haze, view.clouds, view.desert
        if self._light is not None and sun == self._sun:
            return self._light
        skies = self._fixed.skies
        light, texels = skies[sun] = skies.pop(sun, None) or self._drawn(view)
        if len(skies) > MOST_SKIES:
            del skies[next(iter(skies))]
        self.texture.write(texels)
        self._sun, self._light = sun, light
        return self._light

    def _drawn(self, view: ViewParameters) -> tuple[SkyLight, bytes]:
        """The light of a sky and the texels of its texture. Tables are redrawn after changes of sun height or haze."""
        if view.haze != self._haze:
            self._draw(self._draw_transmittance, self._transmittance, TRANSMITTANCE_SIZE, view.haze)
            self._draw_scattering.program.bind(transmittance=self._transmittance.texture())
            self._draw(self._draw_scattering, self._scattering, SCATTERING_SIZE, view.haze)
            self._haze = view.haze
        self._draw_seen.program.bind(
            transmittance=self._transmittance.texture(), multiple_scattering=self._scattering.texture()
        )
        self._draw_seen.program.set(
            sun_sine=math.sin(math.radians(view.sun_height)), eye_height=EYE_HEIGHT, anisotropy=HAZE_FORWARD
        )
        self._draw(self._draw_seen, self._seen, SKY_SIZE, view.haze)
        radiance = unlocked.read_floats(self._seen.framebuffer)[..., :3].astype(float)
        light, shown = light_of(radiance, view.sun_height, view.haze, view.clouds, view.desert * min(view.haze, 1.0))
        return light, np.dstack([shown, np.ones(shown.shape[:2])]).astype(np.float16).tobytes()

    def tables(self) -> dict[str, moderngl.Framebuffer]:
        """The tables that were drawn last, by name."""
        return {
            "transmittance": self._transmittance.framebuffer,
            "multiple scattering": self._scattering.framebuffer,
            "sky": self._seen.framebuffer,
        }

    def forget(self) -> None:
        """Force a redraw of all tables."""
        self._haze = self._sun = self._light = None
        self._fixed.skies.clear()

    def release(self) -> None:
        release_all(
            self._transmittance,
            self._scattering,
            self._seen,
            self._draw_transmittance,
            self._draw_scattering,
            self._draw_seen,
            self.texture,
            self._fixed,
        )

    @staticmethod
    def _draw(drawing: FullScreen, target: MapTarget, size: tuple[int, int], haze: float) -> None:
        target.fit(size)
        drawing.program.set(size=(float(size[0]), float(size[1])), **air_uniforms(haze))
        drawing.draw(target.framebuffer)


def air_uniforms(haze: float) -> dict[str, Uniform]:
    """The parameters of `shaders/include/atmosphere.glsl` for an amount of haze."""
    scattering, extinction = haze_at_ground(haze)
    return {
        "radii": (GROUND, TOP),
        "scale_heights": SCALE_HEIGHTS,
        "rayleigh_scattering": tuple(RAYLEIGH),
        "haze_scattering": tuple(scattering),
        "haze_extinction": tuple(extinction),
        "ozone_absorption": tuple(OZONE),
        "ozone_layer": OZONE_LAYER,
        "ground_albedo": GLOBE_ALBEDO,
    }


def haze_at_ground(haze: float) -> tuple[Colours, Colours]:
    """Scattering and extinction of haze per kilometre at the ground."""
    extinction = HAZE_DEPTH * haze / SCALE_HEIGHTS[1] * np.array(HAZE_HUES)
    return HAZE_SCATTERS * extinction, extinction


def sun_transmittance(sun_height: float, haze: float) -> Colours:
    """The fraction of sunlight that reaches the eye, for a height of the sun in degrees."""
    up, radius, steps = math.sin(math.radians(sun_height)), GROUND + EYE_HEIGHT, 200
    reach = -radius * up + math.sqrt(radius * radius * (up * up - 1.0) + TOP * TOP)
    edges = np.linspace(0.0, 1.0, steps + 1) ** 2 * reach  # fine near the ground, where most air is
    along, part = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    height = np.sqrt(radius * radius + along * along + 2.0 * radius * up * along) - GROUND
    air, hazy = (float((np.exp(-height / scale) * part).sum()) for scale in SCALE_HEIGHTS)
    ozone = float((np.maximum(1.0 - abs(height - OZONE_LAYER[0]) / OZONE_LAYER[1], 0.0) * part).sum())
    depth: Colours = RAYLEIGH * air + haze_at_ground(haze)[1] * hazy + OZONE * ozone
    return np.exp(-depth)


@cache
def sunlight_at_top() -> tuple[float, float, float]:
    """Sunlight above the atmosphere."""
    red, green, blue = REFERENCE_SUNLIGHT / sun_transmittance(REFERENCE_SUN, 1.0)
    return float(red), float(green), float(blue)


def light_of(
    radiance: Colours, sun_height: float, haze: float, clouds: float, dust: float = 0.0
) -> tuple[SkyLight, Colours]:
    """The light of a sky, and its colours [row, column, colour], in the layout of `radiance`.

    `radiance` is drawn by `sky_view.frag`, for sunlight of 1. Clouds hide the fraction `clouds` of it, and the ground
    gets their light instead. `dust` is that of a desert in the air, from 0 to 1: it is seen, and dims nothing.
    """
    sunlight = np.array(sunlight_at_top()) * sun_transmittance(sun_height, haze)
    sky = radiance * math.pi * np.array(sunlight_at_top())
    sine, angle = _directions(sky.shape[1], sky.shape[0])
    weights = _solid_angles(sky.shape[1], sky.shape[0])[..., None] / math.pi
    across = np.sqrt(1.0 - sine**2) * np.cos(angle)

    def on_ground(facing: Colours) -> Colours:
        """Light on ground whose normal has these cosines to the directions."""
        total: Colours = (sky * weights * np.maximum(facing, 0.0)[..., None]).sum((0, 1))
        return total

    clear = 1.0 - CLOUDS_HIDE * clouds
    from_sun, from_sky = CLOUDS_SEND
    open_sky = on_ground(sine)
    from_above = clear * open_sky + (1.0 - clear) * (from_sun * sunlight + from_sky * open_sky)
    level = sunlight * math.sin(math.radians(sun_height)) + from_above
    from_below = LAND_ALBEDO * level
    less = _reference_light() / brightness(level)
    exposure = EXPOSURE * less ** ADAPTATION[less < 1.0]
    # Under a low sun it sends most of the light on, and is as bright as the haze.
    dusty = MOST_DUSTY * dust * math.sin(math.radians(sun_height)) * np.exp(-sine / DUSTY_UP_TO)[..., None]
    sky = sky + dusty * (DESERT_DUST * level - sky)
    shown = _held_back(sky, BRIGHTEST_SKY / exposure)
    horizon = _fitted_horizon(shown[0], angle[0])
    at_horizon = _powers(np.cos(angle)) @ horizon
    part = np.clip(sine / HORIZON, 0.0, 1.0)[..., None]
    shown = at_horizon + (shown - at_horizon) * part * part * (3.0 - 2.0 * part)
    overhead = np.average(shown[abs(sine[:, 0] - math.sqrt(0.5)).argmin()], axis=0, weights=weights[-1, :, 0])
    around, upward = 0.5 * (from_above + from_below), 0.5 * (from_above - from_below)
    # The same for all colours: otherwise ground that faces away from a low sun would lose all red.
    more_sunward = 0.5 * brightness(on_ground(across) - on_ground(-across)) / brightness(open_sky)
    sunward = min(more_sunward, MOST_SUNWARD) * from_above
    table, in_sun, in_sky = _table(horizon, level - from_above, from_above)
    fields = {
        "sky_light": _rows_of_four(around, upward, sunward, overhead),
        "horizon": _rows_of_four(*horizon),
        "table": _rows_of_four(table),
        "table_sun": _rows_of_four(in_sun),
        "table_sky": _rows_of_four(in_sky),
    }
    return SkyLight(sunlight, around, upward, sunward, horizon, exposure, fields), shown


def _rows_of_four(*colours: Colours) -> Colours:
    return np.pad(np.array(colours), ((0, 0), (0, 1))).ravel()


def _table(horizon: Colours, sun: Colours, sky: Colours) -> tuple[Colours, Colours, Colours]:
    """The colour of the table below a block in full light, and its losses without the sun and without the sky.

    It has the colour of the horizon, so that no edge is visible. Its shadows are desaturated.
    """
    full = TABLE_BESIDE_SKY * HORIZON_AROUND @ horizon
    part = sun / (sun + sky)
    part = part + QUIET * (part.mean() - part)
    return full, full * part, full * (1.0 - part)


def _held_back(sky: Colours, brightest: float) -> Colours:
    """Compress a sky so that no channel exceeds `brightest`; its brightest parts get a little paler, as on film."""
    kept = 1.0 / np.hypot(1.0, sky.max(axis=2, keepdims=True) / brightest)
    held = sky * kept
    shown: Colours = held + BLEACHED * (1.0 - kept) * (held.mean(axis=2, keepdims=True) - held)
    return shown


def brightness(light: Colours) -> float:
    """Approximate luminance."""
    return 0.5 * float(light[0] + light[1])


@cache
def _reference_light() -> float:
    """The brightness of light on level ground with the sun at its reference height."""
    return brightness(REFERENCE_SUNLIGHT * math.sin(math.radians(REFERENCE_SUN)) + np.array((0.26, 0.40, 0.66)))


def _directions(columns: int, rows: int) -> tuple[Colours, Colours]:
    """Sines of the heights, and azimuths relative to the sun, of the texels of a sky."""
    sine, angle = np.linspace(0.0, 1.0, rows) ** 2, 2.0 * np.arcsin(np.linspace(0.0, 1.0, columns))
    heights, angles = np.meshgrid(sine, angle, indexing="ij")
    return heights, angles


def _solid_angles(columns: int, rows: int) -> Colours:
    """Solid angles of the texels of a sky; each one stands for both sides of the sun."""

    def parts(texels: int) -> Colours:
        middles = np.linspace(0.0, 1.0, texels)
        return np.concatenate([[0.0], 0.5 * (middles[1:] + middles[:-1]), [1.0]])

    heights, angles = parts(rows) ** 2, 2.0 * np.arcsin(parts(columns))
    solid: Colours = np.diff(heights)[:, None] * 2.0 * np.diff(angles)[None, :]
    return solid


def _powers(cosine: Colours) -> Colours:
    """The basis of the colours of the horizon: [..., power]."""
    powers: Colours = (0.5 + 0.5 * cosine[..., None]) ** np.array(HAZE_POWERS)
    return powers


def _fitted_horizon(colours: Colours, angles: Colours) -> Colours:
    """Fit coefficients [power, colour] to the colours of the horizon at these azimuths relative to the sun."""
    weights = np.sqrt(np.gradient(angles))[:, None]
    fitted: Colours = np.linalg.lstsq(_powers(np.cos(angles)) * weights, colours * weights, rcond=None)[0]
    return fitted
