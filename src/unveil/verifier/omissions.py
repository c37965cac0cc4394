"""Records that the search left out so that a handful does not block all others: dropped, or released fully masked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed, records_text, rows_text
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Discretization,
    LeaveOut,
    Masked,
    RefinementManifest,
    Suppression,
    labels,
)
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.scales import block_labels


def omission_sentence(manifest: RefinementManifest) -> str:
    """What the guarantee says about the records that were left out; nothing if there are none."""
    left_out = manifest.leave_out
    if left_out is None or not left_out.records:
        return ""
    verb = "was" if left_out.records == 1 else "were"
    done = "left out" if left_out.how == "drop" else "fully masked"
    return f"{left_out.records:,} of {records_text(manifest.records + manifest.dropped)} {verb} {done}."


def check_omissions(manifest: RefinementManifest) -> Iterator[Finding]:
    """No more records were left out than the stated share allows, and the numbers fit each other."""
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
    if records > left_out.most * total:
        yield _finding(f"{records:,} of {records_text(total)} are left out, which is more than {left_out.share}")
    yield from map(_finding, _label_problems(left_out, manifest.masked))


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
