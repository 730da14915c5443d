"""The sky: its tables against the formulas of Hillaire (2020), and the light and the pictures that come of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm
from scipy import ndimage

from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.camera import Camera
from app.picture.passes import atmosphere as module
from app.picture.passes import backdrop, surroundings
from app.picture.passes.atmosphere import Sky, SkyLight, brightness, haze_at_ground, sun_transmittance
from app.picture.passes.backdrop import TABLE_REACH, horizon_dip
from app.picture.passes.shaders import ShaderLibrary
from app.scene.scene import Scene
from tests.passes import gl
from tests.passes.conftest import Draw
from tests.passes.worlds import drowned, flat, snapshot

Floats = NDArray[np.float64]
CELL = 20.0


@pytest.fixture
def sky(context: moderngl.Context, shaders: ShaderLibrary, own_textures: None) -> Iterator[Sky]:
    """A sky that finds none of another picture."""
    sky = Sky(context, shaders)
    yield sky
    sky.release()


def light(sky: Sky, sun: float, haze: float = 1.0) -> SkyLight:
    return sky.update(ViewParameters(sun_height=sun, haze=haze))


def table(sky: Sky, name: str) -> Floats:
    framebuffer = sky.tables()[name]
    values = np.frombuffer(framebuffer.read(components=4, dtype="f4"), np.float32)
    return values.reshape(framebuffer.height, framebuffer.width, 4)[..., :3].astype(float)


# The paper's formulas, in steps far finer than the shaders'. Heights in kilometres, directions as unit vectors, y up.


def coefficients(height: Floats, haze: float) -> tuple[Floats, Floats, Floats]:
    """Scattering of air and of haze, and extinction, at heights."""
    above = np.maximum(height, 0.0)[..., None]
    air = module.RAYLEIGH * np.exp(-above / 8.0)
    scattering, extinction = (each * np.exp(-above / 1.2) for each in haze_at_ground(haze))
    ozone = module.OZONE * np.maximum(1.0 - abs(above - 25.0) / 15.0, 0.0)
    return air, scattering, air + extinction + ozone


def reach(place: Floats, direction: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """How far it is along directions to the ground or the top of the air, and whether it is the ground."""
    along, square = place @ direction.T, (place**2).sum()
    ground, top = (along**2 - square + radius**2 for radius in (module.GROUND, module.TOP))
    meets = (along < 0.0) & (ground > 0.0)
    return np.where(meets, -along - np.sqrt(np.maximum(ground, 0.0)), -along + np.sqrt(top)), meets


def transmittance(height: float, up: float, haze: float, steps: int = 2000) -> Floats:
    place, direction = np.array((0.0, module.GROUND + height, 0.0)), np.array([(math.sqrt(1.0 - up * up), up, 0.0)])
    length = reach(place, direction)[0][0]
    along = (np.arange(steps) + 0.5) / steps * length
    heights = np.linalg.norm(place + along[:, None] * direction, axis=1) - module.GROUND
    depth: Floats = coefficients(heights, haze)[2].sum(axis=0) * length / steps
    return np.exp(-depth)


def along_ray(
    place: Floats,
    direction: Floats,
    sun: Floats,
    haze: float,
    scattered: Floats | None,
    steps: int,
    again: Floats | None = None,
) -> tuple[Floats, Floats]:
    """What comes along a ray: light of single scattering with `scattered` as phase functions, and the part scattered
    in the mean. Without `scattered`, all directions are alike, and the ground that is met sends light, too. `again` is
    the table of light that is scattered once more.
    """
    length, meets = (each[0] for each in reach(place, direction[None]))
    edges = np.linspace(0.0, 1.0, steps + 1) ** 2 * length
    points = place + 0.5 * (edges[1:] + edges[:-1])[:, None] * direction
    radius = np.linalg.norm(points, axis=1)
    air, hazy, extinction = coefficients(radius - module.GROUND, haze)
    part = np.diff(edges)[:, None]
    left = np.exp(-np.cumsum(extinction * part, axis=0) + 0.5 * extinction * part)
    sunlit = np.array([lit(point, sun, haze) for point in points])
    by_air, by_haze = (1.0 / (4.0 * math.pi),) * 2 if scattered is None else scattered
    seen = (left * sunlit * (air * by_air + hazy * by_haze) * part).sum(axis=0)
    if again is not None:
        rows, columns = again.shape[:2]
        at = np.sqrt((radius - module.GROUND) / 100.0) * (rows - 1), (0.5 + 0.5 * points @ sun / radius) * (columns - 1)
        around = [ndimage.map_coordinates(again[..., channel], at, order=1, mode="nearest") for channel in range(3)]
        seen = seen + (left * np.stack(around, axis=1) * (air + hazy) * part).sum(axis=0)
    if meets and scattered is None:
        place = place + length * direction
        up = place @ sun / np.linalg.norm(place)
        seen = seen + np.exp(-(extinction * part).sum(axis=0)) * lit(place, sun, haze) * max(up, 0.0) * 0.3 / math.pi
    return seen, (left * (air + hazy) * part).sum(axis=0)


def lit(place: Floats, sun: Floats, haze: float) -> Floats:
    """The part of sunlight that comes to a place: none through the ground."""
    radius = float(np.linalg.norm(place))
    up = float(place @ sun) / radius
    if up < 0.0 and radius**2 * (up * up - 1.0) + (module.GROUND - 0.5) ** 2 > 0.0:
        return np.zeros(3)
    return transmittance(radius - module.GROUND, up, haze, 60)


def multiple_scattering(height: float, sun_up: float, haze: float) -> Floats:
    sun, place = np.array((math.sqrt(1.0 - sun_up**2), sun_up, 0.0)), np.array((0.0, module.GROUND + height, 0.0))
    directions = []
    for up in (np.arange(10) + 0.5) / 5.0 - 1.0:
        for angle in (np.arange(10) + 0.5) / 5.0 * math.pi:
            across = math.sqrt(1.0 - up * up)
            directions.append((across * math.cos(angle), up, across * math.sin(angle)))
    found = [along_ray(place, np.array(each), sun, haze, None, 30) for each in directions]
    second, again = (np.mean(each, axis=0) for each in zip(*found, strict=True))
    result: Floats = second / (1.0 - again)
    return result


@pytest.mark.parametrize("haze", [0.0, 1.0, 4.0])
def test_the_table_of_transmittance_is_that_of_the_paper(sky: Sky, haze: float) -> None:
    light(sky, 20.0, haze)
    drawn = table(sky, "transmittance")
    rows, columns = drawn.shape[:2]
    for row in (0, 8, 30, rows - 2):
        for column in (130, 150, 200, columns - 1):
            height, signed = (row / (rows - 1)) ** 2 * 100.0, 2.0 * column / (columns - 1) - 1.0
            exact = transmittance(height, signed * abs(signed), haze)
            np.testing.assert_allclose(drawn[row, column], exact, atol=0.012)


@pytest.mark.parametrize("haze", [0.0, 1.0])
def test_the_table_of_multiple_scattering_is_that_of_the_paper(sky: Sky, haze: float) -> None:
    light(sky, 20.0, haze)
    drawn = table(sky, "multiple scattering")
    rows, columns = drawn.shape[:2]
    for row, column in ((0, 9), (0, 15), (5, 11)):
        exact = multiple_scattering((row / (rows - 1)) ** 2 * 100.0, 2.0 * column / (columns - 1) - 1.0, haze)
        np.testing.assert_allclose(drawn[row, column], exact, rtol=0.08)


@pytest.mark.parametrize("sun", [4.0, 27.0, 70.0])
def test_the_sky_is_that_of_the_paper(sky: Sky, sun: float) -> None:
    light(sky, sun)
    drawn = table(sky, "sky")
    rows, columns = drawn.shape[:2]
    toward = np.array((math.cos(math.radians(sun)), math.sin(math.radians(sun)), 0.0))
    place = np.array((0.0, module.GROUND + module.EYE_HEIGHT, 0.0))
    g = module.HAZE_FORWARD
    for row, column in ((8, 20), (20, 60), (40, columns - 1), (rows - 1, 0)):
        up, around = (row / (rows - 1)) ** 2, 2.0 * math.asin(column / (columns - 1))
        across = math.sqrt(1.0 - up * up)
        direction = np.array((across * math.cos(around), up, across * math.sin(around)))
        cosine = float(direction @ toward)
        by_air = 3.0 / (16.0 * math.pi) * (1.0 + cosine**2)
        by_haze = 3.0 / (8.0 * math.pi) * (1.0 - g * g) * (1.0 + cosine**2)
        by_haze /= (2.0 + g * g) * (1.0 + g * g - 2.0 * g * cosine) ** 1.5
        phases, again = np.array((by_air, by_haze)), table(sky, "multiple scattering")
        exact = along_ray(place, direction, toward, 1.0, phases, 100, again)[0]
        np.testing.assert_allclose(drawn[row, column], exact, rtol=0.04, err_msg=f"row {row}, column {column}")


# The light.


def test_sunlight_is_what_the_table_lets_through_and_reddens_towards_the_horizon(sky: Sky) -> None:
    heights = np.array((2.0, 5.0, 10.0, 27.0, 60.0))
    lights = np.array([light(sky, height).sunlight for height in heights])
    np.testing.assert_allclose(lights[3], module.REFERENCE_SUNLIGHT)
    assert (np.diff(lights, axis=0) > 0.0).all()
    assert (np.diff(lights[:, 0] / lights[:, 1]) < 0.0).all() and (np.diff(lights[:, 1] / lights[:, 2]) < 0.0).all()
    exact = [transmittance(module.EYE_HEIGHT, math.sin(math.radians(each)), 1.0) for each in heights]
    np.testing.assert_allclose([sun_transmittance(each, 1.0) for each in heights], exact, rtol=0.01, atol=1e-3)


def test_the_sky_at_noon_is_blue_above_and_paler_at_the_horizon(sky: Sky) -> None:
    light(sky, 60.0)
    drawn = table(sky, "sky")
    zenith, horizon = drawn[-1, 0], drawn[1, -1]
    assert zenith[2] > 1.6 * zenith[1] > 2.2 * zenith[0]
    assert (horizon > zenith).all() and horizon[2] / horizon[0] < 0.7 * zenith[2] / zenith[0]


def test_a_sunset_is_red_on_its_own_side_and_blue_above(sky: Sky) -> None:
    light(sky, 4.0)
    drawn = table(sky, "sky")
    sunward, away, above = drawn[4, 2], drawn[4, -1], drawn[-1, 0]
    assert sunward[0] > 1.8 * sunward[1] > 3.0 * sunward[2]
    assert sunward[0] > 10.0 * away[0] and above[2] > 1.5 * above[0]


def test_the_sky_gives_a_part_of_the_light_on_level_ground_that_falls_with_the_sun_s_height(sky: Sky) -> None:
    parts = []
    for height in (5.0, 15.0, 30.0, 60.0):
        found = light(sky, height)
        from_sky = brightness(found.around + found.upward)
        parts.append(from_sky / (from_sky + brightness(found.sunlight) * math.sin(math.radians(height))))
    assert (np.diff(parts) < 0.0).all() and 0.35 < parts[0] < 0.8 and 0.05 < parts[-1] < 0.2


def test_light_of_an_even_sky_is_even() -> None:
    even, _ = module.light_of(np.full((module.SKY_SIZE[1], module.SKY_SIZE[0], 3), 0.1), 30.0, 1.0, 0.0)
    sent = 0.1 * math.pi * np.array(module.sunlight_at_top())
    np.testing.assert_allclose(even.around + even.upward, sent, rtol=2e-3)
    np.testing.assert_allclose(even.sunward, 0.0, atol=2e-3)


@pytest.mark.parametrize("haze", [0.0, 1.0, 4.0])
def test_lit_ground_is_about_as_bright_at_any_height_of_the_sun(sky: Sky, haze: float) -> None:
    shown = []
    for height in (8.0, 15.0, 27.0, 60.0, 90.0):
        found = light(sky, height, haze)
        level = found.sunlight * math.sin(math.radians(height)) + found.around + found.upward
        shown.append(brightness(level) * found.exposure)
    assert min(shown) > 0.6 and max(shown) < 1.6
    evening, usual, noon = shown[0], shown[2], shown[-1]
    assert evening < noon < usual, "in the sun of noon ground is not bleached"


def test_clouds_make_the_light_of_a_blue_sky_whiter(sky: Sky) -> None:
    blueness = []
    for clouds in (0.0, 0.3, 0.6):
        found = sky.update(ViewParameters(sun_height=10.0, clouds=clouds))
        from_sky = found.around + found.upward
        blueness.append(from_sky[2] / from_sky[0])
    assert blueness[0] > 1.3 * blueness[1] > 1.3 * blueness[2]


def test_the_horizon_has_the_colour_that_the_shaders_put_together(sky: Sky) -> None:
    for height in (1.0, 5.0, 27.0, 90.0):
        light(sky, height)
        _, shown = module.light_of(table(sky, "sky"), height, 1.0, 0.0)
        found = light(sky, height)
        cosine = 1.0 - 2.0 * np.linspace(0.0, 1.0, module.SKY_SIZE[0]) ** 2
        fitted = (0.5 + 0.5 * cosine[:, None]) ** np.array(module.HAZE_POWERS) @ found.horizon
        np.testing.assert_allclose(shown[0], fitted)
        assert (fitted > 0.0).all()
        np.testing.assert_allclose(fitted, shown[12], rtol=0.7, atol=0.1)


def test_dust_over_a_desert_is_seen_at_the_horizon_under_a_high_sun(sky: Sky) -> None:
    """It is brighter and less blue there, as it is above and in the evening; the ground has the same light."""

    def changes(height: float, row: int) -> NDArray[np.float64]:
        light(sky, height)
        clean, dusty = (module.light_of(table(sky, "sky"), height, 1.0, 0.0, dust) for dust in (0.0, 1.0))
        np.testing.assert_array_equal(clean[0].sunlight, dusty[0].sunlight)
        np.testing.assert_array_equal(clean[0].around, dusty[0].around)
        change: NDArray[np.float64] = (dusty[1] / clean[1])[row].mean(axis=0)
        return change

    horizon, above, evening = changes(80.0, 0), changes(80.0, -1), changes(10.0, 0)
    assert horizon[0] > 1.2 and horizon[0] > 1.2 * horizon[2]
    np.testing.assert_allclose(above, 1.0, atol=0.01)
    np.testing.assert_allclose(evening, 1.0, atol=0.15)


# What is drawn when.


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each table that is drawn."""
    drawn: list[int] = []
    draw = Sky._draw
    monkeypatch.setattr(Sky, "_draw", staticmethod(lambda *all: (drawn.append(1), draw(*all))))
    return drawn


def test_tables_are_drawn_again_only_for_another_height_of_the_sun_or_haze(sky: Sky, drawn: list[int]) -> None:
    counts = []
    for view in (
        ViewParameters(sun_height=20.0),
        ViewParameters(sun_height=20.0),
        ViewParameters(sun_height=20.0, sun_direction=10.0, exposure=1.0),
        ViewParameters(sun_height=21.0),
        ViewParameters(sun_height=21.0, haze=2.0),
    ):
        drawn.clear()
        sky.update(view)
        counts.append(len(drawn))
    assert counts == [3, 0, 0, 1, 3]


def test_pictures_of_a_context_share_the_skies_of_late(
    sky: Sky, context: moderngl.Context, shaders: ShaderLibrary, drawn: list[int]
) -> None:
    """Neither draws one that the other has drawn, or that it had a little before, unless all shall be drawn anew."""
    other = Sky(context, shaders)
    for sun in (20.0, 21.0):
        light(sky, sun)
    before = len(drawn)
    for each, sun in ((other, 20.0), (other, 21.0), (sky, 20.0)):
        expected = light(sky, sun)
        assert light(each, sun) is expected and each.texture.read() == sky.texture.read()
    assert len(drawn) == before
    other.forget()
    light(other, 20.0)
    assert len(drawn) == before + 3
    for sun in np.linspace(30.0, 40.0, 2 * module.MOST_SKIES):
        light(sky, sun)
    before = len(drawn)
    light(sky, 20.0)
    assert len(drawn) == before + 1, "the oldest are forgotten"
    other.release()


@pytest.mark.usefixtures("compiled_anew")
def test_it_gives_back_all_that_it_holds(
    context: moderngl.Context, shaders: ShaderLibrary, resting_place: moderngl.Framebuffer
) -> None:
    sky = Sky(context, shaders)
    light(sky, 20.0)
    resting_place.use()
    sky.release()
    resting_place.use()
    before = gl.living_objects()
    sky = Sky(context, shaders)
    light(sky, 20.0)
    light(sky, 10.0, 2.0)
    resting_place.use()
    sky.release()
    assert gl.living_objects() == before


# The picture.


def at_sea(heading: float) -> tuple[Snapshot, Camera]:
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    return shown, Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), heading, 3.0, 90.0 * CELL, 20.0)


def test_the_sea_meets_the_sky_in_a_horizon_that_is_no_hard_line(draw: Draw, subtests: pytest.Subtests) -> None:
    """The sea is darker than the sky behind it, whose colour it takes within some degrees: no grey band of many."""
    shown, camera = at_sea(40.0)
    for sun, around in itertools.product((6.0, 27.0, 70.0), (25.0, 90.0, 180.0)):
        with subtests.test(sun=sun, around=around):
            view = {"sun_height": sun, "sun_direction": 40.0 + around, "waves": 0.0, "clouds": 0.0}
            scene = Scene().with_values({f"view.{name}": value for name, value in view.items()})
            column = draw(shown, camera, scene, size=(64, 240)).astype(float)[:, 56:].mean(axis=1)
            horizon, below = (
                round(240 * (1.0 - camera.horizon(1.0, math.tan(math.radians(each))))) for each in (0.0, 6.0)
            )
            assert column[horizon - 2].sum() - column[below].sum() > 20.0
            assert np.abs(np.diff(column[horizon - 6 : below + 6], axis=0)).max() < 8.0


@pytest.mark.parametrize("quality", ["lowest", "low", "high"])
def test_the_sea_is_nowhere_darker_towards_its_horizon(draw: Draw, quality: str) -> None:
    shown, camera = at_sea(40.0)
    scene = Scene().with_values({"view.sun_direction": 130.0, "view.waves": 0.0, "view.quality": quality})
    column = draw(shown, camera, scene, size=(64, 240)).astype(float).mean(axis=(1, 2))
    horizon = round(240 * (1.0 - camera.horizon(1.0)))
    assert np.diff(column[horizon:]).max() < 1.0


def test_the_sea_keeps_its_colour_up_to_its_horizon(draw: Draw) -> None:
    """The air before it is not a grey band of many degrees."""
    shown, camera = at_sea(40.0)
    camera = replace(camera, pitch=12.0, distance=5.0 * 64 * CELL, field_of_view=30.0)  # from a whole side above it
    scene = Scene().with_values({"view.sun_height": 30.0, "view.sun_direction": 130.0, "view.waves": 0.0})
    pixels = draw(shown, camera, scene, size=(64, 240)).astype(float).mean(axis=1)
    horizon, below = (round(240 * (1.0 - camera.horizon(1.0, math.tan(math.radians(each))))) for each in (0.0, 3.0))
    away = np.abs(pixels - pixels[horizon]).sum(axis=1)
    assert away[below] > 0.1 * away[-1]


def on_a_table(pitch: float, distance: float) -> tuple[Snapshot, Camera]:
    """A low block, seen past its right side, where nothing hides the table."""
    shown = snapshot(flat(64, 64, 0.0), cell_size=CELL)
    return shown, Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), 40.0, pitch, distance * 64 * CELL, 30.0, middle=-0.9)


def test_a_table_meets_the_sky_without_a_line_below_the_level_of_the_eye(draw: Draw, subtests: pytest.Subtests) -> None:
    for pitch, distance in ((10.0, 2.0), (13.0, 1.1), (13.0, 2.5), (20.0, 1.2)):
        shown, camera = on_a_table(pitch, distance)
        dip = horizon_dip(camera, shown, -0.1 * 64 * CELL)
        assert dip is not None
        horizon = round(240 * (1.0 - camera.horizon(1.0, dip)))
        level = round(240 * (1.0 - camera.horizon(1.0)))
        assert horizon > 6 and level < horizon - 6
        for sun in (2.0, 6.0, 27.0, 70.0):
            with subtests.test(pitch=pitch, distance=distance, sun=sun):
                scene = Scene().with_values({"view.sun_height": sun, "view.sun_direction": 130.0})
                column = draw(shown, camera, scene, size=(240, 240)).astype(float)[:, 200:].mean(axis=1)
                assert np.abs(np.diff(column[horizon - 6 : horizon + 6], axis=0)).max() < 10.0  # crests of far ranges
                # The sky begins there: the colour changes on the way up to where it would begin without an end of the
                # table.
                blueness = column[:, 2] - column[:, 0]
                above = max(level, 0)
                assert abs(blueness[above] - blueness[horizon]) > 2.0 * abs(blueness[horizon + 6] - blueness[horizon])


def test_ranges_stand_behind_a_block_with_relief_where_one_looks_over_it(draw: Draw) -> None:
    """They are as rugged as the land is high; from high above there is a model on its table."""
    row, column = np.mgrid[:64, :64]
    hill = np.exp(-((row - 40.0) ** 2 + (column - 10.0) ** 2) / 30.0)

    def varies(relief: float, pitch: float, distance: float) -> float:
        """By how much the brightness of rows around the horizon differs along them, beside the block."""
        _, camera = on_a_table(pitch, distance)
        shown = snapshot(relief * 64 * CELL * hill, cell_size=CELL)
        dip = horizon_dip(camera, shown, -0.1 * 64 * CELL)
        assert dip is not None
        horizon = round(240 * (1.0 - camera.horizon(1.0, dip)))
        scene = Scene().with_values({"view.sun_height": 30.0, "view.clouds": 0.0, "view.quality": "high"})
        beside = (
            draw(shown, camera, scene, size=(240, 240)).astype(float)[horizon - 14 : horizon - 2, 130:].mean(axis=2)
        )
        return float(
            (beside - np.polynomial.Polynomial.fit(np.arange(110), beside.mean(axis=0), 1)(np.arange(110)))
            .std(axis=1)
            .max()
        )

    rugged, flat_land, model = varies(0.15, 12.0, 1.1), varies(0.0, 12.0, 1.1), varies(0.15, 35.0, 2.0)
    assert rugged > 2.0 and flat_land < 0.5 * rugged and model < 0.3 * rugged


def test_ranges_are_calm_silhouettes_without_steep_crests_or_grain(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backdrop, "raised_part", lambda *_: 0.0)  # they stand behind the land around the block
    row, column = np.mgrid[:64, :64]
    shown = snapshot(0.2 * 64 * CELL * np.exp(-((row - 40.0) ** 2 + (column - 10.0) ** 2) / 30.0), cell_size=CELL)
    _, camera = on_a_table(12.0, 1.1)
    dip = horizon_dip(camera, shown, -0.1 * 64 * CELL)
    assert dip is not None
    horizon = round(240 * (1.0 - camera.horizon(1.0, dip)))
    scene = Scene().with_values({"view.sun_height": 30.0, "view.clouds": 0.0, "view.quality": "high"})

    def above_the_plain() -> Floats:
        return draw(shown, camera, scene, size=(240, 240)).astype(float)[: horizon - 1, 130:].mean(axis=2)

    ranges = above_the_plain()
    monkeypatch.setattr(backdrop, "far_land", lambda dip: 0.0)
    covered = np.abs(ranges - above_the_plain()) > 1.5
    height = np.where(covered.any(axis=0), len(covered) - np.argmax(covered, axis=0), 0)
    assert height.max() >= 5 and np.ptp(height) >= 3
    assert np.abs(np.diff(ranges[-3:], axis=0)).max() < 4.0, "they rise from the haze without a line at their foot"
    assert np.abs(height[8:] - height[:-8]).max() < 8 * math.tan(math.radians(37.0))
    grain = np.abs(np.diff(ranges, 2, axis=1))[covered[:, 2:] & covered[:, :-2]]
    assert np.percentile(grain, 90) < 2.5


def test_where_a_table_ends() -> None:
    shown, camera = on_a_table(30.0, 2.0)
    side, depth = 64 * CELL, 0.1 * 64 * CELL
    reached = 2.0 * math.cos(math.radians(30.0)) * side + TABLE_REACH * side
    expected = (math.sin(math.radians(30.0)) * 2.0 * side + depth) / reached
    assert horizon_dip(camera, shown, -depth) == pytest.approx(expected, rel=1e-5)
    assert horizon_dip(replace(camera, pitch=-30.0), shown, -depth) is None, "from below the table"
    assert horizon_dip(camera, drowned(shown, 0.0), -depth) is None, "a sea goes on to its own horizon"


@pytest.mark.parametrize(("pitch", "distance"), [(90.0, 10.0), (88.0, 6.0), (55.0, 6.0), (45.0, 10.0)])
def test_who_looks_down_at_a_block_sees_no_sky_beside_it(pitch: float, distance: float) -> None:
    shown, camera = on_a_table(pitch, distance)
    dip = horizon_dip(camera, shown, -0.1 * 64 * CELL)
    assert dip is not None
    assert camera.horizon(1.6, dip) > 1.0


def test_the_horizon_of_a_dip_is_where_directions_of_that_slope_are_seen() -> None:
    _, camera = on_a_table(13.0, 1.0)
    ahead = camera.horizontal_direction
    place = camera.place_of(camera.position + ahead - glm.vec3(0.0, 0.07, 0.0), 1.6)
    assert place is not None
    assert camera.horizon(1.6, 0.07) == pytest.approx(0.5 + 0.5 * place[1], abs=1e-4)
    assert camera.horizon(1.6) > camera.horizon(1.6, 0.07)


def test_the_sun_is_a_disc_where_it_stands(draw: Draw) -> None:
    shown, camera = at_sea(120.0)
    scene = Scene().with_values({"view.sun_height": 5.0, "view.sun_direction": 120.0, "view.quality": "high"})
    pixels = draw(shown, camera, scene, size=(240, 240)).astype(float)
    up = 120.0 - 120.0 * math.tan(math.radians(5.0 + 3.0)) / math.tan(math.radians(10.0))
    disc = pixels[round(up) - 1 : round(up) + 2, 118:122].mean(axis=(0, 1))
    around = pixels[round(up) - 1 : round(up) + 2, 90:100].mean(axis=(0, 1))
    assert disc[0] > 240.0 and disc[1] > around[1] + 10.0 and disc[2] < 0.94 * disc[0]


def test_over_a_table_the_sun_stands_as_far_above_the_lowered_horizon(draw: Draw) -> None:
    shown = snapshot(flat(64, 64, 0.0), cell_size=CELL)
    camera = Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), 120.0, 10.0, 160 * CELL, 30.0)
    scene = Scene().with_values({"view.sun_height": 6.0, "view.sun_direction": 120.0, "view.quality": "high"})
    pixels = draw(shown, camera, scene, size=(240, 240)).astype(float)
    dip = horizon_dip(camera, shown, -0.1 * 64 * CELL)
    assert dip is not None
    slope = math.tan(math.radians(6.0)) - dip
    place = camera.place_of(camera.position + camera.horizontal_direction + glm.vec3(0.0, slope, 0.0), 1.0)
    assert place is not None
    row = round(120.0 - 120.0 * place[1])
    disc, around = pixels[row - 1 : row + 1, 119:121].mean(axis=(0, 1)), pixels[row - 1 : row + 1, 90:100].mean((0, 1))
    assert disc[0] > 240.0 and disc[1] > around[1] + 10.0 and disc[2] < 0.94 * disc[0]


@pytest.mark.parametrize("sun", [2.5, 5.0, 6.5])
def test_the_sun_stands_in_its_glare(draw: Draw, sun: float) -> None:
    """It is no sticker: brightest in its middle, its colour around it, and no edge where the rows of the glare end."""
    shown, camera = at_sea(120.0)
    scene = Scene().with_values({"view.sun_height": sun, "view.sun_direction": 120.0, "view.quality": "high"})
    pixels = draw(shown, camera, scene, size=(240, 240)).astype(float)
    up = round(120.0 - 120.0 * math.tan(math.radians(sun + 3.0)) / math.tan(math.radians(10.0)))
    disc, near, far = pixels[up, 120], pixels[up - 8, 120], pixels[up - 8, 10]
    assert disc.min() > 140.0 and disc[2] > near[2], "no colour of a lamp"
    assert disc[2] < 0.98 * disc[0]
    assert (near - far)[:2].sum() > 6.0
    above = pixels[: up - 4, 115:125].mean(axis=1)
    assert np.abs(np.diff(above, axis=0)).max() < 12.0


def row_of(camera: Camera, place: glm.vec3) -> int:
    """The row of a square picture of 240 pixels in which a place is seen."""
    seen = camera.place_of(place, 1.0)
    assert seen is not None
    return round(120.0 - 120.0 * seen[1])


def test_ridges_go_on_beyond_the_sides_that_face_away(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    ground = np.broadcast_to(60.0 + 30.0 * np.sin(0.5 * np.arange(64)), (64, 64)).copy()
    shown = snapshot(ground, cell_size=CELL)
    camera = Camera(glm.vec3(32 * CELL, 60.0, 20 * CELL), 0.0, 20.0, 30 * CELL, 30.0)
    scene = Scene().with_values({"view.sun_height": 30.0, "view.sun_direction": 90.0, "view.clouds": 0.0})
    row = row_of(camera, glm.vec3(32 * CELL, 90.0, 0.5 * CELL))

    def varies() -> float:
        """How much the brightness differs along rows beyond the border."""
        beyond = draw(shown, camera, scene, size=(240, 240)).astype(float)[row - 12 : row - 6].mean(axis=(0, 2))
        return float(beyond.std())

    seen = varies()
    monkeypatch.setattr(surroundings, "hidden_sides", lambda *_: (0.0, 0.0, 0.0, 0.0))
    assert seen > 3.0 * varies()


def test_land_beyond_a_block_is_as_rough_as_a_pixel_shows(draw: Draw) -> None:
    """A slope that the map has as a plane shows faces of rock there."""
    ground = np.broadcast_to(40.0 + 0.5 * CELL * np.abs(np.arange(64.0) - 32.0), (64, 64)).copy()
    shown = snapshot(ground, cell_size=CELL)
    scene = Scene().with_values({"view.sun_height": 30.0, "view.clouds": 0.0, "view.quality": "high"})
    camera = Camera(glm.vec3(40 * CELL, float(ground[0, 40]), 2 * CELL), 0.0, 25.0, 8 * CELL, 30.0)
    row = row_of(camera, glm.vec3(40 * CELL, float(ground[0, 40]), 0.5 * CELL))
    beyond = draw(shown, camera, scene, size=(240, 240)).astype(float)[row - 40 : row - 10, 60:180].mean(axis=2)
    assert np.abs(np.diff(beyond, 2, axis=1)).mean() > 4.0
    assert beyond.std() < 40.0


def test_land_around_a_block_is_that_of_its_border() -> None:
    row, column = np.mgrid[:64, :48]
    ground = 50.0 + 0.4 * row + 6.0 * np.sin(0.2 * column)
    shown = snapshot(ground, cell_size=CELL)
    vertices, quads = surroundings.mesh(shown, 20)
    east, height, south = (vertices[:, :3] / (CELL, 1.0, CELL)).T
    at_border = np.isclose(south, 0.5, atol=1e-3) & (east > 0.4) & (east < 47.6)
    assert at_border.sum() > 15
    expected = np.interp(east[at_border] - 0.5, np.arange(48), ground[0])
    assert height[at_border] == pytest.approx(expected, abs=0.5)
    seen = vertices[quads.triangles].reshape(-1, vertices.shape[1])[:, 0] / CELL
    assert seen.min() < -40.0 and seen.max() > 100.0
    inside = (east > 2.0) & (east < 46.0) & (south > 2.0) & (south < 62.0)
    assert not inside[quads.triangles].reshape(-1, 3).any(axis=1).any(), "nothing lies over the block"


def test_slopes_go_on_over_the_border() -> None:
    """No crease shows where the map ends."""
    row, column = np.mgrid[:64, :48]
    shown = snapshot(50.0 + 2.0 * row - 1.0 * column, cell_size=CELL)
    vertices, _ = surroundings.mesh(shown, 60)
    east, height, south = (vertices[:, :3] / (CELL, 1.0, CELL)).T
    beside = (south < 0.0) & (south > -1.6) & (east > 2.0) & (east < 45.0)
    assert beside.sum() > 30
    expected = 50.0 + 2.0 * (south - 0.5) - 1.0 * (east - 0.5)
    assert np.abs(height - expected)[beside].max() < 2.0, "land mirrored in a line would rise again, by 2 a cell"


def test_no_cone_stands_over_a_map_that_falls_off_inside() -> None:
    """A plain with a trench along its border."""
    row = np.arange(64.0)
    ground = np.broadcast_to(100.0 - 90.0 * np.exp(-(((row - 7.0) / 3.0) ** 2))[:, None], (64, 64)).copy()
    vertices, quads = surroundings.mesh(snapshot(ground, cell_size=CELL), 60)
    height = vertices[quads.triangles][..., 1]
    assert height.max() < ground.max() + 1.0, "a trench mirrored in a point would rise to 180 m"
    assert np.isfinite(vertices).all()


def test_lakes_beyond_a_block_are_level() -> None:
    row = np.arange(64.0)
    ground = np.broadcast_to(60.0 + 50.0 * np.cos(0.1 * np.pi * row)[:, None], (64, 64)).astype(np.float32)
    level = np.maximum(ground, np.float32(50.0))
    dry = snapshot(ground, cell_size=CELL)
    wet = replace(dry, layers={**dry.layers, "water_level": level}, versions={**dry.versions, "water_level": 1})
    heights = [
        vertices[quads.triangles][..., 1] for vertices, quads in (surroundings.mesh(each, 60) for each in (dry, wet))
    ]
    below = [(height < 48.0).mean() for height in heights]
    assert below[1] < 0.4 * below[0], "the beds"


@pytest.mark.parametrize("quality", ["low", "medium", "high"])
def test_land_beyond_a_block_has_ridges_that_are_finer_than_its_mesh(draw: Draw, quality: str) -> None:
    """Also from so low that a pixel is many cells long."""
    ground = np.broadcast_to(60.0 + 8.0 * np.sin(1.2 * np.arange(256.0)), (256, 256)).copy()
    shown = snapshot(ground, cell_size=CELL)
    camera = Camera(glm.vec3(128 * CELL, 60.0, 6 * CELL), 0.0, 7.0, 24 * CELL, 30.0)
    scene = Scene().with_values({"view.sun_height": 30.0, "view.sun_direction": 90.0, "view.clouds": 0.0})
    row = row_of(camera, glm.vec3(128 * CELL, 60.0, 0.5 * CELL))
    pixels = draw(shown, camera, scene.with_value("view.quality", quality), size=(240, 240)).astype(float)
    beyond, on_map = (pixels[rows].mean(axis=(0, 2)) for rows in (np.s_[row - 9 : row - 5], np.s_[row + 6 : row + 16]))
    assert beyond.std() > 0.6 * on_map.std()


def test_land_around_a_block_bends_below_its_horizon(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """However far it reaches, a plain shows nothing above where the sky begins, and no gap below."""
    shown = snapshot(flat(64, 64, 0.0), cell_size=CELL)
    camera = Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), 20.0, 12.0, 40 * CELL, 40.0)
    dip = horizon_dip(camera, shown, -0.1 * 64 * CELL)
    assert dip is not None
    horizon = round(240 * (1.0 - camera.horizon(1.0, dip)))
    scene = Scene().with_values({"view.clouds": 0.0, "view.quality": "high", "view.haze": 0.3})
    with_land = draw(shown, camera, scene, size=(240, 240)).astype(float)
    monkeypatch.setattr(surroundings, "hidden_sides", lambda *_: (0.0, 0.0, 0.0, 0.0))
    changed = np.abs(with_land - draw(shown, camera, scene, size=(240, 240))).max(axis=2) > 1.0
    assert not changed[: horizon - 1].any()
    assert changed[horizon + 3 : horizon + 9].mean() > 0.8


def test_only_sides_that_face_away_have_land_beside_them() -> None:
    shown, side = snapshot(flat(64, 64, 0.0), cell_size=CELL), 64 * CELL
    camera = Camera(glm.vec3(0.5 * side, 0.0, 0.5 * side), 0.0, 15.0, 0.65 * side, 30.0)
    assert surroundings.hidden_sides(camera, shown) == (1.0, 1.0, 1.0, 0.0)
    assert surroundings.raised_part(camera, shown) == 1.0
    far_away = replace(camera, distance=1.3 * side)
    assert surroundings.raised_part(far_away, shown) == 0.0, "it is a model on a table"
    vertices, quads = surroundings.mesh(shown, 20)
    seen = vertices[quads.in_sight(camera, 1.6, (1.0, 1.0, 1.0, 0.0))]
    assert (seen[:, 0] < 0.0).any() and (seen[:, 0] > side).any() and (seen[:, 2] < -side).any()
    assert seen[:, 2].max() < camera.position.z
    way = seen.reshape(-1, 6, seen.shape[1])[:, 0, 2]
    assert (np.diff(way) <= 0.0).all(), "the nearest first"
    assert not (vertices[quads.in_sight(camera, 1.6, (0.0, 0.0, 1.0, 0.0))][:, 2] > 2 * CELL).any()


def test_the_slopes_of_land_around_a_block_are_those_of_its_mesh() -> None:
    row, column = np.mgrid[:64, :48]
    shown = snapshot(50.0 + 0.6 * row + 9.0 * np.sin(0.15 * column + 0.05 * row), cell_size=CELL)
    vertices, quads = surroundings.mesh(shown, 60)
    corners = vertices[quads.triangles].reshape(-1, 3, 13).astype(float)
    place, along, slopes, turned = (corners[..., part] for part in (np.s_[:3], np.s_[3:5], np.s_[5:7], np.s_[7:11]))
    beside_them = corners[..., 11:]
    one, other = place[:, 1] - place[:, 0], place[:, 2] - place[:, 0]
    normal = np.cross(one, other)
    of_mesh = -normal[:, [0, 2]] / normal[:, 1:2]
    mirrored = 1.0 - 2.0 * (np.mod(along, 2.0) >= 1.0)
    is_whole = (np.ptp(mirrored, axis=1) == 0.0).all(axis=1)
    seen = (mirrored * slopes)[..., :1] * turned[..., :2] + (mirrored * slopes)[..., 1:] * turned[..., 2:] + beside_them
    # Within the skirt the mesh falls off, and far out its quads are wide.
    near = (place[:, :, ::2].min(axis=(1, 2)) > -12 * CELL) & (place[:, :, ::2].max(axis=(1, 2)) < 76 * CELL)
    beside = (place[..., 0] < 0.0).all(axis=1) | (place[..., 2] < 0.0).all(axis=1)
    chosen = is_whole & near & beside
    assert chosen.sum() > 200
    apart = np.abs(seen.mean(axis=1) - of_mesh)[chosen]
    assert np.median(apart) < 0.1 * np.abs(of_mesh[chosen]).mean()
