"""The figures of a sweep as a table: CSV, or Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.files.atomic import check_writable, write_atomically
from app.model.errors import UserError
from app.sweep.result_set import Cell

PARQUET = ".parquet"


def check_table(path: Path) -> None:
    """Raise `UserError` if no table can be written there."""
    if path.suffix.lower() not in (".csv", PARQUET):
        raise UserError(f"{path}: a table is .csv or {PARQUET}")
    if path.suffix.lower() == PARQUET:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise UserError(f"{path}: Parquet needs pyarrow: pip install pyarrow; .csv needs nothing") from error
    check_writable(path)


def write_table(path: Path, columns: Mapping[str, Sequence[Cell]]) -> None:
    """Write columns of the same length under their names."""
    with write_atomically(path) as file:
        if path.suffix.lower() == PARQUET:
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.table({name: list(cells) for name, cells in columns.items()}), file)
            return
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        file.write(text.getvalue().encode())
