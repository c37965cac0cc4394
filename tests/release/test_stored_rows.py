"""Releases that lie in a folder: opened without reading rows, counted without holding them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import unveil
from unveil.cli.screens import masking_table, show_release
from unveil.errors import ReleaseError
from unveil.evaluation.reidentification import group_sizes
from unveil.release import CountedRows, Release, StoredRows, rows
from unveil.release import release as module

TABLE = pa.table(
    {
        "rows": ["a", "a", "b", "b", "b", "c", "c", None],
        "0": [1.5, 1.5, 0.0, 2.0, 2.0, 1.0, 1.0, 1.0],
        "ill": [True, True, False, False, False, False, True, None],
    }
)
SPEC: dict[str, Any] = {
    "table": {"class": "ill"},
    "attributes": {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
}
PEOPLE = pa.table(
    {
        "age": [20 + number % 7 for number in range(60)],
        "town": ["Cork", "Ōsaka", "Perth"] * 20,
        "ill": ["yes", "no", "no", "yes"] * 15,
    }
)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BATCH", 3)


def stored(folder: Path, *sizes: int) -> StoredRows:
    paths = [folder / f"part-{number:05}.parquet" for number in range(len(sizes))]
    for number, path in enumerate(paths):
        pa.parquet.write_table(TABLE.slice(sum(sizes[:number]), sizes[number]), path, store_schema=False)
    return StoredRows(folder, [path.name for path in paths])


@pytest.mark.parametrize("sizes", [(8,), (4, 4), (1, 2, 5), (1,) * 8, (3, 3, 2)])
def test_parts_are_one_table(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    found = stored(tmp_path, *sizes)
    assert found.num_rows == 8
    assert found.schema == TABLE.schema
    assert found.table() == TABLE
    assert max(batch.num_rows for batch in found.batches()) <= 3


@pytest.mark.parametrize("sizes", [(8,), (4, 4), (1,) * 8, (3, 3, 2)])
def test_equal_rows_are_counted_across_batches_and_parts(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    distinct, counts = stored(tmp_path, *sizes).counted()
    expected = Counter(map(repr, TABLE.to_pylist()))
    assert distinct.cast(TABLE.schema).num_rows == len(counts) == len(expected)
    assert dict(zip(map(repr, distinct.to_pylist()), counts.tolist(), strict=True)) == expected


def test_equal_rows_apart_are_counted_together(tmp_path: Path) -> None:
    """A folder that nobody has verified may hold its rows in any order."""
    mixed = pa.concat_tables([TABLE, TABLE.slice(2), TABLE])
    pa.parquet.write_table(mixed, tmp_path / "data.parquet")
    distinct, counts = StoredRows(tmp_path, ["data.parquet"]).counted()
    expected = Counter(map(repr, mixed.to_pylist()))
    assert dict(zip(map(repr, distinct.to_pylist()), counts.tolist(), strict=True)) == expected
    assert len(counts) == len(expected)


def test_no_rows_are_no_rows(tmp_path: Path) -> None:
    found = stored(tmp_path, 0)
    assert [batch.num_rows for batch in found.batches()] == [0]
    assert found.table() == TABLE.slice(0, 0)
    assert found.counted()[0].cast(TABLE.schema) == TABLE.slice(0, 0)


@pytest.mark.parametrize("name", ["copy.parquet", "copy.csv"])
def test_rows_can_be_written_again(tmp_path: Path, name: str) -> None:
    stored(tmp_path, 4, 4).write(tmp_path / name)
    CountedRows(TABLE).write(tmp_path / f"expected-{name}")
    if name.endswith("csv"):
        assert (tmp_path / name).read_bytes() == (tmp_path / f"expected-{name}").read_bytes()
    else:
        assert StoredRows(tmp_path, [name]).table() == TABLE


def test_an_opened_release_can_be_written_again(tmp_path: Path) -> None:
    unveil.publish(PEOPLE, SPEC).write(tmp_path / "release", ("parquet", "csv"))
    told: list[tuple[str, int, int | None]] = []
    unveil.open_release(tmp_path / "release").write(
        tmp_path / "again", ("parquet", "csv"), lambda what, done, total: told.append((what, done, total))
    )
    assert ("writing data.csv", 60, 60) in told
    assert unveil.verify(tmp_path / "again") == []
    assert (tmp_path / "again" / "data.csv").read_bytes() == (tmp_path / "release" / "data.csv").read_bytes()


def in_parts(folder: Path, sizes: tuple[int, ...]) -> Path:
    """A release of people whose data lies in parts."""
    release = unveil.publish(PEOPLE, SPEC)
    release.write(folder)
    table = pa.parquet.read_table(folder / "data.parquet")
    (folder / "data.parquet").unlink()
    (folder / "data.parquet").mkdir()
    files = {}
    for number, size in enumerate(sizes):
        name = f"data.parquet/part-{number:05}.parquet"
        pa.parquet.write_table(table.slice(sum(sizes[:number]), size), folder / name, store_schema=False)
        files[name] = module.read_manifest(folder).files["data.parquet"]
    manifest = release.manifest.model_copy(update={"files": files})
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder


def test_a_release_in_parts_opens_as_the_same_rows(tmp_path: Path) -> None:
    opened = unveil.open_release(in_parts(tmp_path / "release", (20, 25, 15)))
    release = unveil.publish(PEOPLE, SPEC)
    assert opened.rows.num_rows == 60
    assert opened.table.to_pylist() == release.table.to_pylist()
    for names in (["age"], ["age", "town"]):
        assert group_sizes(opened, names).tolist() == group_sizes(release, names).tolist()


def test_showing_a_release_never_lays_out_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    def laid_out(self: Release) -> pa.Table:
        raise AssertionError("all rows were laid out")

    folder = in_parts(tmp_path / "release", (20, 25, 15))
    monkeypatch.setattr(Release, "table", property(laid_out))
    for release in (unveil.open_release(folder), unveil.publish(PEOPLE, SPEC)):
        show_release(Console(quiet=True), release)
        assert masking_table(release).row_count == 2
    assert "60 rows" in repr(release)


def test_the_page_about_a_release_never_lays_out_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def laid_out(self: Release) -> pa.Table:
        raise AssertionError("all rows were laid out")

    unveil.publish(PEOPLE, SPEC).write(tmp_path / "release")
    monkeypatch.setattr(Release, "table", property(laid_out))
    assert "Share of the records" in unveil.report(tmp_path / "release")


def test_rows_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "release", (60,))
    opened = unveil.open_release(folder)
    path = folder / "data.parquet" / "part-00000.parquet"
    path.unlink()
    assert opened.rows.num_rows == 60
    with pytest.raises(ReleaseError, match=r"part-00000\.parquet: the data file cannot be read"):
        opened.rows.table()
    with pytest.raises(ReleaseError, match=r"part-00000\.parquet: the data file cannot be read"):
        unveil.open_release(folder)
