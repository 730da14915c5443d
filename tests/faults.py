"""What can fail, by name: a test lets one of these fail, and looks at what the person sees and at what is left."""

from __future__ import annotations

import errno
import os
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import moderngl


@dataclass(frozen=True)
class Fault:
    """A function or method, by the name under which it is called, and what it raises when it fails."""

    target: str
    error: Callable[[], Exception]


def no_memory() -> Exception:
    return MemoryError("Unable to allocate 485. MiB for an array with shape (7969, 7969) and data type float64")


def full_disk() -> Exception:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refused() -> Exception:
    return OSError(errno.EACCES, os.strerror(errno.EACCES))


def no_graphics_memory() -> Exception:
    return moderngl.Error("the framebuffer is not complete (UNSUPPORTED)")


KERNELS = {  # by process, or by the parameter that asks for it
    "pools": "kernels.pools.settle",
    "moisture": "kernels.moisture.Aquifer.exchange",
    "droplets": "kernels.droplets.erode",
    "snowballs": "kernels.snowballs.roll",
    "geology": "kernels.landscape.evolve",
    "ice": "kernels.ice.Glaciers.run",
    "isostasy": "kernels.flexure.deflection",
    "floods": "kernels.floods.run",
    "floods.bed_load": "kernels.bed_load.carry",
    "floods.suspended_load": "kernels.suspension.carry",
    "coast": "kernels.coast.work",
    "braiding": "kernels.braids.braid",
    "distributaries": "kernels.components.components",  # which finds the water that deltas grow in
    "falls": "kernels.falls.find_falls",
    "snow": "kernels.snow.exchange",
    "orographic_rain": "kernels.orographic_rain.relative_rain",
    "wind_field": "kernels.wind_field.find_wind_field",
    "wind": "kernels.wind.blow",
    "weathering": "kernels.weathering.weather",
    "cascade": "kernels.cascade.cascade",
    "stratigraphy": "kernels.stratigraphy.exchange",
    "plants": "kernels.plants.grow",
}

FAULTS = {
    "making a world": Fault("app.engine.runner.create_worlds", no_memory),
    "a layer": Fault("app.model.world.World.__init__", no_memory),
    "a snapshot": Fault("app.engine.publishing.take_snapshot", no_memory),
    "the versions of a snapshot": Fault("app.engine.publishing.shown_versions", no_memory),
    # which is asked for each array but water
    "an array of a snapshot": Fault("app.engine.publishing.layer_declaration", no_memory),
    "a backup": Fault("app.model.world.World.state", no_memory),
    "the ledger of a backup": Fault("app.model.world.World.ledger_copy", no_memory),
    "the check of a world": Fault("app.engine.lockstep.Lockstep.verify", no_memory),
    "publishing": Fault("app.engine.session.Session._publish", no_memory),
    "loading kernels": Fault("app.engine.simulator.Simulator.prepare_all", no_memory),
    "a survey": Fault("app.engine.survey.Surveyor.survey", no_memory),
    **{f"kernel of {name}": Fault(target, no_memory) for name, target in KERNELS.items()},
    "creating a file": Fault("app.files.atomic._create_temporary", refused),
    "writing a file": Fault("numpy.savez_compressed", full_disk),
    "putting a file on the disk": Fault("os.fsync", full_disk),
    "renaming a file": Fault("pathlib.Path.replace", refused),
    "making a folder": Fault("pathlib.Path.mkdir", refused),
    "encoding a picture": Fault("imagecodecs.png_encode", no_memory),
    "starting the encoder of clips": Fault("subprocess.Popen", refused),
    "a texture": Fault("moderngl.Context.texture", no_graphics_memory),
    "a framebuffer": Fault("moderngl.Context.framebuffer", no_graphics_memory),
    "a shader": Fault("moderngl.Context.program", lambda: moderngl.Error("0:7(1): error: no such function")),
    "an upload": Fault("app.picture.passes.unlocked.upload", no_memory),
    "a drawing": Fault("app.picture.passes.unlocked.draw", no_graphics_memory),
}


class Failures:
    """How often something was called, and how often it failed; `is_met`: whether it need not have."""

    calls = 0
    count = 0
    is_met = False


@contextmanager
def failing(
    name: str,
    error: Callable[[], Exception] | None = None,
    *,
    after: int = 0,
    times: int | None = None,
    sparing: object = None,
) -> Iterator[Failures]:
    """Within it, what has this name in the table fails: all calls, or so many `times`, `after` some that do not.

    A method does not fail of the object that `sparing` names.

    A block in which it never came to that is an error of the test.
    """
    fault, failures = FAULTS[name], Failures()
    works = pkgutil.resolve_name(fault.target)

    def call(*arguments: Any, **named: Any) -> Any:
        if sparing is not None and arguments and arguments[0] is sparing:
            return works(*arguments, **named)
        failures.calls += 1
        if failures.calls > after and (times is None or failures.count < times):
            failures.count += 1
            raise (error or fault.error)()
        return works(*arguments, **named)

    with mock.patch(fault.target, call):
        yield failures
    assert failures.count or failures.is_met, f"{fault.target} did not fail: it was called {failures.calls} times"
