"""A simulation without a picture, from a scene to a saved world."""

from __future__ import annotations

from pathlib import Path

from tqdm import tqdm

from app import checkpoint
from app.files import write_atomically
from app.scene import Scene
from app.simulation import Simulator
from app.sources import create_world
from app.world import World


def simulate(scene: Scene, path: Path, *, cycles: int, threads: int | None = None) -> None:
    """Run `cycles` cycles of a scene, save the world to `path` and print its ledger."""
    # The file is opened first, so that nothing is computed for a place that cannot be written.
    with write_atomically(path) as file:
        world, scene = create_world(scene)
        simulator = Simulator(scene, world, threads)
        simulator.compile_missing()
        for _ in tqdm(range(cycles), desc="simulating", unit="cycle", mininterval=0.2):
            simulator.advance()
        simulator.verify()
        checkpoint.write(file, world, simulator.scene)
    rows, columns = world.shape
    print(f"{path}: {columns}×{rows} cells of {world.cell_size:g} m after cycle {world.cycle}")
    print(ledger_text(world))


def ledger_text(world: World) -> str:
    """What came in and went out of each substance, in cubic metres, and how well it adds up."""
    lines = []
    for substance, account in world.ledger.accounts().items():
        stored = world.stored(substance)
        entries = [("at the start", account.initial)]
        entries += [(cause, volume) for cause, volume in account.gained.items()]
        entries += [(cause, -volume) for cause, volume in account.lost.items()]
        entries += [("in the world now", stored), ("unaccounted for", stored - account.expected())]
        lines += [f"{substance}, m³", *(f"  {cause:<20} {volume:>+20.6g}" for cause, volume in entries)]
    return "\n".join([*lines, f"imbalance: {world.imbalance():.1e} of all that there was"])
