"""How many cases a test has: few in every run, the same ones each time, and far more in a nightly one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

from tests.nets.pairwise import covering_rows
from tests.nets.profile import examples, is_nightly


def tried(few: int) -> settings:
    """Has a test with `given` try so many inputs, and far more in a nightly run."""
    return settings(max_examples=examples(few))


def covered(**values: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrizes a test so that each two values of each two arguments meet, and in a nightly run all with all."""
    places = {name: range(len(of_one)) for name, of_one in values.items()}
    if is_nightly():
        rows = [dict(zip(places, row, strict=True)) for row in itertools.product(*places.values())]
    else:
        rows = covering_rows(places)
    return pytest.mark.parametrize(list(values), [[values[name][row[name]] for name in values] for row in rows])
