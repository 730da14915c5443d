"""What the check may cost: seconds for each folder of tests. A run ends with what each took, and says what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

import pytest

# Of one worker, on a quiet machine where all kernels are compiled. Two workers share the sum.
SECONDS = {
    "tests": 20.0,
    "tests/app": 240.0,
    "tests/benchmarks": 10.0,
    "tests/gui": 150.0,
    "tests/kernels": 90.0,
    "tests/nets": 40.0,
    "tests/passes": 150.0,
}


class Spending:
    """A plugin of pytest that sums up how long tests take, by folder."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if isinstance(report, pytest.SubtestReport):  # a part of the test that is reported after it
            return
        folder = str(PurePosixPath(report.nodeid.partition("::")[0]).parent)
        self.seconds[folder] += report.duration
        self.tests[folder] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("seconds of one worker, by folder")
        for line in told(self.seconds, self.tests, SECONDS):
            terminalreporter.write_line(line)


def told(seconds: Mapping[str, float], tests: Mapping[str, int], budget: Mapping[str, float]) -> list[str]:
    """A line for each folder, those that took longest first, and one for the sum."""
    lines = []
    for folder in sorted(seconds, key=lambda folder: -seconds[folder]):
        allowed = budget.get(folder, 0.0)
        over = "" if seconds[folder] <= allowed else ", OVER BUDGET"
        lines.append(f"{folder:<18}{tests[folder]:6} tests {seconds[folder]:8.1f} s of {allowed:.0f}{over}")
    return [
        *lines,
        f"{'all':<18}{sum(tests.values()):6} tests {sum(seconds.values()):8.1f} s of {sum(budget.values()):.0f}",
    ]
