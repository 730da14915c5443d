"""How the lithosphere bends under loads: a thin elastic plate on the mantle (Turcotte, Schubert 2014, 3.13).

    D ∇⁴w + Δρ g w = q

Each wave of the load bends the plate by a wave of its own: short ones hardly, as the plate is stiff, and long ones as
deep as if the load were floating.
"""

from __future__ import annotations

import math

import numpy as np

from kernels.blocks import for_blocks
from kernels.layers import Layer

GRAVITY = 9.81  # m/s²
YOUNGS_MODULUS = 70e9  # Pa
POISSONS_RATIO = 0.25

RESISTED = 1e6  # waves of the load that the plate resists by so many times more than the mantle does are left out


def rigidity(elastic_thickness: float) -> float:
    """The flexural rigidity D of a plate so many metres thick, in N m."""
    return YOUNGS_MODULUS * elastic_thickness**3 / (12.0 * (1.0 - POISSONS_RATIO**2))


def flexural_parameter(elastic_thickness: float, density: float) -> float:
    """α: the length over which the plate bends, in metres; `density` is that of what it floats on, in kg/m³."""
    return float((4.0 * rigidity(elastic_thickness) / (density * GRAVITY)) ** 0.25)


def deflection(
    load: Layer, cell_size: float, elastic_thickness: float, density: float, *, weight: float = 1.0
) -> Layer:
    """How deep a load sinks, in metres, [row, column].

    `load`, times its `weight`, is in kg/m²; the plate is `elastic_thickness` metres thick and floats on what has this
    `density` in kg/m³. Beyond the edges of the map the load goes on as its mirror image.
    """
    stiff = rigidity(elastic_thickness) / (density * GRAVITY)
    shortest = (RESISTED / stiff) ** 0.25 if stiff > 0.0 else math.inf  # as a wave number
    south, east = (math.pi * np.arange(cells) / (cells * cell_size) for cells in load.shape)
    south, east = south[south <= shortest], east[east <= shortest]
    across = np.empty((len(east), load.shape[0]))

    def go_east(rows: slice) -> None:
        across[:, rows] = _cosines(weight * load[rows])[:, : len(east)].T

    def bend(columns: slice) -> None:
        square = (south * south)[None, :] + (east[columns] * east[columns])[:, None]
        waves = _cosines(across[columns])[:, : len(south)]
        waves /= density * (1.0 + stiff * square * square)
        across[columns] = _sum_of_cosines(waves, load.shape[0])

    def come_back(rows: slice) -> None:
        sunk[rows] = _sum_of_cosines(across[:, rows].T, load.shape[1])

    for_blocks(go_east, *load.shape)
    for_blocks(bend, *across.shape)
    sunk = np.empty(load.shape)
    for_blocks(come_back, *load.shape)
    return sunk


def _cosines(values: Layer) -> Layer:
    """The amplitudes of cos(π k (2 i + 1) / 2 n) in each row, by one real transform (Makhoul 1980)."""
    cells = values.shape[1]
    found = np.fft.rfft(np.concatenate([values[:, ::2], values[:, 1::2][:, ::-1]], axis=1))
    found *= np.exp(-0.5j * math.pi * np.arange(found.shape[1]) / cells)
    return np.concatenate([found.real, -found.imag[:, (cells - 1) // 2 : 0 : -1]], axis=1)


def _sum_of_cosines(amplitudes: Layer, cells: int) -> Layer:
    """The inverse of `_cosines`, in so many cells; amplitudes that are left out are 0."""
    half, given = cells // 2 + 1, amplitudes.shape[1]
    found = np.zeros((len(amplitudes), half), np.complex128)
    found.real[:, :given] = amplitudes[:, :half]
    if given > cells - half + 1:
        found.imag[:, cells - given + 1 :] = -amplitudes[:, : cells - half : -1]
    found *= np.exp(0.5j * math.pi * np.arange(half) / cells)
    values = np.empty((len(amplitudes), cells))
    mixed = np.fft.irfft(found, cells)
    values[:, ::2] = mixed[:, : (cells + 1) // 2]
    values[:, 1::2] = mixed[:, : (cells - 1) // 2 : -1]
    return values
