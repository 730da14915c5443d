"""What came of it: figures of each visit of a preset, of each round of all of them, and whether memory has grown."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from app.picture.passes.held import Held

FLAT = 0.02  # by which memory may grow, as a fraction of that after the first round
MEBIBYTE = 2.0**20


class Visit(msgspec.Struct):
    """Of one preset. Memory is measured at its beginning, as it is then alike in all rounds."""

    preset: str
    round: int
    memory: int = 0  # bytes of the process
    held: Held = Held(0, 0, 0)
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
        """By which fraction memory has grown from the second round to the last whole one; None where there are no two.

        In the first, kernels are loaded and shaders compiled.
        """
        rounds = self.rounds()
        whole = [number for number, visits in rounds.items() if len(visits) == len(rounds[0])]
        if len(whole) < 3:
            return None
        after, last = (sum(visit.memory for visit in rounds[number]) for number in (whole[1], whole[-1]))
        return last / after - 1.0 if after else None

    @property
    def problems(self) -> list[str]:
        """In words, what should not be so."""
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
    """A line for each round, and what became of memory."""
    head = ("round", "visits", "actions", "refused", "frames", "cycles", "memory", "textures", "buffers", "GL objects")
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
        cells.append(f"{sum(one.objects for one in held) / count:.0f}")
        lines.append("".join(f"{cell:>11}" for cell in cells))
    lines.append(_of_memory(report.growth))
    lines += [f"error: {error}" for error in dict.fromkeys(report.errors)] or ["no errors"]
    return "\n".join(lines)


def _of_memory(growth: float | None) -> str:
    if growth is None:
        return "memory: too few rounds to tell whether it is flat"
    verdict = "flat" if growth <= FLAT else "NOT flat"
    return f"memory of the last whole round relative to the second: {growth:+.2%}, {verdict}"
