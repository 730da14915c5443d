"""Isostasy: the crust sinks under what is laid on it, and rises where something is taken away."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np

from app.model.geology_parameters import outlets_of
from app.model.layered_map import Layer
from app.model.layers import LARGEST_SUM, LAYERS, STRATA, LayerDeclaration
from app.model.parameters import Parameters, described, parameter
from app.model.plants import ROOTED_GROUND
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.geology import Geology
from app.processes.process import register
from app.processes.sideways import CRUST_LOAD, WITH_ROCK

ISOSTASY = "isostasy"
ROCK, WATER = 2700.0, 1000.0  # kg/m³
ROSE, SANK = "rose by isostasy", "sank by isostasy"


class IsostasyParameters(Parameters, frozen=True, kw_only=True):
    """Isostasy: an elastic plate on the mantle (Turcotte, Schubert 2014), which follows slowly (Le Meur 1996)."""

    title: ClassVar[str] = "Isostasy"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("the crust sinks under rock, water and ice that come, and rises where they go"
        )] = False
    years_per_cycle: Annotated[float, parameter(0.01, 1e6, "time that passes in a cycle for the mantle", unit="years",
        log=True, essential=True)] = 10_000.0
    every: Annotated[int, parameter(1, 1000, "interval of its steps", unit="cycles", log=True)] = 1
    elastic_thickness: Annotated[float, parameter(0.0, 100_000.0,
        "thickness of the plate that bends: the thicker, the wider it sinks; 0: each place floats for itself", unit="m",
        log=True, least=10.0, essential=True)] = 10_000.0
    response_time: Annotated[float, parameter(0.0, 100_000.0,
        "time in which two thirds of the way to balance are made; 0: all at once", unit="years", log=True,
        least=1.0)] = 3000.0
    mantle_density: Annotated[float, parameter(2900.0, 4000.0, "density of the mantle", unit="kg/m³")] = 3300.0
    sediment_density: Annotated[float, parameter(1000.0, 2900.0, "density of loose material; rock has 2700",
        unit="kg/m³")] = 2000.0
    # fmt: on


@register
class Isostasy:
    """Lets the crust follow its load, one cycle at a time. It is balanced under the load that it begins with."""

    name: ClassVar[str] = ISOSTASY
    after: ClassVar[str] = "stratigraphy"  # which takes all that sinks for rock that was worn
    parameters: ClassVar[type[Parameters]] = IsostasyParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", STRATA, ROOTED_GROUND, ISOSTASY, CRUST_LOAD)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration(ISOSTASY, "how far the crust has risen by isostasy", "m", np.float64, signed=True,
            seen="in overlays"),
        LayerDeclaration(
            CRUST_LOAD, "load under which the crust is in balance, as a height of rock", "m", np.float64, signed=True,
            largest=LARGEST_SUM, seen="never",
        ),
    )  # fmt: skip

    def prepare(self) -> None:
        """Nothing: it has no kernels to compile."""

    def step(self, world: World, parameters: IsostasyParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the years since the last step, if a step is due."""
        from kernels import flexure

        if (world.cycle + 1) % parameters.every:
            return ()
        load = _load(world, parameters, cycle.edges.sea)
        if CRUST_LOAD not in world.layers:
            world.trace(ISOSTASY)
            world.trace(CRUST_LOAD)[...] = load
            return ISOSTASY, CRUST_LOAD
        balanced = world.layers[CRUST_LOAD]
        years = parameters.years_per_cycle * parameters.every
        part = -math.expm1(-years / parameters.response_time) if parameters.response_time else 1.0
        more = _still_to_follow(load, balanced, part)
        rise = flexure.deflection(
            more, world.cell_size, parameters.elastic_thickness, parameters.mantle_density, weight=ROCK
        )
        np.negative(rise, out=rise)
        if Geology.name in cycle.running and cycle.edges.water != "wall":
            rise[outlets_of(world.ground, walls=False)] = 0.0  # the base level is that of what lies beyond
        _follow(world, rise, more)
        volume = float(rise.sum()) * world.cell_area
        rock = world.ledger.rock
        if volume > 0.0:
            rock.gain(ROSE, volume)
        elif volume < 0.0:
            rock.lose(SANK, -volume)
        return tuple(name for name in self.changes if name in world.layers)

    def fade(self, world: World, parameters: IsostasyParameters) -> bool:
        """Forget the load: when this process is switched on again, it begins anew."""
        if CRUST_LOAD in world.layers:
            world.forget(ISOSTASY, CRUST_LOAD)
        return False


def _still_to_follow(load: Layer, balanced: Layer, part: float) -> Layer:
    """The part of a load that is not yet balanced. Overwrites `load`, as maps of loads take much memory."""
    from kernels.blocks import for_blocks

    def find(rows: slice) -> None:
        load[rows] -= balanced[rows]
        load[rows] *= part

    for_blocks(find, *load.shape)
    return load


def _follow(world: World, rise: Layer, more: Layer) -> None:
    """Raise the rock and all that is in it; `rise` becomes by how much the numbers of the rock tell."""
    from kernels.blocks import for_blocks

    balanced = world.layers[CRUST_LOAD]

    def follow(rows: slice) -> None:
        own, rock = rise[rows], world.bedrock[rows].copy()
        for name in WITH_ROCK:
            if name in world.layers:
                layer = world.layers[name][rows]
                layer += own.astype(layer.dtype, copy=False)
        world.sum_ground(rows)
        more[rows] += own
        balanced[rows] += more[rows]
        world.layers[ISOSTASY][rows] += own
        np.subtract(world.bedrock[rows], rock, out=own)

    for_blocks(follow, *world.shape)


def _load(world: World, parameters: IsostasyParameters, sea_level: float) -> Layer:
    """All that lies on the crust, as metres of rock, [row, column]."""
    from kernels.blocks import for_blocks

    parts = []
    # In the order of declarations: those of a world that was opened come in another. Loose kinds are the sediment.
    for name, declaration in LAYERS.items():
        if name not in world.layers or not declaration.account or name == "bedrock":
            continue
        density = parameters.sediment_density if declaration.account == "sediment" else WATER
        parts.append((declaration.content * density / ROCK, world.layers[name]))
    load = np.empty(world.shape)

    def sum_up(rows: slice) -> None:
        own = load[rows]
        own[...] = world.bedrock[rows]
        for heavy, layer in parts:
            own += heavy * layer[rows]
        if math.isfinite(sea_level):
            own += (WATER / ROCK) * np.maximum(sea_level - world.ground[rows], 0.0)

    for_blocks(sum_up, *world.shape)
    return load
