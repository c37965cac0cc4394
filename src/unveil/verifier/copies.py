"""Whether the csv file of a release, where there is one, is a copy of its parquet files: written again and compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from unveil.regular import opened
from unveil.verifier.batches import DataFiles
from unveil.verifier.columns import is_text
from unveil.verifier.findings import Finding, first_difference
from unveil.verifier.parts import CSV, PARQUET, Claims

FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
NUMBER = r"^'*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
SHOWN = 40
"""How many bytes of each file are shown from where they differ."""


def check_copy(folder: Path, manifest: Claims, files: DataFiles) -> Iterator[Finding]:
    """The csv file has the bytes that the rows make: readers differ in how they split any other."""
    if CSV not in manifest.files:
        return
    guard = manifest.files[CSV].formulas == "guarded"
    place = 0
    try:
        with opened(folder, CSV) as file:
            for expected in _written(files, guard=guard):
                found = file.read(len(expected))
                if found != expected:
                    same = first_difference(found, expected)
                    yield _difference(place + same, found[same:], expected[same:])
                    return
                place += len(expected)
            if more := file.read(SHOWN):
                yield _difference(place, more, b"")
    except OSError:
        return  # that it cannot be read is a finding about the files


def _difference(place: int, found: bytes, expected: bytes) -> Finding:
    read, must = (part[:SHOWN].decode("utf-8", "replace") for part in (found, expected))
    message = (
        f"{CSV} is not the copy of {PARQUET}: from byte {place + 1:,} on it reads {read!r}, and must read {must!r}."
    )
    return Finding("copy", message)


def _written(files: DataFiles, *, guard: bool) -> Iterator[bytes]:
    """The csv file, some rows at a time: a line of names and a line for each row, parted by commas, text in quotes."""
    names = _quoted(pa.array(files.schema.names, pa.string()), guard=guard)
    yield _lines(pa.array([",".join(names.to_pylist())]))
    for batch in files.batches():
        yield _lines(pc.binary_join_element_wise(*(_texts(column, guard=guard) for column in batch.columns), ","))


def _lines(lines: pa.Array | pa.ChunkedArray) -> bytes:
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _texts(column: pa.ChunkedArray, *, guard: bool) -> pa.ChunkedArray:
    """One text per row. Numbers, truth values and times are as Arrow writes them; what is missing is empty."""
    if not is_text(column.type):
        return pc.fill_null(pc.cast(column, pa.string()), "")
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    chunks = [_quoted(pc.cast(part.dictionary, pa.string()), guard=guard).take(part.indices) for part in encoded.chunks]
    return pc.fill_null(pa.chunked_array(chunks, pa.string()), "")


def _quoted(texts: pa.Array, *, guard: bool) -> pa.Array:
    """Texts in quotes; with an apostrophe before what a spreadsheet takes for a formula, where they are guarded."""
    if guard:
        risky = pc.and_not(pc.match_substring_regex(texts, FORMULA), pc.match_substring_regex(texts, NUMBER))
        texts = pc.if_else(risky, pc.binary_join_element_wise("'", texts, ""), texts)
    return pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
