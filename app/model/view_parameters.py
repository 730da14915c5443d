"""What the picture shows, and the camera, as parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from app.model.camera_path import read_camera_path
from app.model.overlays import OVERLAYS
from app.model.parameters import Parameters, described, parameter
from app.model.river_parameters import READ_STREAMS

if TYPE_CHECKING:
    Overlay = str
else:
    Overlay = Literal[tuple(OVERLAYS)]
Minimap = Literal["overlay", "wind_and_sand", "water"]
Quality = Literal["automatic", "lowest", "low", "medium", "high", "ultra"]


class ViewParameters(Parameters, frozen=True, kw_only=True):
    """Light, atmosphere, and what is drawn on the ground."""

    title: ClassVar[str] = "View"
    section: ClassVar[str] = "view"

    # fmt: off
    sun_direction: Annotated[float, parameter(0.0, 360.0, "azimuth of the sun: 0 north, 90 east", unit="°",
        essential=True)] = 250.0
    sun_height: Annotated[float, parameter(1.0, 90.0, "elevation of the sun above the horizon", unit="°",
        essential=True)] = 27.0
    exaggeration: Annotated[float, parameter(0.2, 10.0, "vertical exaggeration of the picture; changes nothing else",
        unit="×", log=True, essential=True)] = 1.0
    exposure: Annotated[float, parameter(-4.0, 4.0, "exposure of the picture", unit="stops", essential=True)] = 0.0
    haze: Annotated[float, parameter(0.0, 4.0, "density of the haze between camera and land", unit="×")] = 1.0
    fog: Annotated[float, parameter(0.0, 2.0, "fog on valley floors while the sun is below 22°; from level high on",
        unit="×")] = 0.0
    clouds: Annotated[float, parameter(0.0, 0.9,
        "part of the sky that clouds cover; from level high on, their shadows lie on the land", essential=True)] = 0.0
    overlay: Annotated[Overlay, described("map draped over the ground and shown in the minimap")] = "none"
    overlay_opacity: Annotated[float, parameter(0.0, 1.0, "opacity of the overlay",
        needs="not view.overlay=none")] = 0.7
    legend: Annotated[bool, described("the overlay's legend in pictures, clips and screenshots, too",
        needs="not view.overlay=none")] = False
    fine_relief: Annotated[float, parameter(0.0, 2.0,
        "ribs and gullies of rock finer than the cells, from level medium on; only drawn", unit="×")] = 1.0
    snow_line: Annotated[float, parameter(0.0, 2.0, "snow line as a fraction of the relief; 2 means no snow")] = 2.0
    greenness: Annotated[float, parameter(0.0, 1.0, "how green gentle slopes are")] = 0.7
    tree_size: Annotated[float, parameter(0.2, 8.0, "height of a full-grown tree in the picture", unit="cells",
        log=True, needs="plants.enabled")] = 1.4
    desert: Annotated[float, parameter(0.0, 1.0,
        "how much loose material looks like dry sand, warm and rippled by the wind")] = 0.0
    dust_plume: Annotated[float, parameter(0.0, 4.0,
        "density of sand and dust in flight, seen as a plume in the air; from level high on",
        unit="×", needs="wind.enabled")] = 0.0
    drifting_sand: Annotated[float, parameter(0.0, 1.0,
        "visibility of sand drifting over the ground where the wind carries it", needs="wind.enabled")] = 0.0
    storm: Annotated[float, parameter(0.0, 1.0,
        "least strength of the storm that is seen, whatever the weather is",
        needs="climate.storms")] = 0.0
    dust: Annotated[float, parameter(0.0, 3.0, "density of airborne dust while a storm blows over mobile sand",
        unit="×", needs="climate.storms, wind.enabled")] = 1.0
    rain: Annotated[float, parameter(0.0, 3.0,
        "density of the rain or snow of storms, which are dry where wind moves sand; from level high on", unit="×",
        needs="climate.storms")] = 1.0
    water_clarity: Annotated[float, parameter(0.05, 20.0, "clarity of lakes and sea: how deep one sees into the water",
        unit="×", log=True)] = 1.0
    waves: Annotated[float, parameter(0.0, 3.0, "roughness of lakes and sea", unit="×")] = 1.0
    stream_threshold: Annotated[float, parameter(1.0, 100_000.0,
        "streams are drawn where they carry the rain of this many cells", unit="cells", log=True, needs=READ_STREAMS,
        essential=True)] = 400.0
    flow_speed: Annotated[float, parameter(0.0, 8.0, "speed of the ripples on streams", unit="cells/s",
        needs=READ_STREAMS)] = 1.5
    wear_and_deposit: Annotated[float, parameter(0.0, 1.0,
        "how strongly snowball erosion (rock) and deposition (sand) colour the ground",
        needs="snowballs.enabled")] = 1.0
    traffic_water: Annotated[float, parameter(0.0, 1000.0,
        "snowball traffic above which channels are drawn as streams and hollows as lakes; 0 means never", unit="balls",
        needs="snowballs.enabled")] = 0.0
    minimap: Annotated[bool, described("minimap in the corner")] = True
    minimap_shows: Annotated[Minimap,
        described("the ground with the overlay; sand with wind paths; or water (streams light, lakes dark)",
        needs="view.minimap")] = "overlay"
    caption: Annotated[str, described("words over the picture; | begins a line, and {cycle}, {years}, {age}, {name} or"
        " a parameter is its value")] = ""
    camera_path: Annotated[str,
        described("keys of the camera on the time line, each as cycle: heading pitch distance east south",
        check=read_camera_path)] = ""
    quality: Annotated[Quality,
        described("detail and antialiasing; automatic follows the measured frame time")] = "automatic"
    # fmt: on


class CameraParameters(Parameters, frozen=True, kw_only=True):
    """The view that a scene opens with.

    The distance is relative to the map's longer side, the target to its width and height, so that they suit any size
    and shape.
    """

    title: ClassVar[str] = "Camera"
    section: ClassVar[str] = "view"

    heading: Annotated[float, parameter(0.0, 360.0, "view direction: 0 north, 90 east", unit="°")] = 330.0
    pitch: Annotated[float, parameter(1.0, 90.0, "angle below horizontal of the view", unit="°")] = 24.0
    distance: Annotated[float, parameter(0.01, 10.0, "distance to the target", unit="sides", log=True)] = 1.35
    target_east: Annotated[float, parameter(-1.0, 2.0, "target point, from the western edge", unit="widths")] = 0.5
    target_south: Annotated[float, parameter(-1.0, 2.0, "target point, from the northern edge", unit="heights")] = 0.5
    field_of_view: Annotated[float, parameter(10.0, 100.0, "vertical field of view", unit="°")] = 32.0
