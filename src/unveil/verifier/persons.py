"""The persons behind the records, and their rows that a private release uses where ε is about one person.

A release does not say whose row each is. So its files show only that no group has fewer records than it must have
persons; only the raw table shows that these are records of that many persons.

Of a person with more than m rows, those with the m smallest numbers are used. The number of a row is made of its
person, of the places of its values in the declared domains and, among equal rows, of a counter, by the public function
SplitMix64. A person is the BLAKE2b hash of the texts in the person columns, each after its length and a colon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import count_text, records_text
from unveil.verifier.claims import MANIFEST
from unveil.verifier.columns import Codes, Column, Counts, Groups, Tally, day_number, number, plain, summed, text
from unveil.verifier.findings import Finding
from unveil.verifier.manifests import SIZED, RefinementManifest

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec
    from unveil.verifier.raw import Raw

Words = NDArray[np.uint64]
Places = NDArray[np.int64]
NOWHERE = -1
ROUNDED = Fraction(1, 10**6)
"""By how much of a step a number may be off its place."""

PERSONS = "persons"


def counts_persons(stated: dict[str, Any]) -> bool:
    """Whether a requirement counts persons."""
    return stated.get("of") == PERSONS


def check_persons(manifest: RefinementManifest) -> Iterator[Finding]:
    """The number of persons fits the records and the requirements."""
    counted = [nth for nth, stated in enumerate(manifest.requirements, start=1) if counts_persons(stated)]
    if manifest.persons is None:
        if counted:
            message = f"requirement {counted[0]} counts persons, but {MANIFEST} does not say how many there are."
            yield Finding(PERSONS, message)
        return
    if manifest.persons > manifest.records:
        message = f"{MANIFEST} has {manifest.persons:,} persons, more than {records_text(manifest.records)}."
        yield Finding(PERSONS, message)
    for nth in counted:
        k = manifest.requirements[nth - 1].get("k")
        if isinstance(k, int) and 0 < manifest.persons < k:
            message = f"requirement {nth} asks for {k:,} persons in every group, but there are {manifest.persons:,}."
            yield Finding(PERSONS, message)
    for nth, stated in enumerate(manifest.requirements, start=1):
        if stated.get("kind") in SIZED and nth not in counted:
            message = f"requirement {nth} counts records, but {MANIFEST} says that there are persons."
            yield Finding(PERSONS, message)


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
        numbers = [known.setdefault(text(value), len(known)) for value in plain(column.values)]
        return np.array(numbers, dtype=np.int32)[column.codes]

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
        kept = group >= 0
        number: Codes = group[kept].astype(np.int32)
        pairs, _ = summed([number, *(codes[kept] for codes in persons)], np.ones(kept.sum(), dtype=np.int64))
        return Groups(columns, list(shown.T), np.bincount(pairs[0], minlength=len(shown)))

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
        kept = group >= 0
        number: Codes = group[kept].astype(np.int32)
        pairs, held = summed([number, *(codes[kept] for codes in persons)], rows[kept])
        order = np.lexsort((-held, pairs[0].astype(np.int64)))
        of, held = pairs[0][order], held[order]
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


def used_raw(spec: Spec) -> Iterator[Raw]:
    """The raw rows of a spec that a private release uses: all, or of every person at most as many as the spec says."""
    from unveil.verifier.raw import Raw, read_raw

    if spec.plan is None or spec.plan.contributions is None:
        yield from read_raw(spec)
        return
    batches = list(read_raw(spec))
    for raw, used in zip(batches, used_rows(spec, batches, spec.plan.contributions), strict=True):
        columns = {name: Column(name, column.values, column.codes[used]) for name, column in raw.columns.items()}
        yield Raw(columns, raw.weights[used], raw.read, raw.dropped)


def used_rows(spec: Spec, batches: Sequence[Raw], most: int) -> list[NDArray[np.bool_]]:
    """Which rows of each batch are used. A row with a value outside its domain is dropped and not counted."""
    persons = np.concatenate([person_words([raw.columns[name] for name in spec.table.person]) for raw in batches])
    places = np.concatenate([_row_places(spec, raw) for raw in batches])
    valid = np.flatnonzero((places != NOWHERE).all(axis=1))
    rows = np.column_stack([persons[valid], places[valid].astype(np.uint64)])
    kept = valid[_smallest(rows, most)]
    used = np.zeros(len(places), dtype=np.bool_)
    used[kept] = True
    return np.split(used, np.cumsum([len(raw.weights) for raw in batches])[:-1])


def _smallest(rows: Words, most: int) -> Places:
    """The places of the rows that are used; the first two numbers of a row are its person."""
    hashed = np.zeros(len(rows), dtype=np.uint64)
    for values in rows.T:
        hashed = _mixed(hashed ^ values)
    hashed = _mixed(hashed ^ _nth([rows[:, 0], rows[:, 1], hashed]).astype(np.uint64))
    order = np.lexsort([hashed, rows[:, 1], rows[:, 0]])
    return order[_nth([rows[order, 0], rows[order, 1]]) < most]


def _nth(keys: Sequence[Words]) -> Places:
    """How many rows with the same keys come before each."""
    order = np.lexsort(list(reversed(keys)))
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    starts = np.flatnonzero(np.concatenate([[True], ~same]))[: len(order)]
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return nth


def _mixed(numbers: Words) -> Words:
    """SplitMix64."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    mixed: Words = numbers ^ (numbers >> np.uint64(31))
    return mixed


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


def _row_places(spec: Spec, raw: Raw) -> Places:
    """For every row the places of its values in the declared domains, and of its class."""
    found = []
    for name, attribute in spec.attributes.items():
        if attribute.role == "attribute":
            found.append(_places(raw.columns[name], attribute))
    labels = {label: place for place, label in enumerate(spec.table.class_values or ())}
    class_ = raw.columns[spec.table.class_]
    found.append(np.array([_label(value, labels) for value in plain(class_.values)], dtype=np.int64)[class_.codes])
    return np.stack(found, axis=1)


def _places(column: Column, attribute: Attribute) -> Places:
    values = plain(column.values)
    if attribute.kind == "category":
        declared = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
        labels = {label: place for place, label in enumerate(declared or ())}
        return np.array([_label(value, labels) for value in values], dtype=np.int64)[column.codes]
    return np.array([_number_place(value, attribute) for value in values], dtype=np.int64)[column.codes]


def _label(value: Any, labels: dict[str, int]) -> int:
    whole = isinstance(value, float) and value.is_integer()
    return labels.get(str(int(value)) if whole else text(value) or "", NOWHERE)


def _number_place(value: Any, attribute: Attribute) -> int:
    """How many steps a number or a day is above the lowest; kinds of missing values come after all numbers."""
    step = Fraction(1) if attribute.whole else None if attribute.step is None else Fraction(str(attribute.step))
    if attribute.range is None or step is None:
        return NOWHERE
    lo, hi = (Fraction(str(bound)) for bound in attribute.range)
    size = int((hi - lo) / step)
    if value in attribute.missing.labels:
        return size + attribute.missing.labels.index(value)
    read = (day_number if attribute.kind == "date" else number)(value)
    if read is None:
        return NOWHERE
    exact = (Fraction(str(read)) - lo) / step
    if attribute.outside == "clamp":
        exact = min(max(exact, Fraction(0)), Fraction(size - 1))
    place = round(exact)
    return place if abs(exact - place) <= ROUNDED and 0 <= place < size else NOWHERE
