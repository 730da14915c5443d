"""Tests of blocks of rows that threads share."""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest

from kernels import blocks
from kernels.blocks import ROWS, for_blocks


@pytest.fixture(autouse=True)
def _three_threads(monkeypatch):
    monkeypatch.setattr(blocks, "WORTH_SHARING", 0)
    monkeypatch.setattr(numba, "get_num_threads", lambda: 3)


def test_each_row_is_worked_on_once():
    worked_on = np.zeros((5 * ROWS + 3, 2), np.int64)

    def work(rows):
        worked_on[rows] += 1

    for_blocks(work, *worked_on.shape)
    assert (worked_on == 1).all()


def test_threads_share_blocks_that_meet():
    meeting = threading.Barrier(3, timeout=120)
    for_blocks(lambda rows: meeting.wait(), 3 * ROWS, 1)
    assert not meeting.broken


def test_a_small_map_stays_in_its_own_thread(monkeypatch):
    monkeypatch.setattr(blocks, "WORTH_SHARING", 2**40)
    found = set()
    for_blocks(lambda rows: found.add(threading.get_ident()), 9 * ROWS, 1)
    assert found == {threading.get_ident()}


def test_an_error_of_any_thread_is_raised_when_all_have_ended():
    own, ended = threading.get_ident(), []
    meeting = threading.Barrier(3, timeout=120)

    def work(rows):
        meeting.wait()
        if threading.get_ident() != own:
            raise ValueError("from another thread")
        ended.append(rows)

    with pytest.raises(ValueError, match="another"):
        for_blocks(work, 3 * ROWS, 1)
    assert len(ended) == 1
