"""Which records the rows are, and of how many persons: released, left out, only learned from, or held back.

A handful that would block all others is dropped, or released fully masked. A share may be set aside at random, only to
choose the masking. Survey weights say how many people of a population a record represents; they are never sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
from numpy.typing import NDArray

from unveil.errors import count_text, listed, records_text, rows_text
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Discretization,
    Finding,
    Masked,
    Released,
    Suppression,
    SurveyWeight,
    labels,
)
from unveil.verifier.coverage import block_labels
from unveil.verifier.data import Column, Data, Groups, group, summed
from unveil.verifier.manifests import SIZED, Claims, LeaveOut, RefinementManifest
from unveil.verifier.values import number, number_text, plain

PERSONS = "persons"
TOGETHER = "together"
"""The claim that releases keep their promise together."""


def check_rows(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """All claims about the rows of a refinement, except those about privacy."""
    yield from _count_findings(manifest, data)
    yield from check_order(manifest, data)
    if manifest.weight is not None:
        columns = [column for name, column in data.columns.items() if name != manifest.weight]
        yield from twice_findings(group(columns, data.counts))


def check_order(manifest: Claims, data: Data) -> Iterator[Finding]:
    """The rows of any release: each has its labels and its class, and they are sorted."""
    for name in [*manifest.masked, manifest.class_]:
        if count := data.gaps(name):
            yield Finding("missing", f"{PARQUET}: the column {name!r} has no value in {rows_text(count)}.")
    if data.disorder is not None:
        yield data.disorder


def twice_findings(groups: Groups) -> Iterator[Finding]:
    """No two rows are equal if a column says how many records a row represents."""
    if (groups.sizes > 1).any():
        worst = int(np.argmax(groups.sizes))
        message = f"{PARQUET}: {groups.text(worst)} appears in {rows_text(int(groups.sizes[worst]))}"
        yield Finding("equal-rows", f"{message}, but equal rows are one row with one count.")


def _count_findings(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    rows, records = manifest.rows, int(data.weights.sum())
    if data.rows == 0:
        yield Finding("rows", f"{PARQUET} holds no rows.")
    if rows.released != data.rows:
        yield Finding("rows", f"{PARQUET} has {rows_text(data.rows)}, but rows.released is {rows.released:,}.")
    if manifest.records != records:
        yield Finding("records", f"{PARQUET} holds {records_text(records)}, but records is {manifest.records:,}.")
    kept = rows.read - rows.dropped - rows.held_back - rows.learned - (rows.left_out if manifest.dropped else 0)
    # With weights, rows that are equal after masking become one row.
    if rows.released > kept or (manifest.weight is None and rows.released != kept):
        others = {"left out": rows.left_out, "held back": rows.held_back, "learned from": rows.learned}
        more = "".join(f", {count:,} {what}" for what, count in others.items() if count)
        message = f"{MANIFEST} says that {rows.read:,} rows were read, {rows.dropped:,}"
        yield Finding("rows", f"{message} dropped{more} and {rows.released:,} released, which does not add up.")


def record_sentences(manifest: RefinementManifest) -> Iterator[str]:
    """What the guarantee says about records that were left out or only chose the masking, and earlier releases."""
    left_out, learn = manifest.leave_out, manifest.learn
    if left_out is not None and left_out.records:
        verb, belong = ("was", "belongs") if left_out.records == 1 else ("were", "belong")
        done = "left out" if left_out.how == "drop" else "fully masked"
        told = f"{left_out.records:,} of {records_text(manifest.records + manifest.dropped)}"
        if left_out.persons is not None and left_out.all_persons is not None:
            told += f", which {belong} to {left_out.persons:,} of {count_text(left_out.all_persons, 'person')},"
        yield f"{told} {verb} {done}."
    if learn is not None:
        verb = "was" if learn.records == 1 else "were"
        total = records_text(manifest.records + learn.records)
        yield f"{learn.records:,} of {total} {verb} set aside at random, only to choose the masking."
    if manifest.after:
        yield from _succession_sentences(len(manifest.after), manifest.records, manifest.rows.held_back)


def _succession_sentences(earlier: int, records: int, held_back: int) -> Iterator[str]:
    yield (
        f"Together with {count_text(earlier, 'earlier release')}: all of this also holds among the people who share a "
        f"combination, or are absent, in each of the {earlier + 1:,} releases."
    )
    if held_back:
        verb = "was" if held_back == 1 else "were"
        yield f"{held_back:,} of {count_text(records + held_back, 'person')} {verb} held back for it."


def learning_problems(manifest: RefinementManifest) -> Iterator[str]:
    """As many rows, or persons, were set aside as the stated share is, and the numbers fit each other."""
    learn, rows = manifest.learn, manifest.rows
    if learn is None:
        if rows.learned:
            yield f"{rows_text(rows.learned)} were set aside, but no share is stated"
        return
    if manifest.leave_out is not None or manifest.after:
        yield "no row can be left out or follow an earlier release besides"
    if learn.records < rows.learned or (manifest.weight is None and learn.records != rows.learned):
        yield f"{rows_text(rows.learned)} and {records_text(learn.records)} were set aside, which differ"
    if (learn.persons is None) != (manifest.persons is None):
        yield "the persons of the records are stated for one part only"
        return
    units, drawn, unit = rows.read - rows.dropped, rows.learned, "row"
    if learn.persons is not None and manifest.persons is not None:
        units, drawn, unit = learn.persons + manifest.persons, learn.persons, "person"
    if drawn != int(learn.fraction * units):
        yield f"{drawn:,} of {count_text(units, unit)} were set aside, which is not {learn.share} of them"


def succession_problems(manifest: RefinementManifest) -> Iterator[str]:
    """What the manifest says about earlier releases fits together."""
    if manifest.rows.held_back and not manifest.after:
        yield "says that people are held back, but names no earlier release"
    if manifest.masking_of is not None and manifest.masking_of not in manifest.after:
        yield "has the masking of a release that is not one of the earlier ones"
    if manifest.after and manifest.persons != manifest.records:
        held = f"{manifest.records:,} records of {manifest.persons} persons"
        yield f"has {held}, but after earlier releases everybody has one"


def omission_problems(manifest: RefinementManifest) -> Iterator[str]:
    """No more records or persons were left out than the stated share allows, and the numbers fit each other."""
    left_out, rows = manifest.leave_out, manifest.rows.left_out
    if left_out is None:
        if rows:
            yield f"{rows_text(rows)} are left out, but no share is stated"
        return
    if manifest.search != "joint":
        yield f"the search is {manifest.search}, which leaves nothing out"
    records, total = left_out.records, manifest.records + manifest.dropped
    if records < rows or bool(records) != bool(rows) or (manifest.weight is None and records != rows):
        yield f"{rows_text(rows)} and {records_text(records)} are left out, which does not fit"
    if manifest.persons is None and records > left_out.fraction * total:
        yield f"{records:,} of {records_text(total)} are left out, which is more than {left_out.share}"
    yield from _left_out_problems(manifest, left_out)
    yield from _label_problems(left_out, manifest.masked)


def _left_out_problems(manifest: RefinementManifest, left_out: LeaveOut) -> Iterator[str]:
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
    if out > left_out.fraction * every:
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


def person_problems(manifest: RefinementManifest) -> Iterator[str]:
    """The number of persons fits the records and the requirements."""
    counted = [nth for nth, stated in enumerate(manifest.requirements, start=1) if stated.get("of") == PERSONS]
    if manifest.persons is None:
        if counted:
            yield f"requirement {counted[0]} counts persons, but {MANIFEST} does not say how many there are"
        return
    if manifest.persons > manifest.records:
        yield f"{MANIFEST} has {manifest.persons:,} persons, more than {records_text(manifest.records)}"
    for nth in counted:
        k = manifest.requirements[nth - 1].get("k")
        if isinstance(k, int) and 0 < manifest.persons < k:
            yield f"requirement {nth} asks for {k:,} persons in every group, but there are {manifest.persons:,}"
    for nth, stated in enumerate(manifest.requirements, start=1):
        if stated.get("kind") in SIZED and nth not in counted:
            yield f"requirement {nth} counts records, but {MANIFEST} says that there are persons"


def fully_masked(manifest: RefinementManifest, data: Data) -> NDArray[np.bool_]:
    """Which distinct rows hold the label that covers everything in all masked columns, if the manifest states some."""
    stated = _stated(manifest)
    rows = np.full(len(data.counts), bool(stated))
    for name, label in stated.items():
        rows &= data.columns[name].rows_with({label})
    return rows


def released_labels(manifest: RefinementManifest) -> dict[str, list[str]]:
    """What each masked column may hold: its labels, and that of fully masked records."""
    stated = _stated(manifest)
    return {
        name: [*labels(entry), *([stated[name]] if name in stated else [])] for name, entry in manifest.masked.items()
    }


def _stated(manifest: RefinementManifest) -> dict[str, str]:
    """What masked columns hold in fully masked records. `omission_problems` reports labels of other columns."""
    given = {} if manifest.leave_out is None else manifest.leave_out.labels
    return {name: label for name, label in given.items() if name in manifest.masked}


def check_masked_rows(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """In a release with one cut for all rows, the label of everything is held by fully masked rows alone."""
    if manifest.boxes:
        return  # `check_leaves` checks it
    hidden = fully_masked(manifest, data)
    outside = False
    for name, label in _stated(manifest).items():
        if label not in labels(manifest.masked[name]):
            holds = data.columns[name].rows_with({label})
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


def weight_of(manifest: RefinementManifest) -> tuple[str, SurveyWeight] | None:
    """The column of survey weights, if the release has one, and what it shows of them."""
    for name, entry in manifest.masking.items():
        if isinstance(entry, Released) and entry.survey_weight is not None:
            return name, entry.survey_weight
    return None


def check_survey(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Weights are numbers from 0 on, multiples of their step, and the same in a whole group if they are its mean."""
    found = weight_of(manifest)
    if found is None:
        return
    name, shown = found
    column = data.columns[name]
    for code, value in enumerate(plain(column.values)):
        if problem := _weight_problem(number(value), shown.step):
            rows = rows_text(data.rows_of(column.codes == code))
            yield Finding(
                "survey-weight", f"{PARQUET}: {column.text(code)} ({rows}) is a survey weight, but {problem}."
            )
            break
    if shown.groups:
        yield from _mean_findings(manifest, data, column, shown.groups)


def _weight_problem(value: float | None, step: float | None) -> str:
    if value is None or value < 0:
        return "not a number from 0 on"
    if step is not None and Decimal(str(value)) % Decimal(str(step)):
        return f"not a multiple of {number_text(step)}"
    return ""


def _mean_findings(
    manifest: RefinementManifest, data: Data, column: Column, groups: Sequence[str]
) -> Iterator[Finding]:
    sized = [stated for stated in manifest.requirements if stated.get("kind") in SIZED]
    if not any(list(groups) == stated.get("quasi-identifier") for stated in sized):
        message = f"{MANIFEST} has means of {column.name!r} over groups of {listed(groups)}"
        yield Finding("survey-weight", f"{message}, but no requirement gives these groups a size.")
        return
    columns = [data.columns[name] for name in groups]
    pairs = group([*columns, column], data.weights)
    alone = Groups(columns, *summed(pairs.keys[:-1], np.ones(len(pairs.sizes), dtype=np.int64)))
    if (alone.sizes > 1).any():
        worst = int(np.argmax(alone.sizes))
        message = f"{PARQUET}: the group {alone.text(worst)} has {count_text(int(alone.sizes[worst]), 'value')}"
        yield Finding("survey-weight", f"{message} of {column.name!r}, which is the mean of a group.")


def rounded(value: float, step: float) -> float:
    """The nearest multiple of a step, the even one of two."""
    width = Decimal(str(step))
    return float((Decimal(str(value)) / width).to_integral_value(ROUND_HALF_EVEN) * width)


def weight_notes(manifest: RefinementManifest, data: Data) -> Iterator[str]:
    """What a reader must know of released weights: they are not sizes of groups, and may point at people."""
    found = weight_of(manifest)
    if found is None:
        return
    name, shown = found
    column = data.columns[name]
    yield f"{name!r} holds survey weights: a record is one respondent, and groups are counted in records."
    if not shown.groups:
        counts = np.bincount(column.codes, weights=data.weights, minlength=len(column.values))
        alone = int(np.count_nonzero(counts == 1))
        how = "as they are" if shown.step is None else f"rounded to {number_text(shown.step)}"
        yield (
            f"They are released {how}: {alone:,} of {count_text(int(data.weights.sum()), 'record')} have a unique "
            "weight, and anyone who knows it finds that record."
        )
