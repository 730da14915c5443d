"""Refining: a world in finer cells that continues as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.engine.memory import check_memory
from app.model.errors import UserError
from app.model.layers import ARM_CODES, BURIED, LAYERS, LOOSE, ROOF, STRATA, layer_declaration
from app.model.materials import is_intruded
from app.model.plants import ROOTED_GROUND
from app.model.world import LARGEST_SIDE, SMALLEST_CELL, World
from app.processes.sideways import CRUST_LOAD
from app.scene.edits import REFINEMENTS
from kernels.rock import INTRUDED

if TYPE_CHECKING:
    from app.scene.scene import Scene

# Traces in units of cells grow by this power of the refinement, so that the flow stays the same.
IN_CELLS = {"discharge": 2, "momentum_south": 3, "momentum_east": 3}

# Layers of marks, which are not interpolated
MARKS = ("mobility", ARM_CODES)
CARVED, FILLED = "carved where it was refined", "filled where it was refined"


def check_refinement(scenes: Sequence[Scene], rows: int, columns: int, *, shown: bool = False) -> None:
    """Raise `UserError` if the refined worlds would exceed the largest map or the free memory."""
    if max(rows, columns) > LARGEST_SIDE:
        raise UserError(f"{columns}×{rows} cells are too many: a side may have up to {LARGEST_SIDE}")
    check_memory(scenes, rows, columns, shown=shown)


def why_not_refined(scenes: Sequence[Scene], rows: int, columns: int) -> str:
    """Why shown worlds cannot be refined, in one line; empty if they can."""
    try:
        check_refinement(scenes, rows, columns, shown=True)
    except UserError as error:
        return str(error)
    return ""


def refined(world: World, times: int, *, channels: bool) -> World:
    """The same world in cells `times` as fine: as much of each substance in each old cell, and the same land.

    What the ground is changed by beside that, so that water finds its way as before, is rock, and stands in the ledger;
    see `kernels.refining`. `channels`: with channels where water runs. Traces lie smoothly between the old cells; trees
    stand where they stood. The levels of lakes are still to be derived. Raises `UserError`.
    """
    from kernels.refining import refine_ground, repeated, smooth, within

    if times not in REFINEMENTS:
        raise UserError(f"refine = {times}: must be {' or '.join(map(str, REFINEMENTS))}")
    if world.cell_size / times < SMALLEST_CELL:
        raise UserError(f"cells of {world.cell_size / times:g} m are too small; at least {SMALLEST_CELL:g} m are right")
    ground = refine_ground(world.ground, world.cell_size, world.sea_level, times, channels=channels)
    sediment, water = within(world.sediment, times), within(world.water, times)
    fine = World(
        ground.ground - sediment,
        np.zeros_like(sediment) if world.materials is not None else sediment,
        world.cell_size / times,
        world.seed,
        water,
        world.reference_cell_size,
    )
    for name, layer in world.layers.items():
        if not (layer_declaration(name).always or name.startswith(LOOSE) or name == BURIED):
            fine.trace(name)[...] = _trace(name, layer, world, fine, times)
    if world.materials is not None:
        fine.restore_materials(world.materials, _kinds(world, sediment, times))
        if world.beds is not None:
            fine.beds, left = world.beds.refined(times)
            fine.mix += left
            fine.trace(BURIED)[...] = fine.beds.sum()
        fine.sum_mix()
        # Sediment is the exact sum of the kinds; rock takes the rounding error.
        fine.bedrock[...] = ground.ground - fine.sediment
        fine.sum_ground()
    if fine.burden is not None:
        fine.bedrock[...] -= fine.burden
        fine.sum_ground()
    if CRUST_LOAD in world.layers:  # with the new rock, which is no load that has come
        fine.layers[CRUST_LOAD][...] = fine.bedrock + smooth(world.layers[CRUST_LOAD] - world.bedrock, times)
    fine.flora, fine.origin = world.flora, world.origin and world.origin.refined(times)
    fine.trees = world.trees.copy()
    fine.trees[:, :2] *= np.float32(times)
    fine.centrelines = world.centrelines.copy()  # in metres
    fine.standing, fine.sea_level, fine.walls = repeated(world.standing, times), world.sea_level, world.walls
    fine.water_level = fine.ground + fine.water
    fine.cycle, fine.touches, fine.snowballs = world.cycle, world.touches, world.snowballs * times**2
    fine.years, fine.years_to_come, fine.way_to_come = world.years, world.years_to_come, world.way_to_come
    fine.has_past, fine.cycles_before = world.has_past, world.cycles_before
    fine.water_version, fine.wind_field_direction = world.water_version + 1, world.wind_field_direction
    fine.rain_wind, fine.swell_direction = world.rain_wind, world.swell_direction
    fine.ledger = world.ledger_copy()
    fine.ledger.rock.lose(CARVED, float(ground.carved.sum()) * fine.cell_area)
    fine.ledger.rock.gain(FILLED, float(ground.filled.sum()) * fine.cell_area)
    fine.touched(*fine.changed)
    fine.trees_version = fine.version
    return fine


def _trace(name: str, layer: NDArray[Any], world: World, fine: World, times: int) -> NDArray[Any]:
    """A trace in the finer cells, within its bounds."""
    from kernels.refining import repeated, smooth, within

    if name in MARKS:
        return repeated(layer, times)
    if name == ROOTED_GROUND:  # the change since, relative to the current ground
        return fine.ground + smooth(layer - world.ground, times)
    if name in (STRATA, ROOF):
        intruded = np.where(is_intruded(layer), INTRUDED, 0.0)
        return np.asarray(smooth(layer - intruded, times) + repeated(intruded, times))
    bounds = LAYERS[name].bounds
    return np.clip(within(layer, times, *bounds) * float(times ** IN_CELLS.get(name, 0)), *bounds)


def _kinds(world: World, sediment: NDArray[np.float64], times: int) -> dict[str, NDArray[np.float64]]:
    """The thickness of each loose material in the finer cells: mixed as in the coarse cell."""
    from kernels.refining import repeated

    assert world.materials is not None
    there = world.sediment > 0.0
    parts = {
        name: np.divide(world.layers[LOOSE + name], world.sediment, out=np.zeros(world.shape), where=there)
        for name in world.materials.names
    }
    return {LOOSE + name: sediment * repeated(part, times) for name, part in parts.items()}
