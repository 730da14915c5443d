"""Meshes of the land: coloured for engines and modellers, and closed blocks for printers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.export.landscape import Landscape, Numbers
from app.export.triangles import Faces, Surface, faces_of_squares
from app.files.atomic import write_atomically
from kernels.standing import DRY

Pixels = NDArray[np.uint8]  # sRGB [row, column, (red, green, blue)], row 0 in the north

WATER_COLOUR = (28, 74, 102, 190)  # sRGB and opacity
THINNEST_WATER = 0.02  # of a block's base: minimum thickness of printed water


@dataclass(frozen=True)
class Print:
    """Dimensions of a printed block, in millimetres."""

    width: float = 150.0  # of the longer side
    base: float = 5.0  # thickness below the lowest ground
    exaggeration: float = 1.0

    def scale(self, landscape: Landscape) -> float:
        """Millimetres per metre."""
        rows, columns = landscape.world.shape
        return self.width / (max(rows - 1, columns - 1) * landscape.world.cell_size)


# Meshes of trimesh.


def ground_mesh(landscape: Landscape, surface: Surface, colours: Pixels | None = None) -> Any:
    """The ground in the axes of glTF: metres from the centre of the map, X east, Y up, Z south."""
    mesh = _with_normals(_metres(landscape, surface.points, surface.heights), surface.faces)
    if colours is not None:
        mesh.visual = _textured(landscape, surface, colours)
    return mesh


def _with_normals(points: Numbers, faces: Faces) -> Any:
    """A mesh whose vertex normals are means of face normals, weighted by the angles at the vertex.

    trimesh needs SciPy for this, or is slow.
    """
    from trimesh import Trimesh

    mesh = Trimesh(points, faces, process=False)
    sums = np.zeros((len(points), 3))
    for corner in range(3):
        weighted = mesh.face_normals * mesh.face_angles[:, [corner]]
        for axis in range(3):
            sums[:, axis] += np.bincount(mesh.faces[:, corner], weighted[:, axis], len(points))
    mesh.vertex_normals = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(float).tiny)
    return mesh


def _metres(landscape: Landscape, points: Numbers, heights: Numbers) -> Numbers:
    rows, columns = landscape.world.shape
    east, south = ((points - 0.5 * np.array([columns - 1, rows - 1])) * landscape.world.cell_size).T
    return np.stack([east, heights, south], axis=-1)


def _textured(landscape: Landscape, surface: Surface, colours: Pixels) -> Any:
    """The part of an image of the whole map that covers a surface, as its texture."""
    from PIL import Image
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    size = np.array(colours.shape[1::-1])
    per_cell = size / np.array(landscape.world.shape[::-1])
    pixels = (surface.points + 0.5) * per_cell
    beside = np.ceil(0.5 * per_cell) + 1.0
    first = np.maximum(np.floor(pixels.min(axis=0)) - beside, 0).astype(int)
    end = np.minimum(np.ceil(pixels.max(axis=0)) + beside, size).astype(int)
    across = (pixels - first) / (end - first)
    places = np.stack([across[:, 0], 1.0 - across[:, 1]], axis=-1)  # trimesh counts from the bottom
    picture = Image.fromarray(np.ascontiguousarray(colours[first[1] : end[1], first[0] : end[0]]))
    material = PBRMaterial(name="ground", baseColorTexture=picture, metallicFactor=0.0, roughnessFactor=1.0)
    return TextureVisuals(uv=places, material=material)


def water_mesh(landscape: Landscape, tile: Surface) -> Any:
    """The surface of lakes and sea over a tile, in the axes of glTF, or None without water.

    A square between four cells belongs to the tile that contains its centre.
    """
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    wet = wet_squares(landscape)
    (west, north), (east, south) = tile.points.min(axis=0), tile.points.max(axis=0)
    down, across = (np.arange(side) + 0.5 for side in wet.shape)
    wet &= ((down >= north) & (down < south))[:, None] & (across >= west) & (across < east)
    if not wet.any():
        return None
    points, faces, numbers = _of_squares(wet)
    levels = landscape.levels_around.ravel()[numbers]
    mesh = _with_normals(_metres(landscape, points, levels), faces)
    material = PBRMaterial(
        name="water", baseColorFactor=WATER_COLOUR, alphaMode="BLEND", metallicFactor=0.0, roughnessFactor=0.1
    )
    mesh.visual = TextureVisuals(material=material)
    return mesh


# Water.


def wet_squares(landscape: Landscape) -> NDArray[np.bool_]:
    """Squares between the centres of four cells that contain water, [row, column].

    If two of them would touch only at a corner, the squares beside them are added, so that the mesh is manifold.
    """
    standing = landscape.world.standing != DRY
    wet: NDArray[np.bool_] = standing[:-1, :-1] | standing[:-1, 1:] | standing[1:, :-1] | standing[1:, 1:]
    while True:
        a, b, c, d = wet[:-1, :-1], wet[:-1, 1:], wet[1:, :-1], wet[1:, 1:]
        corner = (a & d & ~b & ~c) | (b & c & ~a & ~d)
        if not corner.any():
            return wet
        for part in (a, b, c, d):
            part |= corner


def _of_squares(squares: NDArray[np.bool_]) -> tuple[Numbers, Faces, NDArray[np.int64]]:
    """Points (east, south) in cells, two faces per square, and the index of the cell at each point."""
    used, faces = np.unique(faces_of_squares(squares), return_inverse=True)
    south, east = np.divmod(used, squares.shape[1] + 1)
    return np.stack([east, south], 1).astype(np.float64), faces.reshape(-1, 3), used


# Blocks.


def block(landscape: Landscape, surface: Surface, printed: Print) -> Any:
    """The land as a closed block in millimetres, Z up, with a flat base."""
    lowest = float(landscape.world.ground.min())
    top = _millimetres(landscape, surface.points, surface.heights - lowest, printed)
    return _closed(top, np.column_stack([top[:, :2], np.zeros(len(top))]), surface.faces, even=True)


def water_block(landscape: Landscape, printed: Print) -> Any:
    """Lakes and sea as closed bodies that fit the block of the land, or None without water.

    At the shore they extend a little into the ground.
    """
    wet = wet_squares(landscape)
    if not wet.any():
        return None
    points, faces, numbers = _of_squares(wet)
    world = landscape.world
    lowest = float(world.ground.min())
    levels, ground = (values.ravel()[numbers] - lowest for values in (landscape.levels_around, world.ground))
    top, bottom = (_millimetres(landscape, points, heights, printed) for heights in (levels, ground))
    bottom[:, 2] = np.minimum(bottom[:, 2], top[:, 2] - THINNEST_WATER * printed.base)
    return _closed(top, bottom, faces)


def _millimetres(landscape: Landscape, points: Numbers, heights: Numbers, printed: Print) -> Numbers:
    """Coordinates on a block, from heights above the lowest ground."""
    scale = printed.scale(landscape)
    east, south = (points * landscape.world.cell_size * scale).T
    north = (landscape.world.shape[0] - 1) * landscape.world.cell_size * scale - south
    return np.stack([east, north, printed.base + heights * scale * printed.exaggeration], axis=-1)


def _closed(top: Numbers, bottom: Numbers, faces: Faces, *, even: bool = False) -> Any:
    """A closed body between two surfaces with the same faces. A flat (`even`) bottom is a fan around its centre."""
    from trimesh import Trimesh

    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    key = edges.min(axis=1) * len(top) + edges.max(axis=1)
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    first, second = edges[first[counts == 1]].T
    below = len(top)
    walls = np.concatenate(
        [np.stack([second, first, first + below], 1), np.stack([second, first + below, second + below], 1)]
    )
    points = np.concatenate([top, bottom])
    if not even:
        floor = faces[:, ::-1] + below
    else:
        floor = np.stack([second + below, first + below, np.full(len(first), len(points))], 1)
        points = np.concatenate([points, [0.5 * (bottom.min(axis=0) + bottom.max(axis=0))]])
    whole = np.concatenate([faces, walls, floor])
    used, whole = np.unique(whole, return_inverse=True)
    return Trimesh(points[used], whole.reshape(-1, 3), process=False)


# Writers.


def _write_scene(path: Path, kind: str, parts: dict[str, Any]) -> None:
    from trimesh import Scene

    scene = Scene()
    for name, mesh in parts.items():
        scene.add_geometry(mesh, node_name=name, geom_name=name)
    _write(path, scene.export(file_type=kind))


def _write(path: Path, content: bytes | str) -> None:
    with write_atomically(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_glb(path: Path, parts: dict[str, Any]) -> None:
    """Write several named meshes, with normals and textures."""
    _write_scene(path, "glb", parts)


def write_obj(path: Path, parts: dict[str, Any]) -> None:
    """Write the first of several meshes, with normals."""
    from trimesh.exchange.obj import export_obj

    _write(path, export_obj(next(iter(parts.values())), include_normals=True, include_texture=False))


def write_ply(path: Path, parts: dict[str, Any]) -> None:
    """Write the first of several meshes, with normals."""
    from trimesh.exchange.ply import export_ply

    _write(path, export_ply(next(iter(parts.values())), vertex_normal=True))


def write_stl(path: Path, mesh: Any) -> None:
    """Write one body, in binary."""
    from trimesh.exchange.stl import export_stl

    _write(path, export_stl(mesh))


@dataclass(frozen=True)
class MeshFormat:
    """A format of meshes: description, suffix, writer, and approximate size per triangle."""

    help: str
    suffix: str
    write: Callable[[Path, dict[str, Any]], None]
    bytes_per_triangle: float


MESH_FORMATS: dict[str, MeshFormat] = {
    "glb": MeshFormat("glTF with the ground's colours and the surface of water", ".glb", write_glb, 30.0),
    "obj": MeshFormat("Wavefront", ".obj", write_obj, 90.0),
    "ply": MeshFormat("Stanford triangles", ".ply", write_ply, 40.0),
}
TEXTURED = "glb"  # the format with colours and water
BYTES_PER_PIXEL = 1.0  # of its texture, as PNG
PRINTED = "stl"  # the format of closed blocks for printers
BYTES_PER_PRINTED = 50.0
