"""Rows of a table that is tried in a loop."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tests.nets.pairwise import covering_rows
from tests.nets.profile import is_nightly


def rows(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows in which each two values of each two names meet, from the first value of the first name on; in a nightly run
    all with all.
    """
    places = {name: range(len(of_one)) for name, of_one in values.items()}
    chosen = [dict(zip(places, row, strict=True)) for row in itertools.product(*places.values())]
    if not is_nightly():
        covering = covering_rows(places)
        chosen = [row for row in chosen if row in covering]
    return [{name: values[name][place] for name, place in row.items()} for row in chosen]
