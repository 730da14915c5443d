"""How much the nets try: some dozens of inputs in each run of the tests, and far more in a nightly one.

    .venv/bin/pytest --hypothesis-profile nightly tests/nets

`NIGHTLY_INPUTS` in the environment says how many inputs, where a night is too short for ten thousand of each kind.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

CHECK, NIGHTLY = "check", "nightly"
INPUTS = int(os.environ.get("NIGHTLY_INPUTS", "10000"))  # of each test that makes them, in a nightly run

FEW = 40  # inputs of each test in the check that does not say how many

# In the check, inputs are the same each time, so that many more would find nothing new; and nowhere is a busy machine a
# reason to fail.
IN_ANY_TIME = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(CHECK, IN_ANY_TIME, derandomize=True, max_examples=FEW)
settings.register_profile(NIGHTLY, IN_ANY_TIME, max_examples=INPUTS)
settings.load_profile(CHECK)


def is_nightly() -> bool:
    """Whether this is a nightly run."""
    return settings.get_current_profile_name() == NIGHTLY


def examples(few: int) -> int:
    """How many inputs a test makes that makes `few` in every run."""
    return INPUTS if is_nightly() else few
