"""Parameters that had another name in older presets and saved worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.model.climate import USUAL_PRECIPITATION
from app.model.parameters import Value


def _same(value: Any) -> Value:
    return value  # type: ignore[no-any-return]


# Old path, new path, and conversion of the value. Without a new path the parameter was merged into another.
RENAMED: dict[str, tuple[str, Callable[[Any], Value]]] = {
    "pools.edges": ("edges.water", _same),
    "pools.sea_level": ("edges.sea_level", _same),
    "wind_field.edges": ("edges.wind", _same),
    "cascade.edges": ("edges.wind", _same),
    "wind.edges": ("edges.wind", _same),
    "climate.rain": ("climate.precipitation", lambda value: value * USUAL_PRECIPITATION),
    "rivers.rain": ("", _same),
    "view.river_width": ("rivers.width", _same),
    "moisture.rain": ("moisture.rain_infiltration", _same),
    "uplift.enabled": ("geology.enabled", _same),
    "uplift.rate": ("geology.uplift", _same),  # metres in a cycle are millimetres a year with what is below
}

# What else a section of an older name means, which had been a process of its own
_MEANT: dict[str, dict[str, dict[str, Value]]] = {
    "uplift": {
        "geology": {
            "uplift": 0.01,
            "years_per_cycle": 1000.0,
            "erodibility": 0.0,
            "diffusivity": 0.0,
            "soil_production": 0.0,
        }
    }
}


def renamed(content: Mapping[str, Any], *, is_whole: bool = True) -> dict[str, Any]:
    """The sections of a preset or a saved world with present names. Values under present names take precedence.

    For changes of a scene nothing is added.
    """
    sections: dict[str, Any] = {
        name: dict(section) if isinstance(section, Mapping) else section for name, section in content.items()
    }
    for section, others in _MEANT.items():
        if is_whole and section in sections and not others.keys() & sections.keys():
            sections |= {name: dict(values) for name, values in others.items()}
    for old, (new, converted) in RENAMED.items():
        section, _, name = old.partition(".")
        values = sections.get(section)
        if not isinstance(values, dict) or name not in values:
            continue
        value = values.pop(name)
        if not values:
            del sections[section]
        if not new:
            continue
        section, _, name = new.partition(".")
        target = sections.setdefault(section, {})
        if (
            isinstance(target, dict)
            and (name not in content.get(section, {}))
            and not (
                old.endswith(".edges") and target.get(name) == "wrap"  # any of three, which are one now
            )
        ):
            target[name] = converted(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    keys = sections.get("keys")
    if isinstance(keys, dict):
        unconverted = {old: new for old, (new, converted) in RENAMED.items() if new and converted is _same}
        sections["keys"] = {unconverted.get(path, path): curve for path, curve in keys.items()}
    return sections
