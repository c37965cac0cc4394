"""The files of a release: which there are, their hashes, and that copies of the data agree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from unveil.errors import listed
from unveil.verify.columns import Column, encode
from unveil.verify.data import PARQUET, Data, first_line
from unveil.verify.findings import Finding
from unveil.verify.parts import MANIFEST, Claims

CSV = "data.csv"


def check_files(folder: Path, manifest: Claims) -> Iterator[Finding]:
    """The folder holds the listed files with the listed hashes, and nothing else."""
    if PARQUET not in manifest.files:
        yield Finding("files", f"{MANIFEST} does not list {PARQUET}.")
    extra = {path.name for path in folder.iterdir()} - {MANIFEST, *manifest.files}
    if extra:
        yield Finding("files", f"the folder holds {listed(sorted(extra))}, which {MANIFEST} does not list.")
    for name, claim in manifest.files.items():
        path = folder / name
        if path.is_symlink():
            yield Finding("files", f"{MANIFEST} lists {name}, but that is a link to a file elsewhere.")
            continue
        try:
            digest = _sha256(path)
        except OSError as error:
            reason = error.strerror or "it cannot be opened"
            yield Finding("files", f"{MANIFEST} lists {name}, but it cannot be read: {reason}.")
            continue
        if digest != claim.sha256:
            message = f"the sha256 of {name} is {digest}, but {MANIFEST} says {claim.sha256}."
            yield Finding("file-hash", message)


def check_copy(folder: Path, manifest: Claims, data: Data) -> Iterator[Finding]:
    """The csv file, where there is one, holds the same rows in the same order as the parquet file."""
    path = folder / CSV
    if CSV not in manifest.files or not path.is_file():
        return
    names = manifest.names
    types = {name: data.columns[name].values.type for name in names}
    try:
        table = pa_csv.read_csv(
            path,
            parse_options=pa_csv.ParseOptions(newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        yield Finding("copy", f"{CSV} cannot be read as the values of {PARQUET}: {first_line(error)}.")
        return
    if table.column_names != names:
        yield Finding("copy", f"{CSV} has the columns {listed(table.column_names)}, not {listed(names)}.")
    elif table.num_rows != data.rows:
        yield Finding("copy", f"{CSV} has {table.num_rows:,} rows, but {PARQUET} has {data.rows:,}.")
    else:
        for name in names:
            yield from _compare(data.columns[name], encode(name, table[name]))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _compare(column: Column, copy: Column) -> Iterator[Finding]:
    differs = _texts(column) != _texts(copy)
    if differs.any():
        row = int(np.argmax(differs))
        yield Finding(
            "copy",
            f"row {row + 1:,} of {CSV} has {copy.text(copy.codes[row])}, "
            f"but {PARQUET} has {column.text(column.codes[row])} ({differs.sum():,} rows differ).",
        )


def _texts(column: Column) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    """One text per row. A missing value and an empty text look the same in a csv file."""
    texts = pc.fill_null(pc.cast(column.values, pa.string()), "").to_numpy(zero_copy_only=False)
    rows: np.ndarray[tuple[int, ...], np.dtype[np.object_]] = texts[column.codes]
    return rows
