"""The cells of a differentially private release, with some lost, doubled, moved or of impossible counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from verdicts import verify_release
from verify.private_releases import PrivateDraft, above_threshold, each, found, private_draft, verify_private
from verify.releases import edit_manifest, sha256


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """Some releases here have so many rows that batches of three would take minutes."""


@pytest.mark.parametrize("place", [0, 1, 37, 71])
def test_one_cell_left_out_is_found_and_named(tmp_path: Path, place: int) -> None:
    lost = []
    findings = verify_private(tmp_path, lambda planted: lost.append(planted.rows.pop(place)))
    found(findings, "coverage", "lists 71 of the 72 cells")
    assert all(repr(label) in findings[0].message for label in lost[0][:6])


def test_empty_cells_left_out_are_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.rows = [row for row in planted.rows if row[-1] > 0]

    found(verify_private(tmp_path, plant), "coverage", "lists 57 of the 72 cells")


def test_a_class_that_is_nowhere_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.rows = [row for row in planted.rows if row[5] == "low"]

    found(verify_private(tmp_path, plant), "coverage", "income='high'")


def test_a_release_of_no_rows_is_found(tmp_path: Path) -> None:
    planted = private_draft()
    folder = planted.write(tmp_path / "planted", table=planted.table().slice(0, 0))
    found(verify_release(folder), "coverage", "lists 0 of the 72 cells")


def test_with_a_threshold_a_release_may_have_no_rows(tmp_path: Path) -> None:
    planted = private_draft()
    planted.manifest["threshold"] = 3
    assert verify_release(planted.write(tmp_path / "planted", table=planted.table().slice(0, 0))) == []


def test_a_cell_that_appears_twice_is_found(tmp_path: Path) -> None:
    found(
        verify_private(tmp_path, lambda planted: planted.rows.append((*planted.rows[5][:6], 9))), "equal-rows", "2 rows"
    )


def test_a_cell_that_stands_in_the_place_of_another_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.rows[5] = (*planted.rows[6][:6], 9)

    findings = verify_private(tmp_path, plant)
    assert {finding.claim for finding in findings} == {"equal-rows", "coverage"}


def test_a_count_below_zero_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.rows[5] = (*planted.rows[5][:6], -1)

    found(verify_private(tmp_path, plant), "count", "has the count -1, but no count is below 0 (too low in 1 row)")


def test_a_count_below_the_threshold_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        above_threshold(planted)
        planted.rows[5] = (*planted.rows[5][:6], 2)

    found(verify_private(tmp_path, plant), "threshold", "has the count 2, but the threshold is 3")


@each({"all": lambda _: None, "threshold": above_threshold})
def test_a_count_that_is_missing_is_found(tmp_path: Path, case: Callable[[PrivateDraft], None]) -> None:
    def plant(planted: PrivateDraft) -> None:
        case(planted)
        planted.rows[5] = (*planted.rows[5][:6], None)

    found(verify_private(tmp_path, plant), "count", "'count' has no value in 1 row")


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64(), pa.float64(), pa.string()])
def test_counts_of_another_type_are_found(tmp_path: Path, kind: pa.DataType) -> None:
    planted = private_draft()
    table = planted.table()
    table = table.set_column(6, "count", table["count"].cast(kind))
    found(verify_release(planted.write(tmp_path / "planted", table=table)), "columns", "'count' holds")


def test_a_class_that_is_not_text_is_found(tmp_path: Path) -> None:
    planted = private_draft()
    table = planted.table().set_column(5, "income", pa.array([number % 2 for number in range(72)]))
    found(verify_release(planted.write(tmp_path / "planted", table=table)), "columns", "'income' holds int64, not text")


def _without_counts(table: pa.Table) -> pa.Table:
    return table.drop_columns("count")


def _counts_first(table: pa.Table) -> pa.Table:
    return table.select(["count", *table.column_names[:-1]])


def _true_counts(table: pa.Table) -> pa.Table:
    return table.append_column("true", table["count"])


@pytest.mark.parametrize("change", [_without_counts, _counts_first, _true_counts])
def test_other_columns_are_found(tmp_path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    planted = private_draft()
    found(verify_release(planted.write(tmp_path / "planted", table=change(planted.table()))), "columns", "the columns")


def test_an_attribute_called_count_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.manifest["masking"]["count"] = planted.manifest["masking"].pop("job")

    found(verify_private(tmp_path, plant), "columns", "has the column 'count' in two roles")


@pytest.mark.parametrize(
    ("place", "label"),
    [(0, "[17, 37)"), (1, "1.6"), (2, "School"), (2, "Masters"), (3, "⊥"), (3, "X"), (4, "baker"), (5, "middle")],
)
def test_a_label_that_is_not_in_the_cut_is_found(tmp_path: Path, place: int, label: str) -> None:
    def plant(planted: PrivateDraft) -> None:
        above_threshold(planted)
        row = planted.rows[5]
        planted.rows[5] = (*row[:place], label, *row[place + 1 :])

    found(verify_private(tmp_path, plant), "label", f"holds {label!r} in 1 row, which is not one of its labels")


def test_a_cell_of_a_foreign_label_does_not_stand_for_the_one_it_replaced(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.rows[5] = ("[17, 18)", *planted.rows[5][1:])

    findings = verify_private(tmp_path, plant)
    assert [finding.claim for finding in findings] == ["label", "coverage"]
    assert "lists 71 of the 72 cells" in findings[1].message


@pytest.mark.parametrize("place", range(6))
def test_a_missing_label_is_found(tmp_path: Path, place: int) -> None:
    planted = private_draft()
    above_threshold(planted)
    rows = [planted.rows[-1], (*planted.rows[-1][:place], None, *planted.rows[-1][place + 1 :])]
    planted.rows = rows  # a missing value comes last
    found(verify_release(planted.write(tmp_path / "planted", sort=False)), "missing", "has no value in 1 row")


def test_rows_in_another_order_are_found(tmp_path: Path) -> None:
    """Such as by their counts, or as the cells were occupied."""
    findings = verify_private(tmp_path, lambda planted: planted.rows.sort(key=lambda row: int(row[-1])), sort=False)
    found(findings, "order", "not sorted")


def test_a_changed_file_and_one_too_many_are_found(tmp_path: Path) -> None:
    folder = private_draft().write(tmp_path / "release", with_csv=True)
    (folder / "trace.json").write_text("[]")
    (folder / "data.csv").write_text((folder / "data.csv").read_text().replace(",4\n", ",5\n", 1))
    assert [finding.claim for finding in verify_release(folder)] == ["files", "file-hash", "copy"]


def test_a_copy_with_another_count_is_found(tmp_path: Path) -> None:
    folder = private_draft().write(tmp_path / "release", with_csv=True)
    path = folder / "data.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",4\n", ",5\n", 1), encoding="utf-8")
    edit_manifest(folder, lambda content: content["files"]["data.csv"].update(sha256=sha256(path)))
    found(verify_release(folder), "copy", "it reads '5\\n")


def _large(planted: PrivateDraft, sizes: list[int], rows: int | None) -> pa.Table:
    """A release with suppressed attributes of these sizes; of all cells, or of so many different ones."""
    names = [f"a{number}" for number in range(len(sizes))]
    values = [[f"v{value:04}" for value in range(size)] for size in sizes]
    planted.manifest.update(
        masking={
            name: {"kind": "suppression", "domain": "declared", "disclosed": labels, "marker": "⊥"}
            for name, labels in zip(names, values, strict=True)
        },
        specializations=len(sizes),
        ledger=[{"purpose": f"specialization {n + 1}", "epsilon": f"1/{4 * len(sizes)}", "composition": "sequential"}
                for n in range(len(sizes))]
        + [{"purpose": "counts of all cells", "epsilon": "3/4", "composition": "sequential"}],
        cells=2 * int(np.prod(sizes, dtype=object)),
        threshold=None if rows is None else 3,
    )  # fmt: skip
    if rows is None:
        codes = np.indices([*sizes, 2]).reshape(len(sizes) + 1, -1)
    else:
        rng = np.random.default_rng(5)
        drawn = np.stack([rng.integers(size, size=rows) for size in [*sizes, 2]])
        codes = np.unique(drawn, axis=1)
    labels = [*values, ["high", "low"]]
    columns = [pa.array(label).take(pa.array(code)) for code, label in zip(codes, labels, strict=True)]
    return pa.table([*columns, np.full(codes.shape[1], 3)], names=[*names, "income", "count"])


@each({"all of 200,000 cells": ([100, 10, 100], None), "of 10^40 cells": ([1000] * 13 + [5], 150_000)})
def test_many_rows_take_little_time(tmp_path: Path, case: tuple[list[int], int | None]) -> None:
    planted = private_draft()
    folder = planted.write(tmp_path / "release", sort=False, table=_large(planted, *case))
    start = time.perf_counter()
    assert verify_release(folder) == []
    assert time.perf_counter() - start < 10  # about half a second; ten for a machine that is busy


def test_of_cells_that_nobody_can_list_the_first_missing_is_named(tmp_path: Path) -> None:
    planted = private_draft()
    table = _large(planted, [1000] * 13, 1000)
    planted.manifest["threshold"] = None
    found(verify_release(planted.write(tmp_path / "release", sort=False, table=table)), "coverage", "a12='v0000'")


def test_the_draft_has_every_cell_once() -> None:
    rows: list[Any] = [row[:6] for row in private_draft().rows]
    assert len(set(rows)) == len(rows) == 3 * 2 * 3 * 2 * 1 * 2
