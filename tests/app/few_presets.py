"""Which presets a claim is tried with that takes seconds for all of them."""

from __future__ import annotations

from app.scene.scene import presets
from tests.nets.profile import is_nightly

# Each of another family, and together of all generators
FEW = ("badlands", "old-range", "delta", "island", "article-droplets")


def tried_presets() -> tuple[str, ...]:
    """Few of the presets, and all of them in a nightly run."""
    return tuple(presets()) if is_nightly() else FEW
