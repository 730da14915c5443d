"""Atomic writing: a file is either complete and new or unchanged, whatever happens."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from app.model.errors import UserError

if sys.platform != "win32":
    import fcntl

PART = ".thalweg-"  # prefix of files that are being written

_unfinished: set[Path] = set()  # files that this process is writing

FULL = 2**16  # bytes of free space, below which the disk counts as full

REASONS = {
    errno.ENOSPC: "no space is left there; free some or choose another place",
    errno.EDQUOT: "the quota there is used up; free some space or choose another place",
    errno.EACCES: "no permission; choose a place where this user may write",
    errno.EPERM: "no permission; choose a place where this user may write",
    errno.EROFS: "it can only be read; choose a place where this user may write",
    errno.ENOENT: "there is no such folder any more; choose another place",
    errno.ENOTDIR: "there is a file where a folder should be; choose another place",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


def working_folder() -> Path:
    """The working folder; if it was deleted, the home folder."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()


def free_path(folder: Path, name: str, suffix: str, *others: str) -> Path:
    """A path that does not exist yet, also not with the suffixes `others`; numbered if needed."""
    free, number = name, 2
    while any((folder / f"{free}{ending}").exists() for ending in (suffix, *others)):
        free, number = f"{name}-{number}", number + 1
    return folder / f"{free}{suffix}"


@contextlib.contextmanager
def write_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """A context with a binary file, which becomes `path` if the block ends without an error.

    Otherwise an older file at `path` is unchanged, and nothing else remains. Raises `UserError` if the file
    cannot be written.
    """
    with write_atomically_by_path(path) as temporary, temporary.open("wb") as file:
        yield file


def check_writable(path: str | Path) -> None:
    """Raise `UserError` if a file cannot be written, without changing anything: for checks before long work."""
    try:
        target = Path(path).resolve()
        _check_target(target, path)
        with _create_temporary(target) as part:
            temporary = Path(part.name)
        _remove(temporary)
    except (OSError, ValueError, RuntimeError) as error:
        raise as_user_error(error, path) from error


@contextlib.contextmanager
def claimed(*paths: str | Path) -> Iterator[None]:
    """A context in which these files are reserved for this process, so that no other run replaces them meanwhile.

    Raises `UserError` if one cannot be written or another process has claimed it. Claims of killed processes end.
    """
    with contextlib.ExitStack() as stack:
        for path in dict.fromkeys(map(Path, paths)):
            check_writable(path)
            stack.enter_context(claimed_place(path))
        yield


@contextlib.contextmanager
def claimed_place(path: Path) -> Iterator[None]:
    """As `claimed`, for any path."""
    try:
        target = path.resolve()
        _check_folder(target, path)
        with contextlib.suppress(FileNotFoundError):
            target.lstat()  # fails if the name is too long
        claim = target.with_name(f"{PART}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}.part")
        file = _locked(claim)
    except (OSError, ValueError, RuntimeError) as error:
        raise as_user_error(error, path) from error
    if file is None:
        raise UserError(f"cannot write {path}: another run is writing it; wait for its end, or choose another name")
    _unfinished.add(claim)
    try:
        yield
    finally:
        _unfinished.discard(claim)
        with file, contextlib.suppress(OSError):
            if sys.platform == "win32":  # Windows removes no open file
                file.close()
            claim.unlink()


if sys.platform == "win32":

    def _locked(path: Path) -> BinaryIO | None:
        """A file that is locked for this process, created if needed; None if another process has it."""
        with contextlib.suppress(FileNotFoundError):
            try:
                path.unlink()  # which is refused while it is open
            except PermissionError:
                return None
        return path.open("xb")

else:

    def _locked(path: Path) -> BinaryIO | None:
        """A file that is locked for this process, created if needed; None if another process has it."""
        while True:
            file = path.open("ab")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            except OSError:  # no locks here, so nothing can be claimed
                return file
            if os.fstat(file.fileno()).st_nlink:  # not removed as an orphan before it was locked
                return file
            file.close()


@contextlib.contextmanager
def write_atomically_by_path(path: str | Path) -> Iterator[Path]:
    """As `write_atomically`, for writers that need a path: a temporary one in the same folder with the same suffix.

    The file is created empty, so that an unwritable place is noticed before any work.
    """
    try:
        target = Path(path).resolve()  # write to the target of a link, do not replace the link
        _check_target(target, path)
        part = _create_temporary(target)
    except (OSError, ValueError, RuntimeError) as error:
        raise as_user_error(error, path) from error
    temporary = Path(part.name)
    try:
        yield temporary
        # Before the rename, which could otherwise be stored without the content.
        _put_on_disk(temporary, os.O_RDWR)
        if target.exists():
            shutil.copymode(target, temporary)
        if sys.platform == "win32":  # Windows renames no open file
            part.close()
        temporary.replace(target)
        # Some systems cannot sync a folder; the file is complete in any case.
        with contextlib.suppress(OSError):
            _put_on_disk(target.parent, os.O_RDONLY)
    except OSError as error:
        raise as_user_error(error, path) from error
    finally:
        part.close()
        # After success it is gone already. If it cannot be removed, the first error matters.
        with contextlib.suppress(OSError):
            _remove(temporary)


def _check_folder(target: Path, path: str | Path) -> None:
    if not target.parent.is_dir():
        raise UserError(f"cannot write {path}: there is no folder {target.parent}; create it or choose another place")


def _check_target(target: Path, path: str | Path) -> None:
    _check_folder(target, path)
    if target.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; give the name of a file in it")
    if target.exists():
        if not target.is_file():
            raise UserError(f"cannot write {path}: it is not a regular file; give another name")
        # Renaming would need no permission on the file itself, but its owner protected it.
        if not os.access(target, os.W_OK):
            raise UserError(f"cannot write {path}: it is write-protected; give another name or allow writing")


def _create_temporary(target: Path) -> BinaryIO:
    """A new empty file in the folder of `target`, with default permissions.

    It belongs to this process as long as it is open. Those of processes that were killed are removed from the folder.
    """
    remove_orphans(target.parent)
    while True:
        temporary = target.with_name(f"{PART}{secrets.token_hex(8)}.part{target.suffix}")
        part = temporary.open("xb")
        _unfinished.add(temporary)
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # without locks nothing is removed
                fcntl.flock(part, fcntl.LOCK_EX)
        if os.fstat(part.fileno()).st_nlink:  # not removed as an orphan before it was locked
            return part
        part.close()
        _unfinished.discard(temporary)


def _remove(temporary: Path) -> None:
    temporary.unlink(missing_ok=True)
    _unfinished.discard(temporary)


def remove_unfinished() -> None:
    """Remove the unfinished files of this process."""
    for temporary in tuple(_unfinished):
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_orphans(folder: Path) -> None:
    """Remove unfinished files of killed processes: those that are not locked."""
    for orphan in folder.glob(f"{PART}*.part*"):
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                orphan.unlink()  # which is refused while it is open
            else:
                with orphan.open("r+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which is refused while its owner lives
                    orphan.unlink()


def _put_on_disk(place: Path, access: int) -> None:
    """Sync a file or a folder to disk."""
    descriptor = os.open(place, access)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def as_user_error(error: Exception, path: str | Path) -> UserError:
    """Why a file cannot be written, in one line."""
    if not isinstance(error, OSError):
        return UserError(f"cannot write {path}: {error}")
    return UserError(f"cannot write {path}: {reason_of(error, Path(path).parent)}")


def reason_of(error: OSError, folder: Path) -> str:
    """Why a folder cannot be written to, and what would help."""
    if error.errno is None:  # NumPy only reports fewer bytes
        with contextlib.suppress(OSError):
            if shutil.disk_usage(folder).free < FULL:
                return REASONS[errno.ENOSPC]
    return REASONS.get(error.errno or 0, error.strerror or str(error))
