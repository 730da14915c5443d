"""The program with an overlay and a pass more than it has: what somebody adds is a row of each, and two shaders.

Run in a process of its own by `test_additions.py`: the choices of a parameter are made when it is declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import moderngl
import numpy as np

from app.model.legends import Legend
from app.model.overlays import OVERLAYS, Overlay, Value

STRIPES = ((255, 0, 255, 1), (0, 255, 0, 1))
OVERLAYS["bare"] = Overlay("bare", Value.LAYER, "where nothing lies", STRIPES, "ells", layers=("sediment",))

# Only now, as the choices of the view are made of the table.
from app.picture.passes import shaders, table  # noqa: E402
from app.picture.passes.declaration import Frame, Part, Pass  # noqa: E402
from app.picture.passes.geometry import Geometry  # noqa: E402

SHADERS = {
    "lantern.vert": """#include "frame.glsl"
in vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); }
""",
    "lantern.frag": """#include "frame.glsl"
#ifndef OVERLAY
#define OVERLAY 0
#endif
uniform sampler2D surface;
uniform vec3 glow;
out vec4 colour;
void main() {
    float bright = clamp(texelFetch(surface, ivec2(0), 0).x, 1.0, 2.0);
    colour = vec4(bright * (OVERLAY == 1 ? glow.brg : glow), 1.0);
}
""",
}


class LanternMesh:
    """A triangle in the upper left corner of the picture."""

    released = 0

    def __init__(self, context: moderngl.Context) -> None:
        self._corners = context.buffer(np.array([[-1, 1], [-1, 0], [0, 1]], np.float32).tobytes())
        self._geometry = Geometry([(self._corners, "2f", "corner")])

    def parts(self, frame: Frame) -> Iterable[Part]:
        yield Part(self._geometry, uniforms={"glow": (4.0, 0.0, 0.0)})

    def release(self) -> None:
        LanternMesh.released += 1
        self._corners.release()


LANTERN = Pass("lantern", "lantern.vert", "lantern.frag", LanternMesh, when=lambda frame: frame.exaggeration < 2.0)
table.PASSES = (*table.PASSES, LANTERN)
read_shader = shaders.read_shader
shaders.read_shader = lambda name: SHADERS[name] if name in SHADERS else read_shader(name)

# And only now what is made of the table of passes.
from app.cli.headless import headless_context, scene_camera  # noqa: E402
from app.cli.main import main  # noqa: E402
from app.picture.camera import Camera  # noqa: E402
from app.picture.canvas import Canvas  # noqa: E402
from app.picture.passes.shaders import ShaderError  # noqa: E402
from app.picture.picture import Picture  # noqa: E402
from app.scene.scene import Scene  # noqa: E402
from app.window.panel import legend  # noqa: E402
from tests.gui.host import SMALL, Driver, drive  # noqa: E402
from tests.passes.worlds import flat, snapshot  # noqa: E402


def glows(pixel: np.ndarray, channel: int) -> bool:
    return bool(pixel[channel] > 200 and pixel[channel] > 2 * np.delete(pixel, channel).max())


def picture_has_both() -> None:
    sediment = np.zeros((40, 40))
    sediment[:, 20:] = 1.0
    shown = snapshot(flat(40, 40, 100.0), sediment)
    plain = Scene().with_setting("view.quality=low").with_setting("view.sun_height=80")
    laid_over = plain.with_setting("view.overlay=bare").with_setting("view.overlay_opacity=1")
    with headless_context() as context:
        context.framebuffer([context.renderbuffer((1, 1))]).use()
        picture, canvas = Picture(context, bake_at_once=True), Canvas(context)
        picture.show(shown)
        camera = replace(scene_camera(plain, shown), pitch=90.0, heading=0.0)

        def pixels(scene: Scene, camera: Camera = camera) -> np.ndarray:
            picture.draw(canvas.framebuffer(120, 120), camera, scene, minimap=False)
            seen = canvas.pixels()
            assert seen is not None
            return seen.astype(int)

        assert glows(pixels(plain)[4, 4], 0), "the lantern is red in its corner"
        assert glows(pixels(laid_over)[4, 4], 1), "green in the variant of the define that its shader asks about"
        assert not glows(pixels(plain)[100, 100], 0), "and nowhere else"
        assert not glows(pixels(plain.with_setting("view.exaggeration=3"))[4, 4], 0), "and not where its row says so"
        west, east = pixels(laid_over)[70, 50], pixels(laid_over)[70, 70]
        assert west[0] > 2 * west[1] and east[1] > 2 * east[0], "the palette from one end to the other"

        SHADERS["lantern.frag"] = SHADERS["lantern.frag"].replace("surface", "surfaec")
        assert picture.reload_shaders() == ""
        try:
            pixels(plain)
        except ShaderError as error:
            assert "surfaec" in str(error), error
        else:
            raise AssertionError("a texture that nobody knows is an error")
        SHADERS["lantern.frag"] = SHADERS["lantern.frag"].replace("surfaec", "surface")
        picture.release()
        canvas.release()
    assert LanternMesh.released == 1


def panel_has_the_overlay(driver: Driver) -> None:
    application = driver.application
    labels: list[tuple[str, tuple[str, str]]] = []
    bar = legend._bar

    def noted(shown: Legend, *place: float) -> None:
        labels.append((shown.label, shown.ends))
        bar(shown, *place)

    legend._bar = noted
    driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
    driver.engine.item_click(driver.widget("view.overlay"))
    driver.engine.item_click("//$FOCUSED/bare")
    driver.engine.yield_(4)
    assert application.documents.scene.view.overlay == "bare"
    assert labels[-1] == ("where nothing lies", ("0 ells", "1 ells"))
    driver.press("O")
    assert application.documents.scene.view.overlay == "none", "the last of them, and so the first is next"


if __name__ == "__main__":
    picture_has_both()
    drive(panel_has_the_overlay, SMALL)
    main(["--list-parameters"])
