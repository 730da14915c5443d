"""Soak test: random actions in a real window for hours. Reports errors and growth of memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.bench.display import display
from app.files.atomic import claimed
from app.model.errors import UserError, nearest
from app.scene.scene import presets
from app.soak.report import Report, table

GRACE = 900.0  # seconds of overtime for the first round and the last visit
MOST_SEEDS = 2**31
REPORT = "report.json"  # in the folder of the run


class Plan(msgspec.Struct, frozen=True):
    """The plan of a soak."""

    seconds: float
    seed: int
    presets: tuple[str, ...]
    record: str  # log of all actions
    size: tuple[int, int] = (800, 500)
    seconds_of_visit: float = 8.0  # of each preset, in which a round of all of them fits three times into the whole
    side: int = 0  # cells; 0: those of the presets


def soak(
    hours: float,
    names: Sequence[str] = (),
    *,
    seed: int | None = None,
    record: Path = Path("soak.jsonl"),
    side: int = 0,
) -> Report:
    """Let presets run in turn, all of them or those of these names, and do random things to them; print what became.

    What is done, one after the other, follows from `seed` alone; how much of it a visit has time for does not. It
    stands in the file `record`, a line of JSON for each action. Raises `UserError` at the end where anything went wrong
    or memory grew.
    """
    for name in names:
        if name not in presets():
            raise UserError(
                f"{name}: there is no preset of this name{nearest(name, presets(), 'thalweg --list-presets')}"
            )
    plan = make_plan(3600.0 * hours, tuple(names) or tuple(presets()), seed, record, side)
    with (
        claimed(record),
        display() as (where, environment),
        # An encoder outlives a window that is killed, and may still write there.
        tempfile.TemporaryDirectory(prefix="thalweg-soak-", ignore_cleanup_errors=True) as folder,
    ):
        print(f"{len(plan.presets)} presets for {hours:g} h {where}; again: --seed {plan.seed}", flush=True)
        try:
            _run(plan, Path(folder), environment)
        finally:
            report = _report(Path(folder))
            print(table(report), flush=True)  # of what was done so far, where it is ended early
    if report.problems:
        raise UserError(f"{'; '.join(report.problems)}; again: --seed {plan.seed}; what was done is in {record}")
    return report


def make_plan(seconds: float, names: tuple[str, ...], seed: int | None, record: Path, side: int) -> Plan:
    """Rounds of all presets, at least three of them, and no visit longer than half a minute."""
    visit = min(max(seconds / (3.3 * len(names)), 1.0), 30.0)
    chosen = random.SystemRandom().randrange(MOST_SEEDS) if seed is None else seed
    return Plan(seconds, chosen, names, str(record.resolve()), seconds_of_visit=visit, side=side)


def _run(plan: Plan, folder: Path, environment: dict[str, str]) -> None:
    """Run the program in a separate process: should it die, the cause is reported."""
    command = [sys.executable, "-m", "app.soak.window", msgspec.json.encode(plan).decode(), str(folder / REPORT)]
    with subprocess.Popen(command, env={**os.environ, **environment}) as process:
        try:
            status = process.wait(plan.seconds + GRACE)
        except subprocess.TimeoutExpired:
            _note_error(folder, f"the window did not close within {GRACE:.0f} s")
            return
        finally:
            process.kill()
    if status != 0:
        _note_error(folder, f"the window ended with status {status}")


def _report(folder: Path) -> Report:
    """The report of the window so far."""
    file = folder / REPORT
    return msgspec.json.decode(file.read_bytes(), type=Report) if file.exists() else Report()


def _note_error(folder: Path, error: str) -> None:
    report = _report(folder)
    report.errors.append(error)
    (folder / REPORT).write_bytes(msgspec.json.encode(report))


def minutes_since(begin: float) -> str:
    return f"{(time.monotonic() - begin) / 60.0:5.1f} min"
