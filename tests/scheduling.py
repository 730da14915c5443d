"""How tests are shared among workers: by file, also where a worker dies."""

from __future__ import annotations

import contextlib
import signal
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# Files whose tests one worker runs, as they parse the same: all code of the program
READ_ALL_CODE = {"tests/test_imports.py", "tests/test_platforms.py", "tests/app/test_guide.py"}


class ByFile(LoadFileScheduling):
    """As `--dist=loadfile`, which stands still once a worker has died.

    A worker begins a test when it knows the next one, or that there is none. xdist gives what the dead one had done
    already to the others, as files without tests, after which they are told of no more; and to the one in its place a
    single file, though that may have a single test.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Share what a worker has left. The test that it died of has failed, and is not run again."""
        workload = self.assigned_work.pop(node)
        left = {
            file: {test: False for test, is_done in tests.items() if not is_done} for file, tests in workload.items()
        }
        left = {file: tests for file, tests in left.items() if tests}
        if not left:
            return None
        file = next(iter(left))
        died_of = next(iter(left[file]))
        del left[file][died_of]
        self.workqueue.update({file: tests for file, tests in left.items() if tests})
        for other in self.assigned_work:
            self._reschedule(other)
        return died_of

    def _assign_work_unit(self, node: WorkerController) -> None:
        """A worker that has just died cannot be told; when its end is known, others get what it was given."""
        with contextlib.suppress(OSError):
            super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "all code" if file in READ_ALL_CODE else file

    def _reschedule(self, node: WorkerController) -> None:
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController, error: object) -> None:
    """Tell how a worker has died; the summary names the test that it ran."""
    if error:
        print(f"\nworker {node.gateway.id} has ended {_end_of(node)}: {error}", flush=True)


def _end_of(node: WorkerController) -> str:
    """How the process of a worker that is gone has ended."""
    process: Any = getattr(getattr(node.gateway, "_io", None), "popen", None)
    if process is None:
        return "nobody knows how"
    status = process.wait(10.0)
    if status >= 0:
        return f"with status {status}"
    return f"by {signal.Signals(-status).name}"
