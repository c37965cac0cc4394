"""Whose records they are, in one release and in several together, by the raw table and the owner's private history.

A release does not say whose row each is. So its files show only that no group has fewer records than it must have
persons; only the raw table shows that these are records of that many persons. Of several releases a reader sees that
they are those that the manifest names, and that each keeps the same requirements by itself. Who is in several of them
only the history says: for every release, a hash of each person, and the labels.

A person is the BLAKE2b hash of the texts in the person columns, each after its length and a colon.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from unveil.errors import ReleaseError, count_text
from unveil.verifier.claims import MANIFEST, PARQUET, BrokenClaimError, Finding, Masked, Released
from unveil.verifier.data import (
    Codes,
    Column,
    Counts,
    Data,
    Groups,
    Tally,
    encode,
    group,
    number,
    plain,
    read_data,
    summed,
    text,
)
from unveil.verifier.files import open_files, read_manifest
from unveil.verifier.holdings import Holdings, Table, count_holdings
from unveil.verifier.manifests import RefinementManifest
from unveil.verifier.records import PERSONS, TOGETHER, counts_persons
from unveil.verifier.requirements import Statement, read_statement

if TYPE_CHECKING:
    from unveil.verifier.raw import Raw

ABSENT = -1
Others = Sequence[Mapping[str, Column]]
"""What each of several other releases says about the people of one, by attribute; under no name, who is absent."""
Words = NDArray[np.uint64]


class Whose:
    """The raw rows by masked value and person, gathered batch by batch."""

    def __init__(self, manifest: RefinementManifest, names: Sequence[str], person: Sequence[str]) -> None:
        """Starts without rows, for the columns that are compared and the raw columns that say whose row it is."""
        self._manifest, self._names, self._person = manifest, list(names), person
        self._numbers: list[dict[str | None, int]] = [{} for _ in person]
        self._tally = Tally()

    def add(self, masked: Sequence[Codes], raw: dict[str, Column], rows: int) -> None:
        """Adds rows: their masked values, and whose they are."""
        persons = [self._numbered(place, raw[name]) for place, name in enumerate(self._person)]
        self._tally.add([*masked, *persons], np.ones(rows, dtype=np.int64))

    def _numbered(self, place: int, column: Column) -> Codes:
        known = self._numbers[place]
        return column.mapped(lambda value: known.setdefault(text(value), len(known)), np.int32)

    def findings(self, compared: Groups, released: Sequence[Codes]) -> Iterator[Finding]:
        """Groups with too few persons, and a number of persons that the raw table does not have.

        The sizes of the compared rows are released records minus raw ones; the released rows are in the same codes.
        """
        columns = compared.columns
        keys, rows = self._tally.result()
        masked, persons = keys[: len(self._names)], keys[len(self._names) :]
        gone, some = self._lost(compared, masked, rows)
        yield from self._number_findings(persons, gone, some)
        for nth, stated in enumerate(self._manifest.requirements, start=1):
            names = stated.get("quasi-identifier")
            if counts_persons(stated) and isinstance(names, list) and set(names) <= set(self._names):
                places = [self._names.index(name) for name in names]
                shown = np.unique(np.stack([released[place] for place in places], axis=1), axis=0)
                held = np.stack([masked[place] for place in places], axis=1)
                named = [columns[place] for place in places]
                if self._manifest.learn is None:
                    groups = self._groups(named, shown, held, persons, gone, some)
                else:
                    lost = _numbers_of(np.stack([compared.keys[place] for place in places], axis=1), shown)
                    missing = _added(lost, np.maximum(-compared.sizes, 0), len(shown))
                    groups = self._learned_groups(named, shown, _numbers_of(held, shown), persons, rows, missing)
                yield from _few_persons(f"requirement {nth}", int(stated["k"]), groups)

    def _number_findings(
        self, persons: Sequence[Codes], gone: NDArray[np.bool_], some: NDArray[np.bool_]
    ) -> Iterator[Finding]:
        """Numbers of persons that the raw table does not give: in all, released, and left out."""

        def count(which: NDArray[np.bool_]) -> int:
            return len(summed([codes[which] for codes in persons], np.ones(which.sum(), dtype=np.int64))[1])

        left_out, shown, every = self._manifest.leave_out, self._manifest.persons, count(np.ones_like(gone))
        dropped = left_out is not None and left_out.how == "drop"
        learned = 0 if self._manifest.learn is None else self._manifest.learn.persons or 0
        fewest, most = (count(~gone & ~some), count(~gone)) if dropped else (every - learned, every - learned)
        if shown is None or not fewest <= shown <= most:
            yield Finding(PERSONS, f"{MANIFEST} says that persons is {shown}, but the raw table has {most:,}.")
        if left_out is None or left_out.persons is None:
            return  # `check_omissions` reports it
        if left_out.all_persons != every:
            message = f"{MANIFEST} says that there are {left_out.all_persons} persons in all"
            yield Finding(PERSONS, f"{message}, but the raw table has {every:,}.")
        fewest, most = count(gone), count(gone | some)
        if left_out.persons < fewest or (dropped and left_out.persons > most):
            message = f"records of {count_text(fewest, 'person')} are not released under their labels"
            yield Finding("left-out", f"{message}, but {MANIFEST} says that {left_out.persons:,} were left out.")

    def _lost(
        self, compared: Groups, masked: Sequence[Codes], rows: Counts
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which raw rows are not released under their labels, and which of these labels lack some rows only.

        Of equal masked rows of which some were left out, the release does not say whose those are.
        """
        place = _numbers_of(np.stack(masked, axis=1), np.stack(compared.keys, axis=1))
        lost = np.maximum(-compared.sizes, 0)
        held = np.bincount(place, weights=rows, minlength=len(lost)).astype(np.int64)
        return (lost >= held)[place], ((lost > 0) & (lost < held))[place]

    def _groups(
        self,
        columns: Sequence[Column],
        shown: NDArray[np.int32],
        held: NDArray[np.int32],
        persons: Sequence[Codes],
        gone: NDArray[np.bool_],
        some: NDArray[np.bool_],
    ) -> Groups:
        """The persons that each released group can have. Rows that are gone were left out: dropped, or fully masked."""
        group = np.where(gone, -1, _numbers_of(held, shown))
        if (root := self._root(columns)) is not None:
            masked = np.full(len(group), _numbers_of(np.array([root], dtype=np.int32), shown)[0])
            group = np.concatenate([np.where(gone, masked, group), np.where(some, masked, -1)])
            persons = [np.concatenate([codes, codes]) for codes in persons]
        owners, _ = _pairs(group, persons, np.ones(len(group), dtype=np.int64))
        return Groups(columns, list(shown.T), np.bincount(owners, minlength=len(shown)))

    def _learned_groups(
        self,
        columns: Sequence[Column],
        shown: NDArray[np.int32],
        group: NDArray[np.int64],
        persons: Sequence[Codes],
        rows: Counts,
        missing: Counts,
    ) -> Groups:
        """The most persons that each released group can have, if the rows that it lacks are all those of some persons.

        These are fewest if they are those with the most rows; so the count is exact if everybody has one row.
        """
        of, held = _pairs(group, persons, rows)
        order = np.lexsort((-held, of))
        of, held = of[order], held[order]
        before = np.cumsum(held) - held
        before -= before[np.searchsorted(of, of)]
        return Groups(columns, list(shown.T), np.bincount(of[before >= missing[of]], minlength=len(shown)))

    def _root(self, columns: Sequence[Column]) -> list[int] | None:
        """The codes of fully masked rows; None if there are none."""
        left_out = self._manifest.leave_out
        if left_out is None or not left_out.labels:
            return None
        texts = [column.texts() for column in columns]
        labels = [left_out.labels.get(column.name) for column in columns]
        return [held.index(label) if label in held else -1 for held, label in zip(texts, labels, strict=True)]


def _pairs(group: NDArray[np.int64], persons: Sequence[Codes], rows: Counts) -> tuple[NDArray[np.int64], Counts]:
    """The group of each pair of a group and a person in it, and their rows; rows of no group are left out."""
    kept = group >= 0
    number: Codes = group[kept].astype(np.int32)
    pairs, sums = summed([number, *(codes[kept] for codes in persons)], rows[kept])
    return pairs[0].astype(np.int64), sums


def _numbers_of(rows: NDArray[np.int32], known: NDArray[np.int32]) -> NDArray[np.int64]:
    """The place of each row among the known ones, which are distinct; -1 if it is not there."""
    both = np.concatenate([known, rows])
    distinct, inverse = np.unique(both, axis=0, return_inverse=True)
    number = np.full(len(distinct), -1, dtype=np.int64)
    number[inverse.reshape(-1)[: len(known)]] = np.arange(len(known))
    places: NDArray[np.int64] = number[inverse.reshape(-1)[len(known) :]]
    return places


def _added(place: NDArray[np.int64], counts: Counts, length: int) -> Counts:
    """The sums of the counts at each place; those without one are left out."""
    sums = np.zeros(length, dtype=np.int64)
    np.add.at(sums, place[place >= 0], counts[place >= 0])
    return sums


def _few_persons(place: str, least: int, groups: Groups) -> Iterator[Finding]:
    few = int((groups.sizes < least).sum())
    if few:
        worst = int(np.argmin(groups.sizes))
        yield Finding(
            PERSONS,
            f"{groups.text(worst)} has records of {count_text(int(groups.sizes[worst]), 'person')} in the raw table, "
            f"but {place} asks for at least {least:,} ({few:,} of {len(groups.sizes):,} groups have too few).",
        )


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
            yield from _broken(manifest, data, [(People(str(place), data.columns, data.weights), ())])


@dataclass(frozen=True)
class People:
    """The rows of a release, for a requirement to count them."""

    name: str
    columns: Mapping[str, Column]
    weights: NDArray[np.int64]


@dataclass(frozen=True)
class Together(Table):
    """The people of a release, grouped by what each of several releases says about them."""

    people: People
    others: Others

    def groups(self, statement: Statement) -> Groups:
        """The people who look alike, or are absent, in each release."""
        return group(self.grouping(statement), self.people.weights)

    def holdings(self, statement: Any) -> Holdings:
        """What they hold of the sensitive attribute in this release."""
        return count_holdings(self.grouping(statement), self.people.columns[statement.sensitive], self.people.weights)

    def grouping(self, statement: Statement) -> list[Column]:
        """What all releases say about the attributes of a requirement."""
        every = [self.people.columns, *self.others]
        return [columns[name] for columns in every for name in ("", *statement.names) if name in columns]


def _broken(manifest: RefinementManifest, data: Data, releases: Sequence[tuple[People, Others]]) -> Iterator[Finding]:
    """The requirements of a release that some releases break together."""
    for number_, stated in enumerate(manifest.requirements, start=1):
        try:
            statement = read_statement(stated)
        except (KeyError, ValueError):
            continue  # `check_requirements` reports it
        for people, others in releases:
            table = Together(manifest, data, f"requirement {number_}", people, others)
            sensitive = getattr(statement, "sensitive", None)
            if not table.grouping(statement) or (sensitive is not None and sensitive not in people.columns):
                continue  # it says nothing that the requirement is about
            try:
                for finding in statement.findings(table):
                    yield Finding(TOGETHER, f"{people.name}: {finding.message}")
            except BrokenClaimError as broken:
                yield from (Finding(TOGETHER, f"{people.name}: {finding.message}") for finding in broken.findings)


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
            self.labels = {
                name.removeprefix("label:"): encode(name.removeprefix("label:"), table[name])
                for name in table.column_names
                if name.startswith("label:")
            }
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise ReleaseError(f"{path}: this is not an entry of a history of releases.") from error

    def people(self, manifest: RefinementManifest) -> People:
        """Its rows. A sensitive number is read as one."""
        columns = dict(self.labels)
        for name in {str(stated.get("sensitive")) for stated in manifest.requirements} & set(columns):
            entry = manifest.masking.get(name)
            if isinstance(entry, Released) and entry.type == "number":
                words = columns[name]
                values = pa.array([number(value) for value in plain(words.values)])
                columns[name] = encode(name, pa.chunked_array([values.take(pa.array(words.codes))]))
        return People(self.name, columns, np.ones(len(self.place_of), dtype=np.int64))

    def seen_by(self, other: Entered) -> dict[str, Column]:
        """What another entry says about the people of this one."""
        rows = np.array([other.place_of.get(who, ABSENT) for who in self.place_of], dtype=np.int64)
        absent = rows == ABSENT
        found = {"": Column(other.name, pa.array(["present", "absent"]), absent.astype(np.int32))}
        for name, column in other.labels.items():
            values = pa.concat_arrays([column.values.cast(pa.string()), pa.array(["absent"])])
            codes: Codes = np.append(column.codes, 0)[rows].astype(np.int32)
            codes = np.where(absent, len(values) - 1, codes).astype(np.int32)
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
        rows = self._rows_of(raw)
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
        if self._wrong or _differ(self._own.labels, data, self._manifest.masked):
            yield Finding(TOGETHER, f"{self._folder}: {self._own.name} does not say what the release says.")
        entries = [self._own, *self._earlier]
        releases = [
            (entry.people(self._manifest), [entry.seen_by(other) for other in entries if other is not entry])
            for entry in entries
        ]
        yield from _broken(self._manifest, data, releases)

    def _rows_of(self, raw: Raw) -> NDArray[np.int64]:
        """The row of each raw row's person in the entry."""
        words = np.ascontiguousarray(person_words([raw.columns[name] for name in self._person]), dtype="<u8").tobytes()
        hashed = (
            blake2b(words[at : at + 16], key=self._key, digest_size=16).digest() for at in range(0, len(words), 16)
        )
        place_of = {} if self._own is None else self._own.place_of
        return np.array([place_of.get(who, ABSENT) for who in hashed], dtype=np.int64)


def _differ(entered: Mapping[str, Column], data: Data, masked: Mapping[str, Masked]) -> bool:
    """Whether an entry and the rows of its release hold different labels."""
    names = [name for name in masked if name in entered and name in data.columns]
    sides: list[dict[tuple[str | None, ...], int]] = []
    for columns, weights in ((entered, None), (data.columns, data.weights)):
        held = [columns[name] for name in names]
        counts = np.ones(len(held[0].codes), dtype=np.int64) if weights is None else weights
        keys, sums = summed([column.codes for column in held], counts)
        words = [np.array(column.texts(), dtype=object)[key] for column, key in zip(held, keys, strict=True)]
        sides.append(dict(zip(zip(*words, strict=True), sums.tolist(), strict=True)))
    return sides[0] != sides[1]


def person_words(columns: Sequence[Column]) -> Words:
    """Two numbers for the person of each row."""
    texts = [[_person(value) for value in plain(column.values)] for column in columns]
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    found = np.empty((len(columns[0].codes), 2), dtype=np.uint64)
    for row, codes in enumerate(zip(*(column.codes.tolist() for column in columns), strict=True)):
        if codes not in known:
            said = "".join(f"{len(held[code])}:{held[code]}" for held, code in zip(texts, codes, strict=True))
            digest = blake2b(said.encode(), digest_size=16).digest()
            known[codes] = (int.from_bytes(digest[:8], "little") >> 2, int.from_bytes(digest[8:], "little") >> 2)
        found[row] = known[codes]
    return found


def _person(value: Any) -> str:
    """The text of a person; a whole number has no decimal point."""
    if isinstance(value, float | Decimal) and value == value // 1:
        return str(int(value))
    return text(value) or ""
