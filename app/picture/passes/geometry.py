"""Buffers that programs draw from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import moderngl


@dataclass(frozen=True, eq=False)
class Geometry:
    """Buffers as programs draw from them; without any, a shader makes its vertices from their numbers."""

    buffers: Sequence[tuple[object, ...]] = ()
    indices: moderngl.Buffer | None = None


NUMBERED = Geometry()
