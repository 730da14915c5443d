"""What a file of an export that finds no space leaves behind."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from app.export.plan import Item, write_item
from app.model.errors import UserError
from tests.faults import full_disk


def keeps_the_old_file_on_a_full_disk(item: Item, path: Path) -> None:
    """Write to where there is no space: that is said in one line, and what was there before is all that is there."""
    path.write_bytes(b"old")
    before = set(path.parent.iterdir())
    with (
        mock.patch("app.files.atomic._put_on_disk", mock.Mock(side_effect=full_disk())),
        pytest.raises(UserError, match=f"cannot write {path}: no space is left there"),
    ):
        write_item(item, path)
    assert set(path.parent.iterdir()) == before
    assert path.read_bytes() == b"old"
