"""What no recount can decide and a reader must judge: told where every claim holds, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unveil.characters import hidden_in_value, look_alikes
from unveil.errors import braced, count_text, listed
from unveil.verifier.columns import is_text
from unveil.verifier.cuts import labels
from unveil.verifier.data import Data
from unveil.verifier.holdings import value_texts
from unveil.verifier.manifest import Manifest
from unveil.verifier.parts import Released
from unveil.verifier.private import DiffGenManifest
from unveil.verifier.refinement import RefinementManifest

MOST = 8
"""So many columns of a set are named."""


def reader_notes(manifest: Manifest, data: Data) -> Iterator[str]:
    """What is left to judge of a release whose claims hold."""
    if isinstance(manifest, DiffGenManifest):
        yield "The arithmetic adds up. That noise was added cannot be seen from the release; --raw can test it."
        yield "The promise is about one record: somebody with several records is covered less, by as many ε."
    else:
        yield from _refinement_notes(manifest, data)
    yield from _likeness_notes(manifest, data)


def _refinement_notes(manifest: RefinementManifest, data: Data) -> Iterator[str]:
    sets = {tuple(stated.get("quasi-identifier") or stated.get("channel") or ()) for stated in manifest.requirements}
    chosen = " and ".join(braced(names, MOST) for names in sorted(sets))
    yield f"What a stranger may know was the owner's choice: {chosen}. Whoever knows more may find fewer records."
    as_is = [name for name, entry in manifest.masking.items() if isinstance(entry, Released)]
    yield f"Released as they are: {listed([*as_is, manifest.class_])}."
    yield _unique_note(data)
    if manifest.weight is not None:
        yield (
            f"Records are counted by the column {manifest.weight!r}. That is right where it counts equal records, and "
            "wrong for weights of a survey, where a row is one person."
        )
    observed = [name for name, entry in manifest.masking.items() if entry.domain == "observed"]
    if observed:
        yield f"Domains that were read off the data, and so tell of it: {listed(observed)}."
    yield from _unheld_notes(manifest, data)
    for name in as_is:
        column = data.columns[name]
        if is_text(column.values.type) and any(map(hidden_in_value, filter(None, value_texts(column)))):
            yield f"The column {name!r} holds values with invisible characters."


def _unique_note(data: Data) -> str:
    """How many rows stand for one record and are equal to no other row."""
    alone = int(np.count_nonzero(data.weights == 1))
    if not alone:
        return f"On all columns together, none of {count_text(data.rows, 'row')} is unique."
    rows = f"{alone:,} of {count_text(data.rows, 'row')} ({alone / data.rows:.1%})"
    verb = "is" if alone == 1 else "are"
    return f"On all columns together, {rows} {verb} unique: whoever knows them all of a person finds that row."


def _unheld_notes(manifest: RefinementManifest, data: Data) -> Iterator[str]:
    """A limit on a value that no row holds limits nothing, such as one on 'HIV' where the data says 'hiv'."""
    for number, stated in enumerate(manifest.requirements, start=1):
        column = data.columns.get(str(stated.get("sensitive")))
        if column is not None and (named := stated.get("values")):
            held = set(value_texts(column))
            if unheld := [value for value in named if value not in held]:
                yield f"Requirement {number} limits {listed(unheld)} of {column.name!r}, which no row holds."


def _likeness_notes(manifest: Manifest, data: Data) -> Iterator[str]:
    """Names or labels that a reader may take for one another: twins of a column, spellings of one value."""
    yield from _alike("columns", manifest.names)
    sensitive = {str(stated.get("sensitive")) for stated in _stated(manifest)}
    for name, entry in manifest.masking.items():
        if not isinstance(entry, Released):
            yield from _alike(f"labels of {name!r}", labels(entry))
        elif name in sensitive:
            yield from _alike(f"values of {name!r}", [text for text in value_texts(data.columns[name]) if text])
    classes = [text for text in value_texts(data.columns[manifest.class_]) if text]
    yield from _alike(f"values of {manifest.class_!r}", classes)


def _stated(manifest: Manifest) -> list[dict[str, object]]:
    return [] if isinstance(manifest, DiffGenManifest) else manifest.requirements


def _alike(what: str, words: Sequence[str]) -> Iterator[str]:
    groups = look_alikes(words)
    if groups:
        more = f", and {count_text(len(groups) - 1, 'more group')}" if groups[1:] else ""
        yield f"Some {what} look alike: {listed(groups[0])}{more}."
