"""The files of a release: the manifest, what it lists, the columns of the rows, and a csv copy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from reprlib import Repr
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from unveil.errors import ReleaseError, listed
from unveil.strangers import MANIFEST_BYTES, opened, paths_below, read_bytes
from unveil.verifier.claims import (
    CSV,
    MANIFEST,
    PARQUET,
    BrokenClaimError,
    Finding,
    broken,
    first_difference,
    first_line,
    repeated,
)
from unveil.verifier.files.parquet import check_parquet
from unveil.verifier.files.signature import SIGNATURE
from unveil.verifier.manifests import (
    AdditiveManifest,
    Claims,
    DiffGenManifest,
    Holds,
    Manifest,
    RefinementManifest,
    SafeManifest,
    StatisticsManifest,
)
from unveil.verifier.values import is_number, is_text

BATCH = 1 << 18
"""How many rows are read at a time. Memory grows with it, and not with the rows of the release."""
SCHEMA_VERSION = 1
METHODS: dict[str, type[Manifest]] = {
    "refinement": RefinementManifest,
    "diffgen": DiffGenManifest,
    "additive": AdditiveManifest,
    "statistics": StatisticsManifest,
    "safe": SafeManifest,
}
"""The claims of each method."""
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = 70
"""How findings show values. A stranger's may be too long to be written out even once."""
MOST = 20
"""How many problems with the shape of a manifest are listed."""
SHOWN = 40
"""How many bytes of each file are shown from where they differ."""
FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
NUMERAL = r"^'*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
TYPES: dict[Holds, tuple[Callable[[pa.DataType], bool], str]] = {
    "labels": (is_text, "text"),
    "text": (is_text, "text"),
    "integers": (pa.types.is_integer, "whole numbers"),
    "booleans": (pa.types.is_boolean, "booleans"),
    "dates": (pa.types.is_date32, "dates"),
    "numbers": (is_number, "numbers"),
    "counts": (pa.types.is_int64, "64-bit whole numbers"),
    "weights": (pa.types.is_float64, "64-bit numbers"),
    "anything": (lambda _: True, "anything"),
}
"""Which Arrow types a column may have, by what the manifest says it holds."""


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest of a release; a `ReleaseError` if there is none that this version can read.

    A claim is broken if it has the wrong shape.
    """
    content, _ = _read_json(folder)
    version, method = content.get("schema_version"), content.get("method")
    # In Python, but not in a manifest, True equals 1.
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ReleaseError(
            f"{folder / MANIFEST}: schema_version is {version!r}; this version of unveil reads {SCHEMA_VERSION}."
        )
    model = METHODS.get(method) if isinstance(method, str) else None
    if model is None:
        known = ", ".join(repr(name) for name in METHODS)
        raise ReleaseError(f"{folder / MANIFEST}: method is {method!r}; this version of unveil verifies {known}.")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        findings = [Finding("manifest", f"{MANIFEST}: {clause}.") for clause in describe_errors(error)]
        raise BrokenClaimError(findings) from error


def check_spelling(folder: Path) -> Iterator[Finding]:
    """The same content is always the same bytes: nothing hides in spaces, escapes or the spelling of numbers."""
    content, written = _read_json(folder)
    spelled = f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode()
    if written != spelled:
        place = first_difference(written, spelled)
        yield Finding("form", f"{MANIFEST} is not in the form of a manifest: it differs from byte {place + 1:,} on.")


def describe_errors(error: ValidationError) -> list[str]:
    """One clause per error: where, what, and the value there."""
    problems = error.errors(include_url=False, include_context=False)
    clauses = [
        f"{_shortened('.'.join(str(step) for step in problem['loc']))}: {problem['msg']} "
        f"(it is {_shortened(SHORT.repr(problem['input']))})"
        for problem in problems[:MOST]
    ]
    return clauses if len(problems) <= MOST else [*clauses, f"and {len(problems) - MOST:,} problems more"]


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _read_json(folder: Path) -> tuple[dict[str, Any], bytes]:
    """The content of a manifest, and its bytes."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise ReleaseError(f"{folder}: it is not a release: there is no such folder.")
    try:
        written = read_bytes(folder, MANIFEST, MANIFEST_BYTES)
        content = json.loads(written.decode("utf-8"), object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
        # An escaped half of a surrogate pair passes as JSON but is not text.
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except FileNotFoundError as error:
        raise ReleaseError(f"{folder}: it is not a release: it has no {MANIFEST}.") from error
    except OSError as error:
        raise ReleaseError(f"{path}: the manifest cannot be read: {first_line(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"{path}: the manifest is not JSON in UTF-8: {error}.") from error
    if not isinstance(content, dict):
        raise ReleaseError(f"{path}: the manifest is not a JSON object.")
    return content, written


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers differ in which of two equal keys they take, so a claim could read two ways."""
    content = dict(pairs)
    if len(content) < len(pairs):
        [twice, *_] = repeated(name for name, _ in pairs)
        raise ValueError(f"the key {twice!r} appears twice in one object")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def check_files(folder: Path, manifest: Claims) -> Iterator[Finding]:
    """The folder holds the listed files with the listed hashes, and nothing else."""
    yield from _listing_findings(manifest)
    known = {MANIFEST, SIGNATURE, *manifest.files, *([PARQUET] if manifest.part_names else [])}
    try:
        if extra := {path.relative_to(folder).as_posix() for path in paths_below(folder)} - known:
            yield Finding("files", f"the folder holds {listed(sorted(extra))}, which {MANIFEST} does not list.")
    except OSError as error:
        yield Finding("files", f"{error.filename}: the folder cannot be listed: {first_line(error)}.")
    for name, claim in manifest.files.items():
        try:
            with opened(folder, name) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            yield Finding("files", f"{MANIFEST} lists {name}, but it cannot be read: {first_line(error)}.")
            continue
        if digest != claim.sha256:
            yield Finding("file-hash", f"the sha256 of {name} is {digest}, but {MANIFEST} says {claim.sha256}.")


def _listing_findings(manifest: Claims) -> Iterator[Finding]:
    """The rows are in one file or in parts, listed in the order of their names."""
    parts = manifest.part_names
    if PARQUET not in manifest.files and not parts:
        yield Finding("files", f"{MANIFEST} does not list {PARQUET}.")
    if PARQUET in manifest.files and parts:
        yield Finding("parts", f"{MANIFEST} lists {PARQUET} both as a file and as a folder with {listed(parts)}.")
    for name in manifest.files:
        if name != CSV and manifest.files[name].formulas is not None:
            yield Finding("files", f"{MANIFEST} has the key formulas for {name}, which only a csv file has.")
    for before, after in pairwise(parts):
        if after < before:
            yield Finding("parts", f"{MANIFEST} lists {after} after {before}, but parts are in the order of names.")


@dataclass(frozen=True)
class DataFiles:
    """The files that hold the rows."""

    folder: Path
    names: tuple[str, ...]
    """The files in order, as the manifest lists them."""
    schema: pa.Schema
    """The columns of all of them. Text comes with the dictionaries of the files, to see whether they hold more than
    the rows do."""

    def batches(self) -> Iterator[pa.Table]:
        """The rows in order, some at a time; a broken claim if a file cannot be read."""
        for name in self.names:
            try:
                yield from _batches(self.folder / name, self.schema)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise _unreadable(name, error) from error


def open_files(folder: Path, manifest: Claims) -> tuple[DataFiles, list[Finding]]:
    """Walks over the bytes of the files, compares their columns with the manifest, and finds parts that are not needed.

    A claim is broken if a file cannot be read or has another form than that of a release, or other columns.
    """
    if twice := repeated(manifest.names):
        raise broken("columns", f"{MANIFEST} has the column {twice[0]!r} in two roles.")
    names = tuple(sorted(manifest.part_names)) or (PARQUET,)
    needless: list[Finding] = []
    schemas = []
    for name in names:
        try:
            check_parquet(folder, name)
            schema, rows = _described(folder / name)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(name, error) from error
        schemas.append(schema)
        if rows == 0 and manifest.part_names:
            needless.append(Finding("parts", f"{name} holds no rows, but a part without rows is not written."))
    for name, schema in zip(names, schemas, strict=True):
        if wrong := list(_column_findings(name, schema, schemas[0], manifest)):
            raise BrokenClaimError([*needless, *wrong])
    return DataFiles(folder, names, schemas[0]), needless


def _unreadable(name: str, error: BaseException) -> BrokenClaimError:
    return broken("data-file", f"{name} cannot be read: {first_line(error)}.")


def _described(path: Path) -> tuple[pa.Schema, int]:
    """The columns of a file, and how many rows it says it has."""
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        return file.schema_arrow.remove_metadata(), file.metadata.num_rows


def _batches(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    texts = [field.name for field in schema if is_text(field.type)]
    # A data set would make columns of folder names such as k=5.
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH):
            table = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            table.validate(full=True)
            yield table.cast(schema)


def _column_findings(file: str, schema: pa.Schema, first: pa.Schema, manifest: Claims) -> Iterator[Finding]:
    """The columns are those of the manifest, in order and type, and the same in all parts."""
    names = manifest.names
    if schema.names != names:
        yield Finding("columns", f"{file} has the columns {listed(schema.names)}; {MANIFEST} says {listed(names)}.")
    else:
        for name, holds in manifest.columns:
            found, expected = schema.field(name).type, first.field(name).type
            fits, noun = TYPES[holds]
            if not fits(found):
                yield Finding("columns", f"{file}: the column {name!r} holds {found}, not {noun}.")
            elif found != expected:
                yield Finding("columns", f"{file}: the column {name!r} holds {found}, but the first part {expected}.")


def check_copy(folder: Path, manifest: Claims, files: DataFiles) -> Iterator[Finding]:
    """The csv file, if there is one, has the bytes that the rows make: readers differ in how they split any other."""
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
                    yield _copy_finding(place + same, found[same:], expected[same:])
                    return
                place += len(expected)
            if more := file.read(SHOWN):
                yield _copy_finding(place, more, b"")
    except OSError:
        return  # `check_files` reports that it cannot be read


def _copy_finding(place: int, found: bytes, expected: bytes) -> Finding:
    read, must = (part[:SHOWN].decode("utf-8", "replace") for part in (found, expected))
    return Finding(
        "copy",
        f"{CSV} is not the copy of {PARQUET}: from byte {place + 1:,} on it reads {read!r}, and must read {must!r}.",
    )


def _written(files: DataFiles, *, guard: bool) -> Iterator[bytes]:
    """The csv file, some rows at a time: a line of names and a line per row, separated by commas, text in quotes."""
    names = _quoted(pa.array(files.schema.names, pa.string()), guard=guard)
    yield _lines(pa.array([",".join(names.to_pylist())]))
    for batch in files.batches():
        yield _lines(pc.binary_join_element_wise(*(_texts(column, guard=guard) for column in batch.columns), ","))


def _lines(lines: pa.Array | pa.ChunkedArray) -> bytes:
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _texts(column: pa.ChunkedArray, *, guard: bool) -> pa.ChunkedArray:
    """One text per row. Numbers, booleans and times are as Arrow writes them; a missing value is empty."""
    if not is_text(column.type):
        return pc.fill_null(pc.cast(column, pa.string()), "")
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    chunks = [_quoted(pc.cast(part.dictionary, pa.string()), guard=guard).take(part.indices) for part in encoded.chunks]
    return pc.fill_null(pa.chunked_array(chunks, pa.string()), "")


def _quoted(texts: pa.Array, *, guard: bool) -> pa.Array:
    """Texts in quotes; if guarded, with an apostrophe before what a spreadsheet takes for a formula."""
    if guard:
        risky = pc.and_not(pc.match_substring_regex(texts, FORMULA), pc.match_substring_regex(texts, NUMERAL))
        texts = pc.if_else(risky, pc.binary_join_element_wise("'", texts, ""), texts)
    return pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
