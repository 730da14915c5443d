"""Comparison of worlds in figures, without a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.cli.progress import Progress
from app.engine.channels import ChannelWatch
from app.engine.runner import make_worlds
from app.model.errors import UserError
from app.model.snapshot import ChannelFigures
from app.model.world import World
from app.scene.comparison import labels
from app.scene.scene import Scene

LOOKS = 4  # measurements of the channels of each world, after the first


class Result(NamedTuple):
    """A world after its run, and the mean figures of its channels; None if no drops ran."""

    world: World
    channels: ChannelFigures | None


def _of_channels(name: str) -> Callable[[Result], float | None]:
    return lambda result: getattr(result.channels, name) if result.channels else None


def _lost(substance: str, cause: str = "") -> Callable[[Result], float | None]:
    def lost(result: Result) -> float:
        causes = result.world.ledger.accounts()[substance].lost
        return causes.get(cause, 0.0) if cause else sum(causes.values())

    return lost


FIGURES: tuple[tuple[str, Callable[[Result], float | None]], ...] = (
    ("channels, cells", _of_channels("cells")),
    ("their width, cells", _of_channels("width")),
    ("width at a flow of 1", _of_channels("relative_width")),
    ("migration, cells in 1000 cycles", _of_channels("migration")),
    ("wear of banks, m in 1000 cycles", _of_channels("bank_wear")),
    ("rock worn, m³", _lost("rock")),
    ("sediment, m³", lambda result: result.world.stored("sediment")),
    ("sediment off the map, m³", _lost("sediment", "off the map")),
    ("standing water, m³", lambda result: result.world.stored("water")),
    ("mean height, m", lambda result: float(result.world.ground.mean())),
    ("imbalance", lambda result: result.world.imbalance()),
)


def compare(scenes: Sequence[Scene], *, cycles: int, threads: int | None = None) -> None:
    """Run `cycles` cycles of each scene on the same land and print the results, a column per scene."""
    if len(scenes) < 2:
        raise UserError("name two worlds at least, such as: thalweg compare basic --with coupled")
    lockstep = make_worlds(scenes, threads)
    lockstep.compile_missing()
    watches = [ChannelWatch(scene.rivers.channel_flow) for scene in lockstep.scenes]
    looks: list[list[ChannelFigures]] = [[] for _ in watches]
    span = max(cycles // LOOKS, 1)
    for cycle in Progress(range(cycles + 1), "comparing", "cycle"):
        if cycle:
            lockstep.advance()
        if cycle % span == 0:
            for watch, seen, world in zip(watches, looks, lockstep.worlds, strict=True):
                if "discharge" in world.layers or cycle == 0:
                    seen.append(watch.look(world))
    lockstep.verify()
    results = [Result(world, mean(seen)) for world, seen in zip(lockstep.worlds, looks, strict=True)]
    print(table(scenes, results))


def mean(looks: Sequence[ChannelFigures]) -> ChannelFigures | None:
    """The means of the figures of several measurements; the first has no rates."""
    later = looks[1:]
    if not later:
        return None
    names = ("cells", "width", "relative_width", "migration", "bank_wear")
    return ChannelFigures(*(sum(getattr(look, name) for look in later) / len(later) for name in names))


def table(scenes: Sequence[Scene], results: Sequence[Result]) -> str:
    """A table of figures by row and worlds by column, and the settings that differ."""
    heads = [" ".join(label[0].split()) for label in labels(scenes)]
    widths = [max(len(head), 12) for head in heads]
    first = max(len(name) for name, _ in FIGURES)
    lines = [" " * first + "".join(f"  {head:>{width}}" for head, width in zip(heads, widths, strict=True))]
    for name, figure in FIGURES:
        values = [figure(result) for result in results]
        texts = ("–" if value is None or value != value else f"{value:.4g}" for value in values)
        lines.append(f"{name:<{first}}" + "".join(f"  {text:>{w}}" for text, w in zip(texts, widths, strict=True)))
    settings = [f"{label[0].split()[0]}: {'; '.join(label[1:])}" for label in labels(scenes) if len(label) > 1]
    return "\n".join([*lines, *settings])
