from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unveil.verifier import Finding
from verdicts import verify_release
from verify.releases import Draft, draft, edit_manifest, sha256, write_parquet


def claims(findings: list[Finding]) -> list[str]:
    return [finding.claim for finding in findings]


def test_every_claim_of_a_true_release_holds(release: Path) -> None:
    assert verify_release(release) == []


def test_a_release_with_a_csv_copy_holds(tmp_path: Path) -> None:
    assert verify_release(draft().write(tmp_path / "release", with_csv=True)) == []


def test_a_finding_is_one_line() -> None:
    assert str(Finding("rows", "the column\n'a'")) == "rows: the column\\u000a'a'"


@pytest.mark.parametrize("name", ["data.parquet", "data.csv"])
def test_one_changed_byte_is_found(tmp_path: Path, name: str) -> None:
    folder = draft().write(tmp_path / "release", with_csv=True)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    findings = verify_release(folder)
    assert "file-hash" in claims(findings)
    message = next(finding.message for finding in findings if finding.claim == "file-hash")
    assert name in message
    assert sha256(folder / name) in message


def test_bytes_changed_anywhere_are_a_finding_and_never_a_crash(release: Path) -> None:
    path = release / "data.parquet"
    original = path.read_bytes()
    rng = np.random.default_rng(7)
    for place in rng.choice(len(original), size=60, replace=False):
        content = bytearray(original)
        content[place] ^= int(rng.integers(1, 256))
        path.write_bytes(content)
        assert "file-hash" in claims(verify_release(release))


def test_an_unlisted_file_is_found(release: Path) -> None:
    (release / "trace.json").write_text("[]")
    (release / "old").mkdir()
    [finding] = verify_release(release)
    assert finding == Finding("files", "the folder holds 'old', 'trace.json', which manifest.json does not list.")


def test_an_absent_data_file_is_found(release: Path) -> None:
    (release / "data.parquet").unlink()
    assert claims(verify_release(release)) == ["files", "data-file"]


def test_a_folder_in_the_place_of_a_data_file_is_found(release: Path) -> None:
    (release / "data.parquet").unlink()
    (release / "data.parquet").mkdir()
    assert claims(verify_release(release)) == ["files", "data-file"]


def test_a_release_must_list_its_parquet_file(release: Path) -> None:
    edit_manifest(release, lambda content: content["files"].clear())
    assert claims(verify_release(release)) == ["files", "files"]


def test_a_link_to_a_file_elsewhere_is_not_a_file_of_the_release(release: Path) -> None:
    (release / "data.parquet").rename(release.parent / "elsewhere.parquet")
    (release / "data.parquet").symlink_to(release.parent / "elsewhere.parquet")
    findings = verify_release(release)
    assert claims(findings) == ["files", "data-file"]
    assert all("it is a link" in finding.message for finding in findings)


def test_a_data_file_that_is_not_parquet_is_found(release: Path) -> None:
    _replace(release, b"age,income\n17,low\n")
    assert claims(verify_release(release)) == ["data-file"]


def test_text_that_is_not_utf8_is_found(tmp_path: Path) -> None:
    planted = draft()
    broken = pa.array([b"\xff"] * 10).view(pa.string())
    table = planted.table().set_column(1, "education", broken)
    findings = verify_release(planted.write(tmp_path / "planted", sort=False, table=table))
    assert claims(findings) == ["data-file"]


def _drop_column(table: pa.Table) -> pa.Table:
    return table.drop_columns("hours")


def _swap_columns(table: pa.Table) -> pa.Table:
    return table.select(["education", "age", "sex", "hours", "income"])


def _add_column(table: pa.Table) -> pa.Table:
    return table.append_column("row", pa.array(range(10)))


def _masked_numbers(table: pa.Table) -> pa.Table:
    return table.set_column(0, "age", pa.array(range(10)))


def _number_as_text(table: pa.Table) -> pa.Table:
    return table.set_column(3, "hours", table["hours"].cast(pa.string()))


@pytest.mark.parametrize("change", [_drop_column, _swap_columns, _add_column, _masked_numbers, _number_as_text])
def test_columns_that_the_manifest_does_not_claim_are_found(
    tmp_path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    planted = draft()
    findings = verify_release(planted.write(tmp_path / "planted", table=change(planted.table())))
    assert claims(findings) == ["columns"]


def _typed_hours(kind: pa.DataType, values: list[Any]) -> tuple[Draft, pa.Table]:
    """The column that is released as it is, with values of another type."""
    planted = draft()
    planted.manifest["masking"]["hours"]["type"] = "number" if pa.types.is_decimal(kind) else "category"
    column = pa.array([values[row % 2] for row in range(10)], kind)
    return planted, planted.table().set_column(3, "hours", column)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.large_string(), ["a", "b"]),
        (pa.string_view(), ["a", "b"]),
        (pa.bool_(), [False, True]),
        (pa.decimal128(5, 2), [Decimal("1.25"), Decimal("7.5")]),
        (pa.date32(), [date(2001, 2, 3), date(2004, 5, 6)]),
        (pa.timestamp("ns"), [datetime(2001, 2, 3), datetime(2004, 5, 6)]),
    ],
)
def test_a_column_that_is_released_as_it_is_may_be_of_any_plain_type(
    tmp_path: Path, kind: pa.DataType, values: list[Any]
) -> None:
    planted, table = _typed_hours(kind, values)
    rows = sorted(table.to_pylist(), key=lambda row: list(row.values()))
    table = pa.Table.from_pylist(rows, schema=table.schema)
    assert verify_release(planted.write(tmp_path / "sorted", table=table)) == []
    planted, table = _typed_hours(kind, values[::-1])
    assert claims(verify_release(planted.write(tmp_path / "unsorted", table=table))) == ["order"]


def test_bytes_are_not_plain_type(tmp_path: Path) -> None:
    planted, table = _typed_hours(pa.binary(), [b"a", b"b"])
    assert claims(verify_release(planted.write(tmp_path / "planted", table=table))) == ["columns"]


def test_a_column_in_two_roles_is_found(release: Path) -> None:
    edit_manifest(release, lambda content: content.update({"weight": "income"}))
    [finding] = verify_release(release)
    assert finding == Finding("columns", "manifest.json has the column 'income' in two roles.")


def test_a_hidden_value_left_in_a_dictionary_is_found(tmp_path: Path) -> None:
    planted = draft()
    table = planted.table()
    codes = table["sex"].combine_chunks().dictionary_encode()
    hiding = pa.DictionaryArray.from_arrays(codes.indices, pa.concat_arrays([codes.dictionary, pa.array(["F"])]))
    folder = planted.write(tmp_path / "planted", table=table.set_column(2, "sex", hiding))
    [finding] = verify_release(folder)
    assert finding.claim == "dictionary"
    assert "'sex'" in finding.message
    assert "'F'" in finding.message


def test_dictionaries_of_held_values_are_fine(tmp_path: Path) -> None:
    planted = draft()
    table = planted.table()
    for place, name in enumerate(["age", "education", "sex"]):
        table = table.set_column(place, name, table[name].dictionary_encode())
    folder = planted.write(tmp_path / "planted", table=table)
    write_parquet(table, folder / "data.parquet", groups=(3, 3, 3, 1))
    digest = sha256(folder / "data.parquet")
    edit_manifest(folder, lambda content: content["files"]["data.parquet"].update(sha256=digest))
    assert verify_release(folder) == []


def _other_value(lines: list[str]) -> None:
    lines[3] = lines[3].replace("low", "high")


def _row_less(lines: list[str]) -> None:
    lines.pop()


def _other_header(lines: list[str]) -> None:
    lines[0] = lines[0].replace("hours", "work")


def _no_number(lines: list[str]) -> None:
    lines[1] = lines[1].replace(",8,", ",eight,")


@pytest.mark.parametrize("change", [_other_value, _row_less, _other_header, _no_number])
def test_a_csv_copy_with_other_values_is_found(tmp_path: Path, change: Callable[[list[str]], None]) -> None:
    folder = draft().write(tmp_path / "release", with_csv=True)
    path = folder / "data.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    before = list(lines)
    change(lines)
    assert lines != before
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    edit_manifest(folder, lambda content: content["files"]["data.csv"].update(sha256=sha256(path)))
    assert claims(verify_release(folder)) == ["copy"]


def test_a_csv_copy_that_is_not_there_is_one_finding(tmp_path: Path) -> None:
    folder = draft().write(tmp_path / "release", with_csv=True)
    (folder / "data.csv").unlink()
    assert claims(verify_release(folder)) == ["files"]


def test_a_csv_copy_that_is_not_listed_is_one_finding(release: Path) -> None:
    (release / "data.csv").write_text("age\n17\n")
    assert claims(verify_release(release)) == ["files"]


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    (tmp_path / "k=2").mkdir()
    assert verify_release(draft().write(tmp_path / "k=2" / "release")) == []


def _replace(folder: Path, content: bytes) -> None:
    path = folder / "data.parquet"
    path.write_bytes(content)
    edit_manifest(folder, lambda entry: entry["files"]["data.parquet"].update(sha256=sha256(path)))


def test_the_draft_is_what_it_says() -> None:
    planted: Draft = draft()
    planted.recount()
    assert planted.manifest == draft().manifest
