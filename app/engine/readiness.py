"""Which kernels are there, and which must be waited for: they are compiled beside the simulation."""

from __future__ import annotations

import logging

from app.engine.compiling import Compiler, NotCached, only_from_cache, tell_of_failure
from app.engine.simulator import Simulator

log = logging.getLogger(__name__)


class Readiness:
    """Tells of builds whether they need not be waited for, and has those compiled that are missing."""

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
            except Exception as error:  # which will be told of where the build is used
                log.debug("%s: %s", build, error)
        if outcome:
            tell_of_failure(build, outcome)
        self._ready.add(build)
        return True

    def failed_elsewhere(self, build: str) -> bool:
        """Whether it could not be compiled beside the program, so that it must be compiled here."""
        return bool(self.compiler.outcome(build))
