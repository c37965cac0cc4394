"""Thrift's compact protocol, as far as parquet files use it: structs as mappings from field numbers to values."""

from __future__ import annotations

from typing import Any

Struct = dict[int, Any]
TRUE, FALSE, BYTE, SHORT, INT, LONG, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12
DEEPEST = 12
"""How deep structs lie in each other; those of parquet need half of it."""


class Reader:
    """Reads one value after the other. A text that ends early, or is none of these, is a `ValueError`.

    Attributes:
        data: The bytes.
        place: Where the next value begins.
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def struct(self, depth: int = 0) -> Struct:
        """A struct. No field may come twice, since readers differ in which one they take."""
        if depth > DEEPEST:
            raise ValueError("its structs lie too deep in each other")
        found: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            if number in found:
                raise ValueError(f"the field {number} comes twice in one struct")
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
