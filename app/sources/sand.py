"""Sand on rock, from which dunes form."""

from __future__ import annotations

import math

import numpy as np

from app.model.layered_map import Layer
from app.sources.grid import Grid, reference_cell, relief_of
from app.sources.land_scene import LandScene
from app.sources.noise import from_the_middle, rim

# Of a foreland, relative to the map's longer side
MOUNTAINS = 0.42  # extent to the south
GAP = 0.07  # half-width of the gap between them
GAP_BEND = 0.03  # amplitude of its bends
HILLS = 0.24  # wavelength of its mountains and hills
# and relative to its height
PLAIN = 0.14  # fall from north to south
BASIN = 0.055  # depth of the basin in it

# Of a delta: ways of its arms from that of the river, in radians, their length beside the longest, and which of them
# each parts from, at which part of that
ARMS = (
    (-1.25, 0.56, -1, 0.0), (-0.62, 0.90, -1, 0.0), (-0.93, 0.74, 1, 0.36), (0.06, 0.70, -1, 0.0),
    (0.52, 1.0, -1, 0.0), (0.26, 0.86, 4, 0.40), (0.80, 0.80, 4, 0.52), (1.15, 0.62, -1, 0.0),
)  # fmt: skip
PARTS_WITHIN = 0.45  # of that, over which they spread to these ways
BEHIND = 1.9  # radians from the way of the river, beyond which there is none
WINDS, WINDING = 0.13, 8.0  # radians, to each side and over its length
BETWEEN_ARMS, LOBES = 0.95, 0.15  # of the length, how far land reaches there; radians that an arm keeps to its sides
# in metres: its plain over the lake at its edge, levees, channels, how uneven it is; slopes of the plain, of the shoal
# before it and of the front where that ends
FREEBOARD, LEVEE, CHANNEL, UNEVEN = 0.1, 0.55, 2.2, 0.35
TOP_SLOPE, SHOAL_SLOPE, FRONT_SLOPE = 0.006, 0.016, 0.12
LEVEE_WIDE, CHANNEL_WIDE, SHOAL_WIDE = 22.0, 9.0, 36.0  # metres to each side, and before its edge
TAPERS = 0.55  # how much less wide and deep arms are at their ends
BAR, BAR_WIDE = 0.75, 16.0  # metres: what an arm lays down before its mouth, and how far around
FRAYED, FRAYS = 0.10, 0.075  # how uneven its edge is, beside its length, and the wavelength of that

# Of dunes, in wavelengths: amplitude of the bends of crests, and the length over which crests and heights vary
BEND, BEND_LENGTH = 1.3, 3.5
CREST_LENGTH, LOWEST_CREST = 1.9, 0.12
AHEAD = 0.5  # by how much the lowest are ahead of the highest: they wander faster, as horns and saddles
WITHIN_CELL = (-0.6, -0.3, 0.0, 0.3, 0.6)  # where a cell's height is taken, or its brinks would be stairs
SLIP_FACES = (0.05, 0.45)  # limits of their length, as a fraction of a dune's
# How much of half a wave a windward side is: a high dune still rises at its brink, and a low one is rounded there
HIGH_BRINK, LOW_BRINK = 0.72, 1.05


def layers(scene: LandScene, grid: Grid) -> tuple[Layer, Layer]:
    """The height of the rock and the thickness of the sand on it, [row, column], as fractions of the relief."""
    sand = scene.sand
    rock = np.zeros((grid.rows, grid.columns))
    bare: Layer | float = 1.0  # 0 outside the sheet
    if sand.rock == "pyramid":
        # Its corners point north, east, south and west.
        south, east = from_the_middle(grid, 0.5, 0.5)
        rock = sand.rock_height * np.maximum(0.0, 1.0 - (np.abs(south) + np.abs(east)) / sand.rock_radius)
    elif sand.rock == "ridges":
        rock = sand.rock_height * _noise(scene, grid, ridged=True)
    elif sand.rock == "valley":
        # It falls to the south by as much as its sides rise to the west and the east.
        south, east = from_the_middle(grid, 0.5, 0.5)
        rock = sand.rock_height * 0.5 * (0.5 - south + (2.0 * east) ** 2)
    elif sand.rock == "basin":
        bare = rim(np.hypot(*from_the_middle(grid, 0.5, 0.5)) / sand.rock_radius)
        rock = sand.rock_height * bare
    elif sand.rock == "foreland":
        rock = sand.rock_height * _foreland(scene, grid)
    if sand.form in ("row", "column"):
        south, east = from_the_middle(grid, sand.heap_row, sand.heap_column)
        across = south if sand.form == "row" else east
        noise = 1.0 - sand.unevenness * _noise(scene, grid, ridged=False)
        thickness = sand.height * np.maximum(0.0, noise - (across / sand.heap_radius) ** 2)
    elif sand.form == "heap":
        south, east = from_the_middle(grid, sand.heap_row, sand.heap_column)
        thickness = sand.height * np.maximum(0.0, 1.0 - (south**2 + east**2) / sand.heap_radius**2)
    else:
        hollows = 1.0 - _dunes(scene, grid) if sand.form == "dunes" else _noise(scene, grid, ridged=False)
        surface = sand.height * (1.0 - sand.unevenness * hollows)
        thickness = np.maximum(0.0, surface - rock) * bare
    if sand.rock == "foreland" and sand.delta > 0.0 and scene.world.lake_depth > 0.0:
        thickness = np.maximum(thickness, _delta(scene, grid, rock + thickness) - rock)
    return rock, thickness


def _delta(scene: LandScene, grid: Grid, ground: Layer) -> Layer:
    """The top of a delta that a river from the north has built into the lake of a basin: arms between levees, and lobes
    of land around their mouths. It begins at the northernmost shore."""
    metre = 1.0 / relief_of(scene, grid)  # in parts of the relief
    level = ground.min() + scene.world.lake_depth * metre
    row, column = (float(place[0]) for place in np.nonzero(ground < level))
    south, east = from_the_middle(grid, (row + 0.5) / grid.rows, (column + 0.5) / grid.columns)
    away = np.hypot(south, east)
    way, part = np.arctan2(east, south), away / scene.sand.delta
    size = grid.side * reference_cell(scene) * scene.sand.delta  # metres
    edge = np.full_like(away, BETWEEN_ARMS * min(length for _, length, *_ in ARMS))
    rough = 2.0 * _smooth_noise(scene, grid, wavelength=FRAYS, octaves=3) - 1.0
    levees, channels, bars = (np.zeros_like(away) for _ in range(3))
    ways = list[Layer]()
    for number, (arm, length, parent, parts) in enumerate(ARMS):
        if parent < 0:
            ways.append(arm * np.minimum(part / PARTS_WITHIN, 1.0) ** 0.7)
            ways[-1] += WINDS * np.minimum(part, 1.0) * np.sin(WINDING * part + 2.0 * number)
        else:
            since = np.clip((part - parts) / (1.0 - parts), 0.0, 1.0)
            ways.append(ways[parent] + (arm - ARMS[parent][0]) * since**0.6)
        aside = np.abs(way - ways[-1])
        edge = np.maximum(edge, length * np.exp(-((aside / LOBES) ** 2)))
        beside = np.where(aside < 1.0, part * size * np.sin(np.minimum(aside, 1.0)), np.inf)
        thinner = 1.0 - TAPERS * np.minimum(part / length, 1.0)
        runs = np.where(part > parts, rim((length - part) * size / CHANNEL_WIDE), 0.0)
        levees = np.maximum(levees, runs * thinner * np.exp(-((beside / (LEVEE_WIDE * thinner)) ** 2)))
        channels = np.maximum(channels, runs * thinner * np.exp(-((beside / (CHANNEL_WIDE * thinner)) ** 2)))
        before = part * size - length * size - 1.5 * BAR_WIDE
        bars = np.maximum(bars, BAR * np.exp(-(beside**2 + before**2) / BAR_WIDE**2))
    inland = (edge * (1.0 + FRAYED * rough) - part) * size
    out = np.maximum(-inland, 0.0)
    top = FREEBOARD + TOP_SLOPE * np.maximum(inland, 0.0) - SHOAL_SLOPE * out
    top += UNEVEN * rough + bars - (FRONT_SLOPE - SHOAL_SLOPE) * np.maximum(out - SHOAL_WIDE * (1.0 + 0.4 * rough), 0.0)
    top += LEVEE * levees - (LEVEE + CHANNEL) * channels
    built: Layer = np.where(np.abs(way) < BEHIND, level + top * metre, -np.inf)
    return built


def _foreland(scene: LandScene, grid: Grid) -> Layer:
    """Mountains in the north, with a winding gap from which a plain falls to a basin: heights from 0 to about 1."""
    south, east = from_the_middle(grid, 0.0, 0.5)
    east = east + GAP_BEND * np.sin(3.0 * math.pi * south / MOUNTAINS)
    mountains = rim(1.0 - south / MOUNTAINS) * (1.0 - np.exp(-((east / GAP) ** 2)))
    rugged = 0.45 + 0.55 * rim(_noise(scene, grid, ridged=True, wavelength=HILLS))
    hills = _noise(scene, grid, ridged=False, wavelength=HILLS) - 0.5
    plain = grid.land_rows / grid.side - south + (2.0 * east) ** 2 + 0.25 * hills
    shore = (1.0 + hills) * scene.sand.rock_radius
    basin = rim(np.hypot(*from_the_middle(grid, 0.72, 0.55)) / shore)
    heights: Layer = (1.0 - PLAIN - BASIN) * mountains * rugged + PLAIN * 0.5 * plain + BASIN * basin
    return heights


def _dunes(scene: LandScene, grid: Grid) -> Layer:
    """Dunes transverse to the initial wind, from 0 to 1, with windward slopes and slip faces.

    They are periodic, with a whole number of dunes from north to south and from west to east.
    """
    sand = scene.sand
    wind = math.radians(scene.climate.wind_direction)
    south, east = from_the_middle(grid, 0.5, 0.5)
    phase = np.zeros((grid.rows, grid.columns))
    sides = np.array([grid.land_rows, grid.land_columns]) / grid.side
    dunes = np.array([math.cos(wind), -math.sin(wind)]) * sides / sand.wavelength
    number = np.rint(dunes)
    if not number.any():  # they are longer than the map: there is one
        longer = np.argmax(np.abs(dunes))
        number[longer] = np.copysign(1.0, dunes[longer])
    phase += number[0] * south / sides[0] + number[1] * east / sides[1]
    phase += BEND * (_smooth_noise(scene, grid, wavelength=BEND_LENGTH * sand.wavelength, octaves=2) - 0.5)
    crests = _smooth_noise(scene, grid, wavelength=CREST_LENGTH * sand.wavelength, octaves=1)
    crests = crests * crests * (3.0 - 2.0 * crests)
    phase += AHEAD * crests
    part_of_wave = 0.5 * math.pi * (LOW_BRINK + (HIGH_BRINK - LOW_BRINK) * crests)
    crests = LOWEST_CREST + (1.0 - LOWEST_CREST) * crests
    heights = crests * sand.height * sand.unevenness * relief_of(scene, grid) / reference_cell(scene)
    changes = [np.roll(phase, -1, axis) - np.roll(phase, 1, axis) for axis in (0, 1)]
    dunes_per_cell = np.hypot(*(change - np.rint(change) for change in changes)) / (2.0 * grid.cell)
    repose = scene.cascade.roughness * scene.cascade.scale
    slip_face = np.clip(heights * dunes_per_cell / repose if repose > 0.0 else 1.0, *SLIP_FACES)
    form = np.zeros((grid.rows, grid.columns))
    for beside in WITHIN_CELL:
        along = (phase + beside * dunes_per_cell * grid.cell) % 1.0
        rise = (np.sin(part_of_wave * np.minimum(along / (1.0 - slip_face), 1.0)) / np.sin(part_of_wave)) ** 2
        fall = np.maximum(along - (1.0 - slip_face), 0.0) / slip_face
        form += crests * (rise - fall) / len(WITHIN_CELL)
    return form


def _smooth_noise(scene: LandScene, grid: Grid, wavelength: float, octaves: int) -> Layer:
    """Like `_noise`, without the finer octaves that smaller cells would show."""
    from app.sources.heightmap import resample

    return resample(_noise(scene, grid.in_reference_cells, False, wavelength, octaves), grid.rows, grid.columns)


def _noise(scene: LandScene, grid: Grid, ridged: bool, wavelength: float = 0.0, octaves: int = 0) -> Layer:
    """Periodic noise from 0 to 1. Its wavelength and octaves are by default those of the sand."""
    kind = ridged, wavelength or scene.sand.wavelength, octaves or scene.sand.octaves
    noise = _endless_noise(scene, grid, *kind)
    usual = grid.in_reference_cells
    reference = noise if usual == grid else _endless_noise(scene, usual, *kind)
    stretched: Layer = (noise - reference.min()) / np.ptp(reference)
    return stretched if reference is noise else np.clip(stretched, 0.0, 1.0)


def _endless_noise(scene: LandScene, grid: Grid, ridged: bool, wavelength: float, octaves: int) -> Layer:
    """Noise around 0 by position from the map's north-west corner, not periodic."""
    from kernels.noise import fractal_noise
    from kernels.sampling import Sampling

    rows, columns, first = grid.rows, grid.columns, 0.5 * grid.cell - 0.5
    # Another seed for the rock, so that its ridges do not follow the sand.
    seed = scene.world.seed + 1 if ridged else scene.world.seed
    noise = fractal_noise(
        2 * rows,
        2 * columns,
        seed,
        wavelength * grid.side,
        octaves,
        ridged=ridged,
        sampling=Sampling(grid.cell, first, first),
    )
    noise -= noise.mean()
    # The two halves are cross-faded; the root keeps the variance constant.
    fade = (np.arange(rows) * grid.cell + first)[:, None] / (rows * grid.cell)
    noise = ((1.0 - fade) * noise[rows:] + fade * noise[:rows]) / np.hypot(1.0 - fade, fade)
    fade = (np.arange(columns) * grid.cell + first) / (columns * grid.cell)
    faded: Layer = ((1.0 - fade) * noise[:, columns:] + fade * noise[:, :columns]) / np.hypot(1.0 - fade, fade)
    return faded
