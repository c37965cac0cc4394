"""Records that the search left out or only learned from, and what a release says of earlier ones.

A handful that would block all others is dropped, or released fully masked. A share may be set aside at random, only to
choose the masking.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unveil.errors import count_text, listed, records_text, rows_text
from unveil.verifier.claims import MANIFEST, PARQUET, Discretization, Masked, Suppression, labels
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.manifests import LeaveOut, RefinementManifest
from unveil.verifier.values import block_labels

TOGETHER = "together"
"""The claim that releases keep their promise together."""


def omission_sentence(manifest: RefinementManifest) -> str:
    """What the guarantee says about the records that were left out; nothing if there are none."""
    left_out = manifest.leave_out
    if left_out is None or not left_out.records:
        return ""
    verb, belong = ("was", "belongs") if left_out.records == 1 else ("were", "belong")
    done = "left out" if left_out.how == "drop" else "fully masked"
    told = f"{left_out.records:,} of {records_text(manifest.records + manifest.dropped)}"
    if left_out.persons is not None and left_out.all_persons is not None:
        told += f", which {belong} to {left_out.persons:,} of {count_text(left_out.all_persons, 'person')},"
    return f"{told} {verb} {done}."


def learning_sentence(manifest: RefinementManifest) -> str:
    """What the guarantee says about the records that only chose the masking; nothing if there are none."""
    learn = manifest.learn
    if learn is None:
        return ""
    verb = "was" if learn.records == 1 else "were"
    total = records_text(manifest.records + learn.records)
    return f"{learn.records:,} of {total} {verb} set aside at random, only to choose the masking."


def check_learning(manifest: RefinementManifest) -> Iterator[Finding]:
    """As many rows, or persons, were set aside as the stated share is, and the numbers fit each other."""
    learn, rows = manifest.learn, manifest.rows
    if learn is None:
        if rows.learned:
            yield _learned(f"{rows_text(rows.learned)} were set aside, but no share is stated")
        return
    if manifest.leave_out is not None or manifest.after:
        yield _learned("no row can be left out or follow an earlier release besides")
    if learn.records < rows.learned or (manifest.weight is None and learn.records != rows.learned):
        yield _learned(f"{rows_text(rows.learned)} and {records_text(learn.records)} were set aside, which differ")
    if (learn.persons is None) != (manifest.persons is None):
        yield _learned("the persons of the records are stated for one part only")
        return
    units, drawn, unit = rows.read - rows.dropped, rows.learned, "row"
    if learn.persons is not None and manifest.persons is not None:
        units, drawn, unit = learn.persons + manifest.persons, learn.persons, "person"
    if drawn != learn.of(units):
        yield _learned(f"{drawn:,} of {count_text(units, unit)} were set aside, which is not {learn.share} of them")


def _learned(problem: str) -> Finding:
    return Finding("learn", f"{MANIFEST}, learn: {problem}.")


def succession_sentence(manifest: RefinementManifest) -> str:
    """What the guarantee says about earlier releases; nothing if there are none."""
    earlier, held_back = len(manifest.after), manifest.rows.held_back
    if not earlier:
        return ""
    every = (
        f"Together with {count_text(earlier, 'earlier release')}: all of this also holds among the people who share a "
        f"combination, or are absent, in each of the {earlier + 1:,} releases."
    )
    persons = count_text(manifest.records + held_back, "person")
    verb = "was" if held_back == 1 else "were"
    return f"{every} {held_back:,} of {persons} {verb} held back for it." if held_back else every


def check_succession(manifest: RefinementManifest) -> Iterator[Finding]:
    """What the manifest says about earlier releases fits together."""
    if manifest.rows.held_back and not manifest.after:
        yield Finding(TOGETHER, f"{MANIFEST} says that people are held back, but names no earlier release.")
    if manifest.masking_of is not None and manifest.masking_of not in manifest.after:
        yield Finding(TOGETHER, f"{MANIFEST} has the masking of a release that is not one of the earlier ones.")
    if manifest.after and manifest.persons != manifest.records:
        message = f"{MANIFEST} has {manifest.records:,} records of {manifest.persons} persons"
        yield Finding(TOGETHER, f"{message}, but after earlier releases everybody has one.")


def check_omissions(manifest: RefinementManifest) -> Iterator[Finding]:
    """No more records or persons were left out than the stated share allows, and the numbers fit each other."""
    left_out, rows = manifest.leave_out, manifest.rows.left_out
    if left_out is None:
        if rows:
            yield _finding(f"{rows_text(rows)} are left out, but no share is stated")
        return
    if manifest.search != "joint":
        yield _finding(f"the search is {manifest.search}, which leaves nothing out")
    records, total = left_out.records, manifest.records + manifest.dropped
    if records < rows or bool(records) != bool(rows) or (manifest.weight is None and records != rows):
        yield _finding(f"{rows_text(rows)} and {records_text(records)} are left out, which does not fit")
    if manifest.persons is None and records > left_out.most * total:
        yield _finding(f"{records:,} of {records_text(total)} are left out, which is more than {left_out.share}")
    yield from map(_finding, _person_problems(manifest, left_out))
    yield from map(_finding, _label_problems(left_out, manifest.masked))


def _person_problems(manifest: RefinementManifest, left_out: LeaveOut) -> Iterator[str]:
    """Where there are persons, they are what the share is of; one of whom some records are left out is left out."""
    out, every, shown = left_out.persons, left_out.all_persons, manifest.persons
    if shown is None:
        if out is not None or every is not None:
            yield "persons are left out, but the records are of no persons"
        return
    if out is None or every is None:
        yield "it does not say how many persons are left out, and of how many"
        return
    if not min(left_out.records, 1) <= out <= left_out.records:
        yield f"{records_text(left_out.records)} of {count_text(out, 'person')} are left out, which does not fit"
    if not shown <= every <= shown + (out if left_out.how == "drop" else 0):
        yield f"{shown:,} persons are released and {out:,} left out, which does not fit {every:,} persons in all"
    if out > left_out.most * every:
        yield f"{out:,} of {count_text(every, 'person')} are left out, which is more than {left_out.share}"


def _label_problems(left_out: LeaveOut, masked: dict[str, Masked]) -> Iterator[str]:
    """Fully masked records hold the label that covers everything."""
    if left_out.how == "drop":
        if left_out.labels:
            yield "no record is released fully masked, but labels are given"
        return
    if not (left_out.records or left_out.labels):
        return
    if list(left_out.labels) != list(masked):
        yield f"the labels are those of {listed(left_out.labels)}, but masked are {listed(masked)}"
        return
    for name, label in left_out.labels.items():
        if label not in _roots(masked[name], label):
            yield f"the label of {name!r} is {label!r}, which is not that of all its values"


def _roots(entry: Masked, label: str) -> set[str]:
    """The labels that may cover everything. That of a cut through a taxonomy can be any that means nothing else."""
    if isinstance(entry, Suppression):
        return {entry.marker}
    if entry.local:
        return {entry.blocks[0].label}
    if isinstance(entry, Discretization):
        return block_labels(entry.blocks)
    known = {text for block in entry.blocks for text in (block.label, *block.values)}
    alone = {block.label for block in entry.blocks if len(entry.blocks) == 1}
    return ({label} - known) | alone


def _finding(problem: str) -> Finding:
    return Finding("left-out", f"{MANIFEST}, leave-out: {problem}.")


def fully_masked(manifest: RefinementManifest, data: Data) -> NDArray[np.bool_]:
    """Which distinct rows hold the label that covers everything in all masked columns, if the manifest states some."""
    stated = _stated(manifest)
    rows = np.full(len(data.counts), bool(stated))
    for name, label in stated.items():
        column = data.columns[name]
        rows &= np.array([word == label for word in column.texts()], dtype=np.bool_)[column.codes]
    return rows


def released_labels(manifest: RefinementManifest) -> dict[str, list[str]]:
    """What each masked column may hold: its labels, and that of fully masked records."""
    stated = _stated(manifest)
    return {
        name: [*labels(entry), *([stated[name]] if name in stated else [])] for name, entry in manifest.masked.items()
    }


def _stated(manifest: RefinementManifest) -> dict[str, str]:
    """What masked columns hold in fully masked records. `check_omissions` reports labels of other columns."""
    given = {} if manifest.leave_out is None else manifest.leave_out.labels
    return {name: label for name, label in given.items() if name in manifest.masked}


def check_masked_rows(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """In a release with one cut for all rows, the label of everything is held by fully masked rows alone."""
    if manifest.boxes:
        return  # `check_leaves` checks it
    hidden = fully_masked(manifest, data)
    outside = False
    for name, label in _stated(manifest).items():
        column = data.columns[name]
        if label not in labels(manifest.masked[name]):
            holds = np.array([word == label for word in column.texts()], dtype=np.bool_)[column.codes]
            outside |= bool(holds.any())
            if count := data.rows_of(holds & ~hidden):
                message = f"the column {name!r} holds {label!r} in {rows_text(count)} that are not fully masked"
                yield Finding("left-out", f"{PARQUET}: {message}.")
    if outside:
        yield from excess_findings(manifest, data, hidden)


def excess_findings(manifest: RefinementManifest, data: Data, hidden: NDArray[np.bool_]) -> Iterator[Finding]:
    """No more records are fully masked than the manifest says were left out."""
    stated = 0 if manifest.leave_out is None else manifest.leave_out.records
    if (found := int(data.weights[hidden].sum())) > stated:
        yield Finding("left-out", f"{PARQUET}: {records_text(found)} are fully masked, but {stated:,} were left out.")
