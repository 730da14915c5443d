"""Snapshots made with NumPy alone, for pictures whose content is known."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.model.ledger import Ledger
from app.model.materials import Material, Materials, Stratum, load_materials, strata_steps
from app.model.plants import Flora, FloraParameters, flora_of
from app.model.runoff import Runoff
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from kernels.neighbours import COLUMN_STEPS, ROW_STEPS
from kernels.noise import fractal_noise

_numbers = itertools.count(1000)


def snapshot(
    bedrock: ArrayLike,
    sediment: ArrayLike = 0.0,
    *,
    cell_size: float = 10.0,
    world: int | None = None,
    cycle: int = 0,
) -> Snapshot:
    """A snapshot of these layers; without a number, of a world of its own."""
    rock = np.ascontiguousarray(bedrock, np.float32)
    loose = np.ascontiguousarray(np.broadcast_to(np.asarray(sediment, np.float32), rock.shape))
    ground = rock + loose
    return Snapshot(
        world=next(_numbers) if world is None else world,
        layers={"bedrock": rock, "sediment": loose},
        versions=dict.fromkeys(("bedrock", "sediment"), cycle),
        cell_size=cell_size,
        seed=0,
        cycle=cycle,
        lowest=float(ground.min()),
        highest=float(ground.max()),
        sea_level=-math.inf,
        ledger=Ledger(),
        imbalance=0.0,
    )


@cache
def way(direction: tuple[float, float]) -> float:
    """1 + the number of the neighbour that lies in a direction (east, south), 0 for none."""
    steps = np.stack([COLUMN_STEPS, ROW_STEPS], axis=1) / np.hypot(COLUMN_STEPS, ROW_STEPS)[:, None]
    return 1.0 + int(np.argmax(steps @ np.array(direction))) if any(direction) else 0.0


def with_rivers(dry: Snapshot, rain: float) -> Snapshot:
    """The same land with each hollow filled to its brim, and what `rain` millimetres a year make run over it.

    From the edges inwards, each cell drains to the one from which it was reached (Barnes, Lehman, Mulla 2014).
    """
    ground = (dry.layers["bedrock"] + dry.layers["sediment"]).astype(np.float64)
    level, reached = ground.copy(), np.zeros(ground.shape, bool)
    reached[[0, -1], :] = reached[:, [0, -1]] = True
    queue = [(ground[cell], *cell, *cell) for cell in map(tuple, np.argwhere(reached))]
    heapq.heapify(queue)
    order = []
    while queue:
        height, row, column, to_row, to_column = heapq.heappop(queue)
        order.append((row, column, to_row, to_column))
        for neighbour in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= neighbour[0] < ground.shape[0] and 0 <= neighbour[1] < ground.shape[1] and not reached[neighbour]:
                reached[neighbour] = True
                level[neighbour] = max(height, ground[neighbour])
                heapq.heappush(queue, (level[neighbour], *neighbour, row, column))
    discharge = np.full(ground.shape, Runoff(precipitation=rain, least_cells=1.0).discharge(dry.cell_size**2))
    ways = np.zeros(ground.shape)
    for row, column, to_row, to_column in reversed(order):
        ways[row, column] = way((to_column - column, to_row - row))
        if (row, column) != (to_row, to_column):
            discharge[to_row, to_column] += discharge[row, column]
    made = {"water_level": level, "water": level - ground, SURVEYED_FLOW: discharge, SURVEYED_WAY: ways}
    layers = {**dry.layers, **{name: layer.astype(np.float32) for name, layer in made.items()}}
    return replace(dry, layers=layers, versions=dict.fromkeys(layers, dry.cycle))


def flat(rows: int, columns: int, height: float = 0.0) -> NDArray[np.float32]:
    return np.full((rows, columns), height, np.float32)


def plane(rows: int, columns: int, east: float, south: float) -> NDArray[np.float64]:
    """Ground that rises by `east` and `south` metres for each cell."""
    row, column = np.mgrid[:rows, :columns]
    return column * east + row * south


def bumps(rows: int, columns: int, *, seed: int = 1, height: float = 1.0) -> NDArray[np.float64]:
    """Rough ground: noise from cell to cell, in [0, height]."""
    return np.random.default_rng(seed).random((rows, columns)) * height


@cache
def hills(rows: int, columns: int, *, seed: int = 3, roughness: float = 1.9) -> NDArray[np.float64]:
    """Hills in [0, 1]: noise whose power falls with frequency."""
    generator = np.random.default_rng(seed)
    side = 2 * max(rows, columns)
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(side), np.fft.rfftfreq(side), indexing="ij"))
    frequency[0, 0] = 1.0
    spectrum = np.fft.rfft2(generator.standard_normal((side, side))) * frequency**-roughness
    spectrum[0, 0] = 0.0
    height = np.fft.irfft2(spectrum, s=(side, side))[:rows, :columns]
    return (height - height.min()) / np.ptp(height)


def pyramid(rows: int, columns: int, row: int, column: int, height: float, half_width: int) -> NDArray[np.float64]:
    """A pyramid with its top in the middle of a cell, on flat ground."""
    away = np.maximum(*np.abs(np.mgrid[:rows, :columns] - np.array([row, column])[:, None, None]))
    return height * np.maximum(1.0 - away / half_width, 0.0)


def drowned(shown: Snapshot, sea_level: float) -> Snapshot:
    """The same land with the sea over all that lies below its level."""
    ground = shown.layers["bedrock"] + shown.layers["sediment"]
    return with_water(shown, np.maximum(ground, np.float32(sea_level)), sea_level)


def with_water(shown: Snapshot, water_level: ArrayLike, sea_level: float = -math.inf) -> Snapshot:
    """The same land with water up to this level."""
    ground = shown.layers["bedrock"] + shown.layers["sediment"]
    level = np.ascontiguousarray(np.broadcast_to(np.asarray(water_level, np.float32), ground.shape))
    layers = {**shown.layers, "water": level - ground, "water_level": level}
    versions = {**shown.versions, "water": shown.cycle, "water_level": shown.cycle}
    return replace(shown, layers=layers, versions=versions, sea_level=sea_level)


def island(rows: int, columns: int, *, seed: int = 1, relief: float = 200.0) -> NDArray[np.float64]:
    """Noise under a cone; its coast is at 0, and about a fifth of the map is land."""
    row, column = np.mgrid[:rows, :columns]
    away = np.hypot(2.0 * (row + 0.5) / rows - 1.0, 2.0 * (column + 0.5) / columns - 1.0)
    cone = 0.5 + 0.5 * np.cos(np.pi * np.minimum(away, 1.0))
    noise = fractal_noise(rows, columns, seed, wavelength_cells=min(rows, columns) / 4.0, octaves=7)
    return relief * (cone * (0.3 + 0.9 * noise) - 0.35)


def with_layers(shown: Snapshot, **layers: ArrayLike) -> Snapshot:
    """The same land with these layers too."""
    made = {
        name: np.ascontiguousarray(np.broadcast_to(np.asarray(layer, np.float32), shown.shape))
        for name, layer in layers.items()
    }
    versions = {**shown.versions, **dict.fromkeys(made, shown.cycle)}
    return replace(shown, world=next(_numbers), layers={**shown.layers, **made}, versions=versions)


def rock(name: str, colour: str, *, porosity: float = 0.0) -> Material:
    """A solid material; one of no porosity shows no beds."""
    return Material(
        name=name, title=name.title(), colour=colour, solid=True, erodibility=0.5, abrasion=0.5, porosity=porosity,
        steepest=60.0, worn="sand", broken="gravel",
    )  # fmt: skip


@cache
def materials(*strata: tuple[str, float], repeat: bool = False, intrusion: str = "") -> Materials:
    """The shipped loose materials, on rocks in strata: names of shipped materials, or colours, with their thickness.

    The rock of an `intrusion` is named alike.
    """
    known = load_materials()
    names = [name for name in (intrusion, *(name for name, _ in strata)) if name]
    rocks = {name: known.get(name) or rock(name, name) for name in names}
    stack = tuple(Stratum(*stratum) for stratum in strata)
    steps, metres_per_step = strata_steps(stack, tuple(rocks), repeat=repeat)
    loose = tuple(material for material in known.values() if material.loose)
    return Materials(loose, tuple(rocks.values()), steps, metres_per_step, bool(intrusion))


def with_materials(shown: Snapshot, made_of: Materials, kinds: ArrayLike = 0.0, rise: ArrayLike = 0.0) -> Snapshot:
    """The same land of several materials. `kinds` is as kernels.materials.commonest_kinds has it."""
    return replace(with_layers(shown, loose_kinds=kinds, strata_rise=rise), materials=made_of)


@cache
def kinds_of_each_shape() -> Flora:
    """The usual kinds of trees and two more, in the order of the shapes."""
    return flora_of(FloraParameters(trees="conifer; broadleaf; poplar; shrub"))


def planted(shown: Snapshot, trees: ArrayLike, version: int = 1) -> Snapshot:
    """The same land with these trees: rows of row, column, kind, size, and perhaps health; 1 is best."""
    given = np.atleast_2d(np.asarray(trees, np.float32))
    health = given[:, 4:5] if given.shape[1] > 4 else np.ones((len(given), 1))
    columns = [given[:, :4], np.zeros((len(given), 1)), health]
    of_kinds = np.concatenate(columns, axis=1).astype(np.float32)
    return replace(shown, trees=of_kinds, trees_version=version, flora=kinds_of_each_shape())


def wooded(shown: Snapshot, number: int, *, seed: int = 4) -> Snapshot:
    """The same land with woods in patches: broadleaves low down, conifers above them, none high up or where steep."""
    generator = np.random.default_rng(seed)
    rows, columns = shown.shape
    ground = (shown.layers["bedrock"] + shown.layers["sediment"]).astype(np.float64)
    height = (ground - ground.min()) / np.ptp(ground)
    south, east = np.gradient(ground / shown.cell_size)
    density = np.clip(6.0 * hills(rows, columns, seed=31, roughness=1.6) - 2.5, 0.02, 1.0)
    density *= (np.hypot(south, east) < 0.75) & (height < 0.75)
    cell = generator.choice(rows * columns, number, p=(density / density.sum()).ravel())
    place = np.column_stack([cell // columns, cell % columns]) + generator.random((number, 2))
    broad = generator.random(number) > np.clip(3.0 * height.ravel()[cell] - 0.6, 0.03, 0.97)
    size = np.clip(generator.beta(3.0, 1.6, number), 0.05, 1.0)
    health = np.where(generator.random(number) < 0.04, 0.3, 0.95)
    return planted(shown, np.column_stack([place, broad, size, health]))
