"""The branches of a time line, and their stored states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.engine.compressed import Compressed
from app.engine.lockstep import Lockstep
from app.engine.messages import Moment
from app.engine.stored_world import StoredWorld
from app.engine.thumbnails import thumbnail
from app.scene.edits import Edit, Looked


@dataclass(frozen=True, slots=True)
class StoredState:
    """A state of all worlds at a moment."""

    moment: Moment
    worlds: tuple[StoredWorld, ...]
    thumbnail: Compressed

    @classmethod
    def of(cls, moment: Moment, lockstep: Lockstep, before: Sequence[StoredWorld] = ()) -> StoredState:
        """The current state of the worlds. Unchanged layers are shared with the states `before`."""
        shared: Sequence[StoredWorld | None] = before
        if len(before) != len(lockstep.simulators):
            shared = (None,) * len(lockstep.simulators)
        worlds = tuple(map(StoredWorld.of, lockstep.simulators, shared))
        return cls(moment, worlds, Compressed(thumbnail(lockstep.worlds[0], lockstep.scenes[0].view)))

    @property
    def parts(self) -> Iterator[Compressed]:
        """All parts that can be moved to disk."""
        for world in self.worlds:
            yield from world.parts
        yield self.thumbnail

    @property
    def bytes_in_memory(self) -> int:
        return sum(part.length for part in self.parts if part.in_memory)

    @property
    def bytes(self) -> int:
        return sum(part.length for part in self.parts)


@dataclass
class Branch:
    """`edits` has all edits since the first branch, including those of its ancestors."""

    number: int
    name: str
    origin: Moment | None  # where it leaves its parent branch
    first: int  # cycle
    last: int
    edits: list[Edit] = field(default_factory=list)
    looks: list[Looked] = field(default_factory=list)  # likewise
    states: list[StoredState] = field(default_factory=list)  # in the order of their moments
