"""The pages of a parquet file: what holds the values of a column, and the reader of the numbers that describe them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

Struct = dict[int, Any]
TRUE, FALSE, BYTE, SHORT, INT, LONG, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12
DEEPEST = 12
"""How deep structs may be nested; parquet needs half of that."""
FRAME = b"\x28\xb5\x2f\xfd"
PLAIN, INDEXES = 0, (2, 8)
BOOLEAN, TEXT, FIXED = 0, 6, 7  # physical types
WIDTHS = {1: 4, 2: 8, 4: 4, 5: 8}
"""How many bytes a value of the other physical types has."""
CODEC = pa.Codec("zstd")


class FormError(Exception):
    """A parquet file does not have the form of a release; the text is a clause that says how."""


def _forbid(wrong: bool, clause: str) -> None:
    if wrong:
        raise FormError(clause)


class Reader:
    """Reads thrift's compact protocol, as far as parquet uses it: structs as mappings from field numbers to values.

    Bytes that end early or are malformed are a `ValueError`. The next value begins at `place`.
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def struct(self, depth: int = 0) -> Struct:
        """A struct. No field may appear twice, since readers differ in which one they take."""
        if depth > DEEPEST:
            raise ValueError("its structs are nested too deep")
        found: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            if number in found:
                raise ValueError(f"the field {number} appears twice in one struct")
            found[number] = self._value(head & 15, depth)
        return found

    def varint(self) -> int:
        """A whole number of at most 64 bits, in as few bytes as it needs."""
        number = shift = 0
        while True:
            part = self._byte()
            number |= (part & 127) << shift
            shift += 7
            if part < 128:
                if (part == 0 and shift > 7) or number >= 1 << 64:
                    raise ValueError("a number is not written in as few bytes as it needs")
                return number

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in (SHORT, INT, LONG):
            return self._signed()
        if kind == BINARY:
            return self._bytes(self.varint())
        if kind == LIST:
            return self._list(depth)
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a value is of the unknown kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self.varint() if head >> 4 == 15 else head >> 4
        if size > len(self.data) - self.place:
            raise ValueError("a list has more values than there are bytes")
        kind = head & 15
        return [self._value(BYTE if kind in (TRUE, FALSE) else kind, depth) for _ in range(size)]

    def _signed(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def _byte(self) -> int:
        if self.place >= len(self.data):
            raise ValueError("it ends too early")
        self.place += 1
        return self.data[self.place - 1]

    def _bytes(self, size: int) -> bytes:
        self.place += size
        if self.place > len(self.data):
            raise ValueError("it ends too early")
        return self.data[self.place - size : self.place]


@dataclass(frozen=True)
class Page:
    """What a header says about a page."""

    start: int
    """Where its header begins, in the bytes of its column."""
    dictionary: bool
    """Whether it lists the distinct texts of its column; otherwise it has the values of some rows."""
    values: int
    """How many, missing ones too."""
    encoding: int
    type: int
    """The physical type of the column."""
    width: int
    """How many bytes a value has, for values of one size."""
    optional: bool


def check_page(page: Page, packed: bytes, size: int) -> None:
    """The page is one frame of zstd, and unpacked it is its values and nothing else; `size` is what it has unpacked."""
    _check_frame(packed, size)
    try:
        data = CODEC.decompress(packed, decompressed_size=size, asbytes=True)
    except OSError as error:
        raise ValueError("a page cannot be unpacked") from error
    place, held = 0, page.values
    if page.optional and not page.dictionary:
        place = 4 + int.from_bytes(data[:4], "little")
        held = _present(data, place, page.values)
    if page.dictionary or page.encoding == PLAIN:
        end = _plain_end(page, data, place, held)
    elif page.encoding in INDEXES and page.type == TEXT:
        end = _indexes_end(data, place, held)
    else:
        raise FormError(f"a page is written in the encoding {page.encoding}")
    _forbid(end != len(data), f"{abs(len(data) - end):,} bytes of a page are not values, or are missing")


def _check_frame(packed: bytes, size: int) -> None:
    """A frame says how large its content is, has no checksum and no dictionary, and its blocks fill the page."""
    flags = packed[4] if packed[:4] == FRAME and len(packed) >= 9 else 0xFF
    single, wide = flags >> 5 & 1, flags >> 6
    _forbid(flags & 0b11111 != 0, "a page is not one plain frame of zstd")
    begin = 5 if single else 6
    length = (single, 2, 4, 8)[wide]
    content = int.from_bytes(packed[begin : begin + length], "little") + (256 if length == 2 else 0)
    _forbid(length == 0 or content != size, "a page is larger or smaller than it says")
    place, last = begin + length, False
    while not last and place + 3 <= len(packed):
        head = int.from_bytes(packed[place : place + 3], "little")
        last = bool(head & 1)
        place += 3 + (1 if head >> 1 & 3 == 1 else head >> 3)
    _forbid(not last or place != len(packed), "a page has bytes before or after what is packed in it")


class Run(NamedTuple):
    """Values that are written together: one repeated value, or several packed bit by bit."""

    values: int
    start: int
    end: int
    packed: bool


def _runs(data: bytes, place: int, end: int, bits: int) -> Iterator[Run]:
    """The runs that fill some bytes."""
    while place < end:
        reader = Reader(data, place)
        head = reader.varint()
        packed, number = bool(head & 1), head >> 1
        place = reader.place + (number * bits if packed else (bits + 7) // 8)
        _forbid(not number or place > end, "a page has a run of values that is empty or ends too late")
        yield Run(8 * number if packed else number, reader.place, place, packed)


def _present(data: bytes, end: int, values: int) -> int:
    """How many values are present, by the flags before them. The last flags of a run of eight may be padding."""
    count = present = 0
    for run in _runs(data, 4, end, 1):
        flags = int.from_bytes(data[run.start : run.end], "little")
        present += flags.bit_count() if run.packed else run.values * (flags & 1)
        count += run.values
    if end > len(data) or not values <= count < values + 8:
        raise FormError("a page has more or fewer flags for missing values than values")
    return present


def _indexes_end(data: bytes, place: int, held: int) -> int:
    """Where the indexes into the dictionary end."""
    bits = data[place] if place < len(data) else 33
    count = sum(run.values for run in _runs(data, place + 1, len(data), bits)) if bits <= 32 else -1
    _forbid(not held <= count < held + 8, "a page has more or fewer values than it says")
    return len(data)


def _plain_end(page: Page, data: bytes, place: int, held: int) -> int:
    """Where values end that are written one after another."""
    if page.type == BOOLEAN:
        return place + (held + 7) // 8
    if page.type == TEXT:
        for _ in range(held):
            if place >= len(data):
                raise FormError("a page has fewer values than it says")
            place += 4 + int.from_bytes(data[place : place + 4], "little")
        return place
    width = page.width if page.type == FIXED else WIDTHS.get(page.type)
    if width is None:
        raise FormError(f"a column has values of the physical type {page.type}")
    return place + held * width
