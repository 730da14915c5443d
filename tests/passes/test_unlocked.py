"""OpenGL's own functions do what moderngl's do, and let other threads run meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import moderngl
import numpy as np
import pytest

from app.cli.headless import scene_camera
from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.model.edge_parameters import EdgeParameters
from app.picture.canvas import Canvas
from app.picture.passes import unlocked
from app.picture.picture import Picture
from app.processes.pools import PoolsParameters
from app.scene.scene import Scene
from tests.gui.program import own_screen

VERTEX = """#version 410 core
in vec2 place;
uniform vec2 shift;
out vec3 tint;
void main() {
    tint = vec3(place, float(gl_InstanceID));
    gl_Position = vec4(place + shift * float(gl_InstanceID), 0.0, 1.0);
}
"""
FRAGMENT = """#version 410 core
in vec3 tint;
uniform int work;
out vec4 colour;
void main() {
    float sum = 0.0;
    for (int i = 0; i < work; i++) sum += sin(sum + float(i) * gl_FragCoord.x);
    colour = vec4(abs(tint) + 1e-9 * sum, 1.0);
}
"""
CORNERS = np.array([(-1, -1), (0, -1), (-1, 0), (0, 0)], np.float32)


@pytest.fixture
def program(context: moderngl.Context) -> moderngl.Program:
    program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    program["shift"].value = (0.7, 0.6)
    program["work"].value = 1
    return program


@pytest.mark.parametrize("indexed", [False, True])
def test_draws_as_moderngl_does(context: moderngl.Context, program: moderngl.Program, indexed: bool) -> None:
    indices = context.buffer(np.array([3, 2, 1, 0, 1, 2], np.uint32).tobytes()) if indexed else None
    array = context.vertex_array(program, [(context.buffer(CORNERS.tobytes()), "2f", "place")], index_buffer=indices)
    target = context.framebuffer([context.texture((32, 32), 4)])
    drawn = []
    first = 3 if indexed else 1
    by_moderngl = lambda: array.render(moderngl.TRIANGLES, vertices=3, first=first, instances=2)  # noqa: E731
    by_us = lambda: unlocked.draw(  # noqa: E731
        array, indexed=indexed, mode=moderngl.TRIANGLES, vertices=3, first=first, instances=2
    )
    for draw in (by_moderngl, by_us):
        target.use()
        target.clear()
        context.enable_only(moderngl.NOTHING)
        draw()
        drawn.append(target.read())
    assert drawn[0] == drawn[1]
    assert np.frombuffer(drawn[0], np.uint8).std() > 20.0


def test_uploads_and_reads_are_moderngls(context: moderngl.Context) -> None:
    random = np.random.default_rng(1)
    layer = random.random((5, 7), np.float32)  # rows of 28 bytes
    ours, theirs = (context.texture((7, 5), 1, dtype="f4") for _ in range(2))
    context.texture((3, 3), 1, bytes(9), alignment=1)  # leaves another alignment behind
    unlocked.upload(ours, layer)
    theirs.write(layer)
    assert ours.read() == theirs.read() == layer.tobytes()
    with pytest.raises(AssertionError):
        unlocked.upload(ours, layer.T)

    pixels = random.integers(0, 256, (5, 7, 3), np.uint8)
    target = context.framebuffer([context.texture((7, 5), 3, pixels.tobytes(), alignment=1)])
    np.testing.assert_array_equal(unlocked.read(target), pixels)


def test_a_query_of_time_is_not_waited_for(context: moderngl.Context) -> None:
    query = unlocked.TimeQuery()
    with query:
        pass
    unlocked.finish()
    assert query.seconds is not None and query.seconds >= 0.0
    query.release()


def test_other_threads_run_while_something_is_drawn(context: moderngl.Context, program: moderngl.Program) -> None:
    """A thread that only needs the interpreter now and then gets it at once, and not after the whole drawing."""
    program["work"].value = 3000
    array = context.vertex_array(program, [(context.buffer(CORNERS.tobytes()), "2f", "place")])
    target = context.framebuffer([context.texture((512, 512), 4)])
    target.use()

    def turns_during(wait: Callable[[], None]) -> int:
        """How often another thread came back to Python while what was drawn was waited for."""
        turns, drawn = 0, threading.Event()
        begun = threading.Event()

        def come_back() -> None:
            nonlocal turns
            while not drawn.is_set():
                begun.set()
                turns += 1
                drawn.wait(0.0005)

        thread = threading.Thread(target=come_back)
        thread.start()
        begun.wait()
        unlocked.draw(array, indexed=False, mode=moderngl.TRIANGLE_STRIP, vertices=4)
        turns = 0
        wait()
        during = turns
        drawn.set()
        thread.join()
        return during

    assert turns_during(context.finish) <= 3, "moderngl holds the lock"
    assert turns_during(unlocked.finish) > 10


def test_a_picture_needs_no_call_that_holds_the_lock_and_waits(
    context: moderngl.Context, canvas: Canvas, resting_place: moderngl.Framebuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is drawn, built, uploaded as a layer or read back goes through the one module that gives it back."""
    scene = Scene(pools=PoolsParameters(enabled=True), edges=EdgeParameters(water="sea", sea_level=20.0)).with_values(
        {"world.columns": 48, "world.rows": 40, "droplets.count": 200, "plants.enabled": True, "view.quality": "low"}
    )
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    for _ in range(8):
        simulator.advance()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("holds the interpreter's lock while it waits")

    for owner, name in (
        (moderngl.VertexArray, "render"),
        (moderngl.Framebuffer, "read"),
        (moderngl.Framebuffer, "read_into"),
        (moderngl.Texture, "read"),
        (moderngl.Texture, "build_mipmaps"),
        (moderngl.Context, "finish"),
    ):
        monkeypatch.setattr(owner, name, refuse)
    picture = Picture(context)
    shown = take_snapshot(world)
    picture.show(shown)
    picture.draw(canvas.framebuffer(200, 120), scene_camera(scene, shown), scene)
    pixels = canvas.pixels()
    assert pixels is not None and pixels.std() > 5.0
    resting_place.use()
    picture.release()


# A window with a frame of ImGui in it; then which files each thread's context is known to, and who has our functions
DISPATCHES = """
import ctypes, json
from pathlib import Path
from imgui_bundle import imgui
from app.picture.passes import unlocked
from app.window.window import Window

with Window("dispatch", 480, 320) as window:
    window.begin_frame()
    imgui.text("drawn")
    window.end_frame(lambda *_: None, lambda *_: None)
    places = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line]

    def owner(address):
        for place in places:
            begin, end = (int(side, 16) for side in place[0].split("-"))
            if begin <= address < end:
                return place[5]

    known = {}
    for file in sorted({place[5] for place in places if "libGLdispatch" in place[5]}):
        look_up = ctypes.CDLL(file).__glDispatchGetCurrentThreadState  # the one that is loaded already
        look_up.restype = ctypes.c_void_p
        known[file] = look_up() is not None
    ours = {name: owner(unlocked.address(name)) for name in unlocked._FUNCTIONS}
    print(json.dumps([known, ours]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there several are loaded")
def test_one_dispatch_of_all_that_are_loaded_knows_the_context(tmp_path: Path) -> None:
    """ImGui's bundle brings its own, which nothing draws with: it has no context, and our functions are not its."""
    with own_screen() as display:
        command = [sys.executable, "-c", DISPATCHES]
        environment = {**os.environ, "DISPLAY": display, "PYTHONPATH": str(Path(__file__).parents[2])}
        output = subprocess.run(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout
    known, ours = json.loads(output)
    assert not any(is_known for file, is_known in known.items() if "imgui_bundle" in file), known
    assert sum(known.values()) == any("imgui_bundle" not in file for file in known), known
    assert all(file and "imgui_bundle" not in file for file in ours.values()), ours
