"""The cascade: nothing is lost, no direction is favoured, and what has settled lies at the angle of repose."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from kernels.cascade import cascade
from kernels.materials import Materials, one_kind
from kernels.surface import ROOTS, STRIDE, WETNESS
from tests.kernels.parameters import cascade_parameters
from tests.kernels.terrain import hills, soil
from tests.nets.cases import tried

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (300, 260)]


def slide(
    bedrock: Layer, sediment: Layer, cell_size: float = 1.0, repose: float = 0.4, **parameters: Any
) -> tuple[Layer, Layer]:
    """Sediment and ground afterwards."""
    sediment, ground = sediment.copy(), bedrock + sediment
    before = bedrock.copy()
    cascade(bedrock, sediment, ground, one_kind(sediment, repose=repose), cell_size, cascade_parameters(**parameters))
    assert np.array_equal(bedrock, before)
    assert np.array_equal(ground, bedrock + sediment)
    return sediment, ground


def steepest(ground: Layer) -> float:
    """The largest slope to any of the eight neighbours."""
    straight = max(np.abs(np.diff(ground, axis=0)).max(), np.abs(np.diff(ground, axis=1)).max())
    diagonal = max(np.abs(ground[1:, 1:] - ground[:-1, :-1]).max(), np.abs(ground[1:, :-1] - ground[:-1, 1:]).max())
    return float(max(straight, diagonal / math.sqrt(2.0)))


def plain(bedrock: Layer, sediment: Layer, repose: float, rate: float, creep: float, wrap: bool) -> Layer:
    """Sediment after one pass, cell by cell and neighbour by neighbour."""
    rows, columns = bedrock.shape
    ground = bedrock + sediment
    after = sediment.copy()
    for i in range(rows):
        for j in range(columns):
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    k, l = i + a, j + b
                    if wrap:
                        k, l = k % rows, l % columns
                    if (a, b) == (0, 0) or not (0 <= k < rows and 0 <= l < columns):
                        continue
                    difference = ground[i, j] - ground[k, l]
                    if difference > 0.0:
                        excess = max(difference - repose * math.hypot(a, b), creep * difference)
                        moved = rate * min(sediment[i, j], 0.5 * max(excess, 0.0))
                        after[i, j] -= moved
                        after[k, l] += moved
    return after


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(("creep", "settling"), [(0.0, 0.02), (0.3, 0.02), (0.3, 1.0)])
@pytest.mark.parametrize("shape", [(8, 8), (15, 22), (32, 9), (33, 8), (70, 9)])
def test_agrees_with_the_plain_reference(shape: tuple[int, int], wrap: bool, creep: float, settling: float) -> None:
    """On maps of less than a band of rows, of one, of a little more, and of several."""
    bedrock, sediment = hills(*shape, 30.0), soil(*shape, 3.0)
    # No faster than where eight neighbours would take more than is there
    rate = min(2.0 * 5.5 * 0.25 * settling, 0.125 * (1.0 - 1e-9))
    sliding = {"settling": settling, "creep": creep, "wrap": wrap}
    expected = sediment
    for passes in (1, 2, 3):
        ours, _ = slide(bedrock, sediment, 2.0, 0.5, passes=passes, **sliding)
        expected = plain(bedrock, expected, 0.5 * 2.0, rate, creep, wrap)
        assert np.abs(expected - sediment).max() > 0.01
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", [False, True])
def test_nothing_is_lost_and_none_becomes_negative(shape: tuple[int, int], wrap: bool) -> None:
    bedrock, sediment = hills(*shape, 300.0), soil(*shape)
    for settling in (0.0, 0.01, 0.045, 1.0):
        for repose in (0.0, 0.4):
            for creep in (0.0, 1.0):
                after, _ = slide(bedrock, sediment, repose=repose, settling=settling, creep=creep, passes=20, wrap=wrap)
                assert after.sum() == pytest.approx(sediment.sum(), rel=1e-13)
                assert (after >= 0.0).all()
                assert (settling > 0.0) == (not np.array_equal(after, sediment))


@pytest.mark.parametrize("shape", SHAPES)
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], two_threads: int) -> None:
    results = set()
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        results.add(slide(hills(*shape, 50.0), soil(*shape), passes=5, settling=0.03)[1].tobytes())
    assert len(results) == 1


def test_it_goes_on_as_long_as_parcels_are_there_and_never_less_than_without() -> None:
    """On 64×64 cells a parcel is over each four times as often as on the article's 256×256."""
    for shape, touches in (((64, 64), 4.0), ((256, 64), 2.0), ((256, 256), 1.0)):
        land = hills(*shape, 50.0), soil(*shape)

        def after(
            settling: float, parcels: int, passes: int, speed: float = 1.4, land: tuple[Layer, Layer] = land
        ) -> bytes:
            sliding = {"settling": settling, "parcels": parcels, "passes": passes, "wind_speed": speed}
            return slide(*land, **sliding)[0].tobytes()

        for passes in (1, 5):
            usual = after(0.01, 0, passes)
            assert after(0.01, round(250 / touches), passes) == after(0.01, 1, passes) == usual
            assert after(0.01, round(500 / touches), passes) == after(0.02, 0, passes) != usual
            # Slow ones stay for longer; fast ones pile up more, and so leave it no less time.
            assert after(0.01, round(500 / touches), passes, 0.7) == after(0.04, 0, passes)
            assert after(0.01, round(500 / touches), passes, 2.8) == after(0.02, 0, passes)
            assert after(0.01, 100_000, passes, 0.0) == usual
            # What one pass can not do without all going at once, more passes do.
            assert after(0.045, round(2000 / touches), passes) == after(0.045, 0, 8 * passes)
    still = slide(*land, settling=0.0, parcels=100_000)[0]
    assert np.array_equal(still, land[1])


@pytest.mark.parametrize("cell_size", [1.0, 25.0])
def test_a_settled_heap_lies_at_the_angle_of_repose(cell_size: float) -> None:
    heap = np.zeros((61, 61))
    heap[25:36, 25:36] = 12.0 * cell_size
    _, ground = slide(np.zeros_like(heap), heap, cell_size, settling=0.045, passes=6000)
    slope = steepest(ground / cell_size)
    assert slope <= 0.4 * 1.01
    assert slope >= 0.4 * 0.95  # and it has slid no farther than that


def test_no_direction_is_favoured() -> None:
    heap = np.zeros((41, 41))
    heap[18:23, 18:23] = 20.0
    _, ground = slide(np.zeros_like(heap), heap, settling=0.045, passes=300)
    for turned in (ground[::-1], ground[:, ::-1], ground.T):
        np.testing.assert_allclose(ground, turned, rtol=0.0, atol=1e-12)
    # A cone and not a pyramid: as high at the same distance straight ahead and half-way between two neighbours
    height = ground[20, 20]
    assert ground[20, 30] == pytest.approx(ground[27, 27], abs=0.08 * height)


def test_a_map_that_wraps_has_no_seam() -> None:
    bedrock, sediment = hills(24, 31, 30.0), soil(24, 31, 3.0)
    _, ground = slide(bedrock, sediment, passes=9, settling=0.03, wrap=True)
    moved = (7, 12)
    _, other = slide(
        np.roll(bedrock, moved, (0, 1)), np.roll(sediment, moved, (0, 1)), passes=9, settling=0.03, wrap=True
    )
    np.testing.assert_allclose(np.roll(ground, moved, (0, 1)), other, rtol=0.0, atol=1e-12)


def test_rock_stays_and_sand_on_it_slides() -> None:
    steps = np.repeat(np.arange(40.0)[::-1, None] * 3.0, 12, axis=1)  # far steeper than sand can lie
    after, _ = slide(steps, np.ones_like(steps), passes=4000, settling=0.045)
    assert after[:30].max() < 1e-3
    assert after.sum() == pytest.approx(40 * 12)


def test_layers_of_the_wrong_kind_are_refused() -> None:
    good = np.zeros((16, 16))
    for bad in (good.astype(np.float32), np.zeros((16, 32))[:, ::2], np.zeros((16, 17))):
        with pytest.raises(ValueError, match="C-contiguous float64"):
            cascade(good, bad, good, one_kind(bad), 1.0, cascade_parameters())


# Several materials, wet ground, and roots.


def materials(mix: Layer, degrees: list[float]) -> Materials:
    """As kernels take them; only what slides counts here."""
    return one_kind(mix)._replace(kinds=mix.shape[2], repose=np.tan(np.radians(degrees)))


def mixed(sediment: Layer, kinds: int, seed: int = 0) -> Layer:
    """A mix [row, column, kind] of about so much: in some cells of all kinds, in some of one or two."""
    random = np.random.default_rng(seed)
    amounts = random.random((*sediment.shape, kinds)) * (random.random((*sediment.shape, kinds)) < 0.6)
    amounts[..., 0] += amounts.sum(axis=-1) == 0.0
    return np.ascontiguousarray(sediment[..., None] * amounts / amounts.sum(axis=-1, keepdims=True))


def summed(mix: Layer) -> Layer:
    """Its thickness: the kinds in their order."""
    total = np.zeros(mix.shape[:2])
    for kind in range(mix.shape[2]):
        total = total + mix[..., kind]
    return total


def surface_of(shape: tuple[int, int], seed: int = 0) -> NDArray[np.float32]:
    """Wetness and plants at random, and some ground quite dry, some soaked, some without roots."""
    surface = np.random.default_rng(seed).uniform(-0.3, 1.3, (*shape, STRIDE))
    return np.clip(surface, 0.0, 1.0).astype(np.float32)


def slide_mixed(
    bedrock: Layer,
    mix: Layer,
    degrees: list[float],
    cell_size: float = 1.0,
    surface: NDArray[np.float32] | None = None,
    **parameters: Any,
) -> tuple[Layer, Layer]:
    """The mix and the ground afterwards."""
    mix = mix.copy()
    sediment = summed(mix)
    ground = bedrock + sediment
    fields = materials(mix, degrees)
    cascade(bedrock, sediment, ground, fields, cell_size, cascade_parameters(**parameters), surface)
    assert np.array_equal(sediment, summed(mix))
    assert np.array_equal(ground, bedrock + sediment)
    assert (mix >= 0.0).all()
    return mix, ground


def plain_tangents(mix: Layer, degrees: list[float]) -> Layer:
    """The mean of the kinds' tangents, weighted by their thickness."""
    total = mix.sum(axis=2)
    weighted = (mix * np.tan(np.radians(degrees))).sum(axis=2)
    return np.divide(weighted, total, out=np.zeros_like(total), where=total > 0.0)


def plain_mixed(bedrock: Layer, mix: Layer, stable: Layer, rate: float, creep: float, wrap: bool) -> Layer:
    """The mix after one pass, cell by cell and neighbour by neighbour; `stable` is what each cell's ground stands."""
    rows, columns = bedrock.shape
    sediment = mix.sum(axis=2)
    ground = bedrock + sediment
    after = mix.copy()
    for i, j in np.ndindex(rows, columns):
        for a, b in ((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)):
            k, l = i + a, j + b
            if wrap:
                k, l = k % rows, l % columns
            if not (0 <= k < rows and 0 <= l < columns):
                continue
            difference = ground[i, j] - ground[k, l]
            if difference > 0.0 and sediment[i, j] > 0.0:
                excess = max(difference - stable[i, j] * math.hypot(a, b), creep * difference)
                moved = rate * min(sediment[i, j], 0.5 * max(excess, 0.0))
                after[i, j] -= moved * mix[i, j] / sediment[i, j]
                after[k, l] += moved * mix[i, j] / sediment[i, j]
    return after


DEGREES = [27.0, 38.0, 33.0, 36.0]
HOLDING = {"wet_strength": 0.4, "soaked_weakness": 0.5, "root_strength": 0.8}


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(
    ("kinds", "creep", "settling", "held"), [(1, 0.3, 0.02, True), (4, 0.0, 0.02, True), (5, 0.3, 1.0, False)]
)
@pytest.mark.parametrize("shape", [(8, 8), (9, 70), (33, 8), (65, 9)])
def test_a_mix_agrees_with_the_plain_reference(
    shape: tuple[int, int], kinds: int, creep: float, settling: float, held: bool, wrap: bool
) -> None:
    bedrock, mix = hills(*shape, 30.0, kinds), mixed(soil(*shape, 3.0), kinds)
    degrees = (DEGREES * 2)[:kinds]
    rate = min(2.0 * 5.5 * 0.25 * settling, 0.125 * (1.0 - 1e-9))
    surface = surface_of(shape) if held else None
    factor = np.ones(shape)
    if surface is not None:
        wetness, roots = surface[..., WETNESS].astype(float), surface[..., ROOTS].astype(float)
        factor += 0.4 * 4.0 * wetness * (1.0 - wetness) - 0.5 * np.maximum(0.0, 2.0 * wetness - 1.0) + 0.8 * roots
    expected = mix
    for passes in (1, 2):
        ours, _ = slide_mixed(
            bedrock, mix, degrees, 2.0, surface,
            passes=passes, settling=settling, creep=creep, wrap=wrap, steepness=0.7, **HOLDING,
        )  # fmt: skip
        stable = plain_tangents(expected, degrees) * 0.7 * 2.0 * factor
        expected = plain_mixed(bedrock, expected, stable, rate, creep, wrap)
        assert np.abs(expected - mix).max() > 0.01
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shape", [(8, 8), (8, 200), (61, 47)])
@pytest.mark.parametrize("wrap", [False, True])
def test_no_kind_is_lost_and_none_becomes_negative(shape: tuple[int, int], wrap: bool) -> None:
    bedrock, mix = hills(*shape, 300.0), mixed(soil(*shape), 4)
    for settling, steepness, creep, root_strength in itertools.product((0.0, 1.0), (0.0, 3.0), (0.0, 1.0), (0.0, 4.0)):
        after, _ = slide_mixed(
            bedrock, mix, DEGREES, 1.0, surface_of(shape), settling=settling, steepness=steepness, creep=creep,
            root_strength=root_strength, wet_strength=2.0, soaked_weakness=0.9, passes=10, wrap=wrap,
        )  # fmt: skip
        np.testing.assert_allclose(after.sum(axis=(0, 1)), mix.sum(axis=(0, 1)), rtol=1e-12)
        assert (settling > 0.0) == (not np.array_equal(after, mix))


@tried(60)
@given(
    depths=arrays(np.float64, (8, 9, 3), elements=st.sampled_from([0.0, 5e-324, 1e-300, 1e-9, 1.0, 1e4])),
    heights=arrays(np.float64, (8, 9), elements=st.sampled_from([-1e4, 0.0, 1e-12, 3.0, 9e3])),
    creep=st.sampled_from([0.0, 1.0]),
    steepness=st.sampled_from([0.0, 1.0, 3.0]),
    wrap=st.booleans(),
)
def test_whatever_lies_there_nothing_is_lost(
    depths: Layer, heights: Layer, creep: float, steepness: float, wrap: bool
) -> None:
    after, ground = slide_mixed(
        heights, depths, [1.0, 45.0, 89.0], 0.01, surface_of((8, 9)), creep=creep, steepness=steepness, wrap=wrap,
        settling=1.0, passes=3, **HOLDING,
    )  # fmt: skip
    assert np.isfinite(after).all()
    assert np.isfinite(ground).all()
    np.testing.assert_allclose(after.sum(axis=(0, 1)), depths.sum(axis=(0, 1)), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("shape", [(8, 8), (61, 47), (130, 200)])
@pytest.mark.parametrize("wrap", [False, True])
def test_a_mix_has_the_same_bits_on_one_thread_and_two(shape: tuple[int, int], wrap: bool, two_threads: int) -> None:
    results = set()
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        mix, ground = slide_mixed(
            hills(*shape, 50.0), mixed(soil(*shape), 4), DEGREES, 1.0, surface_of(shape),
            passes=5, settling=0.03, wrap=wrap, **HOLDING,
        )  # fmt: skip
        results.add(mix.tobytes() + ground.tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("wrap", [False, True])
def test_one_kind_slides_as_plain_sediment_does(wrap: bool) -> None:
    """Where there are others of which nothing lies there, and where plain sediment has a surface."""
    shape = (70, 45)
    bedrock, sediment = hills(*shape, 30.0), soil(*shape, 3.0)
    sliding = {"passes": 9, "settling": 0.03, "creep": 0.1, "wrap": wrap}
    degrees = math.degrees(math.atan(0.4))
    expected, ground = slide(bedrock, sediment, 2.0, 0.4, **sliding)
    among = np.stack([np.zeros(shape), sediment, np.zeros(shape)], axis=2)
    among_others, _ = slide_mixed(bedrock, among, [10.0, degrees, 50.0], 2.0, **sliding)
    depths, with_surface = sediment.copy(), bedrock + sediment
    dry = np.zeros((*shape, STRIDE), np.float32)
    of_one = one_kind(depths, repose=0.4)
    cascade(bedrock, depths, with_surface, of_one, 2.0, cascade_parameters(**sliding, **HOLDING), dry)
    assert np.abs(expected - sediment).max() > 0.1
    for ours in (among_others[..., 1], depths):
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(with_surface, ground, rtol=0.0, atol=1e-12)
    assert not among_others[..., ::2].any()


def heap_on_the_level(side: int, height: float) -> Layer:
    heap = np.zeros((side, side))
    heap[side // 2 - 4 : side // 2 + 5, side // 2 - 4 : side // 2 + 5] = height
    return heap


def settled_slope(kind: int, surface: NDArray[np.float32] | None = None, **parameters: Any) -> float:
    """The slope of a heap of one of four kinds that has come to rest."""
    mix = np.zeros((31, 33, 4))
    mix[:, :31, kind] = heap_on_the_level(31, 8.0)
    sliding = {"settling": 0.045, "passes": 1200, **parameters}
    return steepest(slide_mixed(np.zeros((31, 33)), mix, DEGREES, 1.0, surface, **sliding)[1])


def test_each_kind_settles_at_its_own_angle_of_repose() -> None:
    for kind, degrees in enumerate(DEGREES):
        tangent = math.tan(math.radians(degrees))
        assert 0.95 * tangent <= settled_slope(kind) <= 1.01 * tangent
    assert settled_slope(0, steepness=0.5) == pytest.approx(0.5 * settled_slope(0), rel=0.03)


def test_half_wet_ground_stands_steeper_and_soaked_ground_slips_and_roots_hold() -> None:
    dry = settled_slope(2)
    surface = np.zeros((31, 33, STRIDE), np.float32)
    for wetness, roots, factor in ((0.0, 0.0, 1.0), (0.5, 0.0, 1.4), (1.0, 0.0, 0.5), (0.3, 0.5, 1.736)):
        surface[..., WETNESS], surface[..., ROOTS] = wetness, roots
        assert settled_slope(2, surface, **HOLDING) == pytest.approx(factor * dry, rel=0.03)
        assert settled_slope(2, surface) == pytest.approx(dry, rel=1e-6)


def test_no_direction_is_favoured_in_a_mix() -> None:
    mix = mixed(heap_on_the_level(41, 20.0), 3)
    mix = mix + mix.transpose(1, 0, 2)
    mix = mix + mix[::-1]
    mix = mix + mix[:, ::-1]
    after, ground = slide_mixed(np.zeros((41, 41)), mix, DEGREES[:3], settling=0.045, passes=200)
    for turned in (ground[::-1], ground[:, ::-1], ground.T):
        np.testing.assert_allclose(ground, turned, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(after, after.transpose(1, 0, 2), rtol=0.0, atol=1e-10)


def test_a_mix_on_a_map_that_wraps_has_no_seam() -> None:
    bedrock, mix, surface = hills(24, 71, 30.0), mixed(soil(24, 71, 3.0), 4), surface_of((24, 71))
    sliding = {"passes": 9, "settling": 0.03, "wrap": True, **HOLDING}
    after, ground = slide_mixed(bedrock, mix, DEGREES, 1.0, surface, **sliding)
    way = (7, 12)
    moved = [np.ascontiguousarray(np.roll(layer, way, (0, 1))) for layer in (bedrock, mix, surface)]
    other, other_ground = slide_mixed(moved[0], moved[1], DEGREES, 1.0, moved[2], **sliding)
    np.testing.assert_allclose(np.roll(ground, way, (0, 1)), other_ground, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(np.roll(after, way, (0, 1)), other, rtol=0.0, atol=1e-12)


def test_what_slides_is_as_mixed_as_what_it_came_from() -> None:
    """Down a slope of rock: the heap on top feeds all that lies below it, and that has its mix."""
    rock = np.repeat(np.arange(30.0)[::-1, None] * 2.0, 9, axis=1)
    mix = np.zeros((30, 9, 3))
    mix[:4] = (0.5, 1.5, 1.0)
    after, _ = slide_mixed(rock, mix, DEGREES[:3], settling=0.045, passes=100)
    below = after[10:].reshape(-1, 3)
    below = below[below.sum(axis=1) > 1e-6]
    assert len(below) > 50
    np.testing.assert_allclose(below / below.sum(axis=1, keepdims=True) - [1 / 6, 1 / 2, 1 / 3], 0.0, atol=1e-9)
