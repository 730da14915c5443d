"""A file that is written is whole and new, or whole and old."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest

from app.files import atomic as files
from app.files.atomic import write_atomically, write_atomically_by_path
from app.model.errors import UserError
from tests.waiting import running

Writer = Callable[[Path], AbstractContextManager[object]]
both_writers = pytest.mark.parametrize("writer", [write_atomically, write_atomically_by_path])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that is there already, alone in its folder."""
    path = tmp_path / "world.npz"
    path.write_bytes(b"old")
    return path


def test_a_new_file(tmp_path: Path) -> None:
    with write_atomically(tmp_path / "world.npz") as file:
        file.write(b"new")
    assert contents(tmp_path) == {"world.npz": b"new"}


def test_an_old_file_is_replaced_only_at_the_end(old: Path) -> None:
    with write_atomically(str(old)) as file:
        file.write(b"new")
        file.flush()
        assert old.read_bytes() == b"old"
    assert contents(old.parent) == {"world.npz": b"new"}


def test_by_path_keeps_folder_and_suffix(tmp_path: Path) -> None:
    with write_atomically_by_path(tmp_path / "clip.mp4") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".mp4"
        assert temporary.read_bytes() == b""
        temporary.write_bytes(b"video")
    assert contents(tmp_path) == {"clip.mp4": b"video"}


@both_writers
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ZeroDivisionError("a bug")])
def test_an_interruption_leaves_the_old_file_and_passes_on(writer: Writer, error: BaseException, old: Path) -> None:
    with pytest.raises(type(error)), writer(old):
        assert len(contents(old.parent)) == 2
        raise error
    assert contents(old.parent) == {"world.npz": b"old"}


WRITING = """
import sys, threading
from app.files.atomic import write_atomically

with write_atomically(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    threading.Event().wait()
"""


@both_writers
def test_what_a_killed_process_was_writing_is_removed_by_the_next_that_writes_there(writer: Writer, old: Path) -> None:
    notes = old.with_name(".notes.part.npz")
    notes.write_bytes(b"not ours")
    with running([sys.executable, "-c", WRITING, str(old)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        with writer(old):
            pass
        files.check_writable(old)
        assert len(contents(old.parent)) == 3, "it still writes"
    assert b"half" in contents(old.parent).values()
    files.check_writable(old)
    assert contents(old.parent) == {"world.npz": b"", ".notes.part.npz": b"not ours"}


CLAIMING = """
import sys, time
from pathlib import Path
from app.files.atomic import claimed
with claimed(Path(sys.argv[1])):
    print("claimed", flush=True)
    time.sleep(600.0)
"""


def test_a_file_is_claimed_by_one_process_and_free_where_that_is_killed(old: Path) -> None:
    with running([sys.executable, "-c", CLAIMING, str(old)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        with pytest.raises(UserError, match=r"world\.npz: another run is writing it"), files.claimed(old):
            pass
        with files.claimed(old.with_name("other.npz")), write_atomically(old) as file:
            file.write(b"saved")  # of what the window saves, say, the last one stays
        with pytest.raises(UserError, match="another run"), files.claimed(old):
            pass
    with files.claimed(old, old):
        assert len(contents(old.parent)) == 2
    assert contents(old.parent) == {"world.npz": b"saved"}


def test_an_interruption_frees_what_was_claimed(old: Path) -> None:
    with pytest.raises(KeyboardInterrupt), files.claimed(old):
        raise KeyboardInterrupt
    assert contents(old.parent) == {"world.npz": b"old"}


def test_many_that_write_into_one_folder_leave_each_other_alone(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for number in range(100):
                with write_atomically(tmp_path / name) as file:
                    file.write(f"{name} {number}".encode())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=[f"{number}"]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert contents(tmp_path) == {f"{number}": f"{number} 99".encode() for number in range(8)}


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@both_writers
@pytest.mark.parametrize("call", ["fsync", "write"])
def test_a_full_disk_leaves_the_old_file(writer: Writer, call: str, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"cannot write .*world\.npz: no space is left there"), writer(old):
        if call == "write":
            full_disk()
        monkeypatch.setattr(os, "fsync", full_disk)
    assert contents(old.parent) == {"world.npz": b"old"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_device_that_is_really_full(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_file(target: Path) -> BinaryIO:
        temporary = target.with_name("temporary")
        temporary.symlink_to("/dev/full")
        return temporary.open("r+b")

    monkeypatch.setattr(files, "_create_temporary", full_file)
    with pytest.raises(UserError, match="no space is left"), write_atomically(old) as file:
        file.write(b"new")
    assert contents(old.parent) == {"world.npz": b"old"}


def test_a_rename_that_fails_leaves_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UserError, match="no permission"), write_atomically(old) as file:
        file.write(b"new")
    assert contents(old.parent) == {"world.npz": b"old"}


@both_writers
def test_places_that_cannot_be_written(writer: Writer, old: Path) -> None:
    for path, message in [
        (old.parent / "missing" / "world.npz", "there is no folder .*missing; create it"),
        (old / "world.npz", "there is no folder"),
        (old.parent, "it is a folder; give the name of a file in it"),
        (old.parent / ("n" * 300), "the name is too long"),
        (Path(os.devnull), "it is not a regular file"),
    ]:
        with pytest.raises(UserError, match=message) as caught, writer(path):
            pytest.fail("the block must not begin")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert contents(old.parent) == {"world.npz": b"old"}


@pytest.mark.parametrize(("code", "message"), [(errno.EACCES, "no permission"), (errno.EROFS, "it can only be read")])
def test_a_folder_that_cannot_be_written(code: int, message: str, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files, "_create_temporary", refuse)  # permissions themselves do not stop a superuser
    with pytest.raises(UserError, match=message), write_atomically(old):
        pytest.fail("the block must not begin")


def test_a_write_protected_file_is_not_replaced(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match="write-protected"), write_atomically(old):
        pytest.fail("the block must not begin")


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as on Unix")
def test_permissions_and_links_stay(old: Path) -> None:
    old.chmod(0o640)
    link = old.with_name("link.npz")
    link.symlink_to(old.name)
    with write_atomically(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions as on Unix")
def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    with write_atomically(tmp_path / "new") as file:
        file.write(b"new")
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode
