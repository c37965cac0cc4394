"""Rows masked into a file: batch by batch, as if they were masked at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import unveil
from unveil.errors import TableError
from unveil.release import write_rows
from unveil.tables import files
from unveil.workflow.apply import apply_to_file

SPEC: dict[str, Any] = {
    "table": {"class": "grade", "weight": "n", "others": "release"},
    "attributes": {
        "age": {"kind": "number", "whole": True, "range": [0, 100]},
        "town": {"kind": "category"},
        "height": {"kind": "number"},
        "born": {"kind": "date"},
    },
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
}


def people(rows: int = 40, heights: Sequence[Any] = (), grades: Sequence[Any] = ()) -> pa.Table:
    return pa.table(
        {
            "age": [number * 7 % 100 for number in range(rows)],
            "town": [("Cork", "Ōsaka", "Perth")[number % 3] for number in range(rows)],
            "height": pa.array([str(height) for height in [*heights, *range(150, 150 + rows)][:rows]], pa.string()),
            "born": [f"2001-02-{1 + number % 28:02}" for number in range(rows)],
            "id": [f"{number:05}" for number in range(rows)],
            "grade": pa.array([*grades, *(str(number % 3) for number in range(rows))][:rows], pa.string()),
            "n": [1 + number % 2 for number in range(rows)],
        }
    )


@pytest.fixture
def release(tmp_path: Path) -> Path:
    typed = people()
    for name in ("height", "grade"):
        typed = typed.set_column(typed.column_names.index(name), name, typed[name].cast(pa.int64()))
    unveil.publish(typed, SPEC).write(tmp_path / "release")
    return tmp_path / "release"


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 3)


@pytest.fixture(autouse=True, params=["at once", "in batches"])
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Few rows are read at once, more batch by batch: here both, whatever their number."""
    if request.param == "in batches":
        monkeypatch.setattr("unveil.tables.sources.FEW", -1)
    return str(request.param)


def as_parquet(table: pa.Table, folder: Path) -> Path:
    pa.parquet.write_table(table, folder / "later.parquet", row_group_size=7)
    return folder / "later.parquet"


def as_folder(table: pa.Table, folder: Path) -> Path:
    (folder / "later").mkdir()
    for number, start in enumerate(range(0, table.num_rows, 11)):
        pa.parquet.write_table(table.slice(start, 11), folder / "later" / f"{number}.parquet")
    return folder / "later"


def as_csv(table: pa.Table, folder: Path) -> Path:
    pa.csv.write_csv(table, folder / "later.csv")
    return folder / "later.csv"


def as_csv_folder(table: pa.Table, folder: Path) -> Path:
    """Files are batches of their own, so that numbers and words come in different ones."""
    (folder / "later").mkdir()
    for number, start in enumerate(range(0, table.num_rows, 4)):
        pa.csv.write_csv(table.slice(start, 4), folder / "later" / f"{number:02}.csv")
    return folder / "later"


def masked_at_once(release: Path, source: Path, target: Path, **options: Any) -> None:
    """What the file must hold: all rows masked in memory."""
    masked = unveil.apply(release, source, **options)
    write_rows(target, masked.schema, [masked])


WRITERS = [as_parquet, as_folder, as_csv, as_csv_folder]
TABLES = {
    "numbers": people(),
    "a decimal point late": people(heights=[*range(150, 170), 170.5]),
    "a decimal point early": people(heights=[150.25, *range(151, 190)]),
    "a word late": people(heights=["007", "1.50", *range(150, 170), "tall"]),
    "another grade late": people(grades=["01", *("2" for _ in range(30)), "A"]),
    "no rows": people().slice(0, 0),
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("kind", list(TABLES))
def test_batches_are_masked_as_all_rows_at_once_are(
    release: Path, tmp_path: Path, kind: str, write: Any, ending: str
) -> None:
    table = TABLES[kind]
    if table.num_rows == 0 and write in (as_folder, as_csv_folder):
        return
    source = write(table, tmp_path)
    target, expected = tmp_path / f"masked.{ending}", tmp_path / f"expected.{ending}"
    assert apply_to_file(release, source, target) == table.num_rows
    masked_at_once(release, source, expected)
    if ending == "csv":
        assert target.read_text() == expected.read_text()
    else:
        assert pa.parquet.read_table(target) == pa.parquet.read_table(expected)


@pytest.mark.parametrize("options", [{"intervals": "midpoint"}, {"intervals": "bounds"}, {"suppressed": None}])
def test_views_do_not_depend_on_the_batch(release: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    source = as_parquet(people(), tmp_path)
    apply_to_file(release, source, tmp_path / "masked.parquet", **options)
    masked_at_once(release, source, tmp_path / "expected.parquet", **options)
    assert pa.parquet.read_table(tmp_path / "masked.parquet") == pa.parquet.read_table(tmp_path / "expected.parquet")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_value_without_a_block_in_the_last_batch_leaves_nothing(release: Path, tmp_path: Path, ending: str) -> None:
    table = people()
    table = table.set_column(0, "age", pa.array([*table["age"].to_pylist()[:-1], 100]))
    source = as_parquet(table, tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(TableError, match="column 'age': 100 has no block"):
        apply_to_file(release, source, tmp_path / f"masked.{ending}")
    assert sorted(tmp_path.iterdir()) == before
    assert apply_to_file(release, source, tmp_path / f"masked.{ending}", unseen="suppress") == 40


def test_a_source_that_changes_meanwhile_leaves_nothing(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    if reading == "at once":
        return
    source = as_parquet(people(), tmp_path)
    stamps = iter([1, 2])
    monkeypatch.setattr("unveil.tables.sources.FileSource.stamp", lambda self: next(stamps))
    with pytest.raises(TableError, match="changed while it was being read"):
        apply_to_file(release, source, tmp_path / "masked.csv")
    assert not (tmp_path / "masked.csv").exists()


def test_only_columns_that_are_needed_are_read(release: Path, tmp_path: Path) -> None:
    table = people().append_column("tags", pa.array([["a"]] * 40))
    assert apply_to_file(release, as_parquet(table, tmp_path), tmp_path / "masked.csv") == 40
