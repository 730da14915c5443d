"""Shaders that show what is drawn and not how it looks: the land in plain colours before a black nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from app.picture import picture
from app.picture.passes import frame, shaders
from app.picture.passes.quality import BY_NAME

# One pixel of the scene for each of the target, nothing smoothed. Triangles are large unless a test wants small ones,
# so that all levels of detail are met on small maps.
PLAIN = replace(BY_NAME["low"], name="plain", scale=1.0, samples=0, fxaa=False, outlines=False)

_INPUTS = "in vec3 position;\nin vec3 air_kept;\nin vec3 air_added;\n"
_COLOUR = "out vec4 colour;\nvoid main() {{ colour = vec4({}, 1.0); }}\n"
LAND = _INPUTS + _COLOUR.format("1.0, 1.0, 1.0")
WALLS = "flat in vec3 normal;\n" + _INPUTS + _COLOUR.format("1.0, 0.0, 0.0")
PLAIN_SHADERS = {
    "terrain.frag": LAND,
    "walls.frag": WALLS,
    "backdrop.frag": _COLOUR.format("0.0, 0.0, 0.0"),
    "tone.frag": "uniform sampler2D scene;\nin vec2 uv;\nout vec4 colour;\n"
    "void main() { colour = vec4(textureLod(scene, uv, 0.0).rgb, 1.0); }\n",
}


def standing_in(name: str, text: str) -> str:
    """A fragment shader that takes the place of one of ours: it declares what that is asked for by name."""
    generated = {frame.INCLUDE: frame.glsl()}
    ours = shaders.Shaders("fullscreen.vert", name, generated)
    included = re.findall(r'#include "(.*)"', text)
    own = [text, *(part.text for file in included for part in shaders.preprocess(f"include/{file}", generated))]
    own_text = "\n".join(own)
    choices = [choice for choice in sorted(ours.choices) if f"#ifndef {choice}\n" not in own_text]
    uniforms = [(kind, uniform) for uniform, kind in ours.uniforms.items() if f" {uniform};" not in own_text]
    return "".join(
        [
            *(f"#ifndef {choice}\n#define {choice} 0\n#endif\n" for choice in choices),
            *(f"uniform {kind} {uniform};\n" for kind, uniform in uniforms),
            text,
        ]
    )


def use(monkeypatch: pytest.MonkeyPatch, replaced: dict[str, str], triangle_pixels: float = 40.0) -> None:
    """Let some shaders be others, and `plain` be a level of quality."""
    read = shaders.read_shader
    others = {name: standing_in(name, text) for name, text in replaced.items()}
    monkeypatch.setattr(shaders, "read_shader", lambda name: others[name] if name in others else read(name))
    monkeypatch.setitem(picture.BY_NAME, "plain", replace(PLAIN, triangle_pixels=triangle_pixels))


def holes(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where black lies within the land.

    Seen from above the ground and the base, what is not land goes on to the border of the picture: a ray that misses
    the land misses it also when it is raised, or when it is lowered onto the table in front of it.
    """
    nothing = pixels.max(axis=2) == 0
    labels, _ = ndimage.label(nothing, np.ones((3, 3)))
    at_border = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    outside = nothing & np.isin(labels, at_border)
    # The tips of narrow notches in the outline can be cut off by the grid of pixels: they are no holes.
    return nothing & ~ndimage.binary_dilation(outside, iterations=6)
