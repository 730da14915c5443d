"""Lakes, sea and streams in the picture: where they lie, how they take the light, and that they lie nowhere else."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from pyglm import glm
from scipy import ndimage

from app.cli.headless import scene_camera
from app.engine.publishing import take_snapshot
from app.engine.survey import Surveyor, wanted_by
from app.model.layers import LAYERS
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.model.world import World
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import backdrop, frame, land_maps
from app.picture.passes.frame import FrameBlock
from app.picture.passes.shaders import VERSION, preprocess
from app.picture.passes.standing_water import TILE, lake_rectangles
from app.picture.picture import Picture
from app.scene.scene import Scene
from kernels.components import components
from kernels.hydraulic_geometry import channel_width
from tests.nets.profile import is_nightly
from tests.passes import gl
from tests.passes.conftest import Draw
from tests.passes.rows import rows
from tests.passes.test_picture import AT_ONCE, STATES, reset
from tests.passes.worlds import bumps, flat, hills, plane, planted, snapshot, way, with_layers

CELL = 10.0
WATER = "water_level", "water"  # layers that the mesh of running water reads
NUMBERS = itertools.count(5000)  # of worlds


def flooded(ground: ArrayLike, level: ArrayLike, *, sea: float = -math.inf) -> Snapshot:
    """Ground with water up to `level` of each cell."""
    dry = snapshot(ground, cell_size=CELL)
    rock = dry.layers["bedrock"]
    surface = np.maximum(np.broadcast_to(np.asarray(level, np.float32), rock.shape), rock)
    layers = {**dry.layers, "water_level": surface, "water": surface - rock}
    return replace(dry, layers=layers, versions=dict.fromkeys(layers, 0), sea_level=sea)


def from_above(cells: float, rows: int, columns: int, height: float = 0.0) -> Camera:
    """North up, over the middle of the map, with so many cells from the top of the picture to its bottom."""
    middle = glm.vec3(columns / 2 * CELL, height, rows / 2 * CELL)
    return Camera(
        middle, heading=0.0, pitch=90.0, distance=cells * CELL / 2.0 / math.tan(math.radians(5.0)), field_of_view=10.0
    )


def calm(**view: float | str) -> Scene:
    """Clear air and water without waves. Rivers of 1 m³/s are 5 m wide."""
    scene = (
        Scene()
        .with_value("rivers.width", 5.0)
        .with_value("view.waves", 0.0)
        .with_value("waves.enabled", False)
        .with_value("view.haze", 0.0)
    )
    for name, value in view.items():
        scene = scene.with_value(f"view.{name}", value)
    return scene


def running(
    ground: ArrayLike, discharge: ArrayLike, direction: tuple[float, float] = (1.0, 0.0), cell_size: float = CELL
) -> Snapshot:
    """Ground over which water of a discharge in cubic metres a second runs to the neighbour to the east and south."""
    dry = snapshot(ground, cell_size=cell_size)
    flow = np.broadcast_to(np.asarray(discharge, np.float32), dry.shape)
    return with_layers(dry, surveyed_flow=flow, surveyed_way=np.where(flow > 0.0, way(direction), 0.0))


def all_waters() -> Snapshot:
    """Hills with lakes, a sea and streams."""
    ground = hills(60, 90) * 300.0
    sea = 70.0
    level = np.where(ground < sea, sea, np.where(ground < 140.0, 140.0, ground))
    wet = flooded(ground, level, sea=sea)
    runs = running(ground, hills(60, 90, seed=8) ** 6)
    layers = {**runs.layers, **wet.layers}
    return replace(wet, layers=layers, versions=dict.fromkeys(layers, 0))


def difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.abs(one.astype(int) - other).max(axis=2)


def bluer(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where one picture is not only darker, as wet ground is, but more blue beside its red."""
    ratios = [(pixels[..., 2] + 1.0) / (pixels[..., 0] + 1.0) for pixels in (one, other)]
    return ratios[0] > 1.06 * ratios[1]


def squares_with(level: float, shown: Snapshot) -> NDArray[np.bool_]:
    """The squares between four cells that the water of a level may reach: those at one of its cells."""
    wet = (shown.layers["water"] > 0.0) & (shown.layers["water_level"] == np.float32(level))
    return wet[:-1, :-1] | wet[:-1, 1:] | wet[1:, :-1] | wet[1:, 1:]


@pytest.mark.parametrize("shape", [(8, 8), (33, 65), (97, 40), (64, 64), (50, 7)])
@pytest.mark.parametrize("sea", [-math.inf, 2.0])
@pytest.mark.parametrize("ponds", [False, True])
def test_each_square_of_a_lake_is_covered_once(shape: tuple[int, int], sea: float, ponds: bool) -> None:
    chance = np.random.default_rng(4)
    levels = chance.choice([1.0, 2.0, 3.5], shape).astype(np.float32)
    if ponds:  # one level in each square of cells, so that many lakes are small
        rows, columns = np.indices(shape) // 6
        levels = (1.0 + 0.25 * ((5 * rows + 3 * columns) % 11)).astype(np.float32)
        levels[: shape[0] // 3] = 7.5  # and a large one
    shown = flooded(bumps(*shape, seed=2, height=40.0), levels, sea=sea)
    rectangles = lake_rectangles(shown)
    assert rectangles.dtype == np.float32
    drawn = {float(level) for level in rectangles[:, 4]}
    assert drawn == {float(level) for level in shown.layers["water_level"][shown.layers["water"] > 0.0]} - {sea}
    for level in drawn:
        covered = np.zeros((shape[0] - 1, shape[1] - 1), int)
        own = rectangles[rectangles[:, 4] == np.float32(level), :4].astype(int)
        for column, row, columns_on, rows_on in own:
            assert column + columns_on < shape[1] and row + rows_on < shape[0]
            covered[row : row + rows_on, column : column + columns_on] += 1
        assert covered.max() == 1
        assert covered[squares_with(level, shown)].all()
        # Rectangles that share only a part of an edge would leave holes along it.
        assert len(own) == 1 or not (own[:, :2] % TILE).any()


def test_a_pond_has_a_small_rectangle_of_its_own() -> None:
    levels = np.full((64, 64), 1.0, np.float32)
    ground = flat(64, 64, 5.0)
    ground[30:34, 14:19] = 0.5
    found = lake_rectangles(flooded(ground, levels))
    np.testing.assert_array_equal(found, [[13.0, 29.0, 6.0, 5.0, 1.0]])


def test_without_water_there_are_no_rectangles() -> None:
    assert len(lake_rectangles(snapshot(flat(8, 8)))) == 0
    assert len(lake_rectangles(flooded(flat(40, 40, 5.0), 1.0))) == 0


def test_where_nothing_stands_the_picture_is_the_same_to_the_bit(draw: Draw) -> None:
    ground = bumps(48, 64, height=30.0)
    dry, known = snapshot(ground, cell_size=CELL), flooded(ground, -100.0)
    np.testing.assert_array_equal(draw(dry), draw(known))


def test_water_that_ran_once_and_whose_level_nobody_tells_is_not_drawn(draw: Draw) -> None:
    """A world that was saved while its water ran, opened with floods off, before its first cycle."""
    shown = snapshot(bumps(48, 64, height=30.0), cell_size=CELL)
    froude = np.zeros(shown.shape, np.float32)
    ran = replace(shown, world=1, layers={**shown.layers, "froude": froude}, versions={**shown.versions, "froude": 1})
    assert np.array_equal(draw(shown), draw(ran))


def poured(ground: NDArray[np.float32], depth: NDArray[np.float32], *, sea: float = -math.inf) -> Snapshot:
    """Ground over which water runs that is so deep."""
    wet = flooded(ground, ground + depth, sea=sea)
    return with_layers(wet, froude=np.zeros(wet.shape, np.float32))


def test_no_running_water_is_drawn_between_cells_that_are_dry(draw: Draw) -> None:
    """The ground that is drawn there lies below all four of them where it is hollow."""
    rough = bumps(48, 48, height=40.0, seed=3)
    depth = np.zeros((48, 48), np.float32)
    depth[4:8, 4:8] = 3.0
    camera = from_above(48.0, 48, 48)
    dry, wet = draw(snapshot(rough, cell_size=CELL), camera, calm()), draw(poured(rough, depth), camera, calm())
    changed = difference(dry, wet) > 3
    rows, columns = np.nonzero(changed)
    assert 0 < rows.max() < 30 and columns.max() < 50, "only around what is wet, at the top and left"


def running_levels(context: moderngl.Context, shown: Snapshot) -> NDArray[np.float32]:
    """The levels of the mesh of running water at each cell of a map of one tile, as the vertex shader finds them."""
    rows, columns = shown.shape
    block = FrameBlock(context)
    block.values["map"] = (columns, rows, shown.cell_size, 1.0)
    block.values["water"] = (0.0, 0.0, 0.0, shown.sea_level)
    block.upload()
    lines = [part.text for part in preprocess("water.vert", {frame.INCLUDE: frame.glsl()})]
    head = [VERSION, "#define SEA 0", "#define RUNNING 1"]
    program = context.program(vertex_shader="\n".join(head + lines), varyings=["map_place", "level"])
    program[frame.BLOCK].binding = frame.BINDING  # type: ignore[union-attr]
    textures = [context.texture((columns, rows), 1, shown.layers[name].tobytes(), dtype="f4") for name in WATER]
    for unit, (name, texture) in enumerate(zip(WATER, textures, strict=True)):
        texture.use(unit)
        program[name].value = unit  # type: ignore[union-attr]
    tile = context.buffer(np.array([0, 0, columns, rows], np.float32).tobytes())
    number = 6 * columns * columns
    result = context.buffer(reserve=12 * number)
    array = context.vertex_array(program, [(tile, "4f/i", "rectangle")])
    array.transform(result, moderngl.POINTS, vertices=number, instances=1)
    vertices = np.frombuffer(result.read(), np.float32).reshape(number, 3)
    for part in (array, result, tile, program, *textures):
        part.release()
    levels = np.full((rows, columns), np.nan, np.float32)
    column, row = (vertices[:, :2] / shown.cell_size).astype(int).T
    levels[row, column] = vertices[:, 2]
    return levels


def test_running_water_meets_a_calm_sea_and_the_edge_of_the_map_at_their_level(context: moderngl.Context) -> None:
    """A wave that comes in from the west, over a bed with a rock that stands out of the sea at the eastern edge."""
    sea, side = 10.0, TILE
    bed, depth = np.zeros((side, side), np.float32), np.full((side, side), sea, np.float32)
    bed[3, -1], depth[3, -1] = 14.0, 1.0  # water runs off it
    depth[:, :6] = [12.0, 15.0, 18.0, 16.0, 13.0, 11.0]
    levels = running_levels(context, poured(bed, depth, sea=sea))
    assert (levels[:, [0, 5]] == sea).all(), "at the edge of the map, and beside the calm sea"
    assert (levels[1:-1, 1:5] == [15.0, 18.0, 16.0, 13.0]).all(), "between them as it runs"
    assert levels[3, -1] == 15.0, "over land also at the edge of the map"


def test_the_sea_keeps_its_waves_and_its_colour_while_it_runs(draw: Draw) -> None:
    """Water that stands a little higher than the calm sea around it looks like that, to its coast."""
    bed = np.maximum(20.0 + plane(96, 96, 0.0, -1.5), -60.0).astype(np.float32)
    lifted = np.where(bed < 0.0, 0.3 - bed, 0.0).astype(np.float32)
    camera, scene = from_above(60.0, 96, 96), calm(sun_height=30.0).with_value("view.waves", 1.0)
    scene = scene.with_value("waves.enabled", True).with_value("waves.height", 4.0)
    still, runs, dull = (
        draw(shown, camera, scene if waves else calm(sun_height=30.0))
        for shown, waves in (
            (flooded(bed, np.maximum(bed, 0.0), sea=0.0), True),
            (poured(bed, lifted, sea=0.0), True),
            (poured(bed, lifted, sea=0.0), False),
        )
    )
    assert difference(still, runs).mean() < 0.5 * difference(still, dull).mean()


def test_a_sea_that_runs_has_neither_holes_at_the_edge_of_the_map_nor_patches(
    draw: Draw, subtests: pytest.Subtests
) -> None:
    """Seen from low over it, also where clouds stand over it."""
    bed = flat(64, 64, -60.0)
    lifted = (0.05 - bed).astype(np.float32)
    lifted[24:40, 24:40] += 0.3
    still, runs = flooded(bed, 0.0, sea=0.0), poured(bed, lifted, sea=0.0)
    for heading in (0.0, 33.0) if is_nightly() else (33.0,):
        with subtests.test(heading=heading):
            camera = Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), heading, 12.0, 80.0 * CELL, 40.0)
            scene = calm(quality="high", sun_height=30.0, clouds=0.5).with_value("view.waves", 1.0)
            seen, expected = (draw(shown, camera, scene, size=(240, 160)).astype(int) for shown in (runs, still))
            assert np.abs(seen - expected)[60:].max() < 40


def test_the_shore_lies_where_the_level_cuts_the_ground(draw: Draw, subtests: pytest.Subtests) -> None:
    """On ground that rises to the east, at a part of a cell, and as straight as a ruler."""
    ground = plane(40, 60, 2.0, 0.0)
    dry = snapshot(ground, cell_size=CELL)
    for row in rows(exaggeration=[1.0, 1.37, 3.0], level=[47.0, 47.5, 48.2], sea=[False, True]):
        with subtests.test(**row):
            level, exaggeration = row["level"], row["exaggeration"]
            wet = flooded(ground, level, sea=np.float32(level) if row["sea"] else -math.inf)
            camera = from_above(40.0, 40, 60, level * exaggeration)
            scene = calm(exaggeration=exaggeration, fine_relief=0.0)  # which lies smooth at water
            with_water, without = (draw(each, camera, scene, size=(300, 200)) for each in (wet, dry))
            changed = bluer(with_water, without)[25:175]
            shore = np.array([np.flatnonzero(line).max() + 1 for line in changed]) / 5.0  # cells from the western edge
            assert shore.std() < 0.25
            assert shore.mean() == pytest.approx(level / 2.0 + 0.5, abs=0.6)
            assert changed[:, 5 : int(shore.min() * 5) - 5].all(), "there are no holes"


def test_water_at_two_levels_stays_on_its_side_of_a_dam(draw: Draw) -> None:
    """The lower lake, and the dry ground behind the dam, look as they would without the higher lake."""
    ground = flat(48, 64)
    ground[:, 32] = 20.0
    low = np.where(np.arange(64) > 32, np.where(np.arange(48) < 24, 6.0, 0.0)[:, None], 0.0)
    both = np.where(np.arange(64) < 32, 15.0, low)
    camera, size = from_above(48.0, 48, 64), (512, 384)
    with_both, with_low, dry = (
        draw(shown, camera, calm(), size=size)
        for shown in (flooded(ground, both), flooded(ground, low), snapshot(ground, cell_size=CELL))
    )
    behind = slice(34 * 8, 512)
    # The higher lake wets the ground of the dam.
    assert difference(with_both, with_low)[:, behind].max() <= 4
    assert difference(with_both, dry)[200:, behind].max() <= 4
    assert (difference(with_both, dry)[8:-8, 16:240] > 12).all()
    assert (difference(with_low, dry)[8:180, 34 * 8 + 8 : 500] > 6).all()


def test_land_below_the_sea_stays_dry_behind_a_dike(draw: Draw) -> None:
    ground = flat(48, 64, -5.0)
    ground[10:40, 20], ground[10:40, 50], ground[10, 20:51], ground[39, 20:51] = 3.0, 3.0, 3.0, 3.0
    level = np.where(ground < 0.0, 0.0, ground)
    level[11:39, 21:50] = -5.0
    camera, size = from_above(48.0, 48, 64), (512, 384)
    with_sea = draw(flooded(ground, level, sea=0.0), camera, calm(), size=size)
    dry = draw(snapshot(ground, cell_size=CELL), camera, calm(), size=size)
    changed = difference(with_sea, dry) > 12
    assert not changed[13 * 8 : 37 * 8, 23 * 8 : 48 * 8].any()
    assert changed[:72].all() and changed[-56:].all()


def test_a_sea_that_no_cycle_has_filled_stands_where_it_can(draw: Draw) -> None:
    ground = plane(40, 60, 2.0, 0.0) - 40.0
    filled = flooded(ground, 0.0, sea=0.0)
    new = replace(snapshot(ground, cell_size=CELL), sea_level=0.0)
    camera = from_above(40.0, 40, 60)
    dry, with_sea, before = (draw(shown, camera, calm()) for shown in (snapshot(ground, cell_size=CELL), filled, new))
    assert (bluer(before, dry) != bluer(with_sea, dry))[5:-5, 5:75].mean() < 0.005


def colours_of_depths(
    draw: Draw, depths: list[float], *, sea: bool = False, rows: int = 48, columns: int = 64, **view: float
) -> NDArray[np.float64]:
    """The mean colour of flat ground under so many metres of water, seen from above."""
    colours = []
    for depth in depths:
        shown = flooded(flat(rows, columns), depth, sea=depth if sea else -math.inf)
        camera = from_above(20.0, rows, columns, depth * view.get("exaggeration", 1.0))
        colours.append(draw(shown, camera, calm(**view)).mean(axis=(0, 1)))
    return np.array(colours)


def test_deep_water_is_darker_and_takes_red_first(draw: Draw) -> None:
    red, green, blue = colours_of_depths(draw, [0.6, 1.0, 1.5, 2.0, 3.0]).T
    for channel in (red, green, blue):
        assert (np.diff(channel) < 1.0).all()
    assert (np.diff(red / blue) < 0.0).all() and (np.diff(red / green) < 0.0).all()
    assert red[3] < 0.6 * red[0] and green[3] > 0.65 * green[0] and blue[3] > 0.7 * blue[0]


def linear_light(picture: Picture) -> NDArray[np.float64]:
    """The mean light of the picture that was drawn last, before tones are mapped."""
    assert picture.frame is not None
    seen = np.frombuffer(picture.frame.scene.read(components=3, dtype="f4"), np.float32)
    return seen.reshape(-1, 3).mean(axis=0, dtype=np.float64)


@pytest.mark.parametrize(("sea", "turbidity"), [(False, (0.05, 0.07, 0.16)), (True, (0.03, 0.03, 0.03))])
@pytest.mark.parametrize("clarity", [1.0, 3.0])
def test_water_takes_light_by_metres_as_beer_and_lambert_say(
    draw: Draw, picture: Picture, sea: bool, turbidity: tuple[float, float, float], clarity: float
) -> None:
    """Light from the bed goes through it twice: a metre more takes the same part of what is left.

    Clear water is deeper, so that as much is taken from one depth to the next: pictures are kept in half precision.
    """
    seen = []
    for depth in (1.0, 2.0, 3.0):
        colours_of_depths(draw, [depth * clarity], sea=sea, water_clarity=clarity)
        seen.append(linear_light(picture))
    one, two, three = seen
    expected = 2.0 * (np.array([0.42, 0.10, 0.07]) + np.array(turbidity)) / clarity
    np.testing.assert_allclose(-np.log((two - three) / (one - two)) / clarity, expected, rtol=0.02)


@pytest.mark.parametrize("depth", [0.6, 2.0, 9.0])
def test_a_lake_of_a_depth_has_one_colour_on_any_map(draw: Draw, depth: float) -> None:
    """Not by the size of the map, nor by its relief, nor by how far heights are exaggerated."""
    usual, wide = (colours_of_depths(draw, [depth], rows=side, columns=side)[0] for side in (48, 144))
    steep = flat(48, 48)
    steep[:2] = 900.0  # far out of the picture
    camera = from_above(20.0, 48, 48, depth)
    high = draw(flooded(steep, depth), camera, calm()).mean(axis=(0, 1))
    drawn_out = colours_of_depths(draw, [depth], rows=48, columns=48, exaggeration=4.0)[0]
    np.testing.assert_allclose([wide, high, drawn_out], [usual] * 3, atol=2.5)


def test_the_bed_of_a_lake_is_dark_under_shallow_water(draw: Draw, picture: Picture) -> None:
    """Beside the clean sand below a sea as deep: its rim is no milk."""
    seen = []
    for sea in (False, True):
        colours_of_depths(draw, [0.4], sea=sea)
        seen.append(linear_light(picture))
    lake, sand = seen
    assert (lake < 0.75 * sand).all() and lake[0] / sand[0] > lake[2] / sand[2] > 0.5


def test_clear_water_lets_one_see_deeper(draw: Draw) -> None:
    murky, common, clear = (colours_of_depths(draw, [1.5], water_clarity=clarity)[0, 0] for clarity in (0.2, 1.0, 5.0))
    assert murky < common - 5.0 < clear - 15.0


@pytest.mark.parametrize("quality", ["low", "high"])
def test_a_steep_coast_has_a_shelf_that_fades_out(draw: Draw, quality: str) -> None:
    """Waves wear it, where cells have only a cliff: the sea is turquoise before it, and no ring ends that."""
    shown = flooded(np.where(np.arange(160) < 80, 40.0, -60.0) + np.zeros((160, 1)), 0.0, sea=0.0)
    worn, as_cut = (
        draw(shown, from_above(80.0, 160, 160), calm(quality=quality).with_values(waves), size=(240, 120)).astype(float)
        for waves in ({"waves.enabled": True, "waves.foam": 0.0, "waves.height": 0.0}, {})
    )
    greener = (worn - as_cut)[:, 123:, 1].mean(axis=0)  # from the coast on, 1.5 pixels a cell
    assert greener[:3].min() > 5.0 and np.abs(greener[-20:]).max() < 1.0
    assert np.abs(np.diff(greener)).max() < 8.0, "it has no edge"


def test_a_lake_ends_unevenly_between_the_stones_of_its_margin(draw: Draw) -> None:
    """Its edge is no line as of a pen: here its bed is seen sooner than there."""
    shown = flooded(plane(64, 64, 2.0, 0.0), 64.0)
    pixels = draw(shown, from_above(16.0, 64, 64, 64.0), calm(quality="high", fine_relief=0.0), size=(240, 240))
    blueness = ndimage.gaussian_filter(pixels[..., 2] / (pixels[..., 0] + 1.0), 2.0)
    threshold = 0.2 * blueness[:, :40].mean() + 0.8 * blueness[:, -40:].mean()
    edge = np.array([np.flatnonzero(line > threshold).max() for line in blueness]) / 15.0  # cells
    assert 0.02 < edge.std() < 0.2


def blue_of_a_lake(draw: Draw, pitch: float, distance: float, size: tuple[int, int]) -> NDArray[np.float64]:
    """How much bluer rows of pixels are with a lake on a bed that sinks by a tenth of a metre from cell to cell.

    The camera is so many cells away from the middle of the lake's edge.
    """
    camera = Camera(glm.vec3(48.0 * CELL, 0.0, 32.0 * CELL), 0.0, pitch, distance * CELL, 40.0)
    ground = plane(64, 96, 0.0, 0.1)
    scene = calm(quality="high", fine_relief=0.0)
    shown = snapshot(ground, cell_size=CELL), flooded(ground, 3.2)
    dry, wet = (draw(each, camera, scene, size=size).astype(float) for each in shown)
    return np.asarray((wet - dry)[..., 2].mean(axis=1))


def test_a_lake_begins_at_a_line_below_a_soaked_rim(draw: Draw) -> None:
    """The sky is mirrored from one cell to the next."""
    bluer = blue_of_a_lake(draw, 12.0, 40.0, (320, 240))
    first = np.flatnonzero(bluer > 40.0)[-1]
    assert bluer[first] - bluer[first + 1] > 40.0, "a row of pixels is half a cell"
    assert -18.0 < bluer[first:].min() < -5.0, "soaked, not burnt"


def test_a_lake_on_a_flat_bed_ends_at_a_line(draw: Draw) -> None:
    """Seen from near by, the sky is mirrored a hand's breadth deep, not farther out."""
    assert np.abs(np.diff(blue_of_a_lake(draw, 30.0, 8.0, (240, 240)))).max() > 8.0


def test_the_sea_goes_on_beyond_the_map_without_a_seam(draw: Draw, subtests: pytest.Subtests) -> None:
    """Over a flat bed, the picture is smooth from the foreground to the horizon, and that is no hard line."""
    for row in rows(quality=["low", "high"], depth=[1.0, 12.0], heading=[0.0, 65.0]):
        with subtests.test(**row):
            shown = flooded(flat(64, 64, -row["depth"]), 0.0, sea=0.0)
            camera = Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), row["heading"], 14.0, 90.0 * CELL, 40.0)
            scene = Scene().with_value("view.waves", 0.0).with_value("view.quality", row["quality"])
            upwards = draw(shown, camera, scene, size=(160, 240)).astype(float).mean(axis=1)
            steps = np.abs(np.diff(upwards, axis=0))
            assert steps[30:].max() < 16.0  # the horizon is at the 38th row; higher up are clouds
            assert steps[44:].max() < 6.5
            assert np.abs(np.diff(upwards[44:], n=2, axis=0)).max() < 6.0
            across = draw(shown, from_above(110.0, 64, 64), scene, size=(240, 240)).astype(float)[90:150].mean(axis=0)
            assert np.abs(np.diff(across, axis=0)).max() < 5.0


@pytest.mark.parametrize("quality", ["low", "high"])
def test_far_sea_is_of_the_hue_of_the_sky_low_over_it(draw: Draw, quality: str) -> None:
    """Waves that are seen from aside mirror haze, and air lies before them."""
    camera = Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), 65.0, 14.0, 90.0 * CELL, 40.0)
    scene = Scene().with_value("view.quality", quality).with_value("view.sun_height", 20.0)
    pixels = draw(flooded(flat(64, 64, -12.0), 0.0, sea=0.0), camera, scene, size=(160, 240)).astype(float)
    upwards = pixels.mean(axis=1)
    bluer = upwards[:, 2] / upwards[:, 0]  # the horizon is at the 38th row
    assert bluer[46:50].max() < 1.3 * bluer[32:36].mean()


def from_shore(draw: Draw, slope: float, quality: str = "high") -> NDArray[np.float64]:
    """The brightness of ground and of the bed of a lake, by rows of less than a metre; its shore is at the 120th."""
    ground = plane(64, 64, 0.0, -slope * CELL)
    level = float(ground[31:33, 0].mean())
    scene = calm(quality=quality, fine_relief=0.0, sun_height=45.0)
    pixels = draw(flooded(ground, level), from_above(20.0, 64, 64, level), scene, size=(240, 240)).astype(float)
    return np.asarray(pixels[:, 40:200, 1].mean(axis=1))


def test_ground_is_dark_by_a_lake_as_far_up_as_pictures_of_its_cells_show(draw: Draw) -> None:
    bright = from_shore(draw, 0.1)
    assert bright[118:120].mean() < 0.85 * bright[112:115].mean()


def test_steep_beds_of_lakes_are_of_dark_stones(draw: Draw) -> None:
    """Silt lies where it is flatter."""
    bright = from_shore(draw, 0.6)
    assert bright[124:128].mean() < 0.35 * bright[90:100].mean()


def test_steep_lakes_have_shallows_at_low_levels(draw: Draw) -> None:
    """Their bed is seen there some metres out, below a wet rim, and not far out."""
    bright = from_shore(draw, 0.4, "low")
    assert bright[122:126].mean() < 0.85 * bright[90:115].mean(), "wet"
    assert bright[140:144].mean() > 1.8 * bright[-10:].mean(), "a cell out"
    assert np.abs(np.diff(bright[124:])).max() < 6.0, "it has no edge"


def test_land_is_mirrored_up_to_its_shore_also_in_swell(draw: Draw) -> None:
    """Waves smear what they mirror: before a cliff no band of sky is seen."""
    row, _ = np.mgrid[:128, :128]
    shown = flooded(np.where(row < 60, 300.0, -40.0), 0.0, sea=0.0)
    camera = Camera(glm.vec3(64 * CELL, 0.0, 70 * CELL), 0.0, 6.0, 45.0 * CELL, 40.0)
    swell = {"waves.enabled": True, "waves.foam": 0.0}
    scene = calm(quality="high", sun_height=50.0, sun_direction=200.0).with_values(swell)
    pixels = draw(shown, camera, scene, size=(120, 120)).astype(float)
    blueness = (pixels[..., 2] - pixels[..., 0]).mean(axis=1)
    shore = np.flatnonzero(blueness > 0.0)[0]
    assert 40 < shore < 80 and blueness[shore : shore + 15].max() < 50.0


def test_water_mirrors_no_land_of_an_earlier_world(draw: Draw, picture: Picture) -> None:
    """Both worlds are in their first version."""
    row, _ = np.mgrid[:64, :64]
    high, low = (flooded(np.where(row < 30, height, -40.0), 0.0, sea=0.0) for height in (200.0, 40.0))
    camera = Camera(glm.vec3(32 * CELL, 0.0, 36 * CELL), 0.0, 6.0, 30.0 * CELL, 40.0)
    scene = calm(quality="high")
    draw(high, camera, scene)
    after = draw(low, camera, scene)
    picture.reload_shaders()  # bakes all again
    np.testing.assert_array_equal(after, draw(low, camera, scene))


def test_a_ridge_is_mirrored_whole_up_to_its_crest(draw: Draw) -> None:
    """In still water, a ridge that runs at a slant: no sky shows through it, and its crest is a soft straight line."""
    row, column = np.mgrid[:128, :128]
    behind = np.abs(row - 30.0 + 0.35 * (column - 64.0))
    shown = flooded(np.where(behind < 14.0, 120.0 - 10.0 * behind, -40.0), 0.0)
    camera = Camera(glm.vec3(64 * CELL, 0.0, 70 * CELL), 0.0, 4.0, 45.0 * CELL, 40.0)
    scene = calm(quality="high", sun_height=50.0, sun_direction=200.0)
    pixels = draw(shown, camera, scene, size=(240, 240)).astype(int)
    land = (pixels[..., 2] < pixels[..., 0] + 30)[115:]  # the water begins here
    height = land.sum(axis=0)
    assert height.min() > 18
    first_sky = np.argmin(land, axis=0)
    np.testing.assert_allclose(first_sky, height, atol=4)
    line = np.polynomial.Polynomial.fit(np.arange(240), height, 2)
    assert np.abs(height - line(np.arange(240))).max() < 4.5
    assert np.abs(np.diff(height)).max() <= 2


def test_mirrored_hills_have_no_cuts(draw: Draw) -> None:
    """In still water: where one hill ends before another, and where rays pass over the land, it fades over pixels."""
    row = np.mgrid[:128, :128][0]
    shown = flooded(
        np.where(row < 60, np.maximum(300.0 * hills(128, 128, seed=3) - 2.0 * row.clip(50) + 100.0, 1.0), -40.0), 0.0
    )
    camera = Camera(glm.vec3(64 * CELL, 0.0, 70 * CELL), 0.0, 10.0, 45.0 * CELL, 40.0)
    scene = calm(quality="high", sun_height=50.0, sun_direction=200.0, clouds=0.0)
    water = draw(shown, camera, scene, size=(240, 240)).astype(float)[130:]
    across = np.abs(np.diff(water, axis=1)).max(axis=2)
    assert np.percentile(across, 99.8) < 8.0


def test_land_mirrored_in_waves_ends_softly(draw: Draw) -> None:
    """By the slopes of waves finer than a pixel: between land and sky lie half tones, and no blocks of pixels."""
    row, _ = np.mgrid[:128, :128]
    shown = flooded(np.where(np.abs(row - 30.0) < 14.0, 120.0 - 10.0 * np.abs(row - 30.0), -40.0), 0.0)
    camera = Camera(glm.vec3(64 * CELL, 0.0, 70 * CELL), 0.0, 4.0, 45.0 * CELL, 40.0)
    scene = calm(quality="high", sun_height=50.0, sun_direction=200.0).with_value("view.waves", 1.0)
    pixels = draw(shown, camera, scene, size=(160, 240)).astype(float)[118:200]
    blue = pixels[..., 2] - pixels[..., 0]
    least, most = blue.min(axis=0), blue[40:].max(axis=0)
    assert (most - least).min() > 40.0
    half_tones = (np.abs((blue - least) / (most - least) - 0.5) < 0.3).sum(axis=0)
    assert np.median(half_tones) > 8
    assert np.percentile(np.abs(np.diff(blue, axis=0)), 99.0) < 40.0


@pytest.mark.parametrize("quality", ["lowest", "low"])
def test_a_lake_mirrors_the_land_around_it_at_low_levels(draw: Draw, quality: str) -> None:
    """Up to the height of its crest; nearer to the eye it mirrors the sky, as if there were no land."""
    row, column = np.mgrid[:128, :128]
    camera = Camera(glm.vec3(64 * CELL, 0.0, 70 * CELL), 0.0, 4.0, 45.0 * CELL, 40.0)
    scene = calm(quality=quality, sun_height=50.0, sun_direction=200.0)
    tall = 260.0 - 10.0 * np.abs(row - 20.0)
    half, whole = (np.where((row < 40) & (column < columns), tall, -40.0) for columns in (64, 128))
    none, left, all_round = (
        draw(flooded(ground, 0.0), camera, scene, size=(160, 160)).astype(float).sum(axis=2)
        for ground in (np.full((128, 128), -40.0), half, whole)
    )
    shore = slice(90, 100)
    assert (np.abs(all_round - none)[shore, 20:140] > 25.0).mean() > 0.9
    assert np.abs(all_round - none)[150:].max() < 25.0
    assert (np.abs(left - none)[shore, 20:60] > 25.0).mean() > 0.9
    assert (np.abs(left - none)[shore, 100:140] > 25.0).mean() < 0.1


def unevenness(pixels: NDArray[np.float64]) -> float:
    """By how much broad parts of rows of a picture differ from the slow change along them."""
    rows = ndimage.gaussian_filter(pixels.mean(axis=2), 3.0)
    along = np.arange(rows.shape[1])
    return float(
        (rows - np.polynomial.polynomial.polyval(along, np.polynomial.polynomial.polyfit(along, rows.T, 2))).std()
    )


def on_a_lake(draw: Draw, **view: float | str) -> NDArray[np.float64]:
    """Only water: a lake without a shore in sight."""
    shown = flooded(np.full((128, 128), -40.0), 0.0)
    camera = Camera(glm.vec3(64 * CELL, 0.0, 64 * CELL), 0.0, 16.0, 60.0 * CELL, 40.0)
    return draw(shown, camera, calm(clouds=0.0, **view), size=(240, 160))[80:].astype(float)


@pytest.mark.parametrize("quality", ["lowest", "medium"])
def test_a_calm_lake_mirrors_high_clouds_at_levels_without_deep_ones(draw: Draw, quality: str) -> None:
    assert unevenness(on_a_lake(draw, quality=quality)) > 0.6


@pytest.mark.parametrize("quality", ["lowest", "medium"])
def test_wind_ruffles_a_lake_in_lanes_at_levels_with_few_waves(draw: Draw, quality: str) -> None:
    still, ruffled = (on_a_lake(draw, quality=quality, waves=waves) for waves in (0.0, 1.0))
    assert unevenness(ruffled - still) > 0.3


def test_clouds_mirrored_in_a_lake_with_waves_end_softly(draw: Draw) -> None:
    shown = flooded(np.full((64, 64), -40.0), 0.0)
    camera = Camera(glm.vec3(32 * CELL, 0.0, 20 * CELL), 0.0, 30.0, 40.0 * CELL, 40.0)
    scenes = (calm(quality="high", clouds=cover).with_value("view.waves", 1.0) for cover in (0.0, 0.5))
    clear, cloudy = (draw(shown, camera, scene, size=(240, 240)).astype(float)[120:] for scene in scenes)
    mirrored = (cloudy - clear).mean(axis=2)
    assert mirrored.max() > 10.0
    for axis in (0, 1):
        assert np.percentile(np.abs(np.diff(mirrored, axis=axis)), 99.5) < 4.5


def test_waves_of_a_lake_break_what_it_mirrors_also_far_off(draw: Draw) -> None:
    """Seen from aside, pixels are long, but waves are strokes in them and no blur."""
    shown = flooded(np.pad(np.full((176, 176), -40.0), 8, constant_values=20.0), 0.0)
    camera = Camera(glm.vec3(96 * CELL, 0.0, 96 * CELL), 0.0, 8.0, 5.0 * CELL, 40.0)
    scene = calm(quality="high", waves=1.0, clouds=0.0).with_value("waves.enabled", True)
    pixels = draw(shown, camera, scene, size=(480, 360)).astype(float).mean(axis=2)
    strokes = pixels - ndimage.gaussian_filter(pixels, 4.0)
    assert strokes[138:160, 160:320].std(axis=1).mean() > 5.0, "just below the far bank"


def test_trees_on_the_shore_are_mirrored(draw: Draw) -> None:
    """A wood on a low shore darkens the water before it, and nothing else of it."""
    row, column = np.mgrid[:128, :128]
    shown = flooded(np.where(row < 60, 1.0, -40.0), 0.0)
    places = np.argwhere((row > 52) & (row < 60) & (column > 48) & (column < 80)) + 0.5
    trees = np.column_stack([places, np.ones(len(places)), np.ones(len(places)), np.full(len(places), 0.95)])
    camera = Camera(glm.vec3(64 * CELL, 0.0, 70 * CELL), 0.0, 6.0, 45.0 * CELL, 40.0)
    scene = calm(quality="high", sun_height=50.0, sun_direction=200.0, tree_size=4.0)
    with_trees, without = (
        draw(each, camera, scene, size=(160, 160)).astype(float) for each in (planted(shown, trees), shown)
    )
    darker = (without - with_trees).mean(axis=2) > 12.0
    water = (without[..., 2] - without[..., 0]).mean(axis=1) > 20.0
    shore = 159 - int(np.argmin(water[::-1]))  # above which lie land and trees
    mirrored = darker[shore + 2 : shore + 12]
    assert mirrored[:, 60:100].mean() > 0.5
    assert mirrored[:, [*range(10), *range(150, 160)]].mean() < 0.05
    assert darker[-10:].mean() < 0.05, "the sky is mirrored near the eye"


@pytest.mark.parametrize("direction", [90.0, 270.0])
def test_the_shadow_of_an_island_lies_on_the_sea_and_goes_on_beyond_the_map(draw: Draw, direction: float) -> None:
    """That of a wall of 100 m is 500 m long, on water however deep; the map ends 300 m behind the wall."""
    row, column = np.mgrid[:64, :64]
    wall = (np.abs(column - 31.5) < 2.0) & (np.abs(row - 31.5) < 16.0)
    shown = flooded(np.where(wall, 100.0, -400.0), 0.0, sea=0.0)
    scene = calm(quality="high", sun_height=math.degrees(math.atan(0.2)), sun_direction=direction)
    # A pixel for each half cell.
    above = Camera(glm.vec3(320.0, 0.0, 320.0), 0.0, 90.0, 800.0 / math.tan(math.radians(20.0)), 40.0)
    seen = draw(shown, above, scene, size=(320, 320)).astype(float).sum(axis=2)
    if direction == 270.0:
        seen = seen[:, ::-1]  # shadows to the left
    lit, dark = seen[80:120].mean(), seen[160, 130]
    assert dark < 0.6 * lit
    shaded = seen < 0.5 * (lit + dark)
    # From the wall to where its shadow ends; the map ends at pixel 96.
    assert shaded[160, 62:154].all() and not shaded[160, :50].any() and not shaded[160, 166:].any()
    width = shaded[:, [80, 130]].sum(axis=0)
    np.testing.assert_allclose(width, 64, atol=3)


def test_a_lake_at_the_edge_is_cut_there(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from the south, the wall of the block has water over ground, up to the level and no higher."""
    # Land behind it has the mean colour of the map, with its water.
    monkeypatch.setattr(backdrop, "far_land", lambda dip: 0.0)
    ground = plane(32, 64, 0.5, 0.0)
    camera = Camera(glm.vec3(32 * CELL, 16.0, 32 * CELL), 0.0, 1.0, 2000.0, 20.0)
    size = (320, 200)
    dry, wet = (
        draw(shown, camera, calm(), size=size) for shown in (snapshot(ground, cell_size=CELL), flooded(ground, 16.0))
    )
    changed = difference(wet, dry) > 4
    pixels_per_metre = 100.0 / (math.tan(math.radians(10.0)) * 1680.0)
    for east in (60.0, 120.0, 200.0):
        column = round(160 + (east - 320.0) * pixels_per_metre)
        expected = (16.0 - 0.5 * (east / CELL - 0.5)) * pixels_per_metre  # of water over the ground
        assert np.count_nonzero(changed[:, column]) == pytest.approx(expected, abs=4.0)
    assert not changed[:, round(160 + 20.0 * pixels_per_metre) :].any()


# Streams.

SHEET = 9.0  # m³/s: 15 m wide, so that streams of neighbouring cells touch


def test_ripples_run_downstream(draw: Draw, subtests: pytest.Subtests) -> None:
    """A sheet of running water from above, at two times: over its bed, the second picture is the first one, moved."""
    camera, side, cells = from_above(8.0, 48, 48), 160, 8.0
    diagonal = (0.5**0.5, -(0.5**0.5))
    tried = {"low": [(1.0, 0.0), diagonal], "high": [(1.0, 0.0)]}
    if is_nightly():
        tried = {"low": [*tried["low"], (0.0, 1.0), (-1.0, 0.0)], "high": [(1.0, 0.0), diagonal]}
    for quality, directions in tried.items():
        for direction in directions:
            with subtests.test(quality=quality, direction=direction):
                shown = running(flat(48, 48), SHEET, direction)
                scene = calm(flow_speed=1.0, quality=quality)
                pictures = [
                    draw(shown, camera, scene, size=(side, side), time=time).astype(float).mean(axis=2)
                    for time in (20.0, 20.2, 25.0, 31.0, 37.0)
                ]
                first, second = (picture - np.mean(pictures[1:], axis=0) for picture in pictures[:2])
                assert first.std() > 0.4
                product = np.fft.rfft2(first - first.mean()).conj() * np.fft.rfft2(second - second.mean())
                correlation = np.fft.irfft2(product, s=first.shape)
                row, column = np.unravel_index(np.argmax(correlation), correlation.shape)
                moved = np.array([(place + side // 2) % side - side // 2 for place in (column, row)])
                expected = np.array(direction) * 0.2 * side / cells
                assert np.hypot(*(moved - expected)) < 2.0


def test_streams_stand_still_where_nobody_wants_them_to_run(draw: Draw) -> None:
    shown, scene, camera = running(flat(48, 48), SHEET), calm(flow_speed=0.0), from_above(12.0, 48, 48)
    np.testing.assert_array_equal(draw(shown, camera, scene, time=1.0), draw(shown, camera, scene, time=2.0))


def test_water_whitens_where_it_falls(draw: Draw) -> None:
    quiet, rapid, fall = (
        draw(
            running(plane(48, 48, -slope * CELL, 0.0), SHEET),
            from_above(12.0, 48, 48, -slope * 235.0),
            calm(sun_height=60.0),
        )
        for slope in (0.05, 0.5, 1.0)
    )
    whites = [(pixels.min(axis=2) > 150).mean() for pixels in (quiet, rapid, fall)]
    assert whites[0] == 0.0 and 0.01 < whites[1] < whites[2] and whites[2] > 0.3


def water_of(
    draw: Draw, shown: Snapshot, camera: Camera, *, between_rocks: bool = False, **view: float
) -> NDArray[np.bool_]:
    """The pixels in which water is seen, from above; they are square. Rocks differ by what is wet, but none is blue."""
    scene, ground = calm(quality="high", **view), shown.layers["bedrock"]
    same = (ground.tobytes(), shown.cell_size, repr(camera), tuple(view.items()))
    if same not in _dry:
        _dry[same] = draw(snapshot(ground, cell_size=shown.cell_size), camera, scene, size=(320, 320))
    pixels = draw(shown, camera, scene, size=(320, 320))
    found = bluer(pixels, _dry[same])
    return found & (pixels[..., 2] > 1.06 * pixels[..., 0]) if between_rocks else found


_dry: dict[object, NDArray[np.uint8]] = {}  # pictures of ground without water


def pieces(water: NDArray[np.bool_]) -> int:
    """Into how many it falls apart; the grain of a bank is none."""
    return int((np.bincount(components(water)[0].reshape(-1))[1:] > max(20.0, 0.02 * water.sum())).sum())


def along_the_diagonal(columns: int) -> NDArray[np.bool_]:
    return np.eye(columns, dtype=bool)


def test_a_river_is_as_wide_as_its_discharge_says_and_unbroken(draw: Draw, subtests: pytest.Subtests) -> None:
    """In metres, by the law that kernels have; across the cells, and in one piece."""
    for discharge in (1.0, 4.0, 16.0):
        with subtests.test(discharge=discharge):
            width = channel_width(discharge, calm().rivers.width)
            shown = running(flat(48, 48), discharge * along_the_diagonal(48), (1.0, 1.0))
            water = water_of(draw, shown, from_above(16.0, 48, 48))
            metres = 16.0 * CELL / 320.0
            assert water.sum() * metres**2 / (16.0 * CELL * math.sqrt(2.0)) == pytest.approx(width, rel=0.15)
            assert pieces(water) == 1
            assert water[:3].any() and water[-3:].any(), "from side to side"


def test_a_river_is_as_wide_on_a_finer_map(draw: Draw) -> None:
    areas = []
    for finer in (1, 2):
        side = 48 * finer
        shown = running(flat(side, side), 4.0 * along_the_diagonal(side), (1.0, 1.0), CELL / finer)
        middle = glm.vec3(24.0 * CELL, 0.0, 24.0 * CELL)
        camera = replace(from_above(16.0, 48, 48), target=middle)
        areas.append(float(water_of(draw, shown, camera).mean()))
    assert areas[1] == pytest.approx(areas[0], rel=0.08)


def test_a_river_between_two_of_the_eight_directions_is_straight(draw: Draw) -> None:
    """Three cells east, one south: steps from cell to cell are not seen."""
    flow, ways = np.zeros((48, 48)), np.zeros((48, 48))
    for column in range(48):
        row = 12 + (column + 1) // 2
        flow[row, column], ways[row, column] = 1.0, way((1.0, 1.0 - column % 2))
    shown = with_layers(snapshot(flat(48, 48), cell_size=CELL), surveyed_flow=flow, surveyed_way=ways)
    water = water_of(draw, shown, from_above(12.0, 48, 48))
    middles = (water * np.arange(320)[:, None]).sum(axis=0) / np.maximum(water.sum(axis=0), 1)
    line = np.polyval(np.polyfit(np.arange(320), middles, 1), np.arange(320))
    assert water.any(axis=0).all()
    assert np.abs(middles - line).max() < 0.3 * 320 / 12.0, "of a cell"


def test_a_wide_river_that_goes_zigzag_is_straightened_where_no_bank_holds_it(draw: Draw) -> None:
    """Between cells as wide as itself it has eight directions; a trench of those cells keeps it."""
    flow, ways = np.zeros((48, 48)), np.zeros((48, 48))
    for column in range(48):
        row = 21 + abs(column % 12 - 6)
        flow[row, column], ways[row, column] = 13.0, way((1.0, -1.0 if column % 12 < 6 else 1.0))

    def swings(bank: float) -> float:
        ground = np.where(flow > 0.0, 0.0, bank)
        shown = with_layers(snapshot(ground, cell_size=CELL), surveyed_flow=flow, surveyed_way=ways)
        water = water_of(draw, shown, from_above(24.0, 48, 48))
        middles = (water * np.arange(320)[:, None]).sum(axis=0) / np.maximum(water.sum(axis=0), 1)
        return float(np.ptp(middles) / 320.0 * 24.0)

    found = swings(0.0), swings(3.0)
    assert found[0] < 3.0 < 3.5 < found[1], f"{found} cells"


def test_a_shallow_pool_in_the_bed_of_a_river_is_no_lens_on_it(draw: Draw) -> None:
    flow = flat(48, 48)
    flow[24] = 60.0
    runs = running(flat(48, 48), flow)
    level = flat(48, 48)
    level[23, 22:26] = 0.2
    pool = with_layers(runs, water=level, water_level=level)
    one, other = (draw(shown, from_above(12.0, 48, 48), calm(quality="high")) for shown in (runs, pool))
    assert difference(one, other)[51:58, 64:96].max() <= 6, "of the colour of the river"


def test_small_streams_freeze_and_wide_ones_become_narrower(draw: Draw) -> None:
    def darker(discharge: float, temperature: float) -> NDArray[np.int64]:
        """By how much a stream is darker than the ground in which it would be, in the mean over rows of pixels."""
        scene = calm(quality="high").with_value("climate.temperature", temperature)
        river = flat(48, 48)
        river[24] = discharge
        worlds = [running(flat(48, 48), flow) for flow in (0.0, river)]
        pictures = [draw(shown, from_above(12.0, 48, 48), scene, size=(320, 320)) for shown in worlds]
        one, other = (pixels.astype(np.int64).sum(axis=2).mean(axis=1) for pixels in pictures)
        return one - other

    brook, river = 0.25, 16.0  # 2.5 m and 20 m wide
    assert darker(brook, 15.0).max() > 20.0
    assert darker(brook, -15.0).max() < 10.0
    dark = darker(river, -15.0)
    metres = float((dark > 0.5 * dark.max()).sum()) * 12.0 * CELL / 320.0
    assert 10.0 < metres < 17.5, f"{metres} metres of open water"


def test_a_river_far_narrower_than_a_pixel_is_still_a_line(draw: Draw) -> None:
    shown = running(flat(48, 48), 0.05 * along_the_diagonal(48), (1.0, 1.0))
    water = water_of(draw, shown, from_above(40.0, 48, 48))
    assert pieces(ndimage.binary_dilation(water, iterations=5)) == 1, "but for pixels in which a bush is as dark"
    assert 1.0 < water.sum() / 320.0 < 6.0, "pixels in each row"


def test_a_river_narrower_than_a_pixel_fades_by_its_share(draw: Draw) -> None:
    """One nearly as wide as a pixel and one half as wide: they darken the ground in this proportion."""
    camera, scene = from_above(40.0, 48, 48), calm(quality="high", flow_speed=0.0)
    dry = draw(snapshot(flat(48, 48), cell_size=CELL), camera, scene, size=(320, 320)).astype(float)
    seen = []
    for width in (1.2, 0.6):  # metres, where a pixel has 1.25
        shown = running(flat(48, 48), (width / 5.0) ** 2 * along_the_diagonal(48), (1.0, 1.0))
        seen.append(np.abs(draw(shown, camera, scene, size=(320, 320)) - dry).sum())
    assert seen[1] > 0.0
    assert seen[0] == pytest.approx(2.0 * seen[1], rel=0.3)


def test_a_spring_widens_over_some_cells_and_a_river_from_beyond_the_map_is_as_wide(draw: Draw) -> None:
    widths = []
    for spring in (8, 0):
        flow = flat(48, 48)
        flow[24, spring:] = 16.0
        water = water_of(draw, running(flat(48, 48), flow), from_above(48.0, 48, 48))
        widths.append(water.sum(axis=0) * 48.0 / 320.0)
    first, later = (widths[0][int(320 * column / 48.0)] for column in (9.0, 16.0))
    assert 0.0 < first < 0.75 * later
    assert widths[1][3:6].mean() > 0.8 * later


def test_a_river_that_goes_on_below_a_pool_is_one(draw: Draw) -> None:
    """Its way ends in a pool of one cell, and that of its water begins below; it is as wide there."""
    flow, ways, ground = flat(48, 48), flat(48, 48), flat(48, 48)
    flow[24], ways[24] = 16.0, way((1.0, 0.0))
    flow[24, 24], ways[24, 24], ground[24, 24] = 0.0, 0.0, -0.4
    shown = with_layers(flooded(ground, np.where(ground < 0.0, -0.2, ground)), surveyed_flow=flow, surveyed_way=ways)
    widths = water_of(draw, shown, from_above(24.0, 48, 48)).sum(axis=0) * 24.0 / 320.0
    assert widths[20:300].min() > 0.6 * np.median(widths)


def test_rivers_that_meet_make_no_blob(draw: Draw) -> None:
    """Where two of 5 m join, no place is farther from dry land than half of the width of what they become."""
    flow, ways = np.zeros((48, 48)), np.zeros((48, 48))
    flow[24, 24:], ways[24, 24:] = 2.0, way((1.0, 0.0))
    for k in range(1, 20):
        for south in (-1, 1):
            flow[24 + south * k, 24 - k], ways[24 + south * k, 24 - k] = 1.0, way((1.0, -float(south)))
    shown = with_layers(snapshot(flat(48, 48), cell_size=CELL), surveyed_flow=flow, surveyed_way=ways)
    water = water_of(draw, shown, from_above(8.0, 48, 48))
    assert pieces(water) == 1
    left, steps = water.copy(), 0
    while left.any():  # worn away from its edge, a pixel at a time
        left = left & np.roll(left, 1, 0) & np.roll(left, -1, 0) & np.roll(left, 1, 1) & np.roll(left, -1, 1)
        steps += 1
    assert steps * 80.0 / 320.0 < 0.5 * 5.0 * math.sqrt(2.0) * 1.6


def test_water_does_not_climb_its_banks(draw: Draw) -> None:
    """A river of 20 m in a valley whose floor is one cell of 10 m, between cliffs."""
    ground = flat(48, 48, 40.0)
    ground[24] = 0.0
    flow = 16.0 * (np.arange(48) == 24)[:, None] * np.ones((1, 48))
    inside, outside = (
        water_of(draw, running(each, flow), from_above(8.0, 48, 48), between_rocks=True, sun_height=85.0)
        for each in (ground, flat(48, 48))
    )
    assert 0 < inside.sum() < 0.4 * outside.sum()


def test_a_river_in_a_trench_too_narrow_for_it_has_its_cross_section(draw: Draw) -> None:
    """One of 20 m, which is 1.06 m deep elsewhere, between walls that rise by two metres in each."""
    ground = flat(48, 48, 20.0)
    ground[24] = 0.0
    flow = 16.0 * (np.arange(48) == 24)[:, None] * np.ones((1, 48))
    shown = running(ground, flow)
    water = water_of(draw, shown, from_above(8.0, 48, 48), sun_height=85.0, fine_relief=0.0)  # which spares streams
    width = water.mean() * 8.0 * CELL
    assert width == pytest.approx(2.0 * math.sqrt(20.0 * 1.06 / 2.0), rel=0.2)


def test_a_river_in_a_diagonal_trench_is_no_string_of_beads(draw: Draw) -> None:
    """As wide between the cells of a trench as in them, whose floor is one cell of 10 m between cliffs of 14 m."""
    shown = running(np.where(along_the_diagonal(48), 0.0, 14.0), 16.0 * along_the_diagonal(48), (1.0, 1.0))
    dry = snapshot(shown.layers["bedrock"], cell_size=CELL)
    high_sun = calm(quality="high", sun_height=85.0, flow_speed=0.0)
    pictures = [draw(each, from_above(16.0, 48, 48), high_sun, size=(320, 320)) for each in (shown, dry)]
    beside = np.abs(np.subtract.outer(np.arange(320), np.arange(320)))
    water = bluer(*pictures) & (beside < 40)  # farther off some green moves with the water
    water &= pictures[0][..., 2] > 1.06 * pictures[0][..., 0]
    row, column = np.nonzero(water)
    widths = np.bincount((row + column) // 2 // 5, minlength=64)[8:56]  # by quarters of a cell
    assert pieces(water) == 1
    assert widths.min() > 0.8 * widths.max()


def test_a_flooded_trench_that_runs_diagonally_is_one_water(draw: Draw) -> None:
    """Up to less than half of its depth, where heights that are mixed in a square would dam it between its cells."""
    ground = np.where(along_the_diagonal(48), 0.0, 14.0)
    water = water_of(
        draw, flooded(ground, np.where(ground > 0.0, ground, 5.0)), from_above(16.0, 48, 48), sun_height=85.0
    )
    water &= np.abs(np.subtract.outer(np.arange(320), np.arange(320))) < 40  # rocks beside it differ by what is wet
    row, column = np.nonzero(water)
    widths = np.bincount((row + column) // 2 // 5, minlength=64)[8:56]
    assert pieces(water) == 1
    assert widths.min() > 0.45 * np.median(widths)


def test_a_wide_floor_that_many_drops_touch_has_one_river(draw: Draw) -> None:
    """Seven cells of a flat floor carry water; the land drains through it, and one line of its width is drawn."""
    columns = np.abs(np.arange(48) - 24.0)
    ground = (np.maximum(columns - 4.0, 0.0) * 20.0)[None, :] - 0.02 * np.arange(48)[:, None]
    world = World(ground, np.zeros_like(ground), CELL, 0)
    world.cycle = 500
    scene = calm(stream_threshold=200.0).with_value("rivers.width", 60.0)
    passing = np.where(columns <= 3.0, 48.0 * np.arange(1, 49)[:, None] * 0.4 * 0.6**columns, 0.0)
    rain = scene.droplets.count * scene.droplets.water * CELL / ground.size
    world.trace("discharge")[:] = passing * rain
    survey = Surveyor().survey(world, scene.rivers, wanted_by(scene.view), scene.runoff)
    shown = replace(take_snapshot(world, 1, survey=survey), world=next(NUMBERS))
    smallest = scene.runoff.smallest_stream(CELL)
    assert set((shown.layers[SURVEYED_FLOW][24:] > smallest).sum(axis=1)) == {1}
    dry = snapshot(shown.layers["bedrock"], cell_size=shown.cell_size)
    view = calm(quality="high", stream_threshold=200.0).with_value("rivers.width", 60.0)
    pictures = [draw(each, from_above(30.0, 48, 48), view, size=(320, 320)) for each in (shown, dry)]
    water = difference(*pictures) > 10  # with its bars, which are no bluer than the ground
    assert pieces(water) == 1
    widest = water[60:260].sum(axis=1).max() * 30.0 / 320.0
    assert 0.0 < widest < 2.0, "cells"


def parted(discharge: NDArray[np.float64]) -> Snapshot:
    """A plain over which a river that parts runs to the east."""
    shown = running(flat(48, 48), discharge)
    return with_layers(shown, surveyed_way=-shown.layers[SURVEYED_WAY])


@pytest.mark.parametrize("quality", ["low", "high"])
def test_threads_among_many_part_and_join_at_their_share_and_one_alone_is_a_line(draw: Draw, quality: str) -> None:
    """A belt of twenty cells is no sheet and no comb: its threads have the width of its water, and run along it."""
    scene = calm(quality=quality, stream_threshold=200.0).with_value("rivers.width", 4.0)
    across = np.arange(48)[:, None] * np.ones((1, 48))
    belt, alone = (across >= 10) & (across < 30), across == 38
    discharge = np.where(belt | alone, 1.0, 0.0)
    dry = snapshot(flat(48, 48), cell_size=CELL)
    pictures = [draw(each, from_above(40.0, 48, 48), scene, size=(320, 320)) for each in (parted(discharge), dry)]
    water = difference(*pictures) > (10 if quality == "high" else 20)
    in_belt = water[(12 - 4) * 8 : (28 - 4) * 8]
    threads = (np.diff(in_belt.astype(int), axis=0) == 1).sum(axis=0)
    assert 0.3 < in_belt.mean() < 0.65, "widths, of which no line is narrower than some pixels"
    assert 9.0 < threads.mean() < 28.0
    assert np.abs(np.diff(threads)).sum() > 80, "they part and join"
    assert 0.25 < water[33 * 8 : 36 * 8].sum(axis=0).mean() / 8.0 < 0.9, "cells"


def test_a_stream_ends_in_a_lake(draw: Draw) -> None:
    """What passes through a lake is not seen on it."""
    discharge = flat(48, 48)
    discharge[24] = SHEET
    ground = flat(48, 48, -30.0)
    lake = flooded(ground, 0.0)
    through = running(ground, discharge)
    layers = {**lake.layers, **through.layers}
    both = replace(lake, layers=layers, versions=dict.fromkeys(layers, 0))
    camera = from_above(16.0, 48, 48)
    assert difference(draw(both, camera, calm()), draw(lake, camera, calm())).max() <= 2


@pytest.mark.parametrize("quality", ["low", "high"])
def test_a_river_that_ends_on_dry_land_runs_out(draw: Draw, quality: str) -> None:
    """It is ever narrower over its last cells, and not cut off; one that leaves the map or meets a lake is as wide."""
    flow, ways = flat(48, 48), flat(48, 48)
    flow[24, :40], ways[24, :39] = 16.0, way((1.0, 0.0))
    lake = np.arange(48)[None, :] >= 40
    widths = []
    for ground, end in ((flat(48, 48), 40), (np.where(lake, -20.0, flat(48, 48)), 40), (flat(48, 48), 48)):
        flow[24, 40:], ways[24, 39:] = 16.0 * (end == 48), way((1.0, 0.0)) * (end == 48 or ground.min() < 0.0)
        wet = flooded(ground, np.where(ground < 0.0, -0.5, ground))
        layers = {**wet.layers, "surveyed_flow": flow.copy(), "surveyed_way": ways.copy()}
        pictures = [
            draw(
                replace(wet, layers=each, versions=dict.fromkeys(each, 0), world=next(NUMBERS)),
                from_above(48.0, 48, 48),
                calm(quality=quality, flow_speed=0.0),
                size=(384, 384),
            )
            for each in (layers, wet.layers)
        ]
        widths.append(bluer(*pictures)[150:240].sum(axis=0).astype(float))
    runs_out, meets_a_lake, leaves = widths
    assert leaves[80:300].min() > 0.5 * leaves[80:300].max(), "pools and riffles"
    np.testing.assert_allclose(meets_a_lake[80:290], leaves[80:290], atol=3.0)  # its mouth widens
    np.testing.assert_allclose(runs_out[80:180], leaves[80:180], atol=3.0)
    by_cell = runs_out[:320].reshape(40, 8).mean(axis=1)
    assert 0.3 < by_cell[32] / by_cell[20] < 0.9 and by_cell[39] < 0.45 * by_cell[20]
    assert np.diff(by_cell[26:38]).max() < 1.9, "but for the unevenness of its banks and riffles"


def test_a_river_takes_the_colour_of_the_lake_that_it_runs_into(draw: Draw) -> None:
    """On a bed that sinks slowly below the lake, the colour changes by no step along the middle of the river."""
    ground = plane(48, 96, -0.1, 0.0)
    lake = flooded(ground, -4.8)
    discharge = flat(48, 96)
    discharge[24] = 64.0  # 40 m wide
    river = running(ground, discharge)
    layers = {**lake.layers, **river.layers}
    both = replace(lake, layers=layers, versions=dict.fromkeys(layers, 0))
    scene = calm(quality="high", flow_speed=0.0)
    pixels = draw(both, from_above(96.0 * 9.0 / 16.0, 48, 96), scene, size=(640, 360)).astype(float)
    along = pixels[176:192].mean(axis=0)
    smooth = np.array([np.convolve(channel, np.ones(24) / 24.0, "valid") for channel in along.T])
    assert np.abs(smooth[:, 40:] - smooth[:, :-40]).max() < 43.0


@pytest.mark.parametrize("quality", ["low", "high"])
def test_the_water_of_a_river_mixes_with_that_of_a_deep_lake(draw: Draw, quality: str) -> None:
    """Its plume keeps its way and fades over some cells: what is seen of it is neither cut off nor all around."""
    column = np.arange(96)[None, :] + flat(48, 96)
    ground = np.where(column < 32, 0.2, -8.0)
    lake = flooded(ground, np.where(column < 32, ground, 0.0))
    discharge = np.where(column < 32, flat(48, 96), 0.0)
    discharge[24, :32] = 64.0  # 40 m wide
    river = running(ground, discharge)
    layers = {**lake.layers, **river.layers}
    both = replace(lake, layers=layers, versions=dict.fromkeys(layers, 0))
    scene, camera = calm(quality=quality, flow_speed=0.0), from_above(54.0, 48, 96)
    pictures = (draw(shown, camera, scene, size=(640, 360)) for shown in (both, lake))
    changed = difference(*pictures).astype(float).reshape(360, 640, -1).mean(axis=-1)
    pixels = 640 / 96
    along = changed[170:190].mean(axis=0)[int(33 * pixels) :].reshape(-1)
    by_cell = np.array([along[int(k * pixels) : int((k + 1) * pixels)].mean() for k in range(20)])
    aside = changed[: int(8 * pixels), int(33 * pixels) :]
    assert aside.max() <= 1.0 and by_cell[12:].max() <= 1.0
    if quality == "high":
        assert by_cell[1] > 4.0
        assert np.abs(np.diff(by_cell)).max() < 0.5 * by_cell[:3].max()


def test_a_plume_stays_in_the_lake_that_its_river_runs_into(draw: Draw) -> None:
    """Beside it another lies two metres higher, behind a dam."""
    column, row = np.arange(96)[None, :] + flat(48, 96), np.arange(48)[:, None] + flat(48, 96)
    ground = np.where(column < 32, 0.2, -8.0)
    ground[28] = np.where(column[28] < 32, ground[28], 3.0)  # the dam, south of which the other lies
    high = (row > 28) & (column >= 32)
    ground[high] = -6.0
    ground[row > 28] += np.where(column[row > 28] < 32, 3.0, 0.0)
    level = np.where(high, 2.0, np.where((row < 28) & (column >= 32), 0.0, ground))
    lake = flooded(ground, level)
    discharge = flat(48, 96)
    discharge[25, :32] = 64.0
    river = running(ground, discharge)
    layers = {**lake.layers, **river.layers}
    both = replace(lake, layers=layers, versions=dict.fromkeys(layers, 0))
    scene, camera = calm(quality="high", flow_speed=0.0), from_above(54.0, 48, 96)
    pictures = (draw(shown, camera, scene, size=(640, 360)) for shown in (both, lake))
    changed = difference(*pictures).reshape(360, 640, -1).max(axis=-1)
    pixels = 640 / 96
    north, south = (int(180 + (cell - 24) * pixels) for cell in (27, 29.5))
    assert changed[:north, int(33 * pixels) : int(38 * pixels)].max() > 8
    assert changed[south:, int(33 * pixels) :].max() <= 1


def gravel(draw: Draw, slope: float) -> float:
    """The part of a wide river on this slope that is dry and pale."""
    flow = flat(48, 48)
    flow[24] = 36.0  # 30 m wide
    shown = running(plane(48, 48, -slope * CELL, 0.0), flow)
    camera = from_above(30.0, 48, 48, -slope * 235.0)
    pixels = draw(shown, camera, calm(quality="high"), size=(320, 320)).astype(float)[146:174]
    return float((pixels[..., 0] > pixels[..., 2] + 8.0).mean())


def test_rivers_have_bars_of_gravel_where_they_carry(draw: Draw) -> None:
    still, carries = (gravel(draw, slope) for slope in (0.0, 0.03))
    assert carries > still + 0.04, (still, carries)


def test_bars_lie_inside_bends(draw: Draw) -> None:
    """A river of 30 m comes from the west, turns to one side by a right angle, and has more gravel on that bank."""
    for side in (1, -1):
        flow, ways = flat(48, 48), flat(48, 48)
        flow[24, :24], ways[24, :24] = 36.0, way((1.0, 0.0))
        down = slice(24, None) if side > 0 else slice(None, 25)
        flow[down, 24], ways[down, 24] = 36.0, way((0.0, float(side)))
        ground = plane(48, 48, -0.02 * CELL, -0.02 * side * CELL)
        wet = with_layers(snapshot(ground, cell_size=CELL), surveyed_flow=flow, surveyed_way=ways)
        camera = from_above(12.0, 48, 48, float(ground[24, 24]))
        river, dry = (
            draw(shown, camera, calm(quality="high", flow_speed=0.0), size=(320, 320)).astype(int)
            for shown in (wet, snapshot(ground, cell_size=CELL))
        )
        pale = ((river - dry).min(axis=2) > 6)[::side]  # as if it turned to the south
        outside, inside = np.triu(pale, 20).sum(), np.tril(pale, -20).sum()
        assert inside > 1.5 * outside
        assert inside > 500


def test_shores_are_not_frayed_where_they_are_near(draw: Draw) -> None:
    """What is water beside a straight river of 30 m has an outline that is not many times as long as its two banks."""
    flow = flat(48, 48)
    flow[24] = 36.0
    camera, scene = from_above(5.0, 48, 48), calm(quality="high", flow_speed=0.0, fine_relief=0.0)
    wet, dry = (
        draw(running(flat(48, 48), each), camera, scene, size=(320, 320)).astype(int) for each in (flow, flat(48, 48))
    )
    water = (wet - dry)[..., 2] - (wet - dry)[..., 0] > 12
    assert 0.4 < water.mean() < 0.7
    outline = (water[1:] != water[:-1]).sum() + (water[:, 1:] != water[:, :-1]).sum()
    assert outline < 12.0 * 2 * water.shape[1], outline / 2 / water.shape[1]


def test_a_level_river_has_no_bars_for_banks_that_sink_along_it(draw: Draw) -> None:
    """Only water that falls on its way lays down bars where it runs straight."""
    columns = 300
    ground = np.repeat(0.03 * CELL * (np.arange(float(columns))[None, ::-1] % 8), 24, axis=0)
    ground[11:14] = 0.0
    flow = flat(24, columns)
    flow[12] = 60.0
    camera, scene = from_above(24.0, 24, columns), calm(quality="high", flow_speed=0.0)
    river, dry = (
        draw(running(ground, each), camera, scene, size=(2400, 192)).astype(int) for each in (flow, flat(24, columns))
    )
    pale = (river - dry).min(axis=2) > 6
    assert pale.mean() < 0.010, pale.mean()


def test_overlays_are_seen_through_the_water(draw: Draw) -> None:
    shown, camera = all_waters(), from_above(40.0, 60, 90)
    scene = calm(overlay="elevation", overlay_opacity=1.0, fine_relief=0.0)
    dry = snapshot(shown.layers["bedrock"], cell_size=CELL)
    bare = calm(fine_relief=0.0)
    covered = difference(draw(shown, camera, bare), draw(dry, camera, bare)).mean()
    seen_through = difference(draw(shown, camera, scene), draw(dry, camera, scene)).mean()
    assert seen_through < 0.25 * covered


def test_the_minimap_shows_streams_light_and_lakes_dark(draw: Draw, picture: Picture) -> None:
    ground = flat(64, 64)
    ground[:, :20] = -10.0
    lake = flooded(ground, np.where(np.arange(64) < 20, 0.0, ground))
    discharge = flat(64, 64)
    discharge[:, 40:44] = SHEET
    runs = running(ground, discharge, (0.0, 1.0))
    layers = {**lake.layers, **runs.layers}
    shown = replace(lake, layers=layers, versions=dict.fromkeys(layers, 0))
    camera = Camera(glm.vec3(-9e4, 0.0, -9e4), 0.0, 30.0, 500.0)  # away, and looking away
    pixels = draw(shown, camera, calm(minimap_shows="water"), size=(400, 400), minimap=True).astype(float)
    left, top, width, height = picture.minimap_rectangle(400, 400)
    place = lambda column: pixels[top + height // 2, left + round(width * column / 64)]  # noqa: E731
    pool, stream, land = place(10), place(42), place(58)
    assert pool[2] > 1.8 * pool[0] and stream[2] > 1.2 * stream[0] and land[2] < 1.2 * land[0]
    assert stream.mean() > land.mean() > pool.mean()


def test_pixels_of_water_do_not_depend_on_the_state_that_others_left(
    context: moderngl.Context, draw: Draw, picture: Picture, canvas: Canvas, subtests: pytest.Subtests
) -> None:
    shown, scene = all_waters(), Scene()
    expected = draw(shown, scene=scene, size=(96, 72), minimap=True)
    target = canvas.framebuffer(96, 72)
    for state, leave in (STATES if is_nightly() else AT_ONCE).items():
        with subtests.test(state=state):
            target.use()
            target.clear(1.0, 0.0, 1.0, 1.0)
            try:
                leave(context, target)
                picture.show(all_waters())
                picture.draw(target, scene_camera(scene, shown), scene, minimap=True)
                seen = canvas.pixels()
            finally:
                reset(context)
            np.testing.assert_array_equal(seen, expected)


@pytest.mark.usefixtures("compiled_anew")
def test_nothing_of_the_water_is_left_behind(context: moderngl.Context, canvas: Canvas) -> None:
    target = canvas.framebuffer(64, 48)
    target.use()
    before = gl.living_objects()
    picture = Picture(context, bake_at_once=True)
    for shown in (all_waters(), flooded(bumps(33, 20, height=9.0), 4.0), all_waters()):
        picture.show(shown)
        picture.draw(target, scene_camera(Scene(), shown), Scene())
    assert picture.reload_shaders() == ""
    picture.draw(target, scene_camera(Scene(), shown), Scene())
    picture.release()
    assert gl.living_objects() == before


def test_layers_that_shaders_read_are_there_without_their_overlay() -> None:
    declared = [LAYERS[name] for name in land_maps.LAYERS if name in LAYERS]
    assert {"suspended", "froude"} <= {layer.name for layer in declared}
    assert not [layer.name for layer in declared if layer.seen != "in the scene"]
