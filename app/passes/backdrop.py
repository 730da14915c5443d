"""What lies around the land: the table that the block stands on, and the sky."""

from __future__ import annotations

import math

import moderngl

from app.passes.shaders import Drawing, ShaderLibrary


class BackdropPass:
    """Fills every pixel that the land has left free; drawn last, so that no hidden pixel is computed."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], Drawing] = {}

    def draw(
        self,
        scene: moderngl.Framebuffer,
        horizon: float,
        *,
        with_table: bool,
        with_dust: bool,
        surface: moderngl.Texture,
        detail: moderngl.Texture,
    ) -> None:
        """Draw into the scene that is in use.

        `horizon` is its height in the picture, from 0 at the bottom to 1; below it lies the table, where there is one.
        """
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        width, height = scene.size
        first_of_sky = math.ceil(min(max(horizon * height - 0.5, 0.0), height)) if with_table else 0

        def draw(vertex: str, table: int, shadow: int, rows: tuple[int, int], vertices: int) -> None:
            if rows[0] >= rows[1]:
                return
            key = (vertex, f"STORM {int(with_dust)}", f"TABLE {table}", f"SHADOW {shadow}")
            if key not in self._drawings:
                program = self._shaders.program(vertex, "backdrop.frag", key[1:])
                self._drawings[key] = Drawing(self._context, program)
            drawing = self._drawings[key]
            drawing.program.bind(surface=surface, detail=detail)
            drawing.program.set(scene_size=(float(width), float(height)))
            scene.scissor = (0, rows[0], width, rows[1] - rows[0])
            drawing.render(moderngl.TRIANGLE_FAN if shadow else moderngl.TRIANGLES, vertices=vertices)

        draw("block_shadow.vert", 1, 1, (0, first_of_sky), 6)
        draw("fullscreen.vert", 1, 0, (0, first_of_sky), 3)
        draw("fullscreen.vert", 0, 0, (first_of_sky, height), 3)
        scene.scissor = (0, 0, width, height)

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
