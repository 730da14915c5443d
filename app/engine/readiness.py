"""Which kernels are ready, and which must be waited for: they are compiled while the simulation runs."""

from __future__ import annotations

import logging

from app.engine.compiling import Compiler, NotCached, log_failure, only_from_cache
from app.engine.simulator import Simulator

log = logging.getLogger(__name__)


class Readiness:
    """Knows which builds are ready, and has missing ones compiled."""

    def __init__(self) -> None:
        self.compiler = Compiler()
        self._ready: set[str] = set()

    def is_ready(self, build: str, simulator: Simulator) -> bool:
        """Whether a build is in the cache, or can be had only here. If not, have it made."""
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
            except Exception as error:  # which is reported where the build is used
                log.debug("%s: %s", build, error)
        if outcome:
            log_failure(build, outcome)
        self._ready.add(build)
        return True

    def failed_elsewhere(self, build: str) -> bool:
        """Whether the worker failed, so that the build must be compiled here."""
        return bool(self.compiler.outcome(build))
