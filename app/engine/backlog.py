"""The backlog: requests that cannot be answered yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

import msgspec

from app.engine.messages import Request
from app.scene.edits import Change, Stroke


class Backlog:
    """Waiting requests, in the order in which they came.

    A stroke waits for earlier strokes, and a change for earlier changes of the same parameters. So a change that can be
    made at once does not wait for another one that needs kernels.
    """

    def __init__(self) -> None:
        self._requests: list[Request] = []
        self._answering: Request | None = None  # stays in the list until it is answered

    def holds_up(self, request: Request) -> bool:
        """Whether a request must wait for one of these."""
        return any(_holds_up(earlier, request) for earlier in self._requests)

    def add(self, request: Request) -> None:
        self._requests.append(request)

    def answer_ready(self, is_ready: Callable[[Request], bool], answer: Callable[[Request], None]) -> None:
        """Answer all requests that are ready, including those that become ready on the way."""
        while request := self._first_ready(is_ready):
            self._answering = request
            try:
                answer(request)
            finally:
                self._requests = [other for other in self._requests if other is not request]
                self._answering = None

    def take_out(self, *kinds: type) -> list[Request]:
        """Remove and return the requests of these kinds, or all of them."""
        kinds = kinds or (object,)
        gone = [request for request in self._requests if isinstance(request, kinds)]
        self._requests = [request for request in self._requests if not isinstance(request, kinds)]
        return gone

    # Changes.

    @property
    def changes(self) -> list[Change]:
        return [request for request in self._requests if isinstance(request, Change)]

    def supersede(self, change: Change) -> None:
        """Drop waiting values of parameters that a new change sets: the last value of each parameter counts."""

        def left(earlier: Change) -> Iterator[Change]:
            if change.world not in (None, earlier.world):
                yield earlier
            elif values := {path: value for path, value in earlier.values.items() if path not in change.values}:
                yield earlier if values == earlier.values else msgspec.structs.replace(earlier, values=values)

        self._replace_changes(len(self._requests), left)

    def follow_worlds(self, places: Sequence[int]) -> None:
        """Renumber the worlds of changes: `places` are the former places of the current worlds, in order.

        Only changes that were asked for before the request that is being answered are renumbered.
        """

        def moved(earlier: Change) -> Iterator[Change]:
            if earlier.world is None:
                yield earlier
            else:
                for place, before in enumerate(places):
                    if before == earlier.world:
                        yield msgspec.structs.replace(earlier, world=place)

        before = sum(1 for _ in takewhile(lambda request: request is not self._answering, self._requests))
        self._replace_changes(before, moved)

    def _replace_changes(self, first: int, by: Callable[[Change], Iterator[Change]]) -> None:
        """Replace each change among the first requests, up to a place."""
        replaced: list[Request] = []
        for request in self._requests[:first]:
            replaced += by(request) if isinstance(request, Change) else [request]
        self._requests[:first] = replaced

    def _first_ready(self, is_ready: Callable[[Request], bool]) -> Request | None:
        for place, request in enumerate(self._requests):
            if not any(_holds_up(earlier, request) for earlier in self._requests[:place]) and is_ready(request):
                return request
        return None


def _holds_up(earlier: Request, later: Request) -> bool:
    if isinstance(earlier, Change) and isinstance(later, Change):
        return not earlier.values.keys().isdisjoint(later.values)
    return isinstance(earlier, Stroke) and isinstance(later, Stroke)
