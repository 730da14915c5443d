"""Worlds in files: every layer by its name in float64, and one JSON text `meta`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import msgspec
import numpy as np

from app.errors import UserError
from app.files import write_atomically
from app.scene import Scene
from app.world import LAYERS, Ledger, World

FORMAT = 1


class Meta(msgspec.Struct):
    """What a saved world says of itself beside its layers."""

    format: int
    cell_size: float
    seed: int
    cycle: int
    parameters: Scene
    ledger: Ledger


def save(path: Path, world: World, scene: Scene) -> None:
    """Write a world, with the scene that it goes on with. The file that was there stays whole until all is written."""
    meta = Meta(FORMAT, world.cell_size, world.seed, world.cycle, scene, world.ledger)
    text = msgspec.json.encode(meta).decode()
    with write_atomically(path) as file:
        np.savez_compressed(file, meta=np.array(text), **world.layers)


def load(path: Path) -> tuple[World, Scene]:
    """The world of a file and the scene that it goes on with. Raises `UserError` where the file is not one."""
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in ("meta", *LAYERS) if name not in file]
            if missing:
                raise UserError(f"{path}: not a saved world: it has no '{missing[0]}'")
            meta = msgspec.json.decode(str(file["meta"][()]), type=Meta)
            layers = {name: file[name] for name in LAYERS}
    except UserError:
        raise
    except msgspec.MsgspecError as error:
        raise UserError(f"{path}: not a world that this version can read: {error}") from error
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise UserError(f"{path}: cannot be read as a saved world: {error}") from error
    _check(path, layers)
    world = World(layers["bedrock"], layers["sediment"], meta.cell_size, meta.seed)
    world.cycle = meta.cycle
    world.ledger = meta.ledger
    return world, meta.parameters


def _check(path: Path, layers: dict[str, np.ndarray]) -> None:
    shape = layers["bedrock"].shape
    for name, layer in layers.items():
        if layer.ndim != 2 or layer.shape != shape:
            raise UserError(f"{path}: layer '{name}' has shape {layer.shape}; expected {shape} for all layers")
        if layer.dtype != np.float64 or not np.isfinite(layer).all():
            raise UserError(f"{path}: layer '{name}' is not float64 with finite values only")
    if (layers["sediment"] < 0.0).any():
        raise UserError(f"{path}: layer 'sediment' has negative thicknesses")
