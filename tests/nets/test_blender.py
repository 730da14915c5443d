"""Meshes in Blender, by its own importer: where things are, how large, and of which materials.

It needs a Python that has Blender's package `bpy`, which wants another NumPy than Thalweg: `BLENDER_PYTHON` names it.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.standing import DRY
from tests.app.small import small_preset, small_scene
from tests.app.test_export import landscape_of, write
from tests.app.test_export_meshes import export
from tests.waiting import PATIENCE

VARIABLE = "BLENDER_PYTHON"

# For each object: its name, its size and its lowest point in metres, its materials, and the sizes of their pictures.
LOOK = """
import json
import sys

import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=sys.argv[1])
found = []
for object in bpy.data.objects:
    if object.type == "MESH":
        materials = object.data.materials
        nodes = [node for material in materials for node in material.node_tree.nodes]
        low = min((object.matrix_world @ vertex.co).z for vertex in object.data.vertices)
        found.append({
            "name": object.name,
            "size": list(object.dimensions),
            "low": low,
            "materials": [material.name for material in materials],
            "pictures": [list(node.image.size) for node in nodes if node.type == "TEX_IMAGE"],
            "alpha": [node.inputs["Alpha"].default_value for node in nodes if node.type == "BSDF_PRINCIPLED"],
        })
with open(sys.argv[2], "w") as file:
    json.dump(found, file)
"""

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} does not name a Python that has bpy"),
]


def in_blender(mesh: Path, folder: Path) -> list[dict[str, Any]]:
    """The objects that Blender makes of a file."""
    told = folder / "objects.json"
    command = [os.environ[VARIABLE], "-c", LOOK, str(mesh), str(told)]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    objects: list[dict[str, Any]] = json.loads(told.read_text())
    return objects


def test_land_and_water_have_their_size_height_and_materials(tmp_path: Path) -> None:
    scene = small_scene(pools__enabled=True, world__lake_depth=60.0, edges__water="sea", edges__sea_level=30.0)
    lakes = landscape_of(scene, 2)
    world = lakes.world
    export(lakes, tmp_path, meshes=("glb",))
    path = tmp_path / "ground.glb"
    ground, water = sorted(in_blender(path, tmp_path), key=lambda each: str(each["name"]))
    assert (ground["name"], water["name"]) == ("ground", "water")
    rows, columns = world.shape
    size = (columns - 1) * world.cell_size, (rows - 1) * world.cell_size, float(np.ptp(world.ground))
    assert ground["size"] == pytest.approx(size, rel=1e-3), "in metres, z up"
    assert ground["low"] == pytest.approx(float(world.ground.min()), abs=0.1)
    assert ground["materials"] == ["ground"] and len(ground["pictures"]) == 1
    levels = world.water_level[world.standing != DRY]
    assert water["low"] == pytest.approx(float(levels.min()), abs=0.1)
    assert water["materials"] == ["water"] and water["alpha"][0] < 1.0


def test_each_tree_stands_as_high_as_the_table_says(tmp_path: Path) -> None:
    wooded = landscape_of(small_preset("coupled-with-trees", 48, world__rows=36), 12)
    path, table = write(wooded, tmp_path, trees=("glb", "csv"))
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    trees = in_blender(path, tmp_path)
    assert len(trees) == len(rows) > 0
    for tree in trees:
        row = rows[int(tree["name"].rpartition(" ")[2])]
        assert tree["name"].startswith(row["kind"]) and tree["materials"]
        assert tree["size"][2] == pytest.approx(float(row["height"]), rel=1e-2)
        assert tree["low"] == pytest.approx(float(row["ground"]), abs=0.1)
