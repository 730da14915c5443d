"""Waves as they are drawn: phases, heights and slopes against formulas, and what they do on beaches and islands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import moderngl
import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from app.model.climate import USUAL_WIND
from app.model.snapshot import Snapshot
from app.model.wave_parameters import WaveParameters
from app.picture.passes import shaders as module
from app.picture.passes.detail import detail_texture
from app.picture.passes.frame import FrameBlock
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.shore import ShoreMap, wet_cells, with_waves
from app.picture.passes.swell import Swell
from app.picture.passes.waves import SeaState, block_values, sea_state
from app.scene.scene import DECLARATIONS
from tests.passes import reference_waves
from tests.passes.test_maps import texels
from tests.passes.worlds import drowned, flat, island, snapshot

PROBE = """#include "waves.glsl"
uniform vec4 part;  // of the map in metres: west, north, east, south
uniform float rise;  // of the beach, metres from cell to cell
in vec2 uv;
layout(location = 0) out vec4 wave_is;
layout(location = 1) out vec4 shore_is;
layout(location = 2) out vec4 beach_is;
void main() {
    vec2 place = mix(part.xy, part.zw, uv);
    Shore shore = shore_at(place);
    Wave wave = wave_at(place, shore, vec4(dFdx(place), dFdy(place)));
    Beach beach = beach_at(place, shore, max(-shore.depth, 0.0), vec2(0.0), rise);
    wave_is = vec4(wave.height, wave.slope, wave.breaking);
    shore_is = vec4(shore.phase, shore.away, shore.depth, shore.strength);
    beach_is = vec4(beach.covered, beach.foam, beach.wet, foam_at(place, shore, wave, 0.0));
}
"""

# All that makes waves differ along the shore is left out.
EVEN = WaveParameters(scatter=0.0, shelter=0.0, fronts=40.0, wavelength=120.0 / 2560.0)

CELL = 10.0
Values = NDArray[np.float32]


@dataclass
class Drawn:
    """What the shaders make of a part of the map, `[row, column]`."""

    height: Values
    slope: Values  # east, south
    breaking: Values
    phase: Values
    away: Values  # cells
    depth: Values  # metres
    strength: Values
    covered: Values
    beach_foam: Values
    wet: Values
    foam: Values


class Sea:
    """Draws the waves of a snapshot."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, block: FrameBlock) -> None:
        self._context, self._block = context, block
        self._layers, self._surface = LayerTextures(context), SurfaceMap(context, shaders)
        self._map = ShoreMap(context, shaders)
        self._detail = detail_texture(context, Mipmaps(context, shaders))
        self._probe = FullScreen(context, shaders, "probe.frag")
        self.rise = 1e9
        self.state: SeaState
        self._waves: WaveParameters

    def show(self, shown: Snapshot, waves: WaveParameters, *, wind: float = 1.4, wind_to: float = 90.0) -> None:
        rows, columns = shown.shape
        self.state, self._waves = sea_state(waves, wind, shown.cell_size, max(shown.shape)), waves
        self._block.values["map"] = (columns, rows, shown.cell_size, 1.0)
        self._block.upload()
        textures = self._layers.upload(shown)
        self._surface.update(shown, textures)
        swell = Swell(self.state.wave_number, wind_to)
        waters = with_waves(wet_cells(shown))
        self._map.update(shown, swell, waters, self._surface.texture, self._layers, budget=1, at_once=True)
        self._extent = (0.0, 0.0, columns * shown.cell_size, rows * shown.cell_size)
        self._size = (columns, rows)

    def draw(self, time: float, part: tuple[float, ...] | None = None, size: tuple[int, int] | None = None) -> Drawn:
        """At a time, of a part of the map (west, north, east, south in metres), or with a pixel for each cell of it."""
        for name, value in block_values(self._waves, self.state, time, CELL).items():
            self._block.values[name] = value
        self._block.upload()
        targets = [self._context.texture(size or self._size, 4, dtype="f4") for _ in range(3)]
        framebuffer, before = self._context.framebuffer(targets), self._context.fbo
        self._probe.program.bind(nearshore=self._map.nearshore, surf=self._map.surf, detail=self._detail)
        self._probe.program.set(part=part or self._extent, rise=self.rise)
        self._probe.draw(framebuffer)
        before.use()
        wave, shore, beach = (texels(target) for target in targets)
        for made in (framebuffer, *targets):
            made.release()
        return Drawn(wave[..., 0], wave[..., 1:3], wave[..., 3], *np.moveaxis(shore, -1, 0), *np.moveaxis(beach, -1, 0))

    def coast(self) -> Values:
        return texels(self._map.coast)

    def release(self) -> None:
        for made in (self._map, self._layers, self._surface, self._detail, self._probe):
            made.release()


@pytest.fixture
def sea(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sea]:
    read = module.read_shader
    monkeypatch.setattr(module, "read_shader", lambda name: PROBE if name == "probe.frag" else read(name))
    sea = Sea(context, shaders, frame_block)
    yield sea
    sea.release()


# A plane beach.

SHORE = 230.0  # column of the coast; the sea lies west of it


def plane_beach(slope: float, columns: int = 256) -> Snapshot:
    ground = (np.arange(columns) + 0.5 - SHORE) * CELL * slope
    return drowned(snapshot(np.tile(ground, (24, 1)), cell_size=CELL), 0.0)


def across(sea: Sea, time: float, near: float = 0.5, far: float = 150.0, samples: int = 6000) -> tuple[Any, Drawn]:
    """A line from `far` to `near` cells off the coast: its distances in metres, and what is drawn there."""
    west, east = (SHORE - far) * CELL, (SHORE - near) * CELL
    drawn = sea.draw(time, (west, 119.9, east, 120.1), (samples, 1))
    return SHORE * CELL - (west + (np.arange(samples) + 0.5) / samples * (east - west)), drawn


def off_by(drawn: Drawn, expected: Any) -> Any:
    """How much farther phases along a line are apart from that at its last point, by the coast, than expected ones."""
    return np.abs((drawn.phase[0] - drawn.phase[0, -1]) - (expected - expected[-1]))


@pytest.mark.parametrize("slope", [0.02, 0.1, 0.4])
def test_phases_are_the_integral_of_the_wave_number_from_the_shore(sea: Sea, slope: float) -> None:
    sea.show(plane_beach(slope), EVEN)
    away, drawn = across(sea, 0.0)
    expected = reference_waves.phase(sea.state.wave_number, slope, away)
    assert off_by(drawn, expected).max() < 1.0, (
        "of the 6.3 of a wave, where the grid of the swell passes into the beach"
    )
    assert np.ptp(off_by(drawn, expected)[away > 200.0]) < 0.6, "of up to 138"
    np.testing.assert_allclose(off_by(drawn, expected)[away < 30.0], 0.0, atol=0.02)


def test_in_shallow_water_the_phase_goes_with_the_root_of_the_distance(sea: Sea) -> None:
    sea.show(plane_beach(0.02), msgspec.structs.replace(EVEN, wavelength=0.2))
    away, drawn = across(sea, 0.0, far=12.0)
    root = 2.0 * np.sqrt(sea.state.wave_number / 0.02) * np.sqrt(away)
    assert off_by(drawn, root).max() < 0.6
    np.testing.assert_allclose(off_by(drawn, root)[away < 30.0], 0.0, atol=0.1)


@pytest.mark.parametrize("slope", [0.02, 0.1, 0.4])
def test_waves_shorten_all_the_way_to_the_shore(sea: Sea, slope: float) -> None:
    sea.show(plane_beach(slope), EVEN)
    away, drawn = across(sea, 0.0)
    points = slice(None, None, 60)
    wavelength = -2.0 * np.pi * np.diff(away[points]) / -np.diff(drawn.phase[0][points])
    shrinks = -np.diff(wavelength) / wavelength[1:]
    assert (wavelength > 0.0).all()
    assert shrinks.min() > -0.02, "but for the grid of the swell"
    assert wavelength[-1] < 0.75 * wavelength[0] and wavelength[0] <= 1.001 * sea.state.wavelength


@pytest.mark.parametrize("slope", [0.02, 0.1])
def test_crests_run_to_the_shore_with_the_speed_of_the_formula(sea: Sea, slope: float) -> None:
    sea.show(plane_beach(slope), EVEN)
    step = 0.02 * sea.state.period
    (away, first), (_, second) = across(sea, 7.0), across(sea, 7.0 + step)

    def crests(phase: Values) -> Any:
        turns = phase[0].astype(np.float64) / (2.0 * np.pi)
        number = np.arange(math.ceil(turns.min()), math.floor(turns.max()) + 1)
        return {n: float(np.interp(-n, -turns, away)) for n in number}

    before, after = crests(first.phase), crests(second.phase)
    common = sorted(set(before) & set(after))
    assert len(common) > 8
    for n in common:
        distance = 0.5 * (before[n] + after[n])
        number = reference_waves.wave_number(sea.state.wave_number, np.array(slope * distance))
        speed = 2.0 * np.pi / sea.state.period / float(number)
        assert before[n] > after[n]
        # Nearer the grid of the swell passes into the beach.
        assert (before[n] - after[n]) / step == pytest.approx(speed, rel=0.02 if distance > 200.0 else 0.15)


@pytest.mark.parametrize("slope", [0.02, 0.1])
def test_heights_are_those_of_the_mirror_on_the_cpu(sea: Sea, slope: float) -> None:
    waves = msgspec.structs.replace(EVEN, height=0.5)
    sea.show(plane_beach(slope), waves)
    for time in (0.0, 11.3):
        away, drawn = across(sea, time, near=2.0, far=60.0)
        expected = reference_waves.height(sea.state, waves, slope, away, drawn.phase[0].astype(np.float64))
        off = np.abs(drawn.height[0] - expected)
        assert off.max() < 0.12 * sea.state.height, "where the front is steep, a little phase is much height"
        assert np.median(off) < 0.02 * sea.state.height
        assert np.ptp(expected) > 0.8 * sea.state.height


def test_slopes_are_those_of_the_heights(sea: Sea) -> None:
    sea.show(plane_beach(0.05), msgspec.structs.replace(EVEN, height=0.2))
    away, drawn = across(sea, 3.0, near=10.0, far=60.0)
    measured = np.gradient(drawn.height[0].astype(np.float64), -away)
    np.testing.assert_allclose(drawn.slope[0, :, 0], measured, atol=0.12 * np.abs(measured).max())
    np.testing.assert_allclose(drawn.slope[0, :, 1], 0.0, atol=1e-3)


def test_waves_are_never_higher_than_breaking_lets_them_and_foam_where_they_break(sea: Sea) -> None:
    sea.show(plane_beach(0.03), EVEN)
    away, _ = across(sea, 0.0, far=80.0)
    moments = [across(sea, t * sea.state.period, far=80.0)[1] for t in np.linspace(0.0, 1.0, 40)]
    tall = np.max([m.height[0] for m in moments], axis=0) - np.min([m.height[0] for m in moments], axis=0)
    depth = moments[0].depth[0]
    assert (tall <= 0.7805 * depth).all() and (tall > 0.7 * depth)[depth < 2.0].all()
    foam = np.mean([m.foam[0] for m in moments], axis=0)
    out_at_sea = reference_waves.phase(sea.state.wave_number, 0.03, away) > 1.9 * 2.0 * np.pi
    assert foam[out_at_sea & (depth > 20.0)].max() == 0.0 and foam[depth < 3.0].mean() > 0.12
    # Where waves break, they rise in a shorter time than they fall.
    shallow = int(np.argmin(np.abs(depth - 4.0)))
    course = np.diff([m.height[0, shallow] for m in moments])
    assert (course < 0.0).sum() > 1.6 * (course > 0.0).sum()
    deep = np.diff([m.height[0, 0] for m in moments])
    assert abs((deep < 0.0).sum() - (deep > 0.0).sum()) <= 3


# Islands.


@pytest.mark.parametrize("seed", [1, 2])
def test_crests_come_from_one_direction_and_turn_to_the_shore(sea: Sea, seed: int) -> None:
    ground = island(256, 320, seed=seed)
    sea.show(drowned(snapshot(ground, cell_size=CELL), 0.0), WaveParameters(scatter=0.0), wind_to=70.0)
    first, second = sea.draw(5.0), sea.draw(5.1)
    wet = first.away > 1.5
    assert (second.phase > first.phase)[wet].all(), "what is here now will be farther on then"
    south, east = np.gradient(-first.phase)
    steepness = np.maximum(np.hypot(east, south), 1e-9)
    swell = (east * math.sin(math.radians(70.0)) - south * math.cos(math.radians(70.0))) / steepness
    column = np.broadcast_to(np.arange(320), wet.shape)
    windward = (column < 60) & (first.depth > 0.25 * sea.state.wavelength)
    assert np.quantile(swell[windward & (first.away > 40.0)], 0.03) > 0.95, "out at sea crests are straight"
    inland = sea.coast()[..., 1:3]
    towards = (east * inland[..., 0] + south * inland[..., 1]) / steepness
    faces = inland[..., 0] * math.sin(math.radians(70.0)) - inland[..., 1] * math.cos(math.radians(70.0)) > 0.3
    beach = wet & (first.away < 5.0) & faces & (first.strength > 0.3)
    assert beach.sum() > 100
    assert np.median(towards[beach]) > 0.8, "crests turn to face the beach"


def round_island(rows: int = 160, columns: int = 192) -> Snapshot:
    away = np.hypot(*(np.mgrid[:rows, :columns] - np.array([0.5 * rows - 0.5, 60.0])[:, None, None])) - 24.0
    return drowned(snapshot(-0.5 * CELL * away, cell_size=CELL), 0.0)


@pytest.mark.parametrize("wind_to", [90.0, 270.0])
def test_the_lee_of_an_island_is_calm(sea: Sea, wind_to: float) -> None:
    """From its water to its beach; its other side is not, and its flanks are alike."""
    sea.show(round_island(), WaveParameters(scatter=0.0, fronts=40.0), wind_to=wind_to)
    drawn = sea.draw(0.0)
    west, east = (drawn.strength[78:82, columns] for columns in (slice(28, 36), slice(85, 93)))
    before, behind = (west, east) if wind_to == 90.0 else (east, west)
    assert before.min() > 0.5 and before.mean() > 4.0 * behind.mean()
    beaches = (drawn.away > -3.0) & (drawn.away < 0.0)
    column = np.broadcast_to(np.arange(192), beaches.shape)
    reached = [drawn.strength[beaches & side].mean() for side in (column < 42, column > 78)]
    assert reached[wind_to == 270.0] > 3.0 * reached[wind_to == 90.0]
    np.testing.assert_allclose(drawn.strength, drawn.strength[::-1], atol=0.02)


def test_without_shelter_the_lee_has_waves_but_where_they_cross(sea: Sea) -> None:
    """They come around both flanks of the island, and pass through each other behind it."""
    sea.show(round_island(), EVEN, wind_to=90.0)
    drawn = sea.draw(0.0)
    beside, behind = drawn.strength[60:66, 90:98], drawn.strength[79:81, 90:98]
    assert beside.min() > 0.95, "no lee"
    assert behind.min() < 0.5, "they cross"
    assert drawn.strength[79:81, 140:160].min() > 0.95, "far away they run alike"


def test_waves_end_before_the_edge_of_the_map(sea: Sea) -> None:
    """The coast beyond is not known: the sea of the surroundings joins without a seam."""
    ground = np.tile(0.5 * (np.arange(64) - 32.0), (64, 1))
    sea.show(drowned(snapshot(ground, cell_size=CELL), 0.0), msgspec.structs.replace(EVEN, wavelength=0.19))
    drawn = sea.draw(0.0)
    assert np.abs(drawn.height[[0, -1]]).max() == 0.0 and np.abs(drawn.height[:, 0]).max() == 0.0
    assert np.abs(drawn.height[20:44, 15:30]).max() > 1.0


def test_a_sea_without_a_coast_is_still(sea: Sea) -> None:
    sea.show(drowned(snapshot(flat(24, 40, -30.0)), 0.0), WaveParameters())
    drawn = sea.draw(2.0)
    for values in vars(drawn).values():
        assert np.isfinite(values).all()
    assert (drawn.height == 0.0).all() and (drawn.foam == 0.0).all()


# Time.


def test_the_loop_closes_without_a_jump(sea: Sea) -> None:
    sea.show(drowned(snapshot(island(128, 128), cell_size=CELL), 0.0), WaveParameters(loop=20.0, wavelength=0.1))

    def height_and_more(time: float) -> Any:
        drawn = sea.draw(time)
        return np.stack([drawn.height, drawn.foam, drawn.covered, drawn.wet])

    start, half, end = (height_and_more(time) for time in (0.0, 10.3, 20.0))
    np.testing.assert_array_equal(start, end)
    assert np.abs(half - start).max() > 0.3
    step = 1e-3
    before, after = height_and_more(20.0 - step), height_and_more(20.0 + step)
    assert np.quantile(np.abs(after - before), 0.999) < 0.03


@pytest.mark.parametrize("wind", [0.0, 0.3, 1.4, 4.0])
def test_the_wind_makes_the_sea(wind: float) -> None:
    waves = WaveParameters()
    here, stronger = sea_state(waves, wind, CELL, 500), sea_state(waves, wind + 0.5, CELL, 500)
    assert 0.0 < here.height < stronger.height and 0.0 < here.wavelength < stronger.wavelength
    assert here.waves_in_loop * here.period == pytest.approx(waves.loop)
    real = math.sqrt(2.0 * math.pi * here.wavelength / 9.81)
    assert here.period == pytest.approx(real, rel=0.6 / here.waves_in_loop)
    if wind == USUAL_WIND:
        assert here.wavelength == waves.wavelength * CELL * 500
        assert sea_state(waves, wind, CELL, 8).wavelength == 3.0 * CELL


# The beach.


def test_foam_has_half_tones_where_it_ends(sea: Sea) -> None:
    sea.show(plane_beach(0.03), EVEN)
    foam = np.concatenate([across(sea, t * sea.state.period, far=80.0)[1].foam[0] for t in np.linspace(0.0, 1.0, 12)])
    foam = foam[foam > 0.05]
    assert foam.max() > 0.9 and (foam < 0.4).mean() > 0.45


def test_a_seam_of_foam_lies_along_a_steep_coast_at_any_time(sea: Sea) -> None:
    """Also between two waves and between fronts; it is here wide, there narrow, and thins out."""
    sea.show(plane_beach(0.4, columns=240), WaveParameters(wavelength=0.2))
    for time in np.linspace(0.0, sea.state.period, 6, endpoint=False):
        foam = sea.draw(time, ((SHORE - 12.0) * CELL, 60.0, SHORE * CELL, 180.0), (240, 240)).foam
        by_coast, out = foam[:, -30:].max(axis=1), foam[:, :60].mean()
        assert (by_coast > 0.2).mean() > 0.9 and out < 0.1
        assert np.ptp(ndimage.uniform_filter1d(foam[:, -80:].mean(axis=1), 20)) > 0.05


def test_foam_lies_in_lines_along_the_crests(sea: Sea) -> None:
    """The crest is the brightest; what it leaves behind gets less, in lines that its age tells, and not in a sheet."""
    sea.show(plane_beach(0.03), EVEN)
    moments = [across(sea, t * sea.state.period, far=80.0)[1] for t in np.linspace(0.0, 1.0, 24, endpoint=False)]
    shallow = moments[0].depth[0] < 3.0
    foam = np.concatenate([moment.foam[0][shallow] for moment in moments])
    age = np.concatenate([moment.phase[0][shallow] / (2.0 * np.pi) % 1.0 for moment in moments])
    place = np.minimum((40.0 * np.sqrt(age)).astype(int), 39)
    mean = ndimage.uniform_filter1d(np.bincount(place, foam, 40) / np.bincount(place, minlength=40), 3)
    lines = np.flatnonzero((mean[1:-1] > mean[:-2]) & (mean[1:-1] > mean[2:])) + 1
    assert len(lines[(lines > 8) & (lines < 38)]) >= 2
    assert max(mean[:4].max(), mean[-3:].max()) > 1.3 * mean[10:34].max()


def on_the_beach(sea: Sea, time: float, samples: int = 400) -> tuple[Any, Drawn]:
    """The dry ground from the coast to 12 cells inland: heights over the sea, and what is drawn there."""
    drawn = sea.draw(time, (SHORE * CELL, 119.9, (SHORE + 12.0) * CELL, 120.1), (samples, 1))
    return -drawn.depth[0], drawn


def test_on_a_flat_beach_foam_is_a_seam_and_no_slab(sea: Sea) -> None:
    """Where water reaches five cells of ground it is white for a cell or two behind its edge; the rest is as wet."""
    waves = msgspec.structs.replace(EVEN, run_up=2.0)
    sea.show(plane_beach(0.04), waves)
    times = np.linspace(0.0, sea.state.period, 24)
    steep = [on_the_beach(sea, time)[1] for time in times]
    sea.rise = 0.2 * max(float(-drawn.depth[drawn.covered > 0.5].min(initial=0.0)) for drawn in steep)
    flat_beach = [on_the_beach(sea, time)[1] for time in times]
    white, seam = (np.mean([(drawn.beach_foam > 0.5).mean() for drawn in moments]) for moments in (steep, flat_beach))
    assert 0.0 < seam < 0.4 * white
    for one, other in zip(steep, flat_beach, strict=True):
        np.testing.assert_array_equal(one.covered, other.covered)
        np.testing.assert_array_equal(one.wet, other.wet)


@pytest.mark.parametrize("slope", [0.01, 0.04, 0.3])
def test_waves_run_up_the_beach_and_leave_it_wet_to_dry(sea: Sea, slope: float) -> None:
    """As high as the formula of Hunt (1959) says, and on steep beaches half a wave: never far inland on flat ones."""
    waves = msgspec.structs.replace(EVEN, drying=10.0)
    sea.show(plane_beach(slope), waves)
    reach = min(0.5 * sea.state.height, slope * math.sqrt(sea.state.height * sea.state.wavelength))
    times = np.linspace(0.0, 2.0 * sea.state.period, 81)
    height, _ = on_the_beach(sea, 0.0)
    covered, wet = (np.array(all_of) for all_of in zip(
        *((drawn.covered[0], drawn.wet[0]) for _, drawn in (on_the_beach(sea, t) for t in times)), strict=True
    ))  # fmt: skip
    assert (covered[:, height > reach] == 0.0).all() and (wet[:, height > reach] == 0.0).all()
    highest = np.array([height[now > 0.5].max(initial=0.0) for now in covered])
    assert highest.max() == pytest.approx(reach, rel=0.05) and highest.min() < 0.05 * reach
    assert (wet[covered > 0.0] == 1.0).all()
    # Between two waves each place dries with its time.
    middle = int(np.argmin(np.abs(height - 0.5 * reach)))
    drying = [(a, b) for a, b in zip(wet[:-1, middle], wet[1:, middle], strict=True) if 0.0 < b < a < 1.0]
    assert len(drying) > 10
    rate = math.exp(-(times[1] - times[0]) / 10.0)
    np.testing.assert_allclose([b / a for a, b in drying], rate, rtol=1e-3)


# They only decorate.


def test_nothing_but_the_picture_knows_of_waves() -> None:
    help_texts = [DECLARATIONS["waves.enabled"].help, WaveParameters.__doc__ or ""]
    assert all("change nothing" in text for text in help_texts)


def test_water_runs_up_a_beach_with_the_wave_that_came_to_the_coast_before_it(sea: Sea) -> None:
    """Also where the coast bends: else there were islands of foam on the sand."""
    rows, columns = np.mgrid[:160, :192] - np.array([79.5, 95.5])[:, None, None]
    lobes = 40.0 + 8.0 * np.sin(6.0 * np.arctan2(rows, columns))
    shown = drowned(snapshot(-0.05 * CELL * (np.hypot(rows, columns) - lobes), cell_size=CELL), 0.0)
    sea.show(shown, WaveParameters(scatter=0.0, fronts=40.0))
    drawn, coast = sea.draw(0.0), sea.coast()
    row, column = np.nonzero((drawn.away < -2.5) & (drawn.away > -5.0))
    # The phase a cell inland of the coast's nearest point, between the cells around it.
    away, east, south = coast[row, column, :3].T
    at = np.stack([row + (away + 1.0) * south, column + (away + 1.0) * east])
    there = np.exp(1j * drawn.phase)
    phase = ndimage.map_coordinates(there.real, at, order=1) + 1j * ndimage.map_coordinates(there.imag, at, order=1)
    off = np.abs(np.angle(there[row, column] / phase))
    assert np.quantile(off, 0.95) < 0.5
