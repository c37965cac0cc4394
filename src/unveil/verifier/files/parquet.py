"""The bytes of a parquet file: every one is accounted for, so that none carries what the rows do not show.

A release has one form: row groups one after another; in each group the columns; in each column at most one page with a
dictionary of texts, then pages of values, packed by zstd; and a footer that says where they are. There is nothing else:
no statistics that could lie, no index, no bloom filter, no metadata, no bytes in between. The sizes that a file states
are checked before anything is unpacked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from unveil.strangers import GROUP_BYTES, GROUP_ROWS, opened
from unveil.verifier.claims import broken
from unveil.verifier.files.pages import PLAIN, TEXT, FormError, Page, Reader, Struct, _forbid, check_page

Kind = TypeVar("Kind")
MAGIC = b"PAR1"
VERSIONS = (1, 2)
ZSTD = 6
DATA_PAGE, DICTIONARY_PAGE = 0, 2
LONGEST_FOOTER = 1 << 24
WRITER = re.compile(rb"parquet-cpp-arrow version [0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
UNPACKED, TIMES = 1 << 26, 1000
"""How many bytes of texts may be unpacked, plus how many times their packed size: texts are kept in memory."""
FIELDS: dict[str, tuple[set[int], set[int]]] = {
    "file": ({1, 3}, {2, 4, 6, 7}),
    "schema element": ({1, 2, 3, 5, 6, 7, 8}, {4, 10}),
    "row group": ({2, 3, 5, 6, 7}, {1}),
    "column chunk": ({2}, {3}),
    "column": ({1, 4, 5, 6, 7, 9, 11}, {2, 3, 13, 16}),
    "page": ({1, 2, 3}, {5, 7}),
    "data page": ({1, 2, 3, 4}, set()),
    "dictionary page": ({1, 2, 3}, set()),
}
"""The fields of each struct of a release, by their numbers in the format: those that are just numbers, and the others.

A reader skips a field whose kind it does not expect.
"""
NAMED = {
    ("file", 5): "metadata",
    ("column chunk", 4): "a page index",
    ("column chunk", 6): "a page index",
    ("column", 8): "metadata",
    ("column", 12): "statistics",
    ("column", 14): "a bloom filter",
    ("data page", 5): "statistics",
}
"""Names of some fields that a release does not have."""


def check_parquet(folder: Path, name: str) -> None:
    """Walks over all bytes of a parquet file; a broken claim if it holds anything but rows in the form of a release.

    It is an `OSError` if the file cannot be opened, and a `ValueError` if it is not a parquet file.
    """
    try:
        with opened(folder, name) as file:
            Walk(file).run()
    except FormError as odd:
        raise broken("form", f"{name}: {odd}.") from odd


@dataclass
class Walk:
    """A walk over a parquet file."""

    file: BinaryIO
    place: int = len(MAGIC)
    """All bytes before this place are accounted for."""
    end: int = 0
    """Where the footer begins."""
    packed: int = 0
    unpacked: int = 0
    """How many bytes texts take in the file, and unpacked."""

    def run(self) -> None:
        """Walks from the beginning to the end."""
        footer = self._footer()
        _check_fields("file", footer)
        _forbid(footer.get(1) not in VERSIONS, "it has another version of the format")
        _forbid(not WRITER.fullmatch(_of(bytes, footer, 6)), f"it says that it was written by {footer[6][:60]!r}")
        root, *elements = _of(list, footer, 2)
        if root != {3: 0, 4: b"schema", 5: len(elements)} and root != {4: b"schema", 5: len(elements)}:
            raise FormError("its schema does not begin with the number of columns")
        if footer.get(7, [{1: {}}] * len(elements)) != [{1: {}}] * len(elements):
            raise FormError("its columns have their own order")
        for element in elements:
            _check_fields("schema element", element)
            _check_bare("the type of a column", element.get(10, {}))
            if any(isinstance(value, int) and not 0 <= value < 1 << 15 for value in element.values()):
                raise FormError("a column is described by a number that does not belong to a type")
        rows = sum(self._group(group, elements) for group in _of(list, footer, 4))
        _forbid(self.place != self.end, f"{self.end - self.place:,} bytes before its footer belong to no column")
        _forbid(rows != (stated := _of(int, footer, 3)), f"its footer counts {stated:,} rows, and its groups {rows:,}")

    def _footer(self) -> Struct:
        size = self.file.seek(0, 2)
        length = int.from_bytes(self._read(size - 8, 4), "little") if size >= 12 else 0
        self.end = size - 8 - length
        if self.end < len(MAGIC) or self._read(0, 4) != MAGIC or self._read(size - 4, 4) != MAGIC:
            raise ValueError("it is not a parquet file")
        _forbid(length > LONGEST_FOOTER, f"its footer has {length:,} bytes, and may have {LONGEST_FOOTER:,}")
        reader = Reader(self._read(self.end, length))
        footer = reader.struct()
        _forbid(reader.place != length, f"{length - reader.place:,} bytes of its footer belong to nothing")
        return footer

    def _group(self, group: Struct, elements: Sequence[Struct]) -> int:
        _check_fields("row group", group)
        rows, chunks = _of(int, group, 3), _of(list, group, 1)
        columns = [_of(dict, chunk, 3) for chunk in chunks]
        size = sum(_of(int, column, 6) for column in columns)
        held = f"{rows:,} rows and {size:,} bytes unpacked, and may have {GROUP_ROWS:,} and {GROUP_BYTES:,}"
        _forbid(not 0 <= rows <= GROUP_ROWS or size > GROUP_BYTES, f"a group of rows has {held}")
        sizes = {2: size, 5: self.place, 6: sum(_of(int, column, 7) for column in columns)}
        wrong = len(columns) != len(elements) or any(group.get(field, size) != size for field, size in sizes.items())
        _forbid(wrong, "the sizes that a group of rows states are not those of its columns")
        for chunk, column, element in zip(chunks, columns, elements, strict=True):
            self._column(chunk, column, element, rows)
        return rows

    def _column(self, chunk: Struct, column: Struct, element: Struct, rows: int) -> None:
        _check_fields("column chunk", chunk)
        _check_fields("column", column)
        _check_column(column, element, rows)
        start, values, size = _of(int, column, 11 if 11 in column else 9), _of(int, column, 9), _of(int, column, 7)
        _forbid(chunk.get(2, 0) not in (0, start, values, start + size), "a column says that it is somewhere else")
        if start != self.place or not 0 <= size <= self.end - start:
            raise FormError(f"the bytes from {self.place:,} to {start:,} belong to no column")
        pages = list(self._pages(self._read(start, size), column, element))
        if sum(page.values for page in pages if not page.dictionary) != rows:
            raise FormError("the pages of a column have more or fewer values than there are rows")
        first = next((page.start for page in pages if not page.dictionary), values - start)
        if start + first != values or any(page.dictionary for page in pages) != (11 in column):
            raise FormError("a column says that its pages are somewhere else")
        self.place = start + size

    def _pages(self, data: bytes, column: Struct, element: Struct) -> Iterator[Page]:
        """The pages of a column, one after another, up to its last byte."""
        place, left = 0, _of(int, column, 6)
        while place < len(data):
            reader = Reader(data, place)
            header = reader.struct()
            packed, unpacked = _of(int, header, 3), _of(int, header, 2)
            left -= reader.place - place + unpacked
            end = reader.place + packed
            if left < 0 or not 0 <= packed <= len(data) - reader.place or unpacked < 0:
                raise FormError("a page is larger than its column says")
            page = _page(header, place, element)
            if page.type == TEXT and page.encoding == PLAIN:  # the texts themselves, not indexes into a dictionary
                self._keep(packed, unpacked)
            check_page(page, data[reader.place : end], unpacked)
            yield page
            place = end
        _forbid(left != 0, "the pages of a column are smaller than it says")

    def _keep(self, packed: int, unpacked: int) -> None:
        self.packed += packed
        self.unpacked += unpacked
        if self.unpacked > UNPACKED + TIMES * self.packed:
            raise FormError(f"{self.packed:,} bytes of it hold {self.unpacked:,} bytes of text, which is too much")

    def _read(self, place: int, size: int) -> bytes:
        self.file.seek(place)
        return self.file.read(size)


def _page(header: Struct, start: int, element: Struct) -> Page:
    _check_fields("page", header)
    kind = _of(int, header, 1)
    if kind not in (DATA_PAGE, DICTIONARY_PAGE) or len(header) != 4:
        raise FormError("a page is neither one of values nor a dictionary")
    dictionary = kind == DICTIONARY_PAGE
    inner = _of(dict, header, 7 if dictionary else 5)
    given = {field: value for field, value in inner.items() if value != {}}  # writers leave empty statistics
    _check_fields("dictionary page" if dictionary else "data page", given)
    if dictionary and (element.get(1) != TEXT or start != 0):
        raise FormError("a dictionary is not at the beginning of a column of text")
    values, encoding, stored = _of(int, inner, 1), _of(int, inner, 2), _of(int, element, 1)
    width = _of(int, element, 2) if 2 in element else 0
    return Page(start, dictionary, values, encoding, stored, width, optional=element.get(3) == 1)


def _check_column(column: Struct, element: Struct, rows: int) -> None:
    """A column describes itself as the schema does, and lists that nobody needs are short."""
    if column.get(3) != [element.get(4)] or column.get(1) != element.get(1):
        raise FormError("a column is not the one that the schema says")
    _forbid(column.get(4) != ZSTD, "a column is not packed by zstd")
    _forbid(column.get(5) != rows, "a column has more or fewer values than there are rows")
    for field in (2, 13, 16):
        _check_bare("a column", column.get(field, []))


def _check_bare(what: str, value: Any) -> None:
    """At most some flags and numbers, and no text."""
    _forbid(isinstance(value, bytes) or _leaves(value) > 24, f"{what} is described by more than it needs")


def _leaves(value: Any) -> int:
    if isinstance(value, bytes):
        return 1000
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(_leaves(part) for part in inner)


def _check_fields(what: str, struct: Struct) -> None:
    if not isinstance(struct, dict):
        raise ValueError(f"a {what} is not a struct")
    numbers, others = FIELDS[what]
    if strange := sorted(struct.keys() - numbers - others):
        extra = NAMED.get((what, strange[0]), f"the field {strange[0]} of a {what}")
        raise FormError(f"it carries {extra} next to its rows")
    if wrong := sorted(field for field in struct.keys() & numbers if not isinstance(struct[field], int)):
        raise FormError(f"the field {wrong[0]} of a {what} is not a number")


def _of(kind: type[Kind], struct: Struct, field: int) -> Kind:
    value = struct.get(field) if isinstance(struct, dict) else None
    if not isinstance(value, kind):
        raise ValueError(f"the field {field} of a struct has the wrong type")
    return value
