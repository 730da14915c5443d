"""The surroundings of the land: the table under the block, and the sky."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import moderngl
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.surroundings import LEAST_ABOVE, Surroundings, border_height, raised_part

SKY = {"TABLE": 0, "SHADOW": 0}
TABLE = {"TABLE": 1, "SHADOW": 0, "SUN": 0}
TABLE_IN_SHADOW = {"TABLE": 1, "SHADOW": 1, "SUN": 0}
SUN_RADIUS = 0.00465  # of its disc, in radians
SUN_GLARE = 14.0  # radii of the disc over which its light is scattered
SUN_UNIFORMS = {"sun_radius": SUN_RADIUS, "sun_glare": SUN_GLARE}
TABLE_REACH = 1.4  # from the middle of the map to where the table ends as seen from there, in its longer sides
TABLE_FADES = TABLE_REACH - math.sqrt(0.5)  # there no corner of the block is nearer to its end
STEEPEST_DIP = 0.4  # slope to the end of the table: seen from higher above, the table is larger, so that no
# sky shows beside the block
# Slopes down to the end of the table up to which land is seen beyond the map, and from which on there is a table only.
FAR_LAND_FADES = 0.24, 0.34
LEAST_RELIEF = 0.015  # of land beyond the map, in longer sides of the map
HIGHEST_RANGE = 0.9  # in parts of the relief
HIGHEST_SEEN = 0.05  # slope up to it from the end of the table


def horizon_dip(camera: Camera, snapshot: Snapshot, table_height: float, exaggeration: float = 1.0) -> float | None:
    """The slope from the eye down to the far end of the table under a block; None without a table.

    The table of a block is no plain without an end: it is as large as suits a model of that size, and behind it there
    is the sky, for every view from above the table at the same height over the land. Where land around the block is
    seen, it is that of a plain as high as the border of the map.
    """
    dip, raised = table_dip(camera, snapshot, table_height), raised_land(camera, snapshot, table_height)
    if dip is None or raised == 0.0:
        return dip
    plain = table_height + raised * (border_height(snapshot) * exaggeration - table_height)
    least = LEAST_ABOVE * max(snapshot.shape) * snapshot.cell_size
    return min(dip, max(camera.position.y - plain, least) / way_to_end(camera, snapshot))


def table_dip(camera: Camera, snapshot: Snapshot, table_height: float) -> float | None:
    """The same where there is no land around the block."""
    above = camera.position.y - table_height
    if math.isfinite(snapshot.sea_level) or above <= 0.0:
        return None
    return min(above / way_to_end(camera, snapshot), STEEPEST_DIP)


def raised_land(camera: Camera, snapshot: Snapshot, table_height: float) -> float:
    """How much land around the block is raised from the table, from 0 to 1."""
    return far_land(table_dip(camera, snapshot, table_height)) * raised_part(camera, snapshot)


def way_to_end(camera: Camera, snapshot: Snapshot) -> float:
    """The horizontal distance from the eye to the far end of the table, in metres."""
    rows, columns = snapshot.shape
    middle = glm.vec2(0.5 * columns, 0.5 * rows) * snapshot.cell_size
    away = glm.distance(middle, glm.vec2(camera.position.x, camera.position.z))
    return away + TABLE_REACH * max(rows, columns) * snapshot.cell_size


class BackdropMesh:
    """All pixels outside the land; drawn last, so that no hidden pixel is computed."""

    def __init__(self, context: moderngl.Context) -> None:
        self._surroundings = Surroundings(context)

    def parts(self, frame: Frame) -> Iterable[Part]:
        height, first_of_sky = frame.scene.height, first_row_of_sky(frame)
        seen, highest = far_land(table_dip(frame.camera, frame.snapshot, frame.table_height)), 0.0
        if frame.horizon_dip is not None:
            highest = highest_range(frame)
        # Software renderers pay for the disc of the sun, and for far land, in strips of rows only.
        end_of_ranges = row_above_ranges(frame, highest) if seen > 0.0 else first_of_sky
        uniforms = SUN_UNIFORMS | {
            "table_fades": TABLE_FADES, "far_land": seen, "land_relief": relief(frame), "highest_range": highest,
            "way_to_end": way_to_end(frame.camera, frame.snapshot), "highest_of_relief": HIGHEST_RANGE,
        }  # fmt: skip
        if raised := raised_land(frame.camera, frame.snapshot, frame.table_height):
            for part in self._surroundings.parts(frame, raised):
                yield part._replace(uniforms=uniforms | {**part.uniforms})
        cut = {min(max(row, 0), height) for row in (0, *rows_of_sun(frame), end_of_ranges, first_of_sky, height)}
        for low, high in itertools.pairwise(sorted(cut)):
            land = {"FAR_LAND": 0 if seen == 0.0 else 1 if low < first_of_sky else 2 * int(low < end_of_ranges)}
            if low < first_of_sky:
                yield Part(
                    vertices=6,
                    mode=moderngl.TRIANGLE_FAN,
                    defines=TABLE_IN_SHADOW | land,
                    uniforms=uniforms,
                    vertex="block_shadow.vert",
                    rows=(low, high),
                )
                yield Part(vertices=3, defines=TABLE | land, uniforms=uniforms, rows=(low, high))
            else:
                first_of_sun, last_of_sun = rows_of_sun(frame)
                sun = {"SUN": int(first_of_sun <= low < last_of_sun)}
                yield Part(vertices=3, defines=SKY | sun | land, uniforms=uniforms, rows=(low, high))

    def release(self) -> None:
        self._surroundings.release()


class CloudsOfSky:
    """The rows of the clouds in the sky, of which each is two of the scene's."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        first = first_row_of_sky(frame)
        if first < frame.scene.height:
            yield Part(vertices=3, rows=(first // 2, frame.targets["clouds"].height))

    def release(self) -> None:
        pass


def far_land(dip: float | None) -> float:
    """How much is seen of the land beyond the map, from 0 to 1, where the table of a block ends at this slope."""
    if dip is None:
        return 0.0
    begin, end = FAR_LAND_FADES
    return min(max((end - dip) / (end - begin), 0.0), 1.0)


def relief(frame: Frame) -> float:
    """Of the land as it is seen, and of that beyond the map, in longer sides of the map."""
    snapshot = frame.snapshot
    side = max(snapshot.shape) * snapshot.cell_size
    return max((snapshot.highest - snapshot.lowest) * frame.exaggeration / side, LEAST_RELIEF)


def highest_range(frame: Frame) -> float:
    """The slope up to the highest of the far ranges, from the end of the table."""
    to_end = way_to_end(frame.camera, frame.snapshot) / (max(frame.snapshot.shape) * frame.snapshot.cell_size)
    return min(HIGHEST_RANGE * relief(frame) / to_end, HIGHEST_SEEN)


def row_above_ranges(frame: Frame, highest: float) -> int:
    """Of the part of the picture that is drawn, from below: the first above far ranges up to this slope."""
    assert frame.horizon_dip is not None
    row = frame.camera.horizon(frame.aspect, frame.horizon_dip - highest) * frame.crop.size[1] - frame.crop.bottom
    return math.ceil(min(max(row, -1.0), 1e6)) + 1


def first_row_of_sky(frame: Frame) -> int:
    """Of the part of the picture that is drawn, from below: the first that does not show the table of a block."""
    if frame.horizon_dip is None:
        return 0
    horizon = frame.camera.horizon(frame.aspect, frame.horizon_dip)  # from 0 at the bottom of the picture to 1
    line = horizon * frame.crop.size[1] - 0.5 - frame.crop.bottom
    return math.ceil(min(max(line, 0.0), frame.scene.height))


def rows_of_sun(frame: Frame) -> tuple[int, int]:
    """The rows of the part of the picture, from below, that the sun's disc and glare can lie in.

    None if it is not ahead.
    """
    seen = frame.sun - glm.vec3(
        0.0, glm.dot(frame.sun, frame.camera.horizontal_direction) * (frame.horizon_dip or 0.0), 0.0
    )
    place = frame.camera.place_of(frame.camera.position + seen * frame.camera.distance, frame.aspect)
    if place is None:
        return 0, 0
    middle = 0.5 * (1.0 + place[1]) * frame.crop.size[1] - frame.crop.bottom
    # Towards the corners of a picture it is drawn out.
    reach = 2.0 + SUN_GLARE * SUN_RADIUS * frame.focal_length * (1.0 + place[0] ** 2 + place[1] ** 2)
    return math.floor(middle - reach), math.ceil(middle + reach)
