"""Publishing by refinement: TDR, and every requirement whose level refinement can only lower."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray, NumberArray
from unveil.counting import Engine
from unveil.counting.learning import Learned, parted
from unveil.errors import BrokenPromiseError, RequirementError
from unveil.masking import (
    AnyMasking,
    AsIs,
    Block,
    BoxTree,
    Discretize,
    Generalize,
    LeftOut,
    Masking,
    Suppress,
    Tree,
    as_is,
    class_type,
    freeze,
)
from unveil.progress import Watcher, unwatched
from unveil.publishers.guards import make_guards, redundant_atoms, resolved_requirements
from unveil.publishers.joint import check_groups, frozen, left_out, start_joint
from unveil.publishers.withholding import check_one_row_each
from unveil.refine import JointSearch, JointStep, Search, Step, best_split, gain_alone, gain_per_loss
from unveil.release import DATA, About, Entry, History, LeaveOut, RefinementManifest, Release, Rows, succession_sentence
from unveil.schema import Attribute, Bounds, Kind, Spec, round_split, share_text
from unveil.tables import Outline

CRITERIA = {"score": gain_per_loss, "infogain": gain_alone}


def start_search(table: Outline, spec: Spec, engine: Engine, progress: Watcher = unwatched) -> Search:
    """The search on the fully masked table."""
    guards = make_guards(table, spec, resolved_requirements(table, spec), engine, progress)
    histograms = engine.histograms()
    trees = [
        (column, _tree(table, column, histograms[column], spec.bounds))
        for column, attribute in enumerate(table.attributes)
        if attribute.name in spec.masked
    ]
    return Search(trees, histograms, guards, CRITERIA[spec.criterion])


def publish_refinement(
    table: Outline,
    spec: Spec,
    engine: Engine,
    version: str,
    steps: int | None = None,
    stop: Callable[[], bool] | None = None,
    progress: Watcher = unwatched,
    after: Sequence[str] = (),
) -> Release:
    """Refines until nothing valid and beneficial is left, or for this many steps, and releases the masked rows.

    `stop` is called after every refinement; True releases the table reached so far. Progress has no total, since the
    number of refinements is not known in advance. `after` has the hashes of the rows of earlier releases, by which the
    engine divides groups.
    """
    if spec.history is not None:
        check_one_row_each(table, spec)
    learned = Learned()
    if spec.learn:
        table, engine, learned = parted(spec, engine)
    search, trace = _searched(table, spec, engine, steps, stop, progress, bool(after))
    aside = left_out(search, spec) if isinstance(search, JointSearch) else None
    masked, boxes = frozen(search) if isinstance(search, JointSearch) else (_cuts(table, search), ())
    masking = _masking(table, masked, boxes)
    requirements = resolved_requirements(table, spec)
    progress("masking rows", 0, None)
    rows = engine.released(masking, spec.table.weight, aside)
    gone = 0 if aside is None or aside.labels is not None else aside.records
    left = _left(aside, spec, table)
    promised = [requirement.sentence() for requirement in requirements]
    promised += [] if left is None else [left.sentence(table.records - gone)]
    promised += [] if learned.stated is None else [learned.stated.sentence(table.records)]
    promised += [succession_sentence(len(after), table.withheld, table.records)]
    manifest = RefinementManifest(
        unveil_version=version,
        about=About(title=spec.table.title, owner=spec.table.owner, date=spec.table.date),
        guarantee=" ".join(filter(None, promised)),
        class_=spec.table.class_,
        class_type=class_type(table.classes.type),
        class_missing=dict(spec.table.class_missing.kinds),
        weight=spec.table.weight,
        requirements=tuple(requirement.describe() for requirement in requirements),
        columns=masking.columns,
        derived=spec.derived,
        rows=Rows(
            read=table.read,
            dropped=table.dropped,
            released=rows.num_rows,
            left_out=0 if aside is None else engine.rows_left_out(masking, aside),
            held_back=table.withheld,
            learned=learned.rows,
        ),
        records=table.records - gone,
        persons=_persons(table, search, gone),
        leave_out=left,
        learn=learned.stated,
        after=tuple(after),
        search=spec.search,
        recoding="local" if boxes else "global",
        goal=spec.goal,
        boxes=boxes,
    )
    return Release(rows, manifest, trace, redundant_atoms(requirements), _entry(spec, engine, masking, aside))


def _searched(
    table: Outline,
    spec: Spec,
    engine: Engine,
    steps: int | None,
    stop: Callable[[], bool] | None,
    progress: Watcher,
    together: bool,
) -> tuple[Search | JointSearch, Iterable[dict[str, Any]]]:
    """A search that has ended, and its steps; `together` with earlier releases, its groups are recounted."""
    start = start_joint if spec.search == "joint" else start_search
    search: Search | JointSearch = start(table, spec, engine, progress)
    if together and not search.valid:
        raise RequirementError(
            f"{spec.origin}: with what is kept of {table.origin}, the requirements do not hold together with the "
            "earlier releases; keep less."
        )
    progress("refining", 0, steps)
    if steps is None and stop is None and isinstance(search, JointSearch) and search.independent:
        for boxes in search.finish():
            progress("refining", boxes, None)
        # Not made before somebody asks for it.
        trace: Iterable[dict[str, Any]] = map(describe, search.history())
    else:
        trace = _performed(search, steps, stop, progress)
    if isinstance(search, JointSearch):
        check_groups(search)
    if together and not search.valid:
        raise BrokenPromiseError("a group of the search does not satisfy its requirements; nothing was released.")
    return search, trace


def _entry(spec: Spec, engine: Engine, masking: Masking, aside: LeftOut | None = None) -> Entry | None:
    """Where a release is entered when it is written, and as what; None if the owner keeps no history."""
    return None if spec.history is None else (History(spec.history), partial(engine.link, masking, aside))


def later_release(
    table: Outline, spec: Spec, engine: Engine, masked: RefinementManifest, version: str, after: Sequence[str]
) -> Release:
    """A release of rows that came later, by the masking of an earlier one.

    The table is without the rows that are held back. `after` has the hashes of the rows of the earlier releases
    together with which it must keep its promise.
    """
    rows = engine.released(masked.masking, None)
    requirements = resolved_requirements(table, spec)
    promised = [requirement.sentence() for requirement in requirements]
    manifest = masked.model_copy(
        update={
            "unveil_version": version,
            "about": About(title=spec.table.title, owner=spec.table.owner, date=spec.table.date),
            "guarantee": " ".join([*promised, succession_sentence(len(after), table.withheld, table.records)]),
            "requirements": tuple(requirement.describe() for requirement in requirements),
            "rows": Rows(read=table.read, dropped=table.dropped, released=rows.num_rows, held_back=table.withheld),
            "records": table.records,
            "persons": None if table.persons is None else table.persons.count,
            "leave_out": None,
            "after": tuple(after),
            "masking_of": masked.files[DATA].sha256,
            "files": {},
        }
    )
    return Release(rows, manifest, entry=_entry(spec, engine, masked.masking))


def _performed(
    search: Search | JointSearch, steps: int | None, stop: Callable[[], bool] | None, progress: Watcher
) -> list[dict[str, Any]]:
    """Refines step by step; returns the trace."""
    trace: list[dict[str, Any]] = []
    performed: Iterator[Step | JointStep] = search.steps()
    for step in islice(performed, steps):
        trace.append(describe(step))
        progress("refining", len(trace), steps)
        if stop is not None and stop():
            break
    return trace


def _persons(table: Outline, search: Search | JointSearch, gone: int) -> int | None:
    """How many persons are in the release, if the table says whose row each is."""
    if table.persons is None or not (gone and isinstance(search, JointSearch)):
        return None if table.persons is None else table.persons.count
    partition = search.partitions[0]
    return int(partition.rows.total(partition.groups)[-1])


def _left(aside: LeftOut | None, spec: Spec, table: Outline) -> LeaveOut | None:
    """What the manifest says about records that are left out."""
    if aside is None:
        return None
    return LeaveOut(
        share=share_text(spec.leave_out),
        records=aside.records,
        persons=aside.persons,
        all_persons=None if table.persons is None else table.persons.count,
        as_="drop" if aside.labels is None else "mask",
        labels=dict(aside.labels or {}),
    )


def describe(step: Step | JointStep) -> dict[str, Any]:
    """A step as an entry of the owner's trace; if a group was refined by itself, with the labels that it had."""
    weighed = {"gain": step.gain, "loss": step.loss, "score": step.score}
    if isinstance(step, JointStep):
        entry = {"attribute": step.attribute.name, "refined": step.refined, "into": list(step.into), **weighed}
        return entry if step.group is None else {**entry, "group": step.group}
    refined, children = step.refinement.block.label, [child.label for child in step.refinement.children]
    return {"attribute": step.refinement.attribute.name, "refined": refined, "into": children, **weighed}


def _tree(table: Outline, column: int, histogram: IntArray, bounds: Bounds) -> Tree:
    """How an attribute is refined, by the counts of a histogram; nothing is named that only other rows hold."""
    attribute = table.attributes[column]
    values, held = table.columns[column].values, table.histograms[column].sum(axis=1)
    if attribute.taxonomy is not None:
        return Generalize(attribute, attribute.taxonomy)
    if isinstance(values, tuple):
        return Suppress(attribute, values, held > 0)
    split = partial(_split, attribute, values, histogram, held, bounds)
    return Discretize(attribute, table.scale(column), values, split)


def _split(
    attribute: Attribute, values: NumberArray, histogram: IntArray, held: IntArray, bounds: Bounds, interval: Block
) -> float | None:
    """The best split of an interval, if rows that are released are on both sides; `held` counts these by value."""
    right = best_split(values, histogram, interval)
    if right is None:
        return None
    below = values[interval.codes] < right
    if not (held[interval.codes[below]].any() and held[interval.codes[~below]].any()):
        return None
    # A round number has the same values on each side.
    left: float = values[np.searchsorted(values, right) - 1].item()
    return round_split(left, right, attribute) if bounds == "round" else right


def _cuts(table: Outline, search: Search) -> dict[str, AnyMasking]:
    """The entries of the masked attributes."""
    attributes = table.attributes
    return {attributes[column].name: freeze(attributes[column], cut) for column, cut in search.cuts.items()}


def _masking(table: Outline, masked: Mapping[str, AnyMasking], boxes: Sequence[BoxTree]) -> Masking:
    columns = {attribute.name: masked.get(attribute.name) or as_is(attribute) for attribute in table.attributes}
    for name in table.others.names:
        columns[name] = AsIs(domain="observed", type=_kind(table.others.field(name).type))
    return Masking(columns, boxes=boxes)


def _kind(type_: pa.DataType) -> Kind:
    """The kind of values in a column that the spec does not describe."""
    if pa.types.is_date(type_):
        return "date"
    return "number" if pa.types.is_integer(type_) or pa.types.is_floating(type_) else "category"
