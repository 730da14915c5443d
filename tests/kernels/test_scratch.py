"""Memory that kernels share."""

import numpy as np

from kernels.scratch import LINE, Scratch


def test_it_becomes_as_large_as_the_step_that_needs_most() -> None:
    scratch = Scratch()
    for _ in range(2):
        scratch.begin().empty((30, 7))
        scratch.begin().empty(5, np.int8)
    assert 30 * 7 * 8 <= scratch.nbytes < 30 * 7 * 8 + LINE
    scratch.set_aside()
    assert scratch.nbytes == 0
    scratch.begin()
    assert 30 * 7 * 8 <= scratch.nbytes < 30 * 7 * 8 + LINE
    scratch.release()
    scratch.begin()
    assert scratch.nbytes == 0


def test_arrays_of_a_step_do_not_overlap_and_those_of_two_steps_do() -> None:
    scratch, shapes = Scratch(), ((3, (4, 2), np.float64), (4, 9, np.int32), (5, (2, 2, 2), np.uint8))
    for _ in range(3):  # also where the block is still too small
        scratch.begin()
        arrays = [scratch.empty(shape, dtype) for _, shape, dtype in shapes]
        for (value, shape, dtype), array in zip(shapes, arrays, strict=True):
            array[...] = value
            assert array.shape == (shape if isinstance(shape, tuple) else (shape,)) and array.dtype == dtype
        assert [array.min() for array in arrays] == [array.max() for array in arrays] == [3, 4, 5]
    assert np.shares_memory(arrays[0], scratch.begin().empty(1))
