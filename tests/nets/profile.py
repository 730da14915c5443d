"""How much the nets try: some dozens of inputs in each run of the tests, and far more in a nightly one.

    .venv/bin/pytest --hypothesis-profile nightly tests/nets

`NIGHTLY_INPUTS` in the environment says how many inputs, where a night is too short for ten thousand of each kind.
"""

from __future__ import annotations

import os

from hypothesis import settings

NIGHTLY = "nightly"
INPUTS = int(os.environ.get("NIGHTLY_INPUTS", "10000"))  # of each test that makes them, in a nightly run

settings.register_profile(NIGHTLY, max_examples=INPUTS, deadline=None)


def is_nightly() -> bool:
    """Whether this is a nightly run."""
    return settings.get_current_profile_name() == NIGHTLY


def examples(few: int) -> int:
    """How many inputs a test makes that makes `few` in every run."""
    return INPUTS if is_nightly() else few
