"""The plain of a braided river in the picture: bars along its way, a bank, and threads of varied width."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from app.model.snapshot import SURVEYED_FLOW, Snapshot
from tests.passes.conftest import Draw
from tests.passes.test_water import CELL, bluer, calm, from_above, parted, running
from tests.passes.worlds import flat, plane, with_layers

SIDE, PIXELS = 48, 320
VIEW = calm(quality="high", stream_threshold=200.0, sun_height=30.0).with_value("rivers.width", 4.0)
FIRST, LAST = 12, 36  # rows of the plain
# Of 255, in the mean of a cell of dry gravel at least; soil and plants have less. Its stones throw shadows at high.
GRAVEL_BLUE = {"medium": 138.0, "high": 130.0}


def plain(discharge: float, reworked: bool = True) -> Snapshot:
    """A belt along the map from west to east that so many cubic metres a second run through in each cell."""
    south = np.arange(SIDE)[:, None] * np.ones((1, SIDE))
    belt = np.where((south >= FIRST) & (south < LAST), 1.0, 0.0)
    alone = np.where(south == 2, 0.5, 0.0)  # in the north, out of the picture
    shown = parted(discharge * belt + alone)
    return with_layers(shown, reworked=belt) if reworked else shown


def seen(draw: Draw, shown: Snapshot) -> NDArray[np.uint8]:
    return draw(shown, from_above(40.0, SIDE, SIDE), VIEW, size=(PIXELS, PIXELS))


def rows_of(first: int, last: int) -> slice:
    """The pixels of some rows of cells."""
    return slice((first - 4) * PIXELS // 40, (last - 4) * PIXELS // 40)


def test_bars_lie_along_the_way_of_the_river_with_and_without_water(draw: Draw) -> None:
    """The light changes far more from bar to bar than along one."""
    for discharge in (0.0, 0.5):
        light = seen(draw, plain(discharge))[rows_of(16, 32)].astype(float).mean(axis=2)
        light = light.reshape(16, 8, 40, 8).mean(axis=(1, 3))  # of cells: stones have no way
        across, along = (np.abs(np.diff(light, axis=axis)).mean() for axis in (0, 1))
        assert across > 1.5 * along, discharge


def test_the_plain_ends_at_an_uneven_bank(draw: Draw) -> None:
    """Not in a straight line, and gravel lies scattered over a few cells beside it."""
    bare, plants = (seen(draw, shown).astype(float) for shown in (plain(0.0), plain(0.0, reworked=False)))
    grey = np.abs(bare - plants).max(axis=2) > 20
    edge = rows_of(FIRST - 3, FIRST + 3)
    begins = np.argmax(grey[edge], axis=0)
    assert begins.std() > 2.0, "pixels"
    assert not grey[rows_of(3, FIRST - 5)].any()
    assert grey[rows_of(FIRST + 3, LAST - 3)].mean() > 0.7


def test_land_between_threads_is_of_their_plain(draw: Draw) -> None:
    """Where gravel was moved in two rows of four, it is one plain, and it ends where they do."""
    south = np.arange(SIDE)[:, None] * np.ones((1, SIDE))
    moved = np.where((south >= FIRST) & (south < LAST) & (south % 4 < 2), 1.0, 0.0)
    bare, plants = (
        seen(draw, with_layers(parted(0.0 * moved), reworked=part * moved)).astype(float) for part in (1.0, 0.0)
    )
    grey = np.abs(bare - plants).max(axis=2) > 20
    assert grey[rows_of(FIRST + 3, LAST - 5)].mean() > 0.7
    assert grey[rows_of(FIRST + 3, LAST - 5)].reshape(-1, 8, PIXELS).mean(axis=(1, 2)).min() > 0.5, "in each row"
    assert not grey[rows_of(5, FIRST - 5)].any()
    assert grey[rows_of(5, FIRST - 3)].mean() < 0.01, "but for stones that lie scattered"


def test_gravel_that_was_not_moved_for_long_is_overgrown(draw: Draw) -> None:
    """In patches: some of it is still bare, and gravel that was moved lately is bare all over."""

    def green(part: float) -> np.ndarray:
        pixels = seen(draw, with_layers(parted(np.zeros((SIDE, SIDE))), reworked=flat(SIDE, SIDE, part))).astype(float)
        return (pixels[..., 1] - 0.5 * (pixels[..., 0] + pixels[..., 2]))[rows_of(12, 36)]

    fresh, older = green(1.0), green(0.45)
    overgrown = older - fresh > 3.0
    assert 0.05 < overgrown.mean() < 0.85


def test_threads_lie_in_gravel_also_where_no_bar_was_moved(draw: Draw) -> None:
    def green(shown: Snapshot) -> np.ndarray:  # in excess of red and blue
        pixels = seen(draw, shown).astype(float)
        return (2.0 * pixels[..., 1] - pixels[..., 0] - pixels[..., 2])[rows_of(16, 32)]

    elsewhere = np.where(np.arange(SIDE)[:, None] == 1, 1.0, 0.0) * np.ones((1, SIDE))
    dry, threads = (green(with_layers(plain(water), reworked=elsewhere)) for water in (0.0, 0.5))
    water = bluer(seen(draw, plain(0.5)), seen(draw, plain(0.0)))[rows_of(16, 32)]
    assert (dry - threads)[~water].mean() > 10.0


def test_threads_differ_in_width_and_the_thinnest_fade(draw: Draw) -> None:
    water = bluer(seen(draw, plain(0.5)), seen(draw, plain(0.0)))[rows_of(16, 32)]
    runs = np.diff(np.pad(water, ((1, 1), (0, 0))).astype(int), axis=0)
    begins, ends = (np.argwhere(sign == runs.T)[:, 1] for sign in (1, -1))
    widths = ends - begins
    assert np.percentile(widths, 90) > 3.0 * np.percentile(widths, 25)
    assert 0.08 < water.mean() < 0.5


def test_bars_are_not_combed_by_the_smallest_threads(draw: Draw) -> None:
    """Of the threads that are a pixel to three wide, few lie side by side across the plain."""
    water = bluer(seen(draw, plain(0.5)), seen(draw, plain(0.0)))[rows_of(16, 32)]
    runs = np.diff(np.pad(water, ((1, 1), (0, 0))).astype(int), axis=0)
    begins, ends = (np.argwhere(sign == runs.T)[:, 1] for sign in (1, -1))
    assert 2.0 < np.count_nonzero(ends - begins < 4) / PIXELS < 10.5


def test_threads_go_on_without_ends(draw: Draw) -> None:
    """They narrow and join: hardly any is a few pixels wide and gone some pixels on."""
    water = bluer(seen(draw, plain(0.1)), seen(draw, plain(0.0)))[rows_of(14, 34)]
    threads = ends = 0
    for column in range(PIXELS - 8):
        banks = np.flatnonzero(np.diff(np.pad(water[:, column], 1).astype(int)))
        for begin, end in zip(banks[::2], banks[1::2], strict=True):
            if end - begin >= 4:
                threads += 1
                ends += int(water[max(begin - 2, 0) : end + 2, column + 6].sum() < 2)
    assert threads > 500
    assert ends < 0.015 * threads, (ends, threads)


def test_threads_thin_out_before_their_gravel_ends(draw: Draw) -> None:
    """Those of a belt that ends half way, in the cells before its end beside those farther up."""
    ends_at = 34
    shown = plain(0.5)
    ended = with_layers(shown, **{SURVEYED_FLOW: shown.layers[SURVEYED_FLOW] * (np.arange(SIDE) < ends_at)})
    water = bluer(seen(draw, ended), seen(draw, plain(0.0)))[rows_of(14, 34)]
    farther_up, before = water[:, rows_of(14, 24)].mean(), water[:, rows_of(ends_at - 4, ends_at)].mean()
    assert 0.01 < before < 0.62 * farther_up, before / farther_up


def test_bars_are_of_different_ages(draw: Draw) -> None:
    """Fresh ones are pale, and next to them lie some that are far darker, both without water."""
    light = seen(draw, plain(0.0))[rows_of(16, 32)].astype(float).mean(axis=2)
    light = light.reshape(8, 16, 20, 16).mean(axis=(1, 3))
    dark, pale = np.percentile(light, (10, 90))
    assert pale > 1.25 * dark, (dark, pale)


@pytest.mark.parametrize("quality", GRAVEL_BLUE)
def test_a_steep_plain_has_the_courses_that_its_river_has_left(draw: Draw, quality: str) -> None:
    """Pale floors of gravel, longer than wide, down the slope of ground where no river runs; none where it is level."""
    scene = VIEW.with_value("view.quality", quality)
    elsewhere = np.where(np.arange(SIDE)[:, None] == 1, 1.0, 0.0) * np.ones((1, SIDE))

    def pale(slope: float) -> np.ndarray:
        shown = with_layers(running(plane(SIDE, SIDE, -slope * CELL, 0.0), 0.5 * elsewhere), reworked=elsewhere)
        pixels = draw(shown, from_above(40.0, SIDE, SIDE), scene, size=(PIXELS, PIXELS)).astype(float)
        return pixels[rows_of(6, 42), :, 2].reshape(36, 8, 40, 8).mean(axis=(1, 3)) > GRAVEL_BLUE[quality]

    steep, level = pale(0.02), pale(0.0)
    south, east = (place.std() for place in np.nonzero(steep))
    assert 0.01 < steep.mean() < 0.4
    assert level.mean() < 0.3 * steep.mean()
    assert east > 1.5 * south, (east, south)
