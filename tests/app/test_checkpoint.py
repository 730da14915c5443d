"""Saved worlds: what comes back, and what is said of files that are none."""

from __future__ import annotations

import errno
import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.stored_world import StoredWorld
from app.files import checkpoint
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.layers import side_by_side
from app.model.soundness import find_fault
from app.scene.scene import scene_content
from tests.app.small import bits, simulated, small_scene

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def content_of_a_world(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "world.npz"
    simulator = simulated(3)
    checkpoint.save(path, simulator.world, simulator.scene)
    return path.read_bytes()


@pytest.fixture
def saved(content_of_a_world: bytes, tmp_path: Path) -> Path:
    """The file of a world after three cycles."""
    (tmp_path / "world.npz").write_bytes(content_of_a_world)
    return tmp_path / "world.npz"


def rewrite(path: Path, change: Callable[[Arrays], None]) -> None:
    """Change the arrays of a saved world."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)


def change_meta(**changes: object) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays["meta"] = np.array(json.dumps({**json.loads(str(arrays["meta"])), **changes}))

    return change


def test_round_trip_brings_every_bit_back(saved: Path) -> None:
    simulator = simulated(3)
    world, scene = checkpoint.load(saved)
    assert bits(world) == bits(simulator.world)
    assert (world.cell_size, world.seed) == (simulator.world.cell_size, simulator.world.seed)
    assert scene == simulator.scene


def test_reference_cell_size_comes_back_however_a_world_is_made_anew(tmp_path: Path) -> None:
    scene = small_scene(world__cell_size=10.0, world__reference_cell_size=40.0)
    simulator = simulated(1, scene)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    loaded, _ = checkpoint.load(tmp_path / "world.npz")
    kept = StoredWorld.of(simulator).simulator().world
    for world in (simulator.world, loaded, kept, simulator.world.copy()):
        assert (world.cell_size, world.reference_cell_size) == (10.0, 40.0)


def test_reference_cell_size_is_the_cell_size_where_a_file_knows_none(saved: Path) -> None:
    rewrite(saved, change_meta(reference_cell_size=0.0))
    world, _ = checkpoint.load(saved)
    assert world.reference_cell_size == world.cell_size == 20.0


def test_file_is_as_documented(saved: Path) -> None:
    with np.load(saved, allow_pickle=False) as file:
        assert set(file) == {"meta", "bedrock", "sediment", "water", *side_by_side("flow")}
        assert file["bedrock"].dtype == file["sediment"].dtype == np.float64
        meta = json.loads(str(file["meta"]))
    assert meta["cell_size"] == 20.0
    assert meta["seed"] == 1
    assert meta["cycle"] == 3
    assert meta["parameters"] == scene_content(small_scene())
    assert meta["ledger"]["water"]["gained"] == {"rain": 3 * 60 * 800.0}


def test_same_world_gives_the_same_file(saved: Path, tmp_path: Path) -> None:
    simulator = simulated(3)
    checkpoint.save(tmp_path / "again.npz", simulator.world, simulator.scene)
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()


def test_saved_world_opens_as_a_scene_that_goes_on(saved: Path) -> None:
    scene = open_scene(str(saved))
    assert scene.saved_world == str(saved)
    world, going_on = create_world(scene.with_value("droplets.count", 5))
    assert world.cycle == 3
    assert going_on == msgspec.structs.replace(small_scene(droplets__count=5), name=saved.stem)


def drop(name: str) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.pop(name)


def put(name: str, row: int, column: int, value: float) -> Callable[[Arrays], None]:
    return lambda arrays: arrays[name].__setitem__((row, column), value)


def replace(name: str, value: Any) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.update({name: value})


def change_water(**changes: object) -> Callable[[Arrays], None]:
    """Other numbers in the ledger's account of water."""

    def change(arrays: Arrays) -> None:
        ledger = json.loads(str(arrays["meta"]))["ledger"]
        change_meta(ledger={**ledger, "water": {**ledger["water"], **changes}})(arrays)

    return change


def lone_surrogate(arrays: Arrays) -> None:
    arrays["meta"] = np.array(str(arrays["meta"]).replace("droplets", "drop\ud800ts"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("sediment"), "not a saved world: it has no 'sediment'"),
        (drop("meta"), "not a saved world: it has no 'meta'"),
        (
            replace("bedrock", np.array([[{}] * 8] * 8)),
            "cannot be read as a saved world: Object arrays cannot be loaded",
        ),
        (replace("meta", np.array([{}])), "cannot be read as a saved world: Object arrays cannot be loaded"),
        (replace("meta", np.array("{")), "'meta' is not what a saved world has: "),
        (replace("meta", np.zeros(3)), "'meta' is not what a saved world has: "),
        (replace("bedrock", np.zeros((32, 40), np.float32)), "layer 'bedrock' is of type float32; it must be float64"),
        (replace("bedrock", np.zeros((32, 41))), "layer 'sediment' has the shape (32, 40); all must be [row, column]"),
        (replace("bedrock", np.zeros(1280)), "layer 'bedrock' has the shape (1280,); all must be [row, column]"),
        (put("bedrock", 3, 5, np.nan), "layer 'bedrock' is nan at row 3, column 5; must be a finite number"),
        (put("bedrock", 3, 5, -np.inf), "layer 'bedrock' is -inf at row 3, column 5; must be a finite number"),
        (
            put("sediment", 0, 7, -0.25),
            "layer 'sediment' is -0.25 at row 0, column 7; must be a finite number, 0",
        ),
        (change_meta(format=2), "written in format 2; this version of the program reads format 1"),
        (change_meta(format=None), "written in format None; this version of the program reads format 1"),
        (put("bedrock", 3, 5, 1e300), "layer 'bedrock' is 1e+300 at row 3, column 5; must be a finite number within"),
        (
            put("sediment", 0, 7, 1e300),
            "layer 'sediment' is 1e+300 at row 0, column 7; must be a finite number, 0",
        ),
        (change_meta(cell_size=0.0), "its cell size is 0; it must be from 0.0001 to 1e+06 m"),
        (
            change_meta(reference_cell_size=500.0),
            "a map of 800 m: it must be at least 8 reference cells",
        ),
        (change_meta(cell_size=1e308), "its cell size is 1e+308; it must be from 0.0001 to 1e+06 m"),
        (change_meta(seed=2**70), f"its seed is {2**70}; it must be from 0 to 2147483647"),
        (change_meta(seed=-1), "its seed is -1; it must be from 0 to 2147483647"),
        (change_meta(cycle=10**30), f"its cycle is {10**30}; it must be from 0 to {2**53}"),
        (change_meta(cell_size="wide"), "'meta' is not what a saved world has: "),
        (change_meta(cycle=-1), "its cycle is -1; it must be from 0 to"),
        (change_meta(ledger=None), "'meta' is not what a saved world has: "),
        (change_meta(parameters={"droplets": {"count": -1}}), "droplets.count = -1: must be from 0 to 100000"),
        (change_meta(wind_field_direction=1e308), "its wind_field_direction is 1e+308; it must be from 0 to 360"),
        (lone_surrogate, "'meta' is not what a saved world has: "),
        (replace("meta", np.array('{"format":' + "[" * 100_000)), "'meta' is not what a saved world has: "),
        (replace("meta", np.array(b"{}")), "'meta' is not what a saved world has: it must be one text"),
        (
            change_water(gained={"rain": 1e308, "springs": 1e308}),
            "its ledger has numbers that do not add up to finite ones",
        ),
        (change_water(gained={}), "its ledger says that more water was lost than there ever was"),
        (change_water(lost={"a\nb": -1.0}), "its ledger says 'a\\nb' of -1 m³ of water; must be 0 or more"),
        (
            change_meta(parameters={"materials": {"enabled": True, "loose": "cheese"}}),
            "materials.loose: there is no material 'cheese'",
        ),
    ],
)
def test_wrong_content_is_named(saved: Path, change: Callable[[Arrays], None], message: str) -> None:
    rewrite(saved, change)
    with pytest.raises(UserError) as raised:
        checkpoint.load(saved)
    assert str(raised.value).startswith(f"{saved}: {message}")
    assert "\n" not in str(raised.value)


def test_what_only_looks_like_an_array_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, b"no array" if name == "bedrock.npy" else content)
    with pytest.raises(UserError, match="'bedrock' is not an array"):
        checkpoint.load(saved)


def test_a_ledger_may_be_below_nothing_by_what_is_rounded(saved: Path) -> None:
    rewrite(saved, change_water(lost={"evaporated": -1e-6}))  # of 144 000 m³
    assert checkpoint.load(saved)[0].ledger.water.lost["evaporated"] == -1e-6


@pytest.mark.parametrize(("times", "entry"), [(3.0, "gained"), (0.2, "lost")])
def test_what_was_changed_in_a_file_is_told_once_and_may_leave_the_map(saved: Path, times: float, entry: str) -> None:
    before = checkpoint.load(saved)[0]
    rewrite(saved, lambda arrays: arrays.update(sediment=times * arrays["sediment"]))
    world, scene = checkpoint.load(saved)
    told = getattr(world.ledger.sediment, entry)["changed in the file"]
    assert told == pytest.approx(abs(times - 1.0) * before.stored("sediment"))
    assert world.imbalance() < 1e-12
    world.ledger.sediment.lose("off the map", world.stored("sediment"))
    world.sediment[...] = 0.0
    checkpoint.save(saved, world, scene)
    assert getattr(checkpoint.load(saved)[0].ledger.sediment, entry)["changed in the file"] == told


@pytest.mark.parametrize("layer", ["water", "moisture", "groundwater", "wear", "deposit"])
def test_what_all_the_land_above_brings_may_be_more_than_any_height(layer: str, tmp_path: Path) -> None:
    simulator = simulated(1, small_scene(snowballs__enabled=True, snowballs__count=5))
    simulator.world.trace(layer)[3, 5] = 3e6
    assert find_fault(simulator.world) is None
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    assert checkpoint.load(tmp_path / "world.npz")[0].layers[layer][3, 5] == 3e6


def test_tiny_world_is_refused(saved: Path) -> None:
    rewrite(saved, lambda arrays: arrays.update(bedrock=np.zeros((7, 9)), sediment=np.zeros((7, 9))))
    with pytest.raises(UserError, match="a world of 9×7 cells; sides must be from 8 to 8192"):
        checkpoint.load(saved)


def test_huge_world_is_refused_before_it_is_unpacked(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "LARGEST_SIDE", 16)
    monkeypatch.setattr(np, "load", None)
    with pytest.raises(UserError, match="is too large; a side may have up to 16 cells"):
        checkpoint.load(saved)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.7, 0.99])
def test_truncated_file(saved: Path, part: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(UserError, match=r"world\.npz: cannot be read as a saved world: "):
        checkpoint.load(saved)


def test_every_flipped_byte_is_noticed_or_harmless(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    whole = bits(checkpoint.load(saved)[0])
    for place in range(0, len(content), len(content) // 60):
        broken = content.copy()
        broken[place] ^= 0x55
        saved.write_bytes(broken)
        try:
            world, _ = checkpoint.load(saved)
        except UserError as error:
            assert str(saved) in str(error)
        else:
            assert bits(world) == whole


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        checkpoint.load(tmp_path / "none.npz")


def test_full_disk_leaves_the_old_file_whole(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_half_way(file: Any, **arrays: Any) -> None:
        file.write(b"PK half a file")
        raise OSError(errno.ENOSPC, "No space left on device")

    before = saved.read_bytes()
    simulator = simulated(1)
    monkeypatch.setattr(np, "savez_compressed", fail_half_way)
    with pytest.raises(UserError, match=r"cannot write .*world\.npz: no space is left there"):
        checkpoint.save(saved, simulator.world, simulator.scene)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["world.npz"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that have a name")
def test_a_pipe_is_no_saved_world_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(UserError, match=r"pipe\.npz: not a saved world: it is not a regular file"):
        checkpoint.load_journal(tmp_path / "pipe.npz")
