"""A release has one form. What is hidden next to its rows is found, whatever reader would overlook it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.verifier import Finding
from verdicts import verify_release
from verify.releases import draft, edit_manifest, rehash, write_manifest, write_parquet

PAYLOAD = b"p1 is 17 years old. " * 1400


def claims(findings: list[Finding]) -> list[str]:
    return [finding.claim for finding in findings]


def rewritten(release: Path, edit: Callable[[bytes], bytes]) -> list[Finding]:
    """Changes the bytes of the parquet file, which pyarrow still reads as the same rows."""
    path = release / "data.parquet"
    rows = pq.read_table(path)
    path.write_bytes(edit(path.read_bytes()))
    assert pq.read_table(path).equals(rows)
    rehash(release)
    return verify_release(release)


def footer(content: bytes) -> tuple[bytes, bytes]:
    """The part before the footer, and the footer without its length and the last magic bytes."""
    start = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    return content[:start], content[start:-8]


def closed(body: bytes, end: bytes) -> bytes:
    return body + end + struct.pack("<I", len(end)) + b"PAR1"


def _before_the_footer(content: bytes) -> bytes:
    body, end = footer(content)
    return closed(body + PAYLOAD, end)


def _after_the_struct_of_the_footer(content: bytes) -> bytes:
    body, end = footer(content)
    return closed(body, end + PAYLOAD)


def _in_an_unknown_field(content: bytes) -> bytes:
    """Field 90 of the file: a short form with no delta, its number, and bytes with their length."""
    body, end = footer(content)
    field = b"\x08\xb4\x01" + _varint(len(PAYLOAD)) + PAYLOAD
    return closed(body, end[:-1] + field + b"\x00")


def _in_the_writer(content: bytes) -> bytes:
    body, end = footer(content)
    name = pq.ParquetFile(pa.BufferReader(content)).metadata.created_by.encode()
    told = _varint(len(name)) + name
    assert told in end
    return closed(body, end.replace(told, _varint(len(PAYLOAD)) + PAYLOAD))


def _in_a_field_of_another_kind(content: bytes) -> bytes:
    """The old name of the type of a column, as bytes where readers expect a number and skip what is none."""
    body, end = footer(content)
    assert b"\x18\x03age\x25\x00" in end
    return closed(body, end.replace(b"\x18\x03age\x25\x00", b"\x18\x03age\x28" + _varint(len(PAYLOAD)) + PAYLOAD))


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_before_the_footer, "28,000 bytes before its footer belong to no column"),
        (_after_the_struct_of_the_footer, "28,000 bytes of its footer belong to nothing"),
        (_in_an_unknown_field, "it carries the field 90 of a file"),
        (_in_the_writer, "it says that it was written by"),
        (_in_a_field_of_another_kind, "the field 6 of a schema element is not a number"),
    ],
)
def test_bytes_that_no_reader_looks_at_are_found(release: Path, edit: Callable[[bytes], bytes], words: str) -> None:
    [finding] = rewritten(release, edit)
    assert finding.claim == "form"
    assert words in finding.message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"write_statistics": True}, "statistics"),
        ({"write_statistics": True, "write_page_index": True}, "a page index"),
        ({"store_schema": True}, "metadata"),
        ({"write_page_checksum": True}, "the field 4 of a page"),
        ({"compression": "snappy"}, "not packed by zstd"),
        ({"compression": "none"}, "not packed by zstd"),
        ({"data_page_version": "2.0"}, "the field 8 of a page"),
        ({"use_dictionary": True}, "a dictionary is not at the beginning of a column of text"),
        ({"use_dictionary": False, "column_encoding": {"age": "DELTA_BYTE_ARRAY"}}, "in the encoding 7"),
        ({"sorting_columns": [pq.SortingColumn(0)]}, "the field 4 of a row group"),
        ({"bloom_filter_options": {"age": {"ndv": 10, "fpp": 0.01}}}, "a bloom filter"),
    ],
)
def test_another_form_of_the_same_rows_is_found(release: Path, options: dict[str, Any], words: str) -> None:
    """Statistics, indexes and filters are believed by readers, and may lie; so a release has none."""
    write_parquet(draft().table(), release / "data.parquet", **options)
    rehash(release)
    [finding] = verify_release(release)
    assert finding.claim == "form"
    assert words in finding.message


def test_metadata_of_a_frame_is_found(release: Path) -> None:
    table = draft().table().replace_schema_metadata({"pandas": "index"})
    write_parquet(table, release / "data.parquet", store_schema=True)
    rehash(release)
    [finding] = verify_release(release)
    assert finding == Finding("form", "data.parquet: it carries metadata next to its rows.")


def test_many_groups_and_many_pages_are_one_form(release: Path) -> None:
    write_parquet(draft().table(), release / "data.parquet", groups=(3, 3, 3, 1))
    rehash(release)
    assert verify_release(release) == []
    write_parquet(draft().table(), release / "data.parquet", data_page_size=1, write_batch_size=2)
    rehash(release)
    assert verify_release(release) == []


def _zeros(release: Path, size: int, count: int) -> None:
    """A column of a few long texts that take no room in the file."""
    table = draft().table()
    texts = pa.array([("\0" * size) + str(row % count) for row in range(10)], pa.large_string())
    write_parquet(table.set_column(3, "hours", texts), release / "data.parquet", use_dictionary=False)
    edit_manifest(release, lambda content: content["masking"]["hours"].update(type="category"))
    rehash(release)


@pytest.mark.parametrize(("size", "words"), [(30_000_000, "bytes unpacked"), (10_000_000, "bytes of text")])
def test_texts_that_are_much_larger_unpacked_are_not_unpacked(
    release: Path, monkeypatch: pytest.MonkeyPatch, size: int, words: str
) -> None:
    _zeros(release, size, 2)
    assert (release / "data.parquet").stat().st_size < 100_000
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)  # it must not come so far
    [finding] = verify_release(release)
    assert finding.claim == "form"
    assert words in finding.message


def _spaces(text: str) -> str:
    return text + " " * 1000


def _tabs(text: str) -> str:
    return text.replace("  ", "\t")


def _escapes(text: str) -> str:
    return text.replace("⊥", "\\u22a5")


@pytest.mark.parametrize("edit", [_spaces, _tabs, _escapes, str.rstrip])
def test_another_spelling_of_the_manifest_is_found(release: Path, edit: Callable[[str], str]) -> None:
    path = release / "manifest.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(edit(text), encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(text)
    [finding] = verify_release(release)
    assert finding.claim == "form"
    assert "from byte" in finding.message


@pytest.mark.parametrize("version", ["0.1.0", "1.2rc1", "2.0.post3", "3.1.4.dev2"])
def test_versions(release: Path, version: str) -> None:
    edit_manifest(release, lambda content: content.update(unveil_version=version))
    assert verify_release(release) == []


Edit = Callable[[dict[str, Any]], Any]
EDITS: dict[str, Edit] = {
    "a payload in the version": lambda content: content.update(unveil_version="0.1.0+" + "p1.is.17" * 4),
    "words in the version": lambda content: content.update(unveil_version="0.1.0 of p1"),
    "rows that nobody has": lambda content: content.update(
        rows={"read": 10**18, "dropped": 10**18 - 10, "released": 10}
    ),
    "records that nobody has": lambda content: content.update(records=2**62 + 1),
    "a label without end": lambda content: content["masking"]["sex"].update(disclosed=["M", "x" * 20_000]),
    "a name without end": lambda content: content["masking"].update({"x" * 20_000: content["masking"].pop("hours")}),
    "names without end": lambda content: content["requirements"][0].update(
        {"quasi-identifier": [f"a{number}" for number in range(80_000)]}
    ),
    "columns without end": lambda content: content["masking"].update(
        {f"a{number}": content["masking"]["hours"] for number in range(8_000)}
    ),
    "keys without end": lambda content: content.update({f"a{number}": number for number in range(80_000)}),
    "a sentence without end": lambda content: content.update(guarantee="a" * 80_000),
}


@pytest.mark.parametrize("edit", list(EDITS.values()), ids=list(EDITS))
def test_a_manifest_out_of_all_bounds_is_a_few_findings(release: Path, edit: Edit) -> None:
    edit_manifest(release, edit)
    findings = verify_release(release)
    assert 0 < len(findings) < 30
    assert all(len(str(finding)) < 2_000 for finding in findings)


def test_a_key_that_comes_twice_among_many_is_found_at_once(release: Path) -> None:
    keys = ",".join(f'"a{number}": 1' for number in [*range(80_000), 79_999])
    (release / "manifest.json").write_text("{" + keys + "}", encoding="utf-8")
    with pytest.raises(unveil.UnveilError, match="'a79999'"):
        verify_release(release)


def test_a_manifest_that_is_too_large_is_not_read(release: Path) -> None:
    write_manifest(release, {"schema_version": 1, "method": "refinement", "guarantee": "a" * (1 << 24)})
    for read in (verify_release, unveil.open_release):
        with pytest.raises(unveil.UnveilError, match="it is larger than 16,777,216 bytes"):
            read(release)


def _blank_line(text: str) -> str:
    return text.replace("\n", "\n\n", 1)


def _windows(text: str) -> str:
    return text.replace("\n", "\r\n")


def _lone_returns(text: str) -> str:
    return text.replace("\n", "\r")


def _mark(text: str) -> str:
    return "\ufeff" + text


def _unquoted(text: str) -> str:
    return text.replace('"', "")


def _half_quoted(text: str) -> str:
    return text.replace('"University"', 'Univer"sity"')


def _quoted_numbers(text: str) -> str:
    return text.replace(",40,", ',"40",')


def _other_numbers(text: str) -> str:
    return text.replace(",40,", ",40.0,")


def _more(text: str) -> str:
    return text + "\n"


@pytest.mark.parametrize(
    "edit",
    [_blank_line, _windows, _lone_returns, _mark, _unquoted, _half_quoted, _quoted_numbers, _other_numbers, _more],
)
def test_another_spelling_of_the_csv_copy_is_found(tmp_path: Path, edit: Callable[[str], str]) -> None:
    folder = draft().write(tmp_path / "release", with_csv=True)
    path = folder / "data.csv"
    text = path.read_text(encoding="utf-8")
    assert edit(text) != text
    path.write_text(edit(text), encoding="utf-8", newline="")
    rehash(folder, "data.csv")
    assert claims(verify_release(folder)) == ["copy"]


def test_what_becomes_of_formulas_is_said_of_csv_files_alone(release: Path) -> None:
    edit_manifest(release, lambda content: content["files"]["data.parquet"].update(formulas="kept"))
    assert claims(verify_release(release)) == ["files"]
