"""The shapes of trees as tables of vertices, built once. A tree is 1 high and stands on the origin, y upwards."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.plants import SHAPES

CONIFER, BROADLEAF, COLUMNAR, SHRUB = range(len(SHAPES))

# Half the width of a crown and the height at which it begins, relative to the tree's height; numbers of the shapes.
CROWN_RADIUS = (0.23, 0.41, 0.155, 0.62)
CROWN_BASE = (0.07, 0.15, 0.05, 0.0)

# Area of a crown that hides the ground from afar, relative to the square of the tree's height: its area from above,
# corrected for crowns that are higher or lower than crowns.glsl assumes.
CROWN_AREA = tuple(
    fullness * math.pi * radius**2 for fullness, radius in zip((1.0, 1.0, 1.36, 0.8), CROWN_RADIUS, strict=True)
)

SUNK = 0.08  # depth of a trunk in the ground, as a fraction of its height, so that it never floats on a slope
GRASS = 0.75  # instead of leaves: blades, lit as the ground is
ATTRIBUTES = ("3f 3f 1f 1f 2f", "place", "outward", "open", "leaves", "spray")  # of a vertex, see trees.vert


class Crown(NamedTuple):
    """An ellipsoid: the centre and semi-axes of a crown."""

    middle: NDArray[np.float64]
    extent: NDArray[np.float64]


OF_BROADLEAF = (
    Crown(np.array([0.0, 0.57, 0.0]), np.array([0.40, 0.42, 0.40])),
    Crown(np.array([0.0, 0.55, 0.0]), np.array([0.44, 0.40, 0.44])),
    Crown(np.array([0.0, 0.57, 0.0]), np.array([0.34, 0.43, 0.34])),
)
OF_COLUMNAR = Crown(np.array([0.0, 0.52, 0.0]), np.array([0.125, 0.45, 0.125]))
OF_SHRUB = Crown(np.array([0.0, 0.46, 0.0]), np.array([0.58, 0.46, 0.58]))


LEAVES_TILT = 0.6  # how far leaves of a spray face as it does, and not away from the middle of their bough
WITHIN = 0.64  # size of the dark lump in the leaves of a bough
SHEATH = 0.80  # width of the cones of a conifer that its boughs stand out of
BOUGH = np.array([1.22, 0.74, 1.22])  # it is wider than high, with gaps to those above and below it
# Boughs of broadleaves at some distance: where around the stem, how far from the middle and how high, in half widths of
# crowns; their sizes. No crown is even: light comes to one side of it, and storms take boughs of another.
LUMPS = (
    (
        (0.2, 0.16, 0.58, 0.20),
        (1.1, 0.56, 0.14, 0.17),
        (2.7, 0.60, -0.16, 0.15),
        (3.8, 0.50, -0.44, 0.17),
        (5.1, 0.66, 0.06, 0.13),
        (5.9, 0.48, -0.62, 0.13),
    ),
    (
        (0.3, 0.44, 0.40, 0.19),
        (1.2, 0.66, 0.02, 0.14),
        (3.2, 0.50, 0.22, 0.19),
        (4.3, 0.68, -0.24, 0.13),
        (2.4, 0.42, -0.62, 0.13),
        (5.5, 0.58, -0.20, 0.15),
    ),
    (
        (0.0, 0.10, 0.78, 0.13),
        (1.6, 0.46, 0.36, 0.14),
        (3.4, 0.54, 0.06, 0.16),
        (5.0, 0.48, -0.20, 0.15),
        (2.3, 0.46, -0.64, 0.14),
        (4.3, 0.40, 0.46, 0.12),
    ),
)


class Shape(NamedTuple):
    """Triangles of a tree."""

    # [vertex, (place, outward, open sky from 0 to 1, leaves 1, GRASS or wood 0, in a spray)]
    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint32]  # [triangle, corner]


def near_conifer(form: int) -> Shape:
    """Tiers of branches. Forms: a spire, a tree in the open, and a sparse one."""
    tiers, points, width = ((10, 8, 0.88), (9, 9, 1.08), (8, 7, 0.98))[form]
    return _conifer(tiers, points, 5, width, 90, np.random.default_rng(3 + form), sparse=form == 2)


def middle_conifer(form: int) -> Shape:
    tiers, width = ((4, 0.90), (4, 1.08), (3, 0.98))[form]
    return _conifer(tiers, 4, 3, width, 34, np.random.default_rng(3 + form), sparse=form == 2)


def near_broadleaf(form: int) -> Shape:
    """The boughs of the same tree farther away, each of two parts, covered with sprays of leaves, on limbs."""
    generator = np.random.default_rng(5 + 12 * form)
    crown = OF_BROADLEAF[form]
    lumps, limbs = [], []
    for middle, size in _boughs_of_broadleaf(form):
        aside = generator.normal(size=3) * (1.0, 0.5, 1.0)
        beside = (middle + 0.75 * size * aside / np.linalg.norm(aside)) * (0.92, 1.0, 0.92)
        lumps += [(middle, 0.92 * size), (beside, size * generator.uniform(0.55, 0.75))]
        limbs.append(_branch((0.0, 0.24, 0.0), middle, 0.018))
    bodies = [_lump(crown, middle, 0.85 * WITHIN * size, generator) for middle, size in lumps]
    sprays = [_sprays(Crown(middle, size * BOUGH), 9, 0.085, generator, of=crown) for middle, size in lumps]
    return _joined([_trunk(6, 0.036, 0.45), *limbs[:5], *bodies, *sprays])


def middle_broadleaf(form: int) -> Shape:
    """Boughs of different sizes on limbs that are seen between them, with sprays that hide their corners."""
    generator = np.random.default_rng(8 + 5 * form)
    crown, lumps = OF_BROADLEAF[form], _boughs_of_broadleaf(form)
    bodies = [_lump(crown, middle, WITHIN * size, generator, uneven=0.35) for middle, size in lumps]
    sprays = [_sprays(Crown(middle, size * BOUGH), 7, 0.105, generator, of=crown) for middle, size in lumps]
    limb = _branch((0.0, 0.22, 0.0), lumps[1][0], 0.020)
    return _joined([_trunk(3, 0.036, 0.40), limb, *bodies, *sprays])


def _boughs_of_broadleaf(form: int) -> list[tuple[NDArray[np.float64], float]]:
    """Their middles and sizes."""
    crown = OF_BROADLEAF[form]
    return [
        (crown.middle + crown.extent * np.array([away * math.cos(angle), height, away * math.sin(angle)]), size)
        for angle, away, height, size in LUMPS[form]
    ]


def near_columnar(form: int) -> Shape:
    """Steep boughs around a stem. Forms: a spire, a wider tree with gaps, and one with two tops."""
    generator = np.random.default_rng(11 + 3 * form)
    boughs = _steep_boughs(form, 12, generator)
    bodies = [_lump(OF_COLUMNAR, middle, WITHIN * size, generator, 2.6, uneven=0.3) for middle, size in boughs]
    sprays = [
        _sprays(Crown(middle, size * np.array([0.9, 2.6, 0.9])), 10, 0.040, generator, of=OF_COLUMNAR)
        for middle, size in boughs
    ]
    return _joined([_trunk(6, 0.024, 0.62), *bodies, *sprays])


def middle_columnar(form: int) -> Shape:
    generator = np.random.default_rng(8 + form)
    boughs = _steep_boughs(form, 5, generator)
    bodies = [_lump(OF_COLUMNAR, middle, 0.8 * size, generator, 2.8, uneven=0.35) for middle, size in boughs]
    sprays = [
        _sprays(Crown(middle, size * np.array([0.9, 2.4, 0.9])), 7, 0.050, generator, of=OF_COLUMNAR)
        for middle, size in boughs
    ]
    return _joined([_trunk(3, 0.026, 0.40), *bodies, *sprays])


def _steep_boughs(form: int, number: int, generator: np.random.Generator) -> list[tuple[NDArray[np.float64], float]]:
    """The middles and sizes of boughs, from the lowest on, around one stem or two."""
    wide, widest = ((0.095, 0.30), (0.118, 0.42), (0.110, 0.50))[form]
    boughs = []
    for k in range(number):
        part = (k + 0.5) / number
        high = 0.11 + 0.80 * part
        narrow = min(high / widest, 1.0) ** 0.5 * min((1.04 - high) / (1.0 - widest), 1.0) ** 0.8
        second = form == 2 and k % 2 == 1
        stem = 0.075 * part * (1.0 if second else -0.6) if form == 2 else 0.0
        angle, away = 2.4 * k + generator.uniform(-0.5, 0.5), 0.62 * wide * narrow * generator.uniform(0.5, 1.2)
        middle = np.array([away * math.cos(angle) + stem, high * (0.86 if second else 1.0), away * math.sin(angle)])
        boughs.append((middle, wide * narrow * generator.uniform(0.62, 1.0) * (1.0 if number > 8 else 1.1)))
    return boughs


def near_shrub(form: int) -> Shape:
    """Lumps around a low central one, down to the ground; the stems are hidden."""
    generator = np.random.default_rng(17 + form)
    lumps = [(np.array([0.0, 0.50, 0.0]), 0.42)]
    for k in range(4 + form):
        angle = 2.0 * math.pi * (k + 0.3 * generator.uniform(-1.0, 1.0)) / (4.0 + form)
        away, height = 0.33 * generator.uniform(0.85, 1.15), 0.34 + 0.10 * generator.uniform(-1.0, 1.0)
        middle = np.array([away * math.cos(angle), height, away * math.sin(angle)])
        lumps.append((middle, 0.30 * generator.uniform(0.85, 1.1)))
    bodies = [_lump(OF_SHRUB, middle, size, generator) for middle, size in lumps]
    return _joined([*bodies, _sprays(OF_SHRUB, 76, 0.15, generator)])


def middle_shrub(form: int) -> Shape:
    """Uneven lumps down to the ground, with sprays of leaves that hide their corners."""
    generator = np.random.default_rng(8 + form)
    turn = 2.0 * math.pi * generator.uniform()
    parts = []
    for k, (away, height, size) in enumerate(
        ((0.10, 0.46, 0.36), (0.34, 0.28, 0.26), (0.30 + 0.06 * form, 0.34, 0.24))
    ):
        angle = turn + k * (1.7 + 0.4 * form)
        middle = np.array([away * math.cos(angle), height, away * math.sin(angle)])
        parts.append(_lump(OF_SHRUB, middle, size, generator, 0.9, uneven=0.30))
    return _joined([*parts, _sprays(Crown(OF_SHRUB.middle, OF_SHRUB.extent * (1.0, 0.90, 1.0)), 20, 0.19, generator)])


def sapling(form: int) -> Shape:
    """A young tree: leaves from the ground on, around a thin stem."""
    generator = np.random.default_rng(41 + form)
    crown = Crown(np.array([0.0, 0.52, 0.0]), np.array([0.20, 0.46, 0.20]) * (0.8 + 0.25 * form))
    return _joined([_trunk(3, 0.020, 0.6), _sprays(crown, 26, 0.16, generator)])


def tuft(form: int) -> Shape:
    """Blades of grass that bend outwards."""
    return _blades(np.random.default_rng(23 + form), number=12 + 3 * form, width=0.070, spread=0.9, bend=0.75)


def reeds(form: int) -> Shape:
    """Stiff blades, close together."""
    return _blades(np.random.default_rng(29 + form), number=11 + 3 * form, width=0.028, spread=0.65, bend=0.24)


def _blades(generator: np.random.Generator, number: int, width: float, spread: float, bend: float) -> Shape:
    parts = []
    for k in range(number):
        angle = 2.0 * math.pi * (k + generator.uniform(-0.4, 0.4)) / number
        out = np.array([math.cos(angle), 0.0, math.sin(angle)])
        across = np.array([-out[2], 0.0, out[0]]) * width
        tall, away = generator.uniform(0.6, 1.0), 0.35 * spread * generator.uniform(0.1, 1.0)
        foot = out * away - (0.0, 0.05, 0.0)
        middle = foot + tall * (0.30 * bend * out + (0.0, 0.62, 0.0))
        tip = foot + tall * (bend * out + (0.0, 1.0, 0.0))
        places = np.array([foot - across, foot + across, middle - 0.8 * across, middle + 0.8 * across, tip])
        outward = np.tile(0.35 * out + (0.0, 1.0, 0.0), (5, 1))
        sky = np.array([0.08, 0.08, 0.7, 0.7, 1.0])  # blades shade each other's feet
        parts.append(_shape(places, outward, sky, GRASS, np.array([(0, 1, 2), (1, 3, 2), (2, 3, 4)])))
    return _joined(parts)


# The argument is the form, a number below `VARIANTS` of forest.py.
# By number of the shape. Each form is built once.
NEAR = tuple(map(cache, (near_conifer, near_broadleaf, near_columnar, near_shrub)))
MIDDLE = tuple(map(cache, (middle_conifer, middle_broadleaf, middle_columnar, middle_shrub)))


def _conifer(
    tiers: int,
    points: int,
    trunk_sides: int,
    width: float,
    boughs: int,
    generator: np.random.Generator,
    *,
    sparse: bool,
) -> Shape:
    """Tiers of cones with jagged rims, wider and more drooping towards the ground."""
    base, radius = CROWN_BASE[CONIFER], width * CROWN_RADIUS[CONIFER]
    uneven, notch = (0.26, 0.45) if sparse else (0.10, 0.62)
    parts = [_trunk(trunk_sides, 0.028, 0.5)]
    for tier in range(tiers):
        low = base + (1.0 - base) * (tier / tiers) ** 0.92
        high = min(low + 2.0 * (1.0 - base) / tiers, 1.0)
        wide = SHEATH * radius * (1.0 - 0.93 * tier / tiers) * generator.uniform(0.92, 1.08)
        rim = 2 * points
        angles = 2.0 * math.pi * (np.arange(rim) + generator.uniform() + generator.uniform(-0.2, 0.2, rim)) / rim
        tips = np.arange(rim) % 2 == 0
        reach = wide * np.where(tips, 1.0, notch) * generator.uniform(1.0 - uneven, 1.0 + 0.6 * uneven, rim)
        height = low + np.where(tips, -min(0.25 * (high - low), 0.05), 0.10 * (high - low))
        ring = np.column_stack([reach * np.cos(angles), height, reach * np.sin(angles)])
        places = np.vstack([ring, [0.0, high, 0.0]])
        # Normals of a rounded crown: outwards and up, at the top only up.
        outward = places * (1.0, 0.0, 1.0) / wide + (0.0, 0.45, 0.0)
        up = 0.55 + 0.45 * tier / max(tiers - 1, 1)
        sky = np.append(np.where(tips, 1.0, 0.62), 0.45 if tier + 1 < tiers else 1.0) * up
        corners = np.arange(rim)
        triangles = np.column_stack([corners, np.full(rim, rim), np.roll(corners, -1)])
        parts.append(_shape(places, outward, sky, 1.0, triangles))
    return _joined([*parts, _boughs(base, radius, boughs, generator)])


def _boughs(base: float, radius: float, number: int, generator: np.random.Generator) -> Shape:
    """Drooping squares around a stem, from which the shader cuts needles; longest near the ground."""
    parts = []
    for k in range(number):
        part = (k + 0.5) / number
        angle = k * math.pi * (3.0 - math.sqrt(5.0)) + generator.uniform(-0.4, 0.4)
        out = np.array([math.cos(angle), 0.0, math.sin(angle)])
        across = np.array([-math.sin(angle), 0.0, math.cos(angle)])
        reach = radius * (1.0 - 0.92 * part) * generator.uniform(0.85, 1.12)
        low = base + (0.98 - base) * part**0.94
        wide = 0.45 * reach + 0.018
        roll = np.array([0.0, wide * generator.uniform(-0.5, 0.5), 0.0])
        root, tip = 0.15 * reach * out + (0.0, low + 0.35 * reach, 0.0), reach * out + (0.0, low - 0.25 * reach, 0.0)
        side = wide * across + roll
        places = np.array([root - side, root + side, tip + side, tip - side])
        sky = (0.45 + 0.55 * part) * np.array([0.5, 0.5, 1.15, 1.15])
        outward = out + np.array([0.0, 0.6, 0.0]) + np.array([-1, 1, 1, -1])[:, None] * 0.4 * across
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
        parts.append(_shape(places, outward, np.minimum(sky, 1.0), 1.0, np.array([(0, 1, 2), (0, 2, 3)]), corners))
    return _joined(parts)


def _trunk(sides: int, radius: float, height: float) -> Shape:
    angles = 2.0 * math.pi * np.arange(sides) / sides
    around = np.column_stack([np.cos(angles), np.zeros(sides), np.sin(angles)])
    places = np.vstack([1.25 * radius * around - (0.0, SUNK, 0.0), 0.5 * radius * around + (0.0, height, 0.0)])
    low, next_low = np.arange(sides), np.roll(np.arange(sides), -1)
    triangles = np.vstack(
        [np.column_stack([low, low + sides, next_low]), np.column_stack([next_low, low + sides, next_low + sides])]
    )
    return _shape(places, np.vstack([around, around]), np.repeat([0.55, 0.25], sides), 0.0, triangles)


def _lump(
    crown: Crown,
    middle: NDArray[np.float64],
    size: float,
    generator: np.random.Generator,
    flattened: float = 0.85,
    *,
    uneven: float = 0.15,
) -> Shape:
    """A part of a crown: a deformed ball of 20 triangles, whose corners are `uneven` by this part of its radius."""
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    corners = np.array(
        [(0, a, b) for a in (-1, 1) for b in (-golden, golden)]
        + [(a, b, 0) for a in (-1, 1) for b in (-golden, golden)]
        + [(b, 0, a) for a in (-1, 1) for b in (-golden, golden)],
        float,
    )
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    triangles = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if all(corners[a] @ corners[b] > 0.4 for a, b in ((i, j), (j, k), (i, k)))
    ]
    places = middle + size * corners * generator.uniform(1.0 - uneven, 1.0 + uneven, (12, 1)) * (1.0, flattened, 1.0)
    from_middle = (places - crown.middle) / crown.extent
    outward = 0.5 * corners + 0.8 * from_middle
    away = np.linalg.norm(from_middle, axis=1)
    sky = np.clip(0.15 + 0.45 * away + 0.40 * from_middle[:, 1] + 0.25 * corners[:, 1], 0.18, 1.0)
    return _shape(places, outward, sky, 1.0, np.array(triangles))


def _branch(low: tuple[float, float, float], high: NDArray[np.float64], radius: float) -> Shape:
    """A tapered triangular prism."""
    angles = 2.0 * math.pi * np.arange(3) / 3.0
    around = np.column_stack([np.cos(angles), np.zeros(3), np.sin(angles)])
    places = np.vstack([np.array(low) + radius * around, high + 0.4 * radius * around])
    corners, following = np.arange(3), np.roll(np.arange(3), -1)
    triangles = np.vstack(
        [
            np.column_stack([corners, corners + 3, following]),
            np.column_stack([following, corners + 3, following + 3]),
        ]
    )
    return _shape(places, np.vstack([around, around]), np.repeat([0.4, 0.2], 3), 0.0, triangles)


def _sprays(crown: Crown, number: int, size: float, generator: np.random.Generator, of: Crown | None = None) -> Shape:
    """Squares all over a crown, or a part `of` one, facing roughly outwards; the shader cuts leaves out of them."""
    whole = of or crown
    parts = []
    for k in range(number):
        # A golden-angle spiral is even over a ball.
        height = 1.0 - 2.0 * (k + 0.5) / number
        angle = k * math.pi * (3.0 - math.sqrt(5.0))
        outward = np.array([0.0, height, 0.0])
        outward[[0, 2]] = math.sqrt(1.0 - height * height) * np.array([math.cos(angle), math.sin(angle)])
        middle = crown.middle + crown.extent * outward * generator.uniform(0.78, 0.98)
        facing = outward + generator.normal(0.0, 0.45, 3)
        facing /= np.linalg.norm(facing)
        across = np.cross(facing, generator.normal(size=3))
        across /= np.linalg.norm(across)
        along = np.cross(facing, across)
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
        places = middle + size * generator.uniform(0.8, 1.25) * corners @ np.array([across, along])
        from_middle = (places - whole.middle) / whole.extent
        sky = np.clip(0.58 + 0.24 * (from_middle[:, 1] + outward[1]) + generator.uniform(-0.15, 0.20), 0.25, 1.0)
        outwards = np.tile((1.0 - LEAVES_TILT) * outward + LEAVES_TILT * facing, (4, 1)) + 0.3 * from_middle
        parts.append(_shape(places, outwards, sky, 1.0, np.array([(0, 1, 2), (0, 2, 3)]), corners))
    return _joined(parts)


def _shape(
    places: NDArray[np.float64],
    outward: NDArray[np.float64],
    sky: NDArray[np.float64],
    leaves: float,
    triangles: NDArray[np.int64],
    spray: NDArray[np.float64] | None = None,
) -> Shape:
    outward = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    in_spray = np.zeros((len(places), 2)) if spray is None else spray
    vertices = np.column_stack([places, outward, sky, np.full(len(places), leaves), in_spray])
    return Shape(vertices.astype(np.float32), triangles.astype(np.uint32))


def _joined(parts: list[Shape]) -> Shape:
    firsts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    triangles = [part.triangles + np.uint32(first) for part, first in zip(parts, firsts, strict=True)]
    return Shape(np.vstack([part.vertices for part in parts]), np.vstack(triangles))
