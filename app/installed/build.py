"""What Hatch cannot be told in pyproject.toml: a wheel has the package `thalweg` around all others."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackageAroundAll(BuildHookInterface[Any]):
    """Puts `thalweg` into wheels. An editable installation finds it where it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            for name in ("__init__.py", "__main__.py"):  # the prefix of all files goes before these, too
                build_data["force_include"][f"app/installed/thalweg/{name}"] = name
