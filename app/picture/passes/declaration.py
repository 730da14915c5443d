"""A pass: two shaders, a mesh and a blending mode, declared as a row of a table.

The defines of a variant are those that the shaders have an `#ifndef` for. Textures and uniforms are looked up by their
names in the shaders, in the frame and in the mesh. An unknown name is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.overlays import Span
from app.model.snapshot import Snapshot
from app.picture.appearance import Appearance
from app.picture.camera import Camera
from app.picture.crop import Crop
from app.picture.passes.geometry import NUMBERED, Geometry
from app.picture.passes.quality import Quality
from app.picture.passes.shaders import NO_DEFINES, Drawing, Program, ShaderLibrary, Texture, Uniform
from app.picture.passes.targets import release_all

if TYPE_CHECKING:
    from app.picture.passes.bounce import BounceMap
    from app.picture.passes.falls import FallSheets
    from app.picture.passes.forest import Selection, TreeView
    from app.picture.passes.mesh_parts import MeshParts
    from app.picture.passes.shore_blocks import Shore
    from app.picture.passes.standing_water import StandingWater
    from app.picture.passes.trees import Trees

SOURCE_1_COLOUR = 0x88F9  # GL_SRC1_COLOR, which moderngl has no name for


class Shot(NamedTuple):
    """The camera, appearance and options of a picture."""

    camera: Camera
    appearance: Appearance
    time: float = 0.0  # seconds
    minimap: bool = True
    overlay_span: Span | None = None  # values at the ends of the overlay's palette; without it, they suit the snapshot
    least_discharge: float | None = None  # of the smallest visible stream, which sets widths; None: from the snapshot
    crop: Crop | None = None  # the part of the picture that is drawn; None: all
    hasty: bool = False  # in fewer pixels, where software draws them
    finer: int = 0  # levels of quality above the automatic one, while nothing moves


@dataclass
class Frame:
    """All inputs of the passes of a frame. Lengths in metres."""

    snapshot: Snapshot
    camera: Camera
    aspect: float  # of the picture
    crop: Crop  # the part of the scene that is drawn, in its pixels
    exaggeration: float
    sun: glm.vec3  # towards it
    quality: Quality
    targets: Mapping[str, moderngl.Framebuffer]  # render targets: `scene`, and others if there are any
    nodes: NDArray[np.float32]  # of the ground's mesh
    mesh: MeshParts  # how they are drawn
    focal_length: float  # pixels
    waves: int  # style of the sea
    water: StandingWater
    shore: Shore | None  # shore of natural waves
    run_up: float  # vertical run-up of waves
    run_up_way: float  # horizontal run-up on flat ground
    falling: float  # amount of rain or snow, from 0 to 1
    smallest_stream: float | None  # discharge of the smallest visible stream
    stream_patches: NDArray[np.bool_]  # patches of the map with streams
    streams_near_shore: bool  # whether the camera is near to one by a shore
    falls: FallSheets
    bounce: BounceMap  # light reflected by the land
    table_height: float  # of the base of the block
    horizon_dip: float | None  # downward slope to the edge of the table below the block; None without a table
    trees: Trees
    tree_view: TreeView
    selected_trees: Selection | None  # trees to draw
    nodes_at_once: int | None  # of the ground's mesh in one slice; None: all
    defines: dict[str, int] = field(default_factory=dict)
    textures: dict[str, Texture] = field(default_factory=dict)
    uniforms: dict[str, Uniform] = field(default_factory=dict)

    @property
    def scene(self) -> moderngl.Framebuffer:
        return self.targets["scene"]

    @property
    def ground_is_plain(self) -> bool:
        """Whether nothing covers the ground."""
        return not self.defines["OVERLAY"] and not self.defines["FLOW_PATH"]

    @property
    def ground_has_beach(self) -> bool:
        """Whether the shader of the ground draws beaches too: it has no room for near streams besides."""
        return self.quality.deferred and self.ground_is_plain and not self.streams_near_shore


class Part(NamedTuple):
    """A range of a mesh in one draw call, with its differences from the frame."""

    geometry: Geometry = NUMBERED
    vertices: int = -1
    instances: int = 1
    mode: int = moderngl.TRIANGLES
    first: int = 0
    defines: Mapping[str, int] = NO_DEFINES
    uniforms: Mapping[str, Uniform] = {}
    vertex: str = ""  # a vertex shader instead of that of the pass
    rows: tuple[int, int] | None = None  # of the picture, from its bottom; None: all


class Mesh(Protocol):
    """A mesh of passes. A table has one instance, shared by its passes."""

    def __init__(self, context: moderngl.Context) -> None: ...

    def parts(self, frame: Frame) -> Iterable[Part]:
        """The parts. Each one is drawn before the next is requested."""

    def release(self) -> None: ...


class Blending(Enum):
    """Blending modes."""

    OPAQUE = "the nearer hides the farther"
    BY_COLOUR = "a fraction of each colour stays: water absorbs red first"
    VEIL = "likewise, and what is behind can still be drawn before it"
    IN_PLACE = "where the mesh has been drawn before"

    def begin(self, context: moderngl.Context) -> None:
        context.enable_only(moderngl.DEPTH_TEST | moderngl.PROGRAM_POINT_SIZE)
        context.depth_func = "<="
        if self in (Blending.BY_COLOUR, Blending.VEIL):
            context.enable(moderngl.BLEND)
            context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
            context.blend_func = moderngl.ONE, SOURCE_1_COLOUR
        elif self is Blending.IN_PLACE:
            context.depth_func = ">"  # it is behind everything, so this passes only where something is drawn


def always(frame: Frame) -> bool:
    return True


@dataclass(frozen=True)
class Pass:
    """A row of the table of passes."""

    name: str
    vertex: str
    fragment: str
    mesh: type[Mesh]
    blending: Blending = Blending.OPAQUE
    when: Callable[[Frame], bool] = always
    defines: Mapping[str, int] = field(default_factory=dict)  # that override those of the frame
    target: str = "scene"
    joined: bool = False  # in one slice with the next
    culled: bool = False  # without its back faces, which its front faces hide


class Passes:
    """Draws a table of passes in order."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, table: Sequence[Pass]) -> None:
        self._context = context
        self._shaders = shaders
        self._table = table
        self._meshes: dict[type[Mesh], Mesh] = {}
        self._drawings: dict[tuple[Program, Geometry], Drawing] = {}

    def slices(self, frame: Frame) -> Iterator[None]:
        """Draw all passes, with breaks where other drawing may interleave."""
        for row in self._table:
            if row.when(frame):
                for _ in self._drawn_parts(row, frame):
                    if frame.nodes_at_once:
                        yield
                if not row.joined:
                    yield

    def drawn(self, frame: Frame) -> Iterator[Pass]:
        """Draw the passes of a frame in order. Yields each one after it is drawn."""
        for row in self._table:
            if row.when(frame):
                self.draw(row, frame)
                yield row

    def draw(self, row: Pass, frame: Frame) -> None:
        """Draw one pass. Raises `ShaderError` if its shaders read a value that neither frame nor mesh has."""
        for _ in self._drawn_parts(row, frame):
            pass

    def _drawn_parts(self, row: Pass, frame: Frame) -> Iterator[None]:
        """Draw one pass, with a break after each part."""
        if row.mesh not in self._meshes:
            self._meshes[row.mesh] = row.mesh(self._context)
        target = frame.targets[row.target]
        for part in self._meshes[row.mesh].parts(frame):
            target.use()
            row.blending.begin(self._context)
            if row.culled:
                self._context.enable(moderngl.CULL_FACE)
                self._context.cull_face, self._context.front_face = "back", "ccw"
            target.depth_mask = row.blending not in (Blending.IN_PLACE, Blending.VEIL)
            own = {**row.defines, **part.defines}
            program = self._shaders.variant(part.vertex or row.vertex, row.fragment, frame.defines, own)
            program.read(frame.textures, frame.uniforms | {**part.uniforms})
            if part.rows is not None:
                target.scissor = (0, part.rows[0], target.width, part.rows[1] - part.rows[0])
            self._drawing(program, part.geometry).render(part.mode, part.vertices, part.instances, part.first)
            if part.rows is not None:
                target.scissor = (0, 0, *target.size)
            target.depth_mask = True
            yield

    def _drawing(self, program: Program, geometry: Geometry) -> Drawing:
        key = (program, geometry)
        if key not in self._drawings:
            self._drawings[key] = Drawing(self._context, program, geometry.buffers, geometry.indices)
        return self._drawings[key]

    def release(self) -> None:
        release_all(*self._drawings.values(), *self._meshes.values())
        self._drawings.clear()
        self._meshes.clear()
