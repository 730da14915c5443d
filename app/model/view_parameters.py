"""What the picture shows and from where, as parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from app.model.overlays import OVERLAYS
from app.model.parameters import Parameters, described, parameter

if TYPE_CHECKING:
    Overlay = str
else:
    Overlay = Literal[tuple(OVERLAYS)]
Minimap = Literal["overlay", "wind_and_sand", "water"]
Quality = Literal["automatic", "lowest", "low", "medium", "high", "ultra"]


class ViewParameters(Parameters, frozen=True, kw_only=True):
    """Light, air and what is shown on the ground."""

    title: ClassVar[str] = "View"
    section: ClassVar[str] = "view"

    sun_direction: Annotated[float, parameter(0.0, 360.0, "where the sun stands: 0 north, 90 east", unit="°")] = 250.0
    sun_height: Annotated[float, parameter(1.0, 90.0, "the sun's angle over the horizon", unit="°")] = 27.0
    exaggeration: Annotated[
        float, parameter(0.2, 10.0, "heights in the picture beside lengths; changes nothing else", unit="×", log=True)
    ] = 1.0
    exposure: Annotated[float, parameter(-4.0, 4.0, "brightness of the picture", unit="stops")] = 0.0
    haze: Annotated[float, parameter(0.0, 4.0, "how much air lies between the camera and the land", unit="×")] = 1.0
    overlay: Annotated[Overlay, described("a map laid over the ground and shown in the minimap")] = "none"
    overlay_opacity: Annotated[float, parameter(0.0, 1.0, "how much of the overlay is seen")] = 0.7
    snow_line: Annotated[float, parameter(0.0, 2.0, "snow lies above this part of the relief; 2 means nowhere")] = 2.0
    greenness: Annotated[float, parameter(0.0, 1.0, "how much of the gentle ground is green")] = 0.7
    tree_size: Annotated[
        float, parameter(0.2, 8.0, "height of a full-grown tree in the picture", unit="cells", log=True)
    ] = 1.4
    desert: Annotated[
        float, parameter(0.0, 1.0, "how much loose material is dry sand, warm and rippled by the wind")
    ] = 0.0
    drifting_sand: Annotated[
        float, parameter(0.0, 1.0, "sand seen to drift over the ground, where the wind carries it")
    ] = 0.0
    dust: Annotated[
        float, parameter(0.0, 3.0, "dust in the air while a storm blows over sand that the wind carries", unit="×")
    ] = 1.0
    water_clarity: Annotated[
        float, parameter(0.05, 20.0, "how deep one sees into lakes and sea", unit="×", log=True)
    ] = 1.0
    waves: Annotated[float, parameter(0.0, 3.0, "how rough lakes and sea are", unit="×")] = 1.0
    stream_threshold: Annotated[
        float,
        parameter(1.0, 100_000.0, "water is seen to run where so many cells' rain passes", unit="cells", log=True),
    ] = 400.0
    flow_speed: Annotated[float, parameter(0.0, 8.0, "how fast ripples run down streams", unit="cells/s")] = 1.5
    wear_and_deposit: Annotated[
        float, parameter(0.0, 1.0, "how much snowballs colour the ground: sand where they put it down, rock where bare")
    ] = 1.0
    traffic_water: Annotated[
        float,
        parameter(0.0, 1000.0, "snowballs through a cell that show as a river or lake; 0 means never", unit="balls"),
    ] = 0.0
    minimap: Annotated[bool, described("the map in the corner")] = True
    minimap_shows: Annotated[
        Minimap,
        described("the ground with the overlay; sand with the paths of the wind; or water: streams light, lakes dark"),
    ] = "overlay"
    quality: Annotated[Quality, described("detail and antialiasing; automatic follows the measured frame time")] = (
        "automatic"
    )


class CameraParameters(Parameters, frozen=True, kw_only=True):
    """The view that a scene opens with. The distance is in parts of the map's longer side, the target in parts
    of its width and height, so that they suit any size and shape."""

    title: ClassVar[str] = "Camera"
    section: ClassVar[str] = "view"

    heading: Annotated[float, parameter(0.0, 360.0, "the way the camera looks: 0 north, 90 east", unit="°")] = 330.0
    pitch: Annotated[float, parameter(1.0, 90.0, "how steeply it looks down", unit="°")] = 24.0
    distance: Annotated[float, parameter(0.01, 10.0, "to the point that it looks at", unit="sides", log=True)] = 1.35
    target_east: Annotated[
        float, parameter(-1.0, 2.0, "the point that it looks at, from the western edge", unit="widths")
    ] = 0.5
    target_south: Annotated[
        float, parameter(-1.0, 2.0, "the point that it looks at, from the northern edge", unit="heights")
    ] = 0.5
    field_of_view: Annotated[float, parameter(10.0, 100.0, "from the top of the picture to its bottom", unit="°")] = (
        32.0
    )
