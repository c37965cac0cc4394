"""Samples are uniform, in order, and the same whatever batches the rows come in."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from unveil.tables import draw_sample, files, open_source


def numbered(rows: int) -> pa.Table:
    return pa.table({"row": list(range(rows)), "word": [f"word {number % 7}" for number in range(rows)]})


@pytest.mark.parametrize(("rows", "size"), [(0, 5), (1, 5), (5, 5), (6, 5), (100, 5), (100, 99)])
def test_a_sample_is_rows_of_the_table_in_their_order(rows: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 3)
    sample = draw_sample(open_source(numbered(rows)), size)
    assert sample.rows == rows
    numbers = sample.table["row"].to_pylist()
    assert len(numbers) == min(rows, size)
    assert numbers == sorted(set(numbers))
    assert sample.table == numbered(rows).take(pa.array(numbers, pa.int64()))


def test_a_sample_does_not_depend_on_the_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa.parquet.write_table(numbered(500), tmp_path / "rows.parquet", row_group_size=64)
    drawn = []
    for size in (1, 3, 100, 1000):
        monkeypatch.setattr(files, "BATCH", size)
        drawn.append(draw_sample(open_source(tmp_path / "rows.parquet"), 50, seed=4).table)
    assert all(table == drawn[0] for table in drawn)
    assert drawn[0].schema == open_source(tmp_path / "rows.parquet").schema
    assert draw_sample(open_source(tmp_path / "rows.parquet"), 50, seed=5).table != drawn[0]


def test_every_set_of_rows_is_as_likely_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-squared over the 20 ways to draw 3 of 6 rows; 43.8 is exceeded once in a thousand times."""
    monkeypatch.setattr(files, "BATCH", 2)
    source = open_source(numbered(6))
    runs = 2000
    seen = Counter(tuple(draw_sample(source, 3, seed).table["row"].to_pylist()) for seed in range(runs))
    expected = runs / 20
    assert sum((seen[ways] - expected) ** 2 / expected for ways in combinations(range(6), 3)) < 43.8


def test_few_rows_do_not_hold_on_to_the_texts_of_all(tmp_path: Path) -> None:
    table = pa.table({"id": [f"{number:0100}" for number in range(20_000)]})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=5_000)
    assert draw_sample(open_source(tmp_path / "rows.parquet"), 10).table.get_total_buffer_size() < 10_000
