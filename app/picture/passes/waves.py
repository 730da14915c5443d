"""The state of the sea: length, height and speed of waves from wind and parameters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.climate import USUAL_WIND
from app.model.wave_parameters import WaveParameters

GRAVITY = 9.81  # m/s²
SHORTEST = 3.0  # cells from crest to crest
WEAKEST_WIND = 0.1  # of the usual wind: swell remains on still air
FARTHEST_RUN_UP = 4.5  # cells: largest horizontal run-up; beaches are little wider, see beach.glsl
STEEPNESS = 0.05  # height / length of waves in deep water


# Styles of the sea, as numbers for shaders
NO_WAVES, NATURAL = 0, 1
DRAWN = {"lines": 2, "cells": 3, "distance": 4, "plain_wave": 5}


def drawing_of(waves: WaveParameters) -> int:
    """The number of the style of the parameters."""
    if not waves.enabled:
        return NO_WAVES
    return DRAWN.get(waves.style if waves.stage == "sea" else waves.stage, NATURAL)


class SeaState(NamedTuple):
    """Waves in deep water. Lengths in metres, times in seconds."""

    wavelength: float
    height: float  # from trough to crest
    loop: float  # period of repetition
    waves_in_loop: int

    @property
    def wave_number(self) -> float:
        return 2.0 * math.pi / self.wavelength

    @property
    def period(self) -> float:
        """The period of the waves, which does not depend on the depth."""
        return self.loop / self.waves_in_loop

    def waves_by(self, time: float) -> float:
        """The number of waves that have passed a place since the loop began, from 0 to `waves_in_loop`."""
        return time / self.loop % 1.0 * self.waves_in_loop


def sea_state(
    waves: WaveParameters, wind_speed: float, cell_size: float, longer_side: int, *, gust_speed: float | None = None
) -> SeaState:
    """The state of the sea for a wind (cells/t) on a map with `cell_size` in metres and `longer_side` in cells.

    The wavelength of the parameters is that of the usual wind. Height is proportional to wind speed, period to its cube
    root, and length to its power of 2/3 (Hasselmann et al. 1973). The period follows from the length in deep water, and
    is adjusted so that the loop has a whole number of waves. The current wind, `gust_speed`, changes height only: with
    another length, all crests would jump.
    """
    wind = max(wind_speed / USUAL_WIND, WEAKEST_WIND)
    gust = wind if gust_speed is None else max(gust_speed / USUAL_WIND, WEAKEST_WIND)
    common = max(waves.wavelength * longer_side, SHORTEST) * cell_size
    wavelength = common * wind ** (2.0 / 3.0)
    height = STEEPNESS * common * gust * waves.height
    period = math.sqrt(2.0 * math.pi * wavelength / GRAVITY) / waves.speed
    return SeaState(wavelength, height, waves.loop, max(1, round(waves.loop / period)))


class RunUp(NamedTuple):
    """Run-up of the highest waves on a beach, in metres."""

    height: float  # vertical limit, on steep beaches
    reach: float  # horizontal limit, on flat beaches


def run_up(waves: WaveParameters, sea: SeaState, cell_size: float) -> RunUp:
    """The run-up of a sea on a map with `cell_size` in metres.

    By Hunt (1959) it is slope × √(height × wavelength in deep water), so its horizontal reach is the same for all
    slopes. On steep beaches waves do not break but are reflected.
    """
    reach = min(waves.run_up * math.sqrt(sea.height * sea.wavelength), FARTHEST_RUN_UP * cell_size)
    return RunUp(0.5 * waves.run_up * sea.height, reach)


def block_values(
    waves: WaveParameters, sea: SeaState, time: float, cell_size: float
) -> dict[str, tuple[float, float, float, float]]:
    """The waves for the shaders: fields of the frame block."""
    return {
        "waves": (sea.wave_number, sea.waves_by(time), sea.waves_in_loop, sea.height),
        "fronts": (waves.steep_fronts, waves.scatter, waves.foam, waves.fronts),
        "loop": (sea.loop, time / sea.loop % 1.0, 0.0, 0.0),
        "beach": (*run_up(waves, sea, cell_size), sea.period / waves.drying, waves.shelter),
    }


def wave_number(deep: float, depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """The wave number (1/m) over a depth in metres, for a wave number `deep` in deep water, by linear theory.

    The approximation of Eckart (1952), refined by two Newton steps.
    """
    number: NDArray[np.float32] = deep / np.sqrt(np.tanh(deep * depth))
    for _ in range(2):
        tanh = np.tanh(number * depth)
        number = number - (number * tanh - deep) / (tanh + number * depth * (1.0 - tanh**2))
    return number
