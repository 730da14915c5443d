"""Water in the ground."""

from __future__ import annotations

import math

import app  # noqa: F401

# isort: split
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import moisture
from kernels.materials import Materials, one_kind
from kernels.moisture import Aquifer, Ground, seep
from kernels.standing import DRY, LAKE, SEA
from kernels.surface import CANOPY, GRASS, WETNESS
from tests.kernels.parameters import moisture_parameters
from tests.kernels.reference_moisture import CELL_SIZE, Cell, flow_along
from tests.nets.cases import tried

SAND, ROCK = (0.4, 1.0), (0.15, 0.2)  # porosity and permeability


def one_sort(ground: Ground, loose: tuple[float, float] = SAND, rock: tuple[float, float] = ROCK) -> Materials:
    """What the ground is made of."""
    names = ("porosity", "permeability", "rock_porosity", "rock_permeability")
    return one_kind(ground.sediment, **dict(zip(names, (*loose, *rock), strict=True)))


def ground_of(bedrock: object, sediment: object = 0.0) -> Ground:
    """Dry ground in which no water is yet."""
    rock, loose = (np.array(layer, np.float64, order="C") for layer in np.broadcast_arrays(bedrock, sediment))
    nothing = [np.zeros(rock.shape) for _ in range(3)]
    water, moisture, groundwater = nothing
    return Ground(
        rock, loose, rock + loose, water, np.zeros(rock.shape, np.uint8), moisture, groundwater,
        np.zeros((*rock.shape, 4), np.float32),
    )  # fmt: skip


def random_ground(rows: int, columns: int, seed: int) -> Ground:
    """Rough ground, bare here and there, in all states of wetness, with lakes and sea."""
    random = np.random.default_rng(seed)

    def some(scale: float, empty: float) -> np.ndarray:
        return scale * random.random((rows, columns)) * (random.random((rows, columns)) >= empty)

    ground = ground_of(100.0 * random.random((rows, columns)), some(4.0, 0.3))
    ground.standing[...] = random.choice([DRY, DRY, DRY, LAKE, SEA], (rows, columns))
    ground.water[...] = some(3.0, 0.1) * (ground.standing == LAKE)
    ground.moisture[...] = some(1.0, 0.2)
    ground.groundwater[...] = some(5.0, 0.2)
    ground.surface[...] = random.random((rows, columns, 4))
    return ground


def aquifer_of(ground: Ground, materials: Materials | None = None, **parameters: object) -> Aquifer:
    settings = moisture_parameters(**parameters)  # type: ignore[arg-type]
    return Aquifer(ground, materials or one_sort(ground), CELL_SIZE, settings)


def cells_of(ground: Ground) -> list[list[Cell]]:
    """The same ground for the reference."""
    rows, columns = ground.bedrock.shape
    cover = 1.0 - (1.0 - ground.surface[..., GRASS]) * (1.0 - ground.surface[..., CANOPY])
    layers = ground.bedrock, ground.sediment, ground.water, ground.standing, ground.moisture, ground.groundwater, cover
    return [
        [Cell(*(layer[i, j].item() for layer in layers), *SAND, *ROCK) for j in range(columns)] for i in range(rows)
    ]


def stored(ground: Ground) -> float:
    return float(ground.water.sum() + ground.moisture.sum() + ground.groundwater.sum())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "parameters", [{}, {"field_capacity": 0.0}, {"soil_depth": 0.1, "aquifer_depth": 0.0}, {"rain": 0.5}]
)
def test_a_cell_takes_and_gives_what_the_plain_one_does(seed: int, parameters: dict[str, float]) -> None:
    ground = random_ground(9, 14, seed)
    cells = cells_of(ground)
    settings = moisture_parameters(**parameters)  # type: ignore[arg-type]
    totals = Aquifer(ground, one_sort(ground), CELL_SIZE, settings).exchange(1)
    for line in cells:
        for cell in line:
            cell.exchange(settings)
    for name in ("water", "moisture", "groundwater"):
        expected = [[getattr(cell, name) for cell in line] for line in cells]
        np.testing.assert_allclose(getattr(ground, name), expected, rtol=1e-4, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(ground.surface[..., WETNESS], [[c.wetness for c in line] for line in cells], atol=1e-4)
    for name in totals._fields:
        expected_total = sum(getattr(cell, name) for line in cells for cell in line)
        assert getattr(totals, name) == pytest.approx(expected_total, rel=1e-3, abs=1e-9), name


@pytest.mark.parametrize("columns_first", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_groundwater_flows_as_the_system_of_equations_says(columns_first: bool, seed: int) -> None:
    ground = random_ground(8, 37, seed)
    settings = moisture_parameters(walls=True, sea_level=20.0)
    for columns in (True, False) if columns_first else (False, True):
        # Line by line, as maps of one row
        cells = cells_of(ground)
        lines = list(zip(*cells, strict=True)) if columns else cells
        expected = np.array([flow_along(list(line), 4.0, settings) for line in lines])
        lone = [Ground(*(_line(layer, number, columns) for layer in ground[:8])) for number in range(len(lines))]
        for number, line in enumerate(lone):
            Aquifer(line, one_sort(line), CELL_SIZE, settings).flow(4)
            got = line.groundwater[0]
            np.testing.assert_allclose(got, expected[number], rtol=1e-6, atol=1e-9)
            (ground.groundwater[:, number] if columns else ground.groundwater[number])[...] = got
    whole = random_ground(8, 37, seed)
    Aquifer(whole, one_sort(whole), CELL_SIZE, settings).flow(4, columns_first)
    np.testing.assert_array_equal(whole.groundwater, ground.groundwater)


def _line(layer: np.ndarray, number: int, column: bool) -> np.ndarray:
    """One line of a map as a map of one row."""
    return np.ascontiguousarray(layer[:, number] if column else layer[number])[None]


@pytest.mark.parametrize("along", ["rows", "columns"])
def test_between_two_ditches_the_water_table_is_the_parabola_of_dupuit(along: str) -> None:
    count, low, conductivity, recharge = 41, 3.0, 5.0, 0.008
    loose = np.full(count, 20.0)
    loose[[0, -1]] = low
    loose = np.broadcast_to(loose if along == "rows" else loose[:, None], (8, count) if along == "rows" else (count, 8))
    ground = ground_of(np.zeros(loose.shape), loose)
    ground.standing[loose == low] = LAKE
    aquifer = aquifer_of(ground, aquifer_depth=0.0, conductivity=conductivity, field_capacity=0.0, walls=True)
    ditch = loose == low
    for _ in range(700):
        ground.groundwater[...] = np.where(ditch, SAND[0] * low, ground.groundwater + 4 * recharge)
        aquifer.flow(4)
    table = (ground.groundwater / SAND[0])[4] if along == "rows" else (ground.groundwater / SAND[0])[:, 4]
    x = CELL_SIZE * np.arange(count)
    parabola = np.sqrt(low**2 + recharge / conductivity * x * (x[-1] - x))
    assert parabola.max() > 2.0 * low
    np.testing.assert_allclose(table[1:-1], parabola[1:-1], rtol=0.01)


def test_a_wave_in_the_water_table_dies_down_as_theory_says() -> None:
    count, depth, swing, conductivity = 40, 10.0, 0.05, 8.0
    ground = ground_of(np.full((8, count), 100.0), 0.0)
    wave = np.cos(math.pi * (np.arange(count) + 0.5) / count)
    ground.groundwater[...] = ROCK[0] * (depth + swing * wave)
    aquifer = aquifer_of(ground, conductivity=conductivity, field_capacity=0.0, walls=True)
    diffusivity = conductivity * ROCK[1] * depth / ROCK[0]
    wavenumber = math.pi / (count * CELL_SIZE)
    cycles = 150
    for _ in range(cycles):
        aquifer.flow(1)
    left = float((ground.groundwater[3] / ROCK[0] - depth) @ wave / (wave @ wave)) / swing
    expected = math.exp(-diffusivity * wavenumber**2 * cycles)
    assert expected < 0.6
    assert left == pytest.approx(expected, rel=0.02)


ENDS: dict[str, tuple[float, float]] = {
    "rain": (0.0, 1.0), "infiltration": (0.0, 1.0), "soil_depth": (0.01, 10.0), "weathered": (0.0, 2.0),
    "field_capacity": (0.0, 0.9), "percolation": (0.0, 1.0), "evaporation": (0.0, 1.0), "transpiration": (0.0, 4.0),
    "temperature": (-80.0, 90.0), "lapse_rate": (0.0, 0.06), "aquifer_depth": (0.0, 1000.0),
    "conductivity": (0.001, 10_000.0), "capillary_rise": (0.01, 10.0), "smallest_spring": (0.001, 10.0),
    "rain_by_altitude": (0.0, 1.0), "walls": (False, True),
}  # fmt: skip


@tried(40)
@given(
    ends=st.fixed_dictionaries({name: st.sampled_from(both) for name, both in ENDS.items()}),
    shape=st.sampled_from([(8, 8), (8, 33), (40, 9)]),
    porosity=st.sampled_from([0.0, 0.01, 0.6]),
    seed=st.integers(0, 5),
)
def test_no_water_is_lost_whatever_the_parameters(
    ends: dict[str, float], shape: tuple[int, int], porosity: float, seed: int
) -> None:
    ground = random_ground(*shape, seed)
    aquifer = aquifer_of(ground, one_sort(ground, (porosity, 10.0), (porosity, 0.0)), sea_level=50.0, **ends)
    before = stored(ground)
    gained = before + aquifer.fill(0.5)
    assert stored(ground) == pytest.approx(gained, rel=1e-12)
    for cycle in range(4):
        left = aquifer.flow(4, columns_first=cycle % 2 == 1)
        totals = aquifer.exchange(2)
        _, depths = aquifer.rise()
        gained += totals.rained + totals.from_sea
        expected = gained - left - totals.evaporated - totals.into_sea - float(depths.sum())
        assert stored(ground) == pytest.approx(expected, rel=1e-11, abs=1e-12)
        gained = stored(ground)
        for layer in (ground.water, ground.moisture, ground.groundwater):
            assert np.isfinite(layer).all()
            assert layer.min() >= 0.0
        wetness = ground.surface[..., WETNESS]
        assert wetness.min() >= 0.0
        assert wetness.max() <= 1.0
    assert (left == 0.0) or not ends["walls"]


def test_the_same_bits_on_two_threads(two_threads: int) -> None:
    results = []
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        ground = random_ground(70, 45, seed=4)
        aquifer = aquifer_of(ground, sea_level=50.0)
        told: list[object] = []
        for cycle in range(6):
            told.append(aquifer.flow(4, columns_first=cycle % 2 == 1))
            told.append(aquifer.exchange(2))
            told += [part.tobytes() for part in aquifer.rise()]
        results.append((told, [layer.tobytes() for layer in ground[:8]]))
    assert results[0] == results[1]


def test_what_stands_above_the_ground_comes_out_where_it_is_enough() -> None:
    ground = ground_of(np.zeros((8, 9)), 1.0)
    aquifer = aquifer_of(ground, smallest_spring=0.1, evaporation=0.0, rain=0.0, percolation=0.0)
    full = aquifer.fill(1.0) / ground.ground.size
    surplus = np.linspace(0.0, 2.0, 72)
    ground.groundwater[...] += surplus.reshape(8, 9)
    aquifer.exchange(1)
    cells, depths = aquifer.rise()
    np.testing.assert_array_equal(cells, np.flatnonzero(surplus >= 0.1))
    np.testing.assert_allclose(depths, surplus[cells])
    left = np.where(surplus < 0.1, surplus, 0.0)
    np.testing.assert_allclose(ground.groundwater.reshape(-1), full + left)
    assert len(aquifer.rise()[0]) == 0


def test_rain_wets_sand_which_dries_when_it_ends_the_sooner_the_hotter_and_the_greener() -> None:
    wet = {}
    for name, temperature, grass in (("cool", 10.0, 0.0), ("hot", 35.0, 0.0), ("green", 10.0, 1.0)):
        ground = ground_of(np.zeros((8, 8)), 5.0)
        ground.surface[..., GRASS] = grass
        for _ in range(40):
            aquifer_of(ground, temperature=temperature, rain=0.02).exchange(1)
        rainy = float(ground.surface[..., WETNESS].mean())
        for _ in range(40):
            aquifer_of(ground, temperature=temperature, rain=0.0).exchange(1)
        wet[name] = float(ground.surface[..., WETNESS].mean())
        assert rainy > 0.2
        assert wet[name] < rainy
    assert wet["hot"] < wet["green"] < wet["cool"]


def test_the_ground_is_wet_near_the_water_table_and_not_far_above_it() -> None:
    ground = ground_of(np.linspace(0.0, 20.0, 21)[None].repeat(8, 0), 0.0)
    room = ROCK[0] * 0.7
    ground.groundwater[...] = np.maximum(0.0, 20.0 - ground.bedrock) * room
    ground.groundwater[:, 0] = 20.0 * room
    aquifer_of(ground, rain=0.0, capillary_rise=4.0, aquifer_depth=20.0).exchange(1)
    wetness = ground.surface[0, :, WETNESS]
    assert wetness[0] == pytest.approx(1.0)
    assert (np.diff(wetness[:5]) < 0.0).all()
    assert wetness[6:].max() < 0.05


def test_seepage_takes_no_more_than_there_is() -> None:
    water = np.array([[0.0, 0.004, 2.0]])
    groundwater = np.array([[1.0, 1.0, 1.0]])
    seep(water, groundwater, 0.01)
    np.testing.assert_allclose(water, [[0.0, 0.0, 1.99]])
    np.testing.assert_allclose(groundwater, [[1.0, 1.004, 1.01]])


@pytest.mark.parametrize("weathered", [0.0, 0.2])
@pytest.mark.parametrize("thickness", [5e-324, 2.7e-310, 1e-300, 1e-31])
def test_ground_of_next_to_no_thickness_is_as_bare_rock(thickness: float, weathered: float) -> None:
    """What is left of soil after thousands of cycles can be less than any number has a reciprocal for."""
    grounds = []
    for depth in (thickness, 0.0):
        ground = ground_of(np.add.outer(np.arange(12.0), np.arange(12.0)), depth)
        ground.moisture[3:6] = 0.01  # brought by drops
        tight = one_sort(ground)._replace(
            kinds=2, mix=np.outer(np.full(12 * 12, depth), [1.0, 0.0]).reshape(-1), open_below=np.zeros(1),
            porosity=np.full(2, SAND[0]), permeability=np.full(2, SAND[1]),
        )  # fmt: skip
        aquifer = aquifer_of(ground, tight, weathered=weathered, aquifer_depth=0.0)
        for turn in range(4):
            aquifer.flow(8, columns_first=turn % 2 == 1)
            aquifer.exchange(4)
        grounds.append(ground)
    thin, bare = grounds
    for name in ("moisture", "groundwater", "water", "surface"):
        assert np.isfinite(getattr(thin, name)).all(), name
        np.testing.assert_allclose(getattr(thin, name), getattr(bare, name), atol=1e-12, err_msg=name)


def test_layers_that_do_not_fit_are_refused() -> None:
    ground = ground_of(np.zeros((8, 9)))
    with pytest.raises(ValueError, match="one shape"):
        aquifer_of(ground._replace(moisture=np.zeros((9, 8))))


def test_a_temperature_that_is_no_number_is_no_index() -> None:
    """It may have been found in no layer yet when it comes to the table of vapour's pressures."""
    assert moisture._vapour(math.nan) == moisture._vapour(-1e9) < moisture._vapour(0.0) < moisture._vapour(15.0)
    assert moisture._vapour(15.0) == pytest.approx(1.0, rel=1e-3)
    assert moisture._vapour(math.inf) == moisture._vapour(1e9) > 1.0
