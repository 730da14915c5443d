"""Journals: what was done is done again, to the bit; and what is in a file is checked like all else."""

from __future__ import annotations

import tomllib
import zlib
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.export import landscape_of
from app.cli.main import main
from app.engine.messages import Arrived, Edited, GoTo, Look, Opened, Save, Saved
from app.files import checkpoint
from app.files.journal import Journal, journal_content, journal_from, write_journal
from app.files.opening import is_journal, read_journal
from app.model.errors import UserError
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene.edits import Blur, CancelSnowballs, Change, Copy, Edit, Keep, Open, RollSnowballs
from app.scene.scene import Scene, load_preset, presets
from tests.app.hands import Hands
from tests.app.small import bits, simulated, small_scene
from tests.nets.profile import is_nightly


def saved(hands: Hands, path: Path, world: int = 0) -> None:
    request = Save(path, world)
    hands.thread.ask(request)
    hands.wait(lambda: Saved(path) in hands.reports)


def steered(hands: Hands) -> None:
    """Every kind of edit, with cycles between."""
    hands.step(4)
    hands.thread.ask(Change({"droplets.count": 200, "climate.precipitation": 700.0}))
    hands.step(3)
    hands.ask(Blur(), Edited)
    hands.step(2)
    hands.ask(Copy(0), Edited)
    hands.thread.ask(Change({"droplets.friction": 0.1}, 1))
    hands.step(4)
    hands.ask(RollSnowballs(700), Edited)
    hands.wait(lambda: hands.thread.status.snowball_run is None and hands.thread.status.cycle > 14)
    hands.ask(RollSnowballs(1_000_000), Edited)
    hands.wait(lambda: hands.thread.status.cycle > 16)
    hands.thread.ask(CancelSnowballs())
    hands.wait(lambda: hands.thread.status.snowball_run is None)
    hands.ask(GoTo(hands.moment.branch, hands.moment.cycle - 1), Arrived)  # in the middle of the run
    hands.thread.ask(CancelSnowballs())
    hands.step(3)


def test_a_steered_run_is_replayed_to_the_bit(hands: Hands, tmp_path: Path) -> None:
    steered(hands)
    assert len(hands.lockstep.worlds) == 2
    for world, name in enumerate("ab"):
        path, again = tmp_path / f"{name}.npz", tmp_path / f"{name}-again.npz"
        saved(hands, path, world)
        assert main(["replay", str(path), "--out", str(again)]) == 0
        assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(path)[0])
        assert checkpoint.load(again)[1] == checkpoint.load(path)[1]
        assert read_journal(again) == read_journal(path)
        story = tmp_path / f"{name}.toml"
        assert main(["replay", str(path), "--out", str(story)]) == 0
        assert read_journal(story) == read_journal(path)
        assert is_journal(story)
        again.unlink()
        assert main(["replay", str(story), "--out", str(again), "--threads", str(world + 1)]) == 0
        assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(path)[0])


def test_a_land_that_is_saved_for_an_export_knows_how_it_began(hands: Hands, tmp_path: Path) -> None:
    """Else no map could say what it has lost and gained since."""
    began = hands.lockstep.worlds[0].ground.copy()
    hands.step(2)
    hands.thread.ask(Change({"droplets.friction": 0.1}))
    hands.step(2)
    path = tmp_path / "scratch.npz"
    hands.thread.ask(Save(path, is_scratch=True))
    hands.wait(lambda: Saved(path) in hands.reports)
    assert checkpoint.load_journal(path) is not None
    landscape = landscape_of(checkpoint.load_scene(path))
    np.testing.assert_array_equal(landscape.rise, landscape.world.ground - began)
    assert landscape.world.ledger.began == zlib.crc32(began.data)


def test_the_same_story_on_another_land(hands: Hands, tmp_path: Path) -> None:
    steered(hands)
    path, other = tmp_path / "world.npz", tmp_path / "other.npz"
    saved(hands, path)
    assert main(["replay", str(path), "--seed", "77", "--size", "24x20", "--out", str(other)]) == 0
    world, scene = checkpoint.load(other)
    assert (world.seed, world.shape) == (77, (20, 24))
    assert world.cycle >= checkpoint.load(path)[0].cycle - 1
    assert scene.droplets.count == 200


def test_a_world_that_is_opened_goes_back_before_it_was_saved(hands: Hands, tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    hands.step(5)
    hands.ask(Blur(), Edited)
    hands.step(4)
    saved(hands, path)
    hands.ask(Open((checkpoint.load_scene(path),)), Opened)
    hands.step(2)
    branch = hands.moment.branch
    assert hands.timeline.branches[branch].first == 0
    hands.ask(GoTo(branch, 3), Arrived)
    assert hands.bits == [bits(simulated(3).world)]
    saved(hands, tmp_path / "early.npz")
    early = read_journal(tmp_path / "early.npz")
    assert (early.edits[0].cycle, early.cycle) == (0, 3)


def test_simulate_keeps_the_journal_and_goes_on_with_it(tmp_path: Path) -> None:
    path, on, again = tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "c.npz"
    small = ["noise", "--size", "24x20", "--set", "world.reference_cell_size=0", "--set", "droplets.count=30"]
    assert main(["simulate", *small, "--cycles", "6", "--out", str(path)]) == 0
    assert main(["simulate", str(path), "--set", "droplets.count=50", "--cycles", "5", "--out", str(on)]) == 0
    assert [(type(edit.request), edit.cycle) for edit in read_journal(on).edits] == [(Open, 0), (Change, 6)]
    assert main(["replay", str(on), "--out", str(again)]) == 0
    assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(on)[0])
    assert main(["simulate", str(on), "--cycles", "2", "--out", str(on)]) == 0  # over itself
    assert read_journal(on).cycle == 13


def test_a_world_without_a_journal_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulator = simulated(2)
    checkpoint.save(tmp_path / "old.npz", simulator.world, simulator.scene)
    assert main(["replay", str(tmp_path / "old.npz")]) == 1
    assert "no journal" in capsys.readouterr().err
    assert not (tmp_path / "replayed.npz").exists()


scenes = st.sampled_from([small_scene(), *map(load_preset, presets())])
requests = st.one_of(
    st.just(Blur()),
    st.just(CancelSnowballs()),
    st.builds(Copy, st.integers(0, 3)),
    st.builds(Keep, st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)),
    st.builds(RollSnowballs, st.integers(1, 10**6)),
    st.builds(
        Change,
        st.fixed_dictionaries({"droplets.count": st.integers(0, 500), "droplets.friction": st.floats(0.0, 0.8)}),
        st.none() | st.integers(0, 3),
    ),
)


@settings(max_examples=1000 if is_nightly() else 25, database=None)
@given(
    st.lists(scenes, min_size=1, max_size=3),
    st.integers(0, 10**6),
    st.lists(st.tuples(st.integers(0, 9999), requests), max_size=8),
    st.integers(0, 10**6),
)
def test_journals_are_read_as_they_were_written(
    opened: list[Scene], first: int, later: list[tuple[int, object]], more: int
) -> None:
    """Also that of a world that was opened after some cycles."""
    later.sort(key=lambda edit: edit[0])
    edits = [Edit(first, Open(tuple(opened))), *(Edit(first + after, request) for after, request in later)]  # type: ignore[arg-type]
    journal = Journal(tuple(edits), edits[-1].cycle + more)
    text = tomli_w.dumps(journal_content(journal, Path()))
    assert journal_from(tomllib.loads(text), "journal", Path()) == journal


BEGIN = 'format = 1\ncycle = 9\n[[edit]]\ncycle = 0\ndo = "open"\n[[edit.scenes]]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "format"),
        ("format = 2", "format 2"),
        ("format = 1", "cycle"),
        ("format = 1\ncycle = 3", "[[edit]]"),
        ('format = 1\ncycle = 3\n[[edit]]\ncycle = 0\ndo = "blur"', "first edit must open"),
        ('format = 1\ncycle = 3\n[[edit]]\ncycle = 0\ndo = "open"', "scenes"),
        (f'{BEGIN}[[edit]]\ncycle = 3\ndo = "blurr"', "did you mean 'blur'"),
        (f'{BEGIN}[[edit]]\ncycle = -3\ndo = "blur"', "cycle = -3"),
        (f'{BEGIN}[[edit]]\ncycle = 30\ndo = "blur"', "must grow"),
        (f'{BEGIN}[[edit]]\ncycle = 3\ndo = "change"', "values"),
        (f'{BEGIN}[[edit]]\ncycle = 3\ndo = "change"\nvalues = {{"droplets.count" = -1}}', "the edit after cycle 3"),
        (f'{BEGIN}[[edit]]\ncycle = 3\ndo = "change"\nvalues = {{"world.seed" = 1}}', "where the world is opened"),
        (f'{BEGIN}[[edit]]\ncycle = 3\ndo = "keep"\nworlds = []', "worlds"),
        (f'{BEGIN}[[edit]]\ncycle = 3\ndo = "snowballs"\nballs = "many"', "balls"),
        (f"{BEGIN}droplets = 3", "droplets"),
    ],
)
def test_what_is_wrong_in_a_journal_is_said_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "story.toml"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        read_journal(path)
    assert words in str(error.value) and "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_a_journal_names_its_files_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "land").mkdir()
    np.save(tmp_path / "land" / "hills.npy", np.random.default_rng(3).random((20, 24)) * 100.0)
    scene = Scene().with_value("world.source", str(tmp_path / "land" / "hills.npy"))
    write_journal(tmp_path / "story.toml", Journal((Edit(0, Open((scene,))),), 2))
    moved = tmp_path / "moved"
    (tmp_path / "land").rename(moved)
    (tmp_path / "story.toml").rename(moved / "story.toml")
    assert main(["replay", str(moved / "story.toml"), "--out", str(tmp_path / "w.npz")]) == 0


def look(hands: Hands, heading: float) -> None:
    hands.thread.ask(Look(ViewParameters(), CameraParameters(heading=heading)))
    hands.settle()


def test_looks_grow_whatever_land_one_comes_back_to(hands: Hands, tmp_path: Path) -> None:
    hands.step(2)
    look(hands, 10.0)
    opened = hands.ask(Open((small_scene(world__seed=4),)), Opened)
    assert isinstance(opened, Opened)
    look(hands, 20.0)
    hands.ask(GoTo(opened.before.branch, opened.before.cycle, opened.before.edits), Arrived)
    look(hands, 30.0)
    hands.step(2)
    hands.ask(GoTo(opened.before.branch, 1), Arrived)
    hands.thread.ask(Change({"droplets.count": 9}))  # a branch
    hands.step(1)
    look(hands, 40.0)
    saved(hands, tmp_path / "w.npz")
    looks = read_journal(tmp_path / "w.npz").looks
    assert [one.seconds for one in looks] == sorted(one.seconds for one in looks)
    assert [one.cycle for one in looks] == sorted(one.cycle for one in looks)
    assert looks[-1].camera.heading == 40.0


def test_a_world_saved_in_a_run_of_snowballs_goes_on_as_its_journal_says(hands: Hands, tmp_path: Path) -> None:
    path, again = tmp_path / "w.npz", tmp_path / "again.npz"
    hands.step(2)
    hands.ask(RollSnowballs(1_000_000), Edited)
    hands.wait(lambda: hands.thread.status.cycle > 4)
    saved(hands, path)
    hands.ask(Open((checkpoint.load_scene(path),)), Opened)
    hands.step(4)
    there = hands.bits
    hands.ask(GoTo(hands.moment.branch, hands.moment.cycle - 2), Arrived)
    hands.ask(GoTo(hands.moment.branch, hands.moment.cycle + 2), Arrived)
    assert hands.bits == there
    later = tmp_path / "later.npz"
    saved(hands, later)
    for world in (path, later):
        assert main(["replay", str(world), "--out", str(again), "--overwrite"]) == 0
        assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(world)[0])


def test_a_world_whose_journal_cannot_be_read_goes_on_without_it(hands: Hands, tmp_path: Path) -> None:
    simulator = simulated(3)
    journal = Journal((Edit(0, Open((simulator.scene,))), Edit(2, Change({"droplets.no_such": 1.0}))), 3)
    checkpoint.save(tmp_path / "w.npz", simulator.world, simulator.scene, journal)
    hands.ask(Open((checkpoint.load_scene(tmp_path / "w.npz"),)), Opened)
    assert hands.bits == [bits(simulator.world)]
    branch = hands.timeline.branches[hands.moment.branch]
    assert (branch.first, [edit.cycle for edit in branch.edits]) == (3, [3])
    saved(hands, tmp_path / "on.npz")
    assert [edit.cycle for edit in read_journal(tmp_path / "on.npz").edits] == [3]


def test_a_journal_that_begins_with_a_saved_world_is_moved_with_it(tmp_path: Path) -> None:
    simulator = simulated(3)
    folder = tmp_path / "here"
    folder.mkdir()
    checkpoint.save(folder / "old.npz", simulator.world, simulator.scene)
    assert main(["simulate", str(folder / "old.npz"), "--cycles", "4", "--out", str(folder / "new.npz")]) == 0
    journal = read_journal(folder / "new.npz")
    assert (journal.edits[0].cycle, journal.cycle) == (3, 7)
    moved = tmp_path / "there"
    folder.rename(moved)
    assert main(["replay", str(moved / "new.npz"), "--out", str(tmp_path / "again.npz")]) == 0
    assert bits(checkpoint.load(tmp_path / "again.npz")[0]) == bits(checkpoint.load(moved / "new.npz")[0])


def test_where_that_world_is_another_one_now_it_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulator = simulated(3)
    checkpoint.save(tmp_path / "old.npz", simulator.world, simulator.scene)
    assert main(["simulate", str(tmp_path / "old.npz"), "--cycles", "4", "--out", str(tmp_path / "new.npz")]) == 0
    later = simulated(9)
    checkpoint.save(tmp_path / "old.npz", later.world, later.scene)
    assert main(["replay", str(tmp_path / "new.npz"), "--out", str(tmp_path / "again.npz")]) == 1
    assert "was after cycle 3, and is after 9 now" in capsys.readouterr().err
