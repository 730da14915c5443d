"""Messages are values: they can be written down and read again, and none is left out of the unions."""

from __future__ import annotations

import typing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine import messages
from app.engine.messages import Moment, Report, Request, read, written
from app.engine.survey import Wanted
from app.files.opening import open_scene
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene import edits
from app.scene.edits import Message
from app.scene.scene import DECLARATIONS, Scene, presets
from tests.nets.cases import tried

KINDS = (*typing.get_args(Request), *typing.get_args(Report))

scenes = st.sampled_from([Scene(), *map(open_scene, list(presets())[:3])])
texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.floats(-1e6, 1e6)
FIELDS = {
    "scenes": st.lists(scenes, min_size=1, max_size=2).map(tuple),
    "values": st.dictionaries(st.sampled_from(list(DECLARATIONS)), st.booleans() | st.integers(-9, 9) | texts),
    "world": st.integers(0, 1),
    "balls": st.integers(0, 2**31),
    "times": st.sampled_from([2, 4]),
    "path": st.sampled_from([Path("world.npz"), Path("/somewhere/else/ä b.npz")]),
    "view": st.just(ViewParameters(sun_height=12.5)),
    "camera": st.just(CameraParameters()),
    "seen": st.none() | scenes,
    "is_scratch": st.booleans(),
    "overlay": st.sampled_from(["none", "wetness"]),
    "wanted": st.builds(
        Wanted,
        rivers=st.booleans(),
        fragments=st.booleans(),
        cost=st.booleans(),
        place=st.none() | st.tuples(st.integers(0), st.integers(0)),
        filling=st.integers(0, 9),
    ),
    "picture": st.sampled_from([Path("picture.webp")]),
    "branch": st.integers(0, 9),
    "cycle": st.integers(0, 2**53),
    "pause": st.booleans(),
    "edits": st.none() | st.integers(0, 9),
    "is_on": st.none() | st.booleans(),
    "strength": st.none() | st.floats(0.0, 4.0),
    "expression": texts,
    "name": st.none() | texts,
    "after": st.none() | texts,
    "takes": st.none() | st.integers(0, 2**53),
    "removed": st.booleans(),
    "before": st.builds(Moment, st.integers(0, 9), st.integers(0, 2**53), st.integers(0, 9)),
    "screens": st.integers(1, 9),
    "worlds": st.lists(st.integers(0, 99), max_size=2).map(tuple),
    "why": texts,
    "process": st.sampled_from(["", "droplets"]),
    "layer": st.sampled_from(["", "bedrock"]),
    "tool": st.sampled_from(["raise", "sow"]),
    "dabs": st.lists(st.tuples(numbers, numbers, st.floats(0.0, 1.0)), min_size=1, max_size=3).map(tuple),
    "radius": numbers,
    "amount": numbers,
    "hardness": st.floats(0.0, 1.0),
    "level": numbers,
    "angle": numbers,
    "choice": texts,
    "number": st.integers(0, 2**62),
    "first": st.integers(0, 9),
    "mask": st.sampled_from(["", "slope < 20"]),
    "cell": st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
}


def built(kind: type[Message]) -> st.SearchStrategy[Message]:
    """Messages of a kind."""
    fields = {name: FIELDS[name] for name in kind.__struct_fields__ if name != "request"}
    if "request" in kind.__struct_fields__:
        asked = typing.get_type_hints(kind)["request"]
        fields["request"] = st.one_of(*map(built, typing.get_args(asked) or (asked,)))
    return st.builds(kind, **fields)


def test_each_message_is_a_request_or_a_report() -> None:
    known = {**vars(messages), **vars(edits)}.values()
    declared = {kind for kind in known if isinstance(kind, type) and issubclass(kind, Message)}
    assert declared == {*KINDS, Message}


@tried(100)
@given(st.lists(st.one_of(*map(built, KINDS)), max_size=6))
def test_messages_are_read_as_they_were_written(journal: list[Request | Report]) -> None:
    assert read(written(journal)) == journal


@pytest.mark.parametrize(
    "text", [b"", b"[", b"{}", b'[{"type": "Explode"}]', b'[{"type": "Keep"}]', b'[{"type": "Keep", "worlds": "B"}]']
)
def test_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        read(text)


def test_a_message_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        messages.Keep((1,)).worlds = ()  # type: ignore[misc]
