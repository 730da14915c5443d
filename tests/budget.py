"""What the check may cost: seconds for each folder of tests. A run ends with what each took, and says what is over.

A nightly run has no budget. It ends with what each file of tests took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

import pytest

# Of one worker, on a quiet machine where all kernels and shaders are compiled: as measured, less a little. Shaders that
# have changed are compiled in the next two runs. Two workers share the sum; with what it takes to start them and to
# find the tests, that is 23 s more than half of it. Six minutes of each would be a sum of 670.
SECONDS = {
    "tests": 12.0,
    "tests/app": 262.0,
    "tests/benchmarks": 9.0,
    "tests/gui": 166.0,
    "tests/kernels": 72.0,
    "tests/nets": 27.0,
    "tests/passes": 170.0,
}


class Spending:
    """A plugin of pytest that sums up how long tests take, by folder or by file."""

    def __init__(self, *, by_file: bool) -> None:
        self.by_file = by_file
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if isinstance(report, pytest.SubtestReport):  # a part of the test that is reported after it
            return
        file = PurePosixPath(report.nodeid.partition("::")[0])
        part = str(file if self.by_file else file.parent)
        self.seconds[part] += report.duration
        self.tests[part] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("seconds of one worker")
        for line in told(self.seconds, self.tests, {} if self.by_file else SECONDS):
            terminalreporter.write_line(line)


def told(seconds: Mapping[str, float], tests: Mapping[str, int], budget: Mapping[str, float]) -> list[str]:
    """A line for each part, those that took longest first, and one for the sum; without a budget none is over it."""
    lines = []
    allowed = {**budget, "all": sum(budget.get(part, 0.0) for part in seconds)}
    spent = [(seconds[part], tests[part], part) for part in sorted(seconds, key=lambda part: -seconds[part])]
    for took, count, part in [*spent, (sum(seconds.values()), sum(tests.values()), "all")]:
        line = f"{took:8.1f} s {count:6} tests  {part}"
        if budget:
            over = ", OVER BUDGET" if took > allowed.get(part, 0.0) else ""
            line += f", of {allowed.get(part, 0.0):.0f} s{over}"
        lines.append(line)
    return lines
