"""The lines of a csv file that are rows by themselves.

A quote that is not closed swallows the lines after it, bytes that are not text make a whole file unreadable, and so
does a row with a value too many. Where wrong rows are left out one by one, no line may have a say over another. So a
row is a line there, and a line that cannot be one is replaced by a row without values before the file is parsed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

BLOCK = 1 << 22
LONGEST = 1 << 20
"""How many bytes a row may have: fewer than are parsed at a time, so that no row is too long for that."""


class RowLines(io.RawIOBase):
    """A csv file in which every line after the header is a row."""

    def __init__(self, path: Path, delimiter: str, columns: int) -> None:
        self._stream = pa.input_stream(path, compression="detect")
        self._chunks = _Lines(delimiter, columns).chunks(self._stream)
        self._held = b""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; all that are left if not said."""
        while size < 0 or len(self._held) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._held += chunk
        end = len(self._held) if size < 0 else size
        given, self._held = self._held[:end], self._held[end:]
        return given

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()
        super().close()


class _Lines:
    """What a line must be to be a row, and what replaces one that is not."""

    def __init__(self, delimiter: str, columns: int) -> None:
        self._mark = delimiter.encode()
        self._marks = columns - 1
        self._empty = self._mark.join([b'""'] * columns) + b"\n"
        mark = re.escape(self._mark)
        # Possessive, so that a long line takes no longer than its length.
        field = rb'(?:"(?:[^"]|"")*+"|[^"' + mark + rb"\r\n]*+)"
        self._quoted = re.compile(field + rb"(?:" + mark + field + rb"){%d}[\r\n]*" % self._marks)

    def chunks(self, stream: pa.NativeFile) -> Iterator[bytes]:
        """The file, some lines at a time. The header is as it is."""
        rest, header = b"", True
        while block := stream.read(BLOCK):
            *lines, rest = (rest + block).splitlines(keepends=True)
            if rest.endswith(b"\n"):  # a line that ends in \r may go on with \n
                lines, rest = [*lines, rest], b""
            rest = rest[: LONGEST + 1]  # too long already, and so is what follows
            if header and lines:
                yield lines.pop(0)
                header = False
            yield b"".join(self._rows(lines))
        yield rest if header else b"".join(self._rows([rest]))

    def _rows(self, lines: list[bytes]) -> Iterator[bytes]:
        known = _is_text(b"".join(lines))
        for line in lines:
            fits = len(line) <= LONGEST and (known or _is_text(line)) and self._is_row(line)
            yield line if fits else self._empty

    def _is_row(self, line: bytes) -> bool:
        if b'"' in line:
            return self._quoted.fullmatch(line) is not None
        return line.count(self._mark) == self._marks or not line.strip(b"\r\n")


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
