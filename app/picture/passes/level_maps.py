"""Maps that levels of quality draw each in its own way."""

from __future__ import annotations

import moderngl

from app.picture.passes.bounce import BounceMap
from app.picture.passes.flow_map import FlowMap
from app.picture.passes.horizons import HorizonMap, Horizons
from app.picture.passes.maps import Lighting, LightMap
from app.picture.passes.relief import Relief, ReliefMap
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.targets import release_all


class LevelMaps:
    """The maps of one level of quality, and what is wanted of them."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self.flow = FlowMap(context, shaders)
        self.relief = ReliefMap(context, shaders)
        self.light = LightMap(context, shaders)
        self.bounce = BounceMap(context, shaders)
        self.horizons = HorizonMap(context, shaders)
        self.wanted_relief: Relief | None = None
        self.wanted_light: Lighting | None = None
        self.wanted_horizons: Horizons | None = None  # None where none are wanted
        self.only_in_light = False  # whether the light alone shows the relief

    def note_change(self) -> None:
        """The land is another one."""
        self.wanted_light = self.wanted_relief = None

    @property
    def settled(self) -> bool:
        """Whether relief, light and horizons are up to date."""
        return (
            self.relief_settled
            and self.light.settled(self.wanted_light)
            and self.bounce.is_settled
            and self.horizons.settled(self.wanted_horizons)
        )

    @property
    def relief_settled(self) -> bool:
        """Whether the relief is up to date."""
        return self.wanted_relief is not None and self.relief.settled(self.wanted_relief)

    def forget(self) -> None:
        """Force a redraw of all."""
        for maps in (self.flow, self.relief, self.light, self.bounce, self.horizons):
            maps.forget()

    def release(self) -> None:
        release_all(self.flow, self.relief, self.light, self.bounce, self.horizons)
