"""The files of a table: csv and parquet, read whole or batch by batch, only the requested columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from unveil.cores import begun
from unveil.errors import TableError, listed
from unveil.frames import check_names, first_line
from unveil.schema import DATABASES, parse_number
from unveil.schema.files import check_regular

TEXT = pa.dictionary(pa.int32(), pa.string())
BATCH = 1 << 20
"""How many rows of a parquet file are read at a time."""
HEAD = 1 << 16
"""How many bytes of a csv file are looked at first: its header must end there, and lines are about as long as these."""
BLOCK = 1 << 22
"""How many bytes of a csv file are read at a time."""
LONGEST = 1 << 20
"""How many bytes a row may have where a row is a line: fewer than are read at a time, so that none is too long."""
SHOWN = 3
"""How many names are quoted where a header is doubted."""


def open_file(path: Path, *, by_line: bool = False) -> ParquetFile | CsvFile:
    """A csv or parquet file, by its extension.

    Read `by_line`, each line of a csv file is a row, and an invalid line a row without values.
    """
    suffixes = path.suffixes
    if path.suffix in DATABASES:
        raise TableError(f"{path}: a database is read through a query, and none was given.")
    if ".parquet" not in suffixes and ".csv" not in suffixes:
        raise TableError(f"{path}: a table ends in .csv or .parquet, but this is {path.suffix or 'bare'!r}.")
    check_regular(path, "table", TableError)
    with told_unreadable(path):
        file = ParquetFile(path) if ".parquet" in suffixes else CsvFile(path, by_line=by_line)
    check_names(file.schema.names, path.name)
    return file


@contextmanager
def told_unreadable(path: Path) -> Iterator[None]:
    """Turns the error of a library that cannot read a file into one sentence."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: the table cannot be read: {first_line(error)}.") from error


class ParquetFile:
    """A parquet file. Text is read as a dictionary, as it is stored, so that each distinct value is processed once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        stored = pa.parquet.read_schema(path)
        self._texts = [field.name for field in stored if pa.types.is_string(field.type)]
        self.schema = self._open().schema_arrow.remove_metadata()

    def rows(self) -> int:
        """How many rows it has."""
        return int(self._open().metadata.num_rows)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all rows."""
        return self._open().read(columns=list(columns)).select(columns).replace_schema_metadata(None)

    def batches(self, columns: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """These columns, some rows at a time; of some row groups only, if given."""
        for batch in self._open().iter_batches(BATCH, columns=list(columns), row_groups=groups):
            yield pa.Table.from_batches([batch]).select(columns).replace_schema_metadata(None)

    def groups(self) -> list[int]:
        """How many rows each row group has."""
        metadata = self._open().metadata
        return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]

    def _open(self) -> pa.parquet.ParquetFile:
        return pa.parquet.ParquetFile(self.path, read_dictionary=self._texts)


class CsvFile:
    """A csv file. Every column is read as text, so that only the spec decides what a value means."""

    def __init__(self, path: Path, *, by_line: bool = False) -> None:
        self.path = path
        self._by_line = by_line
        with pa.input_stream(path, compression="detect") as stream:
            head = stream.read(HEAD)
        header = io.TextIOWrapper(io.BytesIO(head), encoding="utf-8-sig", errors="replace").readline()
        if not header.strip():
            raise TableError(f"{path}: the file is empty.")
        if len(head) == HEAD and not header.endswith("\n"):
            raise TableError(f"{path}: its first line, the header, has more than {HEAD:,} bytes, the most it may have.")
        self.delimiter = max(",;\t", key=header.count)
        names = [name.strip() for name in next(csv.reader([header], delimiter=self.delimiter))]
        _check_header(names, path.name)
        self.schema = pa.schema([(name, TEXT) for name in names])
        self._bytes_a_row: float = len(head) / max(head.count(b"\n"), 1)

    def rows(self) -> int:
        """About how many rows it has, estimated from its first lines; too low if it is compressed."""
        return round(self.path.stat().st_size / self._bytes_a_row)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all rows."""
        if not self._by_line and self._quotes and (rows := self._line_by_line(columns)) is not None:
            return _trimmed(rows)
        return _trimmed(_read(self._input(), self._options(columns)))

    def _line_by_line(self, columns: Sequence[str]) -> pa.Table | None:
        """The rows if each is one line; None if that is not sure.

        Arrow parses lines on all cores if it need not look for values that span them. Where one does, it loses a line
        without an error. A row takes at least one line, so as many rows as lines show that nothing is lost.
        """
        lines = begun(self._lines)
        rows = None
        with suppress(pa.ArrowInvalid):
            rows = _read(self.path, self._options(columns, spanned=False))
        expected = lines()
        return rows if rows is not None and rows.num_rows == expected else None

    def _lines(self) -> int | None:
        """How many lines follow the header; None if one may end in another way, or if the file is compressed."""
        if self.path.suffix != ".csv":
            return None
        ends, held = 0, np.zeros(BLOCK + 1, dtype=np.uint8)  # the byte before a block comes first
        with self.path.open("rb", buffering=0) as file:
            while read := file.readinto(held.data[1:]):
                block = held[: read + 1]
                newline = block[1:] == ord("\n")
                if ((block[:-1] == ord("\r")) & ~newline).any():
                    return None
                ends += int(np.count_nonzero(newline))
                held[0] = block[-1]
        return None if held[0] == ord("\r") else ends - 1 + int(held[0] != ord("\n"))

    def groups(self) -> list[int]:
        """A csv file is read from its beginning to its end."""
        return [self.rows()]

    def batches(self, columns: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """These columns, some rows at a time."""
        with pa.csv.open_csv(self._input(), **self._options(columns)) as reader:
            for batch in reader:
                yield _trimmed(pa.Table.from_batches([batch]))

    def _input(self) -> Path | RowLines | WholeBreaks:
        if self._by_line:
            return RowLines(self.path, self.delimiter, len(self.schema))
        return WholeBreaks(self.path) if self._quotes else self.path

    def _options(self, columns: Sequence[str], *, spanned: bool = True) -> dict[str, object]:
        names = self.schema.names
        return {
            "read_options": pa.csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
            "parse_options": pa.csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=spanned and not self._by_line and self._quotes,
            ),
            "convert_options": pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, TEXT),
                include_columns=list(columns),
                strings_can_be_null=False,
                null_values=[],
            ),
        }

    @cached_property
    def _quotes(self) -> bool:
        """Whether a value may be quoted, and so span lines; otherwise several cores can parse lines at once."""
        if self.path.suffix != ".csv":
            return True  # compressed, so it would have to be read to know
        with self.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return content.find(b'"', content.find(b"\n") + 1) >= 0


def _read(source: Path | RowLines | WholeBreaks, options: dict[str, object]) -> pa.Table:
    """A whole csv file, read in another thread, so that the main one can handle a signal meanwhile."""
    return begun(lambda: pa.csv.read_csv(source, **options))()


def _check_header(names: list[str], origin: str) -> None:
    """Column names must be distinct. Values often are not, so a missing header is noticed here first."""
    try:
        check_names(names, origin)
    except TableError as error:
        if doubt := header_doubt(names):
            raise TableError(f"{str(error).removesuffix('.')}; {doubt}.") from error
        raise


def header_doubt(names: Sequence[str]) -> str:
    """A clause that says that a line may not hold names; empty if no name is a number.

    Numbers can be names, as in a table with a column per year. So this is only a hint.
    """
    numbers = [name for name in dict.fromkeys(names) if parse_number(name) is not None]
    if not numbers:
        return ""
    return (
        f"the first line looks like values and not like names of columns ({listed(numbers, SHOWN)}): if it is a row, "
        "put a line of names before it"
    )


def _trimmed(table: pa.Table) -> pa.Table:
    columns = {}
    for name in table.column_names:
        parts = [(part.indices, pc.utf8_trim_whitespace(part.dictionary)) for part in table[name].chunks]
        columns[name] = pa.chunked_array([pa.DictionaryArray.from_arrays(*part) for part in parts], type=TEXT)
    return pa.table(columns)


class _Unpacked(io.RawIOBase):
    """A file that may be compressed, and what was read of it but is not given yet."""

    def __init__(self, path: Path) -> None:
        self._stream = pa.input_stream(path, compression="detect")
        self._held = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()


class WholeBreaks(_Unpacked):
    """A file that is read block by block, none of which ends within a line break.

    If one did, Arrow would lose the second half of the break, also in quotes.
    """

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; all that are left by default."""
        block: bytes = self._held + self._stream.read(size - len(self._held) if size > 0 else None)
        after = self._stream.read(1) if block.endswith(b"\r") else b""
        self._held = b"\r" + after if after else b""
        return block[:-1] if after else block


class RowLines(_Unpacked):
    """A csv file in which every line after the header is a row.

    A quote that is not closed swallows the lines after it, bytes that are not text make a whole file unreadable, and
    so does a row with a value too many. Where wrong rows are left out one by one, no line may affect another. So a row
    is a line there, and a line that cannot be one is replaced by a row without values before the file is parsed.
    """

    def __init__(self, path: Path, delimiter: str, columns: int) -> None:
        super().__init__(path)
        self._mark = delimiter.encode()
        self._marks = columns - 1
        self._empty = self._mark.join([b'""'] * columns) + b"\n"
        mark = re.escape(self._mark)
        # Possessive, so that a long line takes no longer than its length.
        field = rb'(?:"(?:[^"]|"")*+"|[^"' + mark + rb"\r\n]*+)"
        self._quoted = re.compile(field + rb"(?:" + mark + field + rb"){%d}[\r\n]*" % self._marks)
        self._chunks = self._some_lines()

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; all that are left by default."""
        while size < 0 or len(self._held) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._held += chunk
        end = len(self._held) if size < 0 else size
        given, self._held = self._held[:end], self._held[end:]
        return given

    def _some_lines(self) -> Iterator[bytes]:
        """The file, some lines at a time. The header is as it is."""
        rest, header = b"", True
        while block := self._stream.read(BLOCK):
            *lines, rest = (rest + block).splitlines(keepends=True)
            if rest.endswith(b"\n"):  # a line that ends in \r may continue with \n
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
