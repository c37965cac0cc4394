"""Releases whose rows are in parts, and rows that fall into batches: what holds across the borders."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unveil.errors import TableError
from unveil.schema import load_spec
from unveil.verifier import Finding, files
from verdicts import verify_against_raw, verify_release
from verify.releases import (
    RAW_HEADER,
    RAW_ROWS,
    SPEC,
    YOUNG,
    Draft,
    draft,
    edit_manifest,
    sha256,
    write_parquet,
    write_raw,
)

PARTS = (4, 2, 4)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A true release in three parts."""
    return draft().write(tmp_path / "release", parts=PARTS)


def part(release: Path, number: int) -> Path:
    return release / "data.parquet" / f"part-{number:05}.parquet"


def relist(release: Path) -> None:
    """Makes the manifest list the parts that are there, with their hashes."""
    found = {
        f"data.parquet/{path.name}": {"sha256": sha256(path)} for path in sorted(part(release, 0).parent.iterdir())
    }
    edit_manifest(release, lambda content: content.update(files=found))


def claims(findings: list[Finding]) -> list[str]:
    return [finding.claim for finding in findings]


def test_a_release_in_parts_holds(release: Path, tmp_path: Path) -> None:
    assert verify_release(release) == []
    assert verify_against_raw(release, load_spec(write_raw(tmp_path))) == []


def test_numbers_may_be_left_out(release: Path) -> None:
    part(release, 2).rename(part(release, 7))
    relist(release)
    assert verify_release(release) == []


def test_a_csv_copy_of_parts_is_compared(tmp_path: Path) -> None:
    release = draft().write(tmp_path / "release", parts=PARTS, with_csv=True)
    assert verify_release(release) == []
    path = release / "data.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[5] = lines[5].replace("high", "low")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    edit_manifest(release, lambda content: content["files"]["data.csv"].update(sha256=sha256(path)))
    [finding] = verify_release(release)
    assert finding.claim == "copy"
    assert "it reads 'low\"\\n" in finding.message
    assert "and must read 'high\"\\n" in finding.message


def test_a_missing_part_is_found(release: Path) -> None:
    part(release, 1).unlink()
    findings = verify_release(release)
    assert claims(findings) == ["files", "data-file"]
    assert all("part-00001" in finding.message for finding in findings)


def test_a_part_that_is_missing_and_not_listed_either_is_found(release: Path) -> None:
    part(release, 1).unlink()
    relist(release)
    assert set(claims(verify_release(release))) >= {"rows", "records"}


@pytest.mark.parametrize("name", ["part-00003.parquet", "part-00001.parquet.crc", "_SUCCESS", ".part-0-1", "more/old"])
def test_an_extra_file_among_the_parts_is_found(release: Path, name: str) -> None:
    path = release / "data.parquet" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("no part")
    [finding] = verify_release(release)
    assert finding.claim == "files"
    assert f"'data.parquet/{name}'" in finding.message


def test_a_renamed_part_is_found(release: Path) -> None:
    part(release, 1).rename(part(release, 9))
    assert claims(verify_release(release)) == ["files", "files", "data-file"]


@pytest.mark.parametrize("name", ["part-1.parquet", "part-000001.parquet", "part-0000a.parquet", "../data.parquet"])
def test_a_part_with_another_name_is_not_a_part(release: Path, name: str) -> None:
    edit_manifest(release, lambda content: content["files"].update({f"data.parquet/{name}": {"sha256": "0" * 64}}))
    assert claims(verify_release(release)) == ["manifest"]


def test_parts_in_each_others_place_are_found(release: Path) -> None:
    one, two = (part(release, number).read_bytes() for number in (0, 2))
    part(release, 0).write_bytes(two)
    part(release, 2).write_bytes(one)
    assert claims(verify_release(release)) == ["file-hash", "file-hash", "order"]
    relist(release)
    assert claims(verify_release(release)) == ["order"]


def test_parts_listed_in_another_order_are_found(release: Path) -> None:
    def reverse(content: dict[str, dict[str, object]]) -> None:
        content["files"] = dict(reversed(content["files"].items()))

    edit_manifest(release, reverse)
    findings = verify_release(release)
    assert claims(findings) == ["parts", "parts"]
    assert "part-00001.parquet after data.parquet/part-00002.parquet" in findings[0].message


def test_an_empty_part_is_found(release: Path) -> None:
    write_parquet(draft().table().slice(0, 0), part(release, 3))
    relist(release)
    [finding] = verify_release(release)
    assert finding.claim == "parts"
    assert "part-00003.parquet holds no rows" in finding.message


def test_a_file_and_parts_cannot_both_be_listed(release: Path) -> None:
    edit_manifest(release, lambda content: content["files"].update({"data.parquet": {"sha256": "0" * 64}}))
    assert claims(verify_release(release)) == ["parts", "files"]


def test_a_folder_of_parts_elsewhere_is_not_a_part_of_the_release(release: Path) -> None:
    (release / "data.parquet").rename(release.parent / "elsewhere")
    (release / "data.parquet").symlink_to(release.parent / "elsewhere")
    findings = verify_release(release)
    assert claims(findings) == ["files"] * len(PARTS) + ["data-file"]
    assert all("it is a link" in finding.message for finding in findings)


def _number_of_words(table: pa.Table) -> pa.Table:
    return table.set_column(3, "hours", table["hours"].cast(pa.string()))


def _whole_numbers(table: pa.Table) -> pa.Table:
    return table.set_column(3, "hours", pa.array([1] * table.num_rows))


def _without_hours(table: pa.Table) -> pa.Table:
    return table.drop_columns("hours")


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (_number_of_words, "columns"),
        (_whole_numbers, "columns"),
        (_without_hours, "columns"),
    ],
)
def test_a_part_unlike_the_others_is_found(release: Path, change: Callable[[pa.Table], pa.Table], claim: str) -> None:
    write_parquet(change(pq.read_table(part(release, 2))), part(release, 2))
    relist(release)
    [finding] = verify_release(release)
    assert finding.claim == claim
    assert "part-00002" in finding.message


def test_a_hidden_value_in_the_dictionary_of_one_part_is_found(release: Path) -> None:
    table = pq.read_table(part(release, 1))
    words = pa.array(["⊥", "F"])
    hiding = pa.DictionaryArray.from_arrays(pa.array([0] * table.num_rows, pa.int32()), words)
    write_parquet(table.set_column(2, "sex", hiding), part(release, 1))
    relist(release)
    [finding] = verify_release(release)
    assert finding.claim == "dictionary"
    assert "'sex' lists 'F'" in finding.message


@pytest.mark.parametrize("parts", [(), PARTS, (1,) * 10])
@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("place", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_two_rows_in_each_others_place_are_found_wherever_a_batch_or_a_part_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: tuple[int, ...], size: int, place: int
) -> None:
    monkeypatch.setattr(files, "BATCH", size)
    rows = [(YOUNG, "University", "M", float(number), "low") for number in range(10)]
    assert verify_release(Draft(rows, draft().manifest).write(tmp_path / "true", parts=parts, sort=False)) == []
    rows[place - 1], rows[place] = rows[place], rows[place - 1]
    planted = Draft(rows, draft().manifest).write(tmp_path / "planted", parts=parts, sort=False)
    [finding] = verify_release(planted)
    assert finding.claim == "order"
    assert f"row {place + 1} has hours={float(place - 1)} after hours={float(place)}" in finding.message


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_counts_do_not_depend_on_where_a_batch_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(files, "BATCH", size)
    planted = draft()
    planted.manifest["requirements"][0]["k"] = 4
    [finding] = verify_release(planted.write(tmp_path / "planted"))
    assert "is shared by 3 records, but requirement 1 asks for at least 4 (2 of 3 groups" in finding.message


def _as_files(folder: Path) -> None:
    """The raw table as a folder: numbers in one file, a missing one among them in the other."""
    header, rows = RAW_HEADER, [list(values) for values in zip(*RAW_ROWS, strict=True)]
    for name, start, stop in (("a", 0, 5), ("b", 5, 11)):
        columns = dict(zip(header, (values[start:stop] for values in rows), strict=True))
        columns["hours"] = [float(hours) if name == "a" or "." in hours else int(hours) for hours in columns["hours"]]
        columns["age"] = [None if age == "?" else int(age) for age in columns["age"]]
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def test_the_raw_table_may_be_files_of_other_types(tmp_path: Path) -> None:
    spec = write_raw(tmp_path, spec=SPEC.replace("raw.csv", "raw"))
    (tmp_path / "raw").mkdir()
    _as_files(tmp_path / "raw")
    release = draft().write(tmp_path / "release", parts=PARTS)
    assert verify_against_raw(release, load_spec(spec)) == []


def closed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of this name cannot be listed, whoever runs the tests; their files can still be opened."""
    usual = os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == name:
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_raw_folder_that_cannot_be_listed_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = write_raw(tmp_path, spec=SPEC.replace("raw.csv", "raw"))
    below = tmp_path / "raw" / "below"
    below.mkdir(parents=True)
    _as_files(tmp_path / "raw")
    closed("below", monkeypatch)
    with pytest.raises(TableError) as caught:
        verify_against_raw(draft().write(tmp_path / "release"), load_spec(spec))
    assert str(caught.value) == f"{below}: the folder cannot be read: Permission denied."


def test_parts_in_a_folder_that_cannot_be_listed_are_found(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees what else is in it."""
    (release / "data.parquet" / "trace.json").write_text("[]")
    closed("data.parquet", monkeypatch)
    [finding] = verify_release(release)
    assert finding.claim == "files"
    assert "data.parquet: the folder cannot be listed: Permission denied" in finding.message


@pytest.mark.parametrize("place", range(10))
def test_a_raw_row_lost_in_any_batch_is_found(tmp_path: Path, place: int) -> None:
    rows = [row for number, row in enumerate(RAW_ROWS) if number != place]
    release = draft().write(tmp_path / "release", parts=PARTS)
    findings = verify_against_raw(release, load_spec(write_raw(tmp_path, rows)))
    assert claims(findings) == ["raw-rows", "truth"]
    assert "the release gained 1 record" in findings[1].message
