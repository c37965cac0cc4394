"""Several releases together: what their files show, and every requirement by the owner's private history.

Of several releases a reader sees that they are those that the manifest names, and that each keeps the same requirements
by itself. Who is in several of them only the history says: for every release, a hash of each person, and the labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from unveil.errors import ReleaseError, count_text
from unveil.verifier.claims import MANIFEST, PARQUET, BrokenClaimError, Finding, Masked, Released
from unveil.verifier.data import Codes, Column, Data, encode, read_data, summed
from unveil.verifier.files import open_files, read_manifest
from unveil.verifier.holdings import Table
from unveil.verifier.manifests import RefinementManifest
from unveil.verifier.raw.persons import person_words
from unveil.verifier.records import TOGETHER
from unveil.verifier.requirements import Statement, readable
from unveil.verifier.values import number, plain

if TYPE_CHECKING:
    from unveil.verifier.raw import Raw

ABSENT = -1
LABEL = "label:"
Others = Sequence[Mapping[str, Column]]
"""What each of several other releases says about the people of one, by attribute; under no name, who is absent."""


def judge_earlier(folder: Path, earlier: Sequence[Path]) -> Iterator[Finding]:
    """What the files of several releases show about them together."""
    try:
        manifest = read_manifest(folder)
        found = {place: read_manifest(place) for place in earlier}
    except BrokenClaimError as broken:
        yield from broken.findings
        return
    if not isinstance(manifest, RefinementManifest):
        yield Finding(TOGETHER, f"{folder}: only a release by refinement is made after others; ε adds up instead.")
        return
    for place, before in found.items():
        sha256 = before.files[PARQUET].sha256 if PARQUET in before.files else None
        if sha256 not in manifest.after:
            message = f"{MANIFEST} of {folder} does not name the release with these rows ({str(sha256)[:12]}…)"
            yield Finding(TOGETHER, f"{place}: {message}.")
        elif isinstance(before, RefinementManifest):
            if sha256 == manifest.masking_of and (before.masking, before.boxes) != (manifest.masking, manifest.boxes):
                yield Finding(TOGETHER, f"{place}: {MANIFEST} of {folder} does not have this masking, as it says.")
            data, _ = read_data(open_files(place, before)[0], before)
            yield from _broken(manifest, [(str(place), data, ())])


@dataclass(frozen=True)
class Together(Table):
    """The people of a release, grouped by what each of several releases says about them."""

    others: Others

    def columns(self, statement: Statement) -> list[Column]:
        """What all releases say about the attributes of a requirement."""
        every = [self.data.columns, *self.others]
        return [columns[name] for columns in every for name in ("", *statement.names) if name in columns]

    def sensitive(self, statement: Any) -> Column:
        """What this release says about the sensitive attribute."""
        return self.data.columns[statement.sensitive]


def _broken(manifest: RefinementManifest, releases: Sequence[tuple[str, Data, Others]]) -> Iterator[Finding]:
    """The requirements of a release that some releases break together."""
    for place, stated in enumerate(manifest.requirements, start=1):
        statement = readable(stated)
        if statement is None:
            continue
        for name, people, others in releases:
            table = Together(manifest, people, f"requirement {place}", others)
            sensitive = getattr(statement, "sensitive", None)
            if not table.columns(statement) or (sensitive is not None and sensitive not in people.columns):
                continue  # it says nothing that the requirement is about
            try:
                for finding in statement.findings(table):
                    yield Finding(TOGETHER, f"{name}: {finding.message}")
            except BrokenClaimError as broken:
                yield from (Finding(TOGETHER, f"{name}: {finding.message}") for finding in broken.findings)


class Entered:
    """The entry of a release in the owner's history: whom it shows, and how."""

    def __init__(self, path: Path) -> None:
        """Reads it, or refuses it with a `ReleaseError`."""
        self.name = path.name
        try:
            table = parquet.read_table(path)
            about = json.loads((table.schema.metadata or {})[b"unveil"])
            self.sha256 = str(about["sha256"])
            self.place_of: dict[bytes, int] = {who: row for row, who in enumerate(table["person"].to_pylist())}
            names = [name.removeprefix(LABEL) for name in table.column_names if name.startswith(LABEL)]
            self.labels = {name: encode(name, table[LABEL + name]) for name in names}
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise ReleaseError(f"{path}: this is not an entry of a history of releases.") from error

    def people(self, manifest: RefinementManifest) -> Data:
        """Its rows. A sensitive number is read as one."""
        columns = dict(self.labels)
        for name in {str(stated.get("sensitive")) for stated in manifest.requirements} & set(columns):
            entry = manifest.masking.get(name)
            if isinstance(entry, Released) and entry.type == "number":
                words = columns[name]
                values = pa.array([number(value) for value in plain(words.values)])
                columns[name] = encode(name, pa.chunked_array([values.take(pa.array(words.codes))]))
        each = np.ones(len(self.place_of), dtype=np.int64)
        return Data(columns, each, each, None)

    def seen_by(self, other: Entered) -> dict[str, Column]:
        """What another entry says about the people of this one."""
        # Who is absent has the place -1, which is that of the value "absent" at the end.
        rows = np.array([other.place_of.get(who, ABSENT) for who in self.place_of], dtype=np.int64)
        found = {"": Column(other.name, pa.array(["present", "absent"]), (rows == ABSENT).astype(np.int32))}
        for name, column in other.labels.items():
            values = pa.concat_arrays([column.values.cast(pa.string()), pa.array(["absent"])])
            codes: Codes = np.append(column.codes, len(column.values))[rows].astype(np.int32)
            found[name] = Column(f"{name} in {other.name}", values, codes)
        return found


class History:
    """The owner's private folder, for a release that is made after others."""

    def __init__(self, folder: Path, manifest: RefinementManifest, person: Sequence[str]) -> None:
        """Reads the key and the entries that the release needs, or refuses them with a `ReleaseError`."""
        self._manifest, self._person = manifest, person
        paths = [path for path in folder.glob("*.parquet") if path.stem.isdigit()] if folder.is_dir() else []
        entries = [Entered(path) for path in sorted(paths, key=lambda path: int(path.stem))]
        sha256 = manifest.files[PARQUET].sha256 if PARQUET in manifest.files else ""
        # Releases of different people can have the same rows, where these are fully masked.
        own = max((place for place, entry in enumerate(entries) if entry.sha256 == sha256), default=None)
        self._own = None if own is None else entries[own]
        self._earlier = [entry for entry in entries[:own] if entry.sha256 in manifest.after]
        self._folder = folder
        self._key = b""
        if self._own is not None:
            try:
                self._key = bytes.fromhex((folder / "key").read_text())
            except (OSError, ValueError) as error:
                raise ReleaseError(f"{folder / 'key'}: the key of the history cannot be read.") from error
        self._seen: list[NDArray[np.int64]] = []
        self._lost = self._wrong = 0

    def kept(self, raw: Raw) -> Raw:
        """The raw rows of people whom the release shows."""
        if self._own is None:
            return raw
        words = np.ascontiguousarray(person_words([raw.columns[name] for name in self._person]), dtype="<u8").tobytes()
        hashed = (
            blake2b(words[at : at + 16], key=self._key, digest_size=16).digest() for at in range(0, len(words), 16)
        )
        rows = np.array([self._own.place_of.get(who, ABSENT) for who in hashed], dtype=np.int64)
        shown = rows != ABSENT
        self._seen.append(rows[shown])
        self._lost += int((~shown).sum())
        return raw.where(shown)

    def compare(self, name: str, labels: Column) -> None:
        """Compares the masked values of the raw rows that were kept last with what the entry says."""
        if self._own is None or name not in self._own.labels or not self._seen:
            return
        entered = self._own.labels[name]
        words, others = np.array(entered.texts(), dtype=object), np.array(labels.texts(), dtype=object)
        self._wrong += int((words[entered.codes[self._seen[-1]]] != others[labels.codes]).sum())

    def findings(self, data: Data) -> Iterator[Finding]:
        """What the history shows to be wrong."""
        if self._own is None or len(self._earlier) < len(self._manifest.after):
            lacking = len(self._manifest.after) - len(self._earlier) + (self._own is None)
            message = f"the history lacks {count_text(lacking, 'release')} of those that hold together"
            yield Finding(TOGETHER, f"{self._folder}: {message}.")
            return
        seen = np.concatenate([np.zeros(0, dtype=np.int64), *self._seen])
        people = len(self._own.place_of)
        if len(np.unique(seen)) != len(seen) or len(seen) != people:
            message = f"{self._own.name} has {count_text(people, 'person')}, but {len(seen):,} rows of the raw table"
            yield Finding(TOGETHER, f"{self._folder}: {message} are of these.")
        if self._lost != self._manifest.rows.held_back:
            message = f"{MANIFEST} says that {self._manifest.rows.held_back:,} rows are held back"
            yield Finding(TOGETHER, f"{message}, but the history says {self._lost:,}.")
        if self._wrong or _differ(self._own.people(self._manifest), data, self._manifest.masked):
            yield Finding(TOGETHER, f"{self._folder}: {self._own.name} does not say what the release says.")
        entries = [self._own, *self._earlier]
        releases = [
            (one.name, one.people(self._manifest), [one.seen_by(other) for other in entries if other is not one])
            for one in entries
        ]
        yield from _broken(self._manifest, releases)


def _differ(entered: Data, data: Data, masked: Mapping[str, Masked]) -> bool:
    """Whether an entry and the rows of its release hold different labels."""
    names = [name for name in masked if name in entered.columns and name in data.columns]
    sides: list[dict[tuple[str | None, ...], int]] = []
    for side in (entered, data):
        held = [side.columns[name] for name in names]
        keys, sums = summed([column.codes for column in held], side.weights)
        words = [np.array(column.texts(), dtype=object)[key] for column, key in zip(held, keys, strict=True)]
        sides.append(dict(zip(zip(*words, strict=True), sums.tolist(), strict=True)))
    return sides[0] != sides[1]
