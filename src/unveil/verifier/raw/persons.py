"""Whose records they are, by the raw table.

A release does not say whose row each is. So its files show only that no group has fewer records than it must have
persons; only the raw table shows that these are records of that many persons.

A person is the BLAKE2b hash of the texts in the person columns, each after its length and a colon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import count_text
from unveil.verifier.claims import MANIFEST, Finding
from unveil.verifier.data import Codes, Column, Counts, Groups, Tally, summed, sums_at
from unveil.verifier.manifests import RefinementManifest
from unveil.verifier.records import PERSONS
from unveil.verifier.values import plain, text

Words = NDArray[np.uint64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


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
        keys, rows = self._tally.result()
        masked, persons = keys[: len(self._names)], keys[len(self._names) :]
        gone, some = self._lost(compared, masked, rows)
        yield from self._number_findings(persons, gone, some)
        for nth, stated in enumerate(self._manifest.requirements, start=1):
            names, k = stated.get("quasi-identifier"), stated.get("k")
            if not isinstance(names, list) or not isinstance(k, int):
                continue  # a requirement that is not well formed is a finding already
            if stated.get("of") == PERSONS and all(name in self._names for name in names):
                places = [self._names.index(name) for name in names]
                named = [compared.columns[place] for place in places]
                shown = np.unique(_rows(released, places), axis=0)
                group = _numbers_of(_rows(masked, places), shown)
                if self._manifest.learn is None:
                    owners = _kept_persons(group, self._root(named, shown), persons, gone, some)
                else:
                    lost = _numbers_of(_rows(compared.keys, places), shown)
                    missing = sums_at(lost[lost >= 0], np.maximum(-compared.sizes, 0)[lost >= 0], len(shown))
                    owners = _learned_persons(group, persons, rows, missing)
                groups = Groups(named, list(shown.T), np.bincount(owners, minlength=len(shown)))
                yield from _few_persons(f"requirement {nth}", k, groups)

    def _number_findings(self, persons: Sequence[Codes], gone: Flags, some: Flags) -> Iterator[Finding]:
        """Numbers of persons that the raw table does not give: in all, released, and left out."""

        def count(which: Flags) -> int:
            return len(summed([codes[which] for codes in persons], np.ones(which.sum(), dtype=np.int64))[1])

        left_out, shown, every = self._manifest.leave_out, self._manifest.persons, count(np.ones_like(gone))
        dropped = left_out is not None and left_out.how == "drop"
        learned = 0 if self._manifest.learn is None else self._manifest.learn.persons or 0
        fewest, most = (count(~gone & ~some), count(~gone)) if dropped else (every - learned, every - learned)
        if shown is None or not fewest <= shown <= most:
            yield Finding(PERSONS, f"{MANIFEST} says that persons is {shown}, but the raw table has {most:,}.")
        if left_out is None or left_out.persons is None:
            return  # `omission_problems` reports it
        if left_out.all_persons != every:
            message = f"{MANIFEST} says that there are {left_out.all_persons} persons in all"
            yield Finding(PERSONS, f"{message}, but the raw table has {every:,}.")
        fewest, most = count(gone), count(gone | some)
        if left_out.persons < fewest or (dropped and left_out.persons > most):
            message = f"records of {count_text(fewest, 'person')} are not released under their labels"
            yield Finding("left-out", f"{message}, but {MANIFEST} says that {left_out.persons:,} were left out.")

    def _lost(self, compared: Groups, masked: Sequence[Codes], rows: Counts) -> tuple[Flags, Flags]:
        """Which raw rows are not released under their labels, and which of these labels lack some rows only.

        Of equal masked rows of which some were left out, the release does not say whose those are.
        """
        place = _numbers_of(np.stack(masked, axis=1), np.stack(compared.keys, axis=1))
        lost = np.maximum(-compared.sizes, 0)
        held = np.bincount(place, weights=rows, minlength=len(lost)).astype(np.int64)
        return (lost >= held)[place], ((lost > 0) & (lost < held))[place]

    def _root(self, columns: Sequence[Column], shown: Codes) -> int | None:
        """The group of fully masked rows, -1 if it is not shown; None if there are no such rows."""
        left_out = self._manifest.leave_out
        if left_out is None or not left_out.labels:
            return None
        texts = [column.texts() for column in columns]
        labels = [left_out.labels.get(column.name) for column in columns]
        root = [held.index(label) if label in held else -1 for held, label in zip(texts, labels, strict=True)]
        return int(_numbers_of(np.array([root], dtype=np.int32), shown)[0])


def _rows(keys: Sequence[Codes], places: Sequence[int]) -> Codes:
    return np.stack([keys[place] for place in places], axis=1)


def _kept_persons(group: Places, root: int | None, persons: Sequence[Codes], gone: Flags, some: Flags) -> Places:
    """The group of each person that it can have. Rows that are gone were left out: dropped, or in the group `root`."""
    group = np.where(gone, -1 if root is None else root, group)
    if root is not None:
        group = np.concatenate([group, np.where(some, root, -1)])
        persons = [np.concatenate([codes, codes]) for codes in persons]
    return _pairs(group, persons, np.ones(len(group), dtype=np.int64))[0]


def _learned_persons(group: Places, persons: Sequence[Codes], rows: Counts, missing: Counts) -> Places:
    """The group of each person that it can have, if the rows that it lacks are all those of some persons.

    These are fewest if they are those with the most rows; so the count is exact if everybody has one row.
    """
    of, held = _pairs(group, persons, rows)
    order = np.lexsort((-held, of))
    of, held = of[order], held[order]
    before = np.cumsum(held) - held
    before -= before[np.searchsorted(of, of)]
    return of[before >= missing[of]]


def _pairs(group: Places, persons: Sequence[Codes], rows: Counts) -> tuple[Places, Counts]:
    """The group of each pair of a group and a person in it, and their rows; rows of no group are left out."""
    kept = group >= 0
    number: Codes = group[kept].astype(np.int32)
    pairs, sums = summed([number, *(codes[kept] for codes in persons)], rows[kept])
    return pairs[0].astype(np.int64), sums


def _numbers_of(rows: Codes, known: Codes) -> Places:
    """The place of each row among the known ones, which are distinct; -1 if it is not there."""
    both = np.concatenate([known, rows])
    distinct, inverse = np.unique(both, axis=0, return_inverse=True)
    number = np.full(len(distinct), -1, dtype=np.int64)
    number[inverse.reshape(-1)[: len(known)]] = np.arange(len(known))
    places: Places = number[inverse.reshape(-1)[len(known) :]]
    return places


def _few_persons(place: str, least: int, groups: Groups) -> Iterator[Finding]:
    few = int((groups.sizes < least).sum())
    if few:
        worst = int(np.argmin(groups.sizes))
        yield Finding(
            PERSONS,
            f"{groups.text(worst)} has records of {count_text(int(groups.sizes[worst]), 'person')} in the raw table, "
            f"but {place} asks for at least {least:,} ({few:,} of {len(groups.sizes):,} groups have too few).",
        )


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
