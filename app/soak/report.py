"""The report of a soak: figures of visits and rounds, and growth of memory."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from app.picture.passes.held import Held

FLAT = 0.02  # tolerated growth of memory, as a fraction of that after the first round
MEBIBYTE = 2.0**20


class Visit(msgspec.Struct):
    """Of one preset. Memory is measured at its beginning, as it is then alike in all rounds."""

    preset: str
    round: int
    memory: int = 0  # bytes of the process
    held: Held = Held(0, 0, 0, 0)
    kernels: int = 0  # that are loaded
    frames: int = 0
    cycles: int = 0
    actions: int = 0
    refusals: int = 0  # in words, of what cannot be done
    seconds: float = 0.0


class Report(msgspec.Struct):
    """All of a run so far."""

    visits: list[Visit] = []
    errors: list[str] = []

    @property
    def growth(self) -> float | None:
        """By which fraction memory has grown from the second round to the last; None if there are no two.

        It is that of the presets of both, which are more than half of all. In the first round, shaders are compiled,
        and what has no build of its own is loaded.
        """
        memory = {number: {one.preset: one.memory for one in visits} for number, visits in self.rounds().items()}
        later = [number for number in memory if number > 1 and 2 * len(memory[number]) > len(memory[0])]
        if not later:
            return None
        second, last = memory.get(1, {}), memory[later[-1]]
        both = second.keys() & last.keys()  # but for those that did not open
        return sum(last[one] for one in both) / sum(second[one] for one in both) - 1.0 if both else None

    @property
    def problems(self) -> list[str]:
        """Problems in words."""
        growth = self.growth
        found = list(dict.fromkeys(self.errors))
        if growth is not None and growth > FLAT:
            found.append(f"memory grew by {growth:.1%}")
        return found

    def rounds(self) -> dict[int, list[Visit]]:
        """The visits whose memory is known, by round."""
        rounds: dict[int, list[Visit]] = defaultdict(list)
        for visit in self.visits:
            if visit.memory:
                rounds[visit.round].append(visit)
        return rounds


def table(report: Report) -> str:
    """A line per round, and the growth of memory."""
    counted = ("round", "visits", "actions", "refused", "frames", "cycles")
    code = ("kernels", "programs")  # which is loaded once, and stays
    head = (*counted, "memory", "textures", "buffers", *code, "GL objects")
    lines = ["".join(f"{title:>11}" for title in head)]
    for number, visits in report.rounds().items():
        count = len(visits)
        sums = (sum(getattr(visit, name) for visit in visits) for name in ("actions", "refusals", "frames", "cycles"))
        held = [visit.held for visit in visits]
        means = (
            sum(visit.memory for visit in visits) / count / MEBIBYTE,
            sum(one.textures for one in held) / count / MEBIBYTE,
            sum(one.buffers for one in held) / count / MEBIBYTE,
        )
        cells = [str(number + 1), str(count), *map(str, sums), *(f"{mean:.1f} MiB" for mean in means)]
        cells.append(str(max(visit.kernels for visit in visits)))
        cells += [str(max(one.programs for one in held)), f"{sum(one.objects for one in held) / count:.0f}"]
        lines.append("".join(f"{cell:>11}" for cell in cells))
    lines.append(_of_memory(report.growth))
    lines += [f"error: {error}" for error in dict.fromkeys(report.errors)] or ["no errors"]
    return "\n".join(lines)


def _of_memory(growth: float | None) -> str:
    if growth is None:
        return "memory: too few rounds to tell whether it is flat"
    verdict = "flat" if growth <= FLAT else "NOT flat"
    return f"memory of the last round relative to the second: {growth:+.2%}, {verdict}"
