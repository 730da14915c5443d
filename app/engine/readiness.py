"""Readiness of kernels: they are compiled while the simulation runs."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from app.engine.builds import foreseen, in_order
from app.engine.compiling import Compiler, NotCached, cache_is_empty, log_failure, only_from_cache
from app.engine.simulator import Simulator
from app.scene.scene import Scene

log = logging.getLogger(__name__)


class Readiness:
    """Knows which builds are ready, and has missing ones compiled."""

    def __init__(self) -> None:
        self.compiler = Compiler()
        self._ready: set[str] = set()

    def is_ready(self, build: str, simulator: Simulator) -> bool:
        """Whether a build is in the cache or must be compiled here. If neither, request it."""
        if build in self._ready:
            return True
        asked, outcome = self.compiler.has_asked(build), self.compiler.outcome(build)
        if asked and outcome is None:
            return False
        if not outcome:
            try:
                with only_from_cache():
                    simulator.load(build)
            except NotCached:
                if not asked:
                    self.compiler.ask([build])
                    return False
                outcome = "it left nothing in the cache"
            except Exception as error:  # reported when the build is used
                log.debug("%s: %s", build, error)
        if outcome:
            log_failure(build, outcome)
        self._ready.add(build)
        return True

    def missing(self, builds: Iterable[str], simulator: Simulator) -> list[str]:
        """The builds that are not ready. All of them are requested, the slowest first."""
        return [build for build in in_order(builds) if not self.is_ready(build, simulator)]

    def foresee(self, scenes: Iterable[Scene]) -> None:
        """Request the first kernels of scenes before their worlds are made, if nothing was ever compiled.

        Making worlds and loading Numba both take seconds, in which workers can begin.
        """
        if cache_is_empty():
            self.compiler.ask(in_order(build for scene in scenes for build in foreseen(scene)))

    def failed_elsewhere(self, build: str) -> bool:
        """Whether the worker failed, so that the build must be compiled here."""
        return bool(self.compiler.outcome(build))
