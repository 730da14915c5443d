"""The initial ground of a world, recomputed. It is not stored, as it would take as much memory as the ground."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path

import msgspec

from app.engine.creation import create_world
from app.engine.memory import check_memory
from app.files.checkpoint import load_journal
from app.model.errors import UserError
from app.model.layered_map import Layer
from app.model.ledger import Ledger
from app.model.world import World
from app.scene.edits import Open
from app.scene.scene import Scene
from app.sources.generators import GENERATORS
from app.sources.terrain import find_terrain


def first_ground(world: World, opened: Scene) -> Layer:
    """The ground before the first cycle and before any edit, in metres, [row, column].

    `opened` is the scene that the world comes from; the journal of a saved world tells with which land it began. The
    ledger tells whether the recomputed land is the same. Raises `UserError` if it cannot be recomputed.
    """
    reason = "it was made with other parameters, by another version of the program, or from a file that has changed"
    for scene in _began_with(opened):
        try:
            if scene.world.source not in GENERATORS:
                find_terrain(scene.world.source)
            first, _ = create_world(scene, partial(check_memory, [scene]))
        except UserError as error:
            reason = str(error)
            continue
        if not _same_start(world.ledger, first.ledger):
            continue
        if first.shape == world.shape:
            return first.ground
        reason = "it was refined since"
    raise UserError(f"the land that it began with cannot be made again: {reason}")


def _began_with(opened: Scene) -> list[Scene]:
    """Candidate scenes, the likeliest first. Scenes that differ only in the view count as one."""
    scenes = [opened]
    if opened.saved_world:
        with contextlib.suppress(UserError):
            journal = load_journal(Path(opened.saved_world))
            first = journal.edits[0].request if journal else None
            if isinstance(first, Open):
                scenes = [*first.scenes, opened]
    alike = Scene()
    found: list[Scene] = []
    for scene in scenes:
        made = msgspec.structs.replace(scene, saved_world="", name="", view=alike.view, camera=alike.camera)
        if made not in found:
            found.append(made)
    return found


def _same_start(now: Ledger, then: Ledger) -> bool:
    """Whether both began with the same land. `then` is a fresh world: nothing has entered or left it."""
    for substance in ("rock", "sediment"):
        known, made = now.accounts()[substance], then.accounts()[substance]
        if (known.initial, known.scale) != (made.initial, made.scale) or made.gained or made.lost:
            return False
    return now.began in (0, then.began)
