"""Weathering: nothing is lost, rock comes to stand as steep as it can, and frost works in the cold."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from kernels.materials import Materials, one_kind
from kernels.surface import STRIDE, WETNESS
from kernels.weathering import weather
from tests.kernels.parameters import weathering_parameters
from tests.kernels.relief import real
from tests.kernels.terrain import hills, soil
from tests.nets.cases import covered, tried

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (33, 70)]

STEEPEST = [math.tan(math.radians(degrees)) for degrees in (70.0, 35.0, 50.0)]
WEAKNESS = [0.1, 1.0, 0.5]
BROKEN = [2, 0, 2]  # the kind that each of three rocks becomes, of four

COLD = {"frost": 0.01, "frost_wetness": 2.0, "temperature": 10.0, "lapse_rate": 0.5}


def strata(mix: Layer, top: float, thickness: float) -> Materials:
    """Three rocks, one below the other again and again, each so thick, under a mix of four kinds."""
    rows, columns, kinds = mix.shape
    return one_kind(mix)._replace(
        kinds=kinds,
        strata=np.tile(np.arange(3, dtype=np.uint8), 20),
        steps_per_metre=1.0 / thickness,
        rise=np.full((1, rows * columns), top, np.float32),
        rock_steepest=np.array(STEEPEST),
        rock_erodibility=np.array(WEAKNESS),
        rock_broken=np.array(BROKEN, np.int64),
    )


def mixed(sediment: Layer) -> Layer:
    parts = np.random.default_rng(7).random((*sediment.shape, 4))
    return np.ascontiguousarray(sediment[..., None] * parts / parts.sum(axis=-1, keepdims=True))


def surface_of(shape: tuple[int, int]) -> NDArray[np.float32]:
    return np.random.default_rng(3).random((*shape, STRIDE)).astype(np.float32)


class Land:
    """The layers of a map, of one sort of rock and sediment, or of strata and a mix."""

    def __init__(self, bedrock: Layer, sediment: Layer, *, several: bool = False, thickness: float = 5.0) -> None:
        self.bedrock = bedrock.copy()
        self.mix = mixed(sediment) if several else sediment.copy()[..., None]
        self.sediment = self.summed()
        self.ground = self.bedrock + self.sediment
        self.strata = strata(self.mix, float(bedrock.max()), thickness) if several else None

    def summed(self) -> Layer:
        total = np.zeros(self.mix.shape[:2])
        for kind in range(self.mix.shape[2]):
            total = total + self.mix[..., kind]
        return total

    def rocks(self) -> NDArray[np.int64]:
        """The number of the rock at the top of each cell's."""
        if self.strata is None:
            return np.zeros(self.bedrock.shape, np.int64)
        depth = (self.strata.rise.reshape(self.bedrock.shape) - self.bedrock) * self.strata.steps_per_metre
        return self.strata.strata[np.clip(depth.astype(int), 0, len(self.strata.strata) - 1)].astype(np.int64)

    def weather(
        self,
        surface: NDArray[np.float32] | None = None,
        cell_size: float = 1.0,
        steepest: float = 1.4,
        **parameters: Any,
    ) -> Layer:
        """What has broken, by kind. Whatever happens, nothing is lost, and the ground is as high as before."""
        rock, ground, mass = self.bedrock.copy(), self.ground.copy(), self.mix.sum(axis=(0, 1))
        moved = weather(
            self.bedrock, self.sediment, self.ground, self.strata or one_kind(self.sediment, rock_steepest=steepest),
            cell_size, weathering_parameters(**parameters), surface,
        )  # fmt: skip
        broken = np.array(moved.from_rock)
        if self.strata is None:
            self.mix[..., 0] = self.sediment
        assert np.array_equal(self.sediment, self.summed())
        assert np.array_equal(self.ground, self.bedrock + self.sediment)
        scale = float(np.abs(rock).sum() + mass.sum() + broken.sum()) + 1e-30
        assert (self.bedrock <= rock).all()
        np.testing.assert_allclose(self.ground, ground, rtol=0.0, atol=1e-15 * scale)
        np.testing.assert_allclose(self.mix.sum(axis=(0, 1)), mass + broken, rtol=0.0, atol=1e-13 * scale)
        assert rock.sum() - broken.sum() == pytest.approx(float(self.bedrock.sum()), rel=0.0, abs=1e-13 * scale)
        return broken

    def bits(self) -> bytes:
        return b"".join(layer.tobytes() for layer in (self.bedrock, self.sediment, self.ground, self.mix))


def plain(
    land: Land, cell_size: float, surface: NDArray[np.float32] | None, steepest_rock: float, **parameters: Any
) -> tuple[Layer, Layer]:
    """The rock and the mix after one cycle, cell by cell and neighbour by neighbour."""
    given_ = weathering_parameters(**parameters)
    bedrock, mix, rocks = land.bedrock.copy(), land.mix.copy(), land.rocks()
    rows, columns = bedrock.shape
    for i, j in np.ndindex(rows, columns):
        steepest = steepest_rock if land.strata is None else STEEPEST[rocks[i, j]]
        weakness = 1.0 if land.strata is None else WEAKNESS[rocks[i, j]]
        excess = 0.0
        for k in range(max(i - 1, 0), min(i + 2, rows)):
            for l in range(max(j - 1, 0), min(j + 2, columns)):
                stands = steepest * cell_size * math.hypot(k - i, l - j)
                excess = max(excess, land.bedrock[i, j] - land.ground[k, l] - stands)
        temperature = given_.temperature - given_.lapse_rate * land.bedrock[i, j]
        cold = min(max((5.0 - temperature) / 10.0, 0.0), 1.0)
        wetness = 0.0 if surface is None else float(surface[i, j, WETNESS])
        frost = given_.frost * (3.0 * cold**2 - 2.0 * cold**3) * (1.0 + given_.frost_wetness * wetness) * weakness
        cover = land.sediment[i, j] / given_.cover
        lost = given_.breaking * excess + (frost * (1.0 - cover / 4.0) ** 4 if cover < 4.0 else 0.0)
        bedrock[i, j] -= lost
        mix[i, j, 0 if land.strata is None else BROKEN[rocks[i, j]]] += lost
    return bedrock, mix


@covered(
    shape=[(8, 8), (8, 61), (33, 20)],
    several=[False, True],
    frost=[{}, COLD, {**COLD, "lapse_rate": 0.0, "temperature": 0.0}],
)
def test_agrees_with_the_plain_reference(shape: tuple[int, int], several: bool, frost: dict[str, float]) -> None:
    land = Land(hills(*shape, 60.0), soil(*shape, 2.0), several=several)
    surface = surface_of(shape) if frost else None
    for breaking in (0.02, 0.5):
        before = land.bedrock.copy()
        rock, mix = plain(land, 2.0, surface, 0.7, breaking=breaking, **frost)
        broken = land.weather(surface, 2.0, breaking=breaking, steepest=0.7, **frost)
        assert np.abs(land.bedrock - before).max() > 1e-3
        np.testing.assert_allclose(land.bedrock, rock, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(land.mix, mix, rtol=0.0, atol=1e-12)
        assert broken.sum() == pytest.approx(before.sum() - rock.sum(), rel=1e-9)
        assert not several or (broken[[0, 2]].min() > 0.0 and not broken[[1, 3]].any())


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("shape", [*SHAPES, (130, 90)])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], several: bool, two_threads: int) -> None:
    results = set()
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        land = Land(hills(*shape, 90.0), soil(*shape), several=several)
        broken = [land.weather(surface_of(shape), breaking=0.3, **COLD).tobytes() for _ in range(4)]
        results.add((land.bits(), *broken))
    assert len(results) == 1


def test_rock_that_can_stand_and_does_not_freeze_stays() -> None:
    land = Land(hills(40, 50, 60.0), soil(40, 50))
    before = land.bits()
    assert land.weather(steepest=100.0, breaking=0.5).sum() == 0.0
    assert land.weather(steepest=0.01, breaking=0.0, **{**COLD, "temperature": 99.0}).sum() == 0.0
    assert land.bits() == before
    assert land.weather(steepest=0.5, breaking=0.5).sum() > 0.0


@tried(60)
@given(
    heights=arrays(np.float64, (8, 9), elements=st.sampled_from([-1e4, 0.0, 1e-12, 3.0, 9e3])),
    depths=arrays(np.float64, (8, 9), elements=st.sampled_from([0.0, 5e-324, 1e-9, 1.0, 1e4])),
    several=st.booleans(),
    breaking=st.sampled_from([0.0, 0.5]),
    cover=st.sampled_from([0.01, 10.0]),
    lapse_rate=st.sampled_from([0.0, 0.06]),
)
def test_whatever_lies_there_nothing_is_lost(
    heights: Layer, depths: Layer, several: bool, breaking: float, cover: float, lapse_rate: float
) -> None:
    land = Land(heights, depths, several=several)
    for _ in range(3):
        broken = land.weather(
            surface_of((8, 9)), breaking=breaking, cover=cover, lapse_rate=lapse_rate, temperature=-40.0, frost=0.1,
            frost_wetness=10.0,
        )  # fmt: skip
        assert np.isfinite(broken).all()
        assert np.isfinite(land.ground).all()


@pytest.mark.parametrize("degrees", [30.0, 60.0])
def test_a_cliff_that_is_cleared_comes_to_stand_as_steep_as_it_can(degrees: float) -> None:
    """Its debris is carried off, so it retreats until it is no steeper, straight ahead as over the diagonal."""
    steepest = math.tan(math.radians(degrees))
    south, east = np.mgrid[:32, :35]
    for cliff in (south < 16, south + east < 32):
        rock = np.where(cliff, 8.0, 0.0)
        for _ in range(700):
            land = Land(rock, np.zeros_like(rock))
            land.weather(breaking=0.2, steepest=steepest)
            rock = land.bedrock
        inner = rock[5:-5, 5:-5]
        straight = max(np.abs(np.diff(inner, axis=0)).max(), np.abs(np.diff(inner, axis=1)).max())
        diagonal = max(np.abs(inner[1:, 1:] - inner[:-1, :-1]).max(), np.abs(inner[1:, :-1] - inner[:-1, 1:]).max())
        assert max(straight, diagonal / math.sqrt(2.0)) == pytest.approx(steepest, rel=0.02)


def test_scree_at_its_foot_holds_a_cliff() -> None:
    rock = np.where(np.arange(30) < 15, 20.0, 0.0) * np.ones((20, 1))
    buried = np.where(np.arange(30) < 15, 0.0, 19.5) * np.ones((20, 1))
    assert Land(rock, np.zeros_like(rock)).weather(steepest=1.0, breaking=0.1).sum() > 0.0
    assert Land(rock, buried).weather(steepest=1.0, breaking=0.1).sum() == 0.0


def test_frost_is_strongest_high_up_where_it_is_wet_and_nothing_lies_on_the_rock() -> None:
    rock = np.linspace(0.0, 3000.0, 60)[:, None] * np.ones(40)  # a gentle slope: its cells are large
    settings = {"frost": 0.01, "cover": 0.5, "temperature": 10.0, "lapse_rate": 0.0065, "frost_wetness": 3.0}
    land = Land(rock, np.zeros_like(rock))
    land.weather(cell_size=1000.0, **settings)
    temperature = 10.0 - 0.0065 * rock
    assert not land.sediment[temperature > 5.0].any()
    assert (np.diff(land.sediment[:, 0]) >= 0.0).all()
    assert land.sediment[np.abs(temperature) < 0.2] == pytest.approx(0.005, rel=0.1)
    assert land.sediment.max() == pytest.approx(0.01, rel=0.05)
    wet = np.zeros((*rock.shape, STRIDE), np.float32)
    wet[:, ::2, WETNESS] = 1.0
    soaked = Land(rock, np.zeros_like(rock))
    soaked.weather(wet, 1000.0, **settings)
    np.testing.assert_allclose(soaked.sediment[:, ::2], 4.0 * land.sediment[:, ::2], rtol=1e-9)
    np.testing.assert_allclose(soaked.sediment[:, 1::2], land.sediment[:, 1::2], rtol=1e-9)
    covered = Land(rock, np.full_like(rock, 1.0))
    covered.weather(cell_size=1000.0, **settings)
    np.testing.assert_allclose(covered.sediment - 1.0, land.sediment / 16.0, rtol=0.0, atol=1e-12)
    thinly = Land(rock, np.full_like(rock, 0.5))
    thinly.weather(cell_size=1000.0, **settings)
    np.testing.assert_allclose(thinly.sediment - 0.5, math.exp(-1.0) * land.sediment, rtol=0.15, atol=1e-12)


def test_symmetric_rock_breaks_symmetrically() -> None:
    rock = hills(30, 30, 60.0)
    rock = rock + rock.T
    rock = rock + rock[::-1]
    rock = rock + rock[:, ::-1]
    land = Land(rock, np.zeros_like(rock), several=True)
    for _ in range(5):
        land.weather(breaking=0.2, **COLD)
    for turned in (land.bedrock[::-1], land.bedrock[:, ::-1], land.bedrock.T):
        np.testing.assert_allclose(land.bedrock, turned, rtol=0.0, atol=1e-9)


def test_on_the_real_model_steep_rock_breaks_and_the_rest_stays() -> None:
    heights = real()
    land = Land(heights, np.zeros_like(heights))
    land.weather(cell_size=30.0, steepest=0.7, breaking=0.1)
    gentle = np.hypot(*np.gradient(heights, 30.0)) < 0.1
    assert 0.0 < (land.sediment > 0.0).mean() < 0.5
    assert (land.sediment[gentle] > 0.0).mean() < 0.03


def test_layers_of_the_wrong_kind_are_refused() -> None:
    good = np.zeros((16, 16))
    for bad in (good.astype(np.float32), np.zeros((16, 32))[:, ::2], np.zeros((16, 17))):
        with pytest.raises(ValueError, match="C-contiguous float64"):
            weather(good, bad, good, one_kind(bad), 1.0, weathering_parameters())
