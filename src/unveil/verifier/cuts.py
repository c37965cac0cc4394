"""The cuts that a manifest claims, and that the data holds labels of these cuts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from unveil.errors import listed, rows_text
from unveil.verifier.columns import Column
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.parts import PARQUET, Claims, Discretization, Generalization, Masked, Number, Suppression
from unveil.verifier.raw import plain, text
from unveil.verifier.refinement import RefinementManifest


def check_cuts(manifest: Claims) -> Iterator[Finding]:
    """Each cut is a partition whose labels cannot be mistaken for one another."""
    for name, entry in manifest.masked.items():
        for problem in _problems(entry):
            yield Finding("cut", f"the cut of {name!r}: {problem}.")


def released_labels(manifest: RefinementManifest) -> dict[str, list[str]]:
    """What each masked column of a release of rows may hold."""
    return {name: labels(entry) for name, entry in manifest.masked.items()}


def check_labels(known: Mapping[str, Sequence[str]], data: Data) -> Iterator[Finding]:
    """Every released value is one of the labels of its column.

    Args:
        known: The labels of each column that holds labels.
        data: The rows.
    """
    for name, expected in known.items():
        column = data.columns[name]
        code_of = _code_of(column)
        strange = sorted(code_of.keys() - set(expected))
        if strange:
            count = data.rows_of(column.codes == code_of[strange[0]])
            more = f" (nor are {listed(strange[1:])})" if strange[1:] else ""
            yield Finding(
                "label",
                f"{PARQUET}: the column {name!r} holds {strange[0]!r} in {rows_text(count)}, "
                f"which is not one of its labels{more}.",
            )


def check_disclosed(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """A value that no record holds is never disclosed, so a list with one is not the list of this release."""
    for name, entry in manifest.masked.items():
        held = _code_of(data.columns[name])
        if isinstance(entry, Suppression) and (unheld := [value for value in entry.disclosed if value not in held]):
            yield Finding("disclosed", f"the cut of {name!r} discloses {listed(unheld)}, which no row holds.")


def _code_of(column: Column) -> dict[str, int]:
    """The values of a column; a missing one is a finding of its own."""
    return {word: code for code, value in enumerate(plain(column.values)) if (word := text(value)) is not None}


def labels(entry: Masked) -> list[str]:
    """What a masked column of a release of rows may hold."""
    if isinstance(entry, Suppression):
        return [*entry.disclosed, entry.marker]
    return [block.label for block in entry.blocks]


def _problems(entry: Masked) -> Iterator[str]:
    if isinstance(entry, Discretization):
        return _interval_problems(entry)
    if isinstance(entry, Generalization):
        return _node_problems(entry)
    return _suppression_problems(entry)


def _interval_problems(entry: Discretization) -> Iterator[str]:
    for block in entry.blocks:
        if block.lo >= block.hi:
            yield f"the block {block.label!r} goes from {block.start} to {block.end}, so it holds no {entry.unit}"
        if block.label not in _interval_labels(block.start, block.end):
            yield f"the block from {block.start} to {block.end} has the label {block.label!r}"
        if entry.whole and not (block.lo == int(block.lo) and block.hi == int(block.hi)):
            yield f"the block {block.label!r} has a bound that is not whole"
    for left, right in pairwise(entry.blocks):
        if left.hi != right.lo:
            verb = "overlap" if right.lo < left.hi else "leave a gap"
            yield f"the blocks {left.label!r} and {right.label!r} {verb}"


def _interval_labels(lo: Number | str, hi: Number | str) -> set[str]:
    return {f"[{low}, {high})" for low in _bound_texts(lo) for high in _bound_texts(hi)}


def _bound_texts(number: Number | str) -> set[str]:
    """The shortest text that reads back as the number. A large whole number has more: 1e+16, and its digits.

    The digits are those of the shortest decimal, or of the float itself, which from 2^53 on may be others.

    A date is written one way, which it was read in.
    """
    if isinstance(number, str):
        return {number}
    texts = {repr(number).removesuffix(".0")}
    if number != int(number):
        return texts
    return {*texts, str(int(number)), str(int(Decimal(repr(number))))}


def _node_problems(entry: Generalization) -> Iterator[str]:
    block_of: dict[str, str] = {}
    for block in entry.blocks:
        for value in block.values:
            if value in block_of:
                yield f"the value {value!r} lies in {block_of[value]!r} and in {block.label!r}"
            block_of[value] = block.label
    yield from _repeated(labels(entry), "label")
    for block in entry.blocks:
        if block.label in block_of and block.values != [block.label]:
            yield f"the label {block.label!r} of {len(block.values):,} values is itself a raw value"


def _suppression_problems(entry: Suppression) -> Iterator[str]:
    yield from _repeated(entry.disclosed, "disclosed value")
    if entry.marker in entry.disclosed:
        yield f"the marker {entry.marker!r} of hidden values is disclosed as a value"


def _repeated(words: Sequence[str], noun: str) -> Iterator[str]:
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        yield f"the {noun} {listed(twice)} stands twice"
