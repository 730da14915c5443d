"""Parameters at pairs of extremes: which are tried together, and what must hold whatever they are."""

from __future__ import annotations

from pathlib import Path

from app.engine.creation import create_world
from app.engine.simulator import SimulationError, Simulator
from app.files import checkpoint
from app.model.climate import ClimateParameters
from app.model.layers import LARGEST_HEIGHT
from app.model.ledger import LARGEST_IMBALANCE
from app.model.parameters import Declaration, Value
from app.model.world import World
from app.processes import PROCESSES
from app.scene.scene import DECLARATIONS, Scene, scene_content
from tests.nets.pairwise import covering_rows

PROCESS_NAMES = tuple(process.name for process in PROCESSES)
CLIMATE = tuple(path for path in DECLARATIONS if path.startswith("climate."))
assert len(CLIMATE) == len(ClimateParameters.__struct_fields__)


def values_of(declaration: Declaration) -> tuple[Value, ...]:
    """The lowest, the usual and the highest value of a parameter; all of a choice; of a text the usual one."""
    if declaration.choices:
        return tuple(declaration.choices)
    if declaration.kind is bool:
        return False, True
    if declaration.kind is str:
        return (declaration.default,)
    return tuple(
        dict.fromkeys(declaration.kind(value) for value in (declaration.low, declaration.default, declaration.high))
    )


def rows_of(*groups: str) -> list[dict[str, Value]]:
    """Values of all parameters of some processes and of the climate, in which each pair of extremes is once."""
    factors = {
        path: values_of(declaration)
        for path, declaration in DECLARATIONS.items()
        if path.partition(".")[0] in (*groups, "climate") and not path.endswith(".enabled")
    }
    return covering_rows(factors)


def more_blows_in_than_there_is_room_for(scene: Scene) -> bool:
    """Whether wind brings so much that it could heap up higher than any ground may be, on one cell.

    What blows in is limited by nothing on the map. Such a scene may stop, in a cycle that is told as one whose layer is
    beyond its bounds; all else must go on.
    """
    parcels = scene.wind.count * (1.0 + scene.wind.storm_parcels) * scene.wind.enabled
    return parcels * scene.wind.inflow > LARGEST_HEIGHT


def try_out(scene: Scene, cycles: int, folder: Path) -> str:
    """Run some cycles, save, open. What is wrong then, empty where all is well."""
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    try:
        for _ in range(cycles):
            simulator.run_cycle()
            simulator.verify()
    except SimulationError as error:
        if not (more_blows_in_than_there_is_room_for(scene) and " may be from " in str(error)):
            return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not world.imbalance() <= LARGEST_IMBALANCE:
        return f"imbalance {world.imbalance():.1e}"
    path = folder / "world.npz"
    checkpoint.save(path, world, scene)
    opened, opened_scene = checkpoint.load(path)
    if scene_content(opened_scene) != scene_content(scene):
        return "another scene was opened"
    if state_bits(opened) != state_bits(world):
        return "another world was opened"
    return ""


def state_bits(world: World) -> dict[str, object]:
    """What of a world is neither derived nor given again by its file's name, such that one bit makes a difference."""
    state = world.state()
    state["layers"] = {name: layer.tobytes() for name, layer in state["layers"].items()}
    del state["changed"], state["trees_version"]
    points = {"trees": world.trees.tobytes(), "centrelines": world.centrelines.tobytes()}
    return state | points | {"seed": world.seed, "cell_size": world.cell_size}
