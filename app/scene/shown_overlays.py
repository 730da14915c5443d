"""Which overlays show something in a scene, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.model.field_parameters import FIELD_LAYERS
from app.model.layers import BED_AGE, BED_NUMBER, BURIED, LAYERS
from app.model.overlays import DIFFERENCE, OVERLAYS, Overlay, largest
from app.model.plants import GRASS, ROOTED_GROUND
from app.processes import PROCESSES
from app.scene.scene import GROUPS, Scene

if TYPE_CHECKING:
    from app.model.snapshot import Snapshot


def why_empty(name: str, scenes: Sequence[Scene], snapshot: Snapshot | None = None) -> str:
    """Why an overlay is empty for worlds with these scenes; empty text if it is not.

    Traces in the `snapshot` are shown even if their process is off.
    """
    overlay = OVERLAYS[name]
    if name == DIFFERENCE:
        return "" if len(scenes) > 1 else "there is one world alone"
    if overlay.of_materials:
        return "" if any(scene.materials.enabled for scene in scenes) else "materials is off"
    if overlay.layers and all(layer in _FIELDS for layer in overlay.layers):
        is_set = any(scene.value(_FIELDS[layer]) for scene in scenes for layer in overlay.layers)
        is_painted = snapshot is not None and not snapshot.of_world.isdisjoint(overlay.layers)
        return "" if is_set or is_painted else "nothing has been painted, or set as a field"
    if snapshot is not None and (nothing := _why_no_plants(overlay.layers, snapshot)):
        return nothing
    makers = [maker for layer in overlay.layers for maker in _MAKERS.get(layer, ())]
    if overlay.survey or not makers or any(_is_on(maker, scene) for maker in makers for scene in scenes):
        return "there is none here yet" if snapshot is not None and _has_nothing_yet(overlay, snapshot) else ""
    if snapshot is not None and any(largest(snapshot, layer) > 0.0 for layer in overlay.layers):
        return ""
    titles = list(dict.fromkeys(GROUPS[maker].title.lower() for maker in makers))
    if len(titles) == 1:
        return f"{titles[0]} is off"
    return f"{', '.join(titles[:-1])} and {titles[-1]} are off"


def _has_nothing_yet(overlay: Overlay, snapshot: Snapshot) -> bool:
    """Whether cycles have run and left nothing in any layer that an overlay shows; each snapshot has these layers."""
    always_there = overlay.layers and all(name in LAYERS and LAYERS[name].is_seen(()) for name in overlay.layers)
    ran = snapshot.cycle > 0 and not overlay.survey
    return bool(ran and always_there and not any(largest(snapshot, layer) > 0.0 for layer in overlay.layers))


def _why_no_plants(layers: Sequence[str], snapshot: Snapshot) -> str:
    """Why layers of trees and grass are empty although plants are simulated; empty text if they are not."""
    if ROOTED_GROUND not in snapshot.of_world or len(snapshot.trees):
        return ""
    if "canopy" in layers:
        return "no tree stands here yet"
    return "no plant grows here yet" if "roots" in layers and largest(snapshot, GRASS) <= 0.0 else ""


def families(names: Sequence[str] = tuple(OVERLAYS)) -> Mapping[str, list[str]]:
    """The overlays by heading; those without one come first, under an empty heading."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(OVERLAYS[name].family, []).append(name)
    return found


def neighbour(name: str, steps: int, scenes: Sequence[Scene], snapshot: Snapshot | None = None) -> str:
    """The overlay `steps` places after this one in the order of lists, among those that show something."""
    order = [each for names in families().values() for each in names]
    shown = [each for each in order if each == name or not why_empty(each, scenes, snapshot)]
    return shown[(shown.index(name) + steps) % len(shown)]


# The field parameter that makes each layer of rates.
_FIELDS = {layer: f"fields.{name}" for name, layer in FIELD_LAYERS.items()}

# The processes that write each layer.
_MAKERS: dict[str, list[str]] = {}
for _process in PROCESSES:
    for _layer in _process.changes:
        _MAKERS.setdefault(_layer, []).append(_process.name)
for _ground in ("bedrock", "sediment"):  # layers that always exist
    _MAKERS.pop(_ground, None)
for _found in (BED_AGE, BED_NUMBER):  # in snapshots alone
    _MAKERS[_found] = _MAKERS[BURIED]


def _is_on(process: str, scene: Scene) -> bool:
    return bool(scene.value(f"{process}.enabled"))
