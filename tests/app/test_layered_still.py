"""Stills with layers: linear colour, depth, normals and materials, the same in tiles as at once."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import OpenEXR
import pytest
from numpy.typing import NDArray

from app.cli import main as cli

pytestmark = pytest.mark.slow  # pictures are drawn

WORDS = ["--frames", "1", "--width", "160", "--height", "120", "--orbit", "0"]  # the opening view, and no path


def render(path: Path, *words: str) -> dict[str, NDArray[np.generic]]:
    assert cli.main(["render", *words, *WORDS, "--out", str(path)]) == 0
    with OpenEXR.File(str(path), separate_channels=True) as file:
        return {name: np.array(channel.pixels) for name, channel in file.channels().items()}


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NDArray[np.generic]]:
    return render(tmp_path_factory.mktemp("still") / "island.exr", "forest-island", "--size", "96")


def test_channels_have_their_names_and_types(island: dict[str, NDArray[np.generic]]) -> None:
    types = {name: str(layer.dtype) for name, layer in island.items()}
    assert types == {
        **dict.fromkeys("RGB", "float16"),
        **dict.fromkeys(("normal.X", "normal.Y", "normal.Z"), "float16"),
        "depth.Z": "float32",
        "material.id": "uint32",
    }
    assert all(layer.shape == (120, 160) for layer in island.values())


def test_layers_tell_of_what_is_seen(island: dict[str, NDArray[np.generic]], tmp_path: Path) -> None:
    ids, depth = island["material.id"], island["depth.Z"]
    assert (ids[0] == 0).all() and np.isinf(depth[0]).all()  # the sky
    assert (ids == 1).mean() > 0.05 and (ids >= 8).mean() > 0.05
    assert np.isfinite(depth[ids > 0]).all() and (depth[ids > 0] > 0.0).all()
    normals = np.stack([island[f"normal.{axis}"].astype(float) for axis in "XYZ"], axis=-1)
    lengths = np.linalg.norm(normals, axis=-1)
    assert np.abs(lengths[(ids > 0) & (ids != 2)] - 1.0).max() < 0.01
    assert (normals[ids == 1] == (0.0, 1.0, 0.0)).all()
    assert (normals[ids >= 8][:, 1] > 0.05).all()
    colours = np.stack([island[name].astype(float) for name in "RGB"])
    assert np.isfinite(colours).all() and colours.max() > 0.3


def test_the_depth_of_a_plane_is_that_of_geometry(tmp_path: Path) -> None:
    """Flat ground, seen from straight above: its depth is the camera's distance, and its normal points up."""
    flat = tmp_path / "flat.npy"
    np.save(flat, np.zeros((64, 64), np.float32))
    words = [str(flat), "--set", "camera.pitch=90", "--set", "camera.distance=2", "--set", "world.cell_size=10"]
    layers = render(tmp_path / "flat.exr", *words)
    ground = layers["material.id"] >= 8
    assert ground.mean() > 0.05
    np.testing.assert_allclose(layers["depth.Z"][ground], 2.0 * 640.0, rtol=2e-3)
    np.testing.assert_allclose(layers["normal.Y"][ground].astype(float), 1.0, atol=1e-3)


def test_no_seams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, island: dict[str, NDArray[np.generic]]) -> None:
    monkeypatch.setattr("app.cli.render.LARGEST_LAYERED_TILE", 140)
    tiled = render(tmp_path / "tiles.exr", "forest-island", "--size", "96")
    same = tiled["material.id"] == island["material.id"]
    assert same.mean() > 0.999
    for name in ("R", "G", "B", "depth.Z", "normal.X", "normal.Y", "normal.Z"):
        one, other = (layers[name][same].astype(float) for layers in (tiled, island))
        finite = np.isfinite(other)
        assert np.array_equal(finite, np.isfinite(one))
        close = np.isclose(one[finite], other[finite], rtol=0.02, atol=0.01)
        assert close.mean() > 0.998, name


def test_the_file_says_what_its_numbers_stand_for(tmp_path: Path) -> None:
    render(tmp_path / "canyon.exr", "canyon", "--size", "64", "--set", "view.quality=lowest")
    with OpenEXR.File(str(tmp_path / "canyon.exr")) as file:
        text = file.header()["material.id"]
    names = dict(part.split(" ", 1) for part in str(text).split("; "))
    assert names["0"] == "nothing" and names["1"] == "water"
    assert {"sandstone", "gravel"} <= {re.sub(r"\W", "", name) for name in names.values()}
