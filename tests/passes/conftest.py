"""One OpenGL context for all tests of the passes, and none of them may leave an error in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.cli.headless import scene_camera
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import frame, land_maps
from app.picture.passes.shaders import ShaderLibrary
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.graphics import graphics, own_fixed_textures, own_framebuffer, own_programs

Draw = Callable[..., NDArray[np.uint8]]


@pytest.fixture(autouse=True)
def context() -> Iterator[moderngl.Context]:
    """The context, current for this test, which must leave no error in it."""
    with graphics() as context:
        yield context


@pytest.fixture(autouse=True)
def bare_land(request: pytest.FixtureRequest) -> Iterator[None]:
    """No trees stand but those that a test plants, except where its module wants `WOODS_OF_CLIMATE`."""
    with pytest.MonkeyPatch.context() as patch:  # its own: a test may undo what it has changed
        if not getattr(request.module, "WOODS_OF_CLIMATE", False):
            patch.setattr(land_maps, "woods_of", lambda *_: None)
        yield


@pytest.fixture
def resting_place(context: moderngl.Context) -> moderngl.Framebuffer:
    """The framebuffer that is in use when a test begins, and has to be when one that is in use is released."""
    return own_framebuffer()


@pytest.fixture
def compiled_anew(context: moderngl.Context) -> Iterator[None]:
    """No program of another test is used, and what is let go is released."""
    with own_programs():
        yield


@pytest.fixture
def own_textures(context: moderngl.Context) -> Iterator[None]:
    """No texture that pictures share is there yet."""
    with own_fixed_textures():
        yield


@pytest.fixture
def shaders(context: moderngl.Context) -> Iterator[ShaderLibrary]:
    library = ShaderLibrary(context, {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
    yield library
    library.release()


@pytest.fixture
def frame_block(context: moderngl.Context) -> Iterator[frame.FrameBlock]:
    block = frame.FrameBlock(context)
    yield block
    block.release()


@pytest.fixture
def canvas(context: moderngl.Context) -> Iterator[Canvas]:
    canvas = Canvas(context)
    yield canvas
    canvas.release()


@pytest.fixture
def picture(context: moderngl.Context) -> Iterator[Picture]:
    """A picture of low quality, whose light is always complete."""
    picture = Picture(context, bake_at_once=True, quality="low")
    yield picture
    picture.release()


@pytest.fixture
def draw(picture: Picture, canvas: Canvas, resting_place: moderngl.Framebuffer) -> Draw:
    """Draws a snapshot and returns its pixels, `[row from the top, column, channel]`."""

    def draw(
        snapshot: Snapshot,
        camera: Camera | None = None,
        scene: Scene | None = None,
        *,
        size: tuple[int, int] = (160, 120),
        minimap: bool = False,
        time: float = 0.0,
    ) -> NDArray[np.uint8]:
        scene = scene or Scene()
        if picture.snapshot is not snapshot:
            picture.show(snapshot)
        resting_place.use()
        target = canvas.framebuffer(*size)
        target.clear(1.0, 0.0, 1.0, 1.0)
        picture.draw(target, camera or scene_camera(scene, snapshot), scene, time=time, minimap=minimap)
        pixels = canvas.pixels()
        assert pixels is not None
        return pixels.copy()

    return draw
