"""A process that exports for a window, while the simulation continues.

Run as a module with the path of a saved world, it reads requests from its input and answers each in lines of its
output, as `app.export.protocol` has them. It ends when nobody asks any more.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from app.cli.export import ground_colours, landscape_of
from app.cli.folder import made
from app.export.landscape import Landscape
from app.export.maps import MAPS
from app.export.plan import Item, plan, write_item
from app.export.protocol import (
    Answer,
    Done,
    Failed,
    File,
    Plan,
    Planned,
    Ready,
    Write,
    Written,
    asked_in,
    folder_of,
    say,
)
from app.export.wishes import Wishes
from app.files.atomic import claimed
from app.files.checkpoint import load_scene
from app.model.errors import explained

NICENESS = 5  # picture and simulation go first


def work(path: Path) -> None:
    """Answer requests about the world of a file until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends its workers
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    requests = os.fdopen(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr  # nothing printed may be taken for an answer
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in requests:
            asked.put(line)
        os._exit(0)  # even during a file: the program is gone

    threading.Thread(target=listen, daemon=True).start()
    try:
        landscape = landscape_of(load_scene(path))
    except Exception as error:
        say(Failed(explained(error)), answers)
        return
    missing = tuple(name for name, map in MAPS.items() if not map.may_be_there(landscape))
    say(Ready(landscape.world.cycle, missing), answers)
    while True:
        answer(landscape, asked.get(), answers)


def answer(landscape: Landscape, line: str, answers: IO[str]) -> None:
    """Answer a request. An error is an answer, too."""
    try:
        request = asked_in(line)
        for said in _planned(landscape, request) if isinstance(request, Plan) else _written(landscape, request):
            say(said, answers)
    except Exception as error:
        say(Failed(explained(error)), answers)


def _planned(landscape: Landscape, request: Plan) -> Iterator[Answer]:
    yield _files(_items(landscape, request.wishes))


def _written(landscape: Landscape, request: Write) -> Iterator[Answer]:
    folder = folder_of(request)
    items = _items(landscape, request.wishes)
    with made(folder), claimed(*(folder / item.name for item in items)):
        yield _files(items)
        for item in items:
            told = write_item(item, folder / item.name)
            yield Written(item.name, (folder / item.name).stat().st_size, told)
    yield Done()


def _items(landscape: Landscape, wishes: Wishes) -> list[Item]:
    return plan(landscape, wishes, partial(ground_colours, landscape))


def _files(items: list[Item]) -> Planned:
    return Planned(tuple(File(item.name, item.size) for item in items))


if __name__ == "__main__":
    work(Path(sys.argv[1]))
