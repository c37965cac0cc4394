"""Explain: why a release is as coarse as it is, and what asking for a little less would buy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from unveil.counting.memory import MemoryEngine
from unveil.errors import ReleaseError, RequirementError, SpecError, TableError
from unveil.evaluation.evaluation import Tally
from unveil.evaluation.information import information_loss
from unveil.evaluation.protocol import Given, Holdout, Protocol, Split, by_person, check_trials
from unveil.progress import Watcher, unwatched
from unveil.publishers import resolved_requirements, start_joint, start_search, trial_release
from unveil.reasons import (
    Bought,
    Cut,
    Ended,
    Explanation,
    Price,
    Relaxation,
    Run,
    Spending,
    Unrelaxed,
    cuts_of,
    drawn_run,
    ended,
    group_cuts,
    ranked_prices,
    relaxations,
    spending_of,
)
from unveil.reasons.prices import blocks_of
from unveil.refine import JointSearch
from unveil.release import Release, open_release
from unveil.schema import Spec, SpecLike, load_spec, share_text
from unveil.tables import FrameSource, Table, load_table, raw_source
from unveil.workflow.check import alone_notes, bound_notes
from unveil.workflow.evaluate import DRAWN, OWNERS, Rows, try_releases

NAMED = "These reasons are counted on the raw rows and name small groups and hidden values. Keep them private."
FROM_RELEASE = "Where the budget went is read from the release alone, so anyone who has the release may see it."
DRAWN_ANEW = "The reasons are those without {}, by all rows: what is drawn differs in every release."
PRICED = "trying relaxed requirements"
"""What a watcher calls the runs behind prices."""
DRAWS = range(5)
"""The seeds of the draws that show where a budget goes if there is no release."""


def explain(
    table: Any,
    spec: SpecLike | None = None,
    *,
    shadow: bool = True,
    classifiers: Sequence[str] = ("tree",),
    protocol: Protocol = Holdout(),  # noqa: B008 - it is never changed
    seeds: Sequence[int] = (0,),
    release: str | Path | Release | None = None,
    progress: Watcher = unwatched,
) -> Explanation:
    """Says what prevents each further refinement, and what relaxing each requirement would buy.

    These releases are thrown away. A differentially private release is drawn from seeds, so that it is
    not charged to the owner's ledger and says that it is not private. The explanation is private to the owner.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table. Or a spec file, which names its
            own table.
        spec: The spec: a path to a TOML file, a mapping of the same shape, or a `Spec`.
        shadow: Run the search again with each requirement a little relaxed.
        classifiers: Classifiers that are tried on these releases; names from `CLASSIFIERS`.
        protocol: How rows are split for that: `Holdout`, `Folds` or `Given`.
        seeds: Seeds of private draws; each split is drawn once per seed.
        release: For differential privacy: explain the draws of this release.
        progress: Called for every part of the work that is done.
    """
    check_trials(classifiers, protocol, seeds)
    checked = load_spec(table if spec is None else spec)
    held = None if release is None else _held(checked, release)
    if held is not None and not shadow:  # the release alone says it: no raw row is read
        return Explanation(checked, None, (), (), spending_of([held]), (), (), None, (FROM_RELEASE,))
    source = checked.source if spec is None else table
    opened = raw_source(source, checked)
    raw = FrameSource(opened.table(opened.schema.names), opened.origin)
    loaded = load_table(checked, raw, progress)
    spending = _spending(checked, loaded, held)
    steps, cuts, bought = (None, (), None) if spending else cuts_at_end(loaded, checked, progress)
    rows = Rows(checked, loaded)
    prices, unpriced = _prices(rows, raw, classifiers, protocol, seeds, progress) if shadow else ((), ())
    return Explanation(
        spec=checked,
        steps=steps,
        requirements=tuple(item.sentence() for item in resolved_requirements(loaded, checked)),
        cuts=cuts,
        spending=spending,
        prices=prices,
        unpriced=unpriced,
        protocol=str(by_person(protocol, checked.table.person)) if prices else None,
        notes=(*bound_notes(checked, loaded), *alone_notes(checked), *_hardening(checked), *_notes(spending)),
        bought=bought,
    )


def cuts_at_end(table: Table, spec: Spec, progress: Watcher) -> tuple[int, tuple[Cut, ...], Bought | None]:
    """How many refinements the search makes, why it makes no more, and what the records left out buy."""
    requirements = resolved_requirements(table, spec)
    if spec.search == "joint":
        found, joint = _joint(table, spec, progress)
        bought = bought_by_omissions(table, spec, progress, found)
        progress("counting reasons", 0, None)
        return found.steps, group_cuts(table, requirements, joint, pure_too=spec.goal == "statistics"), bought
    search, steps = start_search(table, spec, MemoryEngine(table), progress), 0
    for steps, _ in enumerate(search.steps(), start=1):
        progress("refining", steps, None)
    progress("counting reasons", 0, None)
    return steps, cuts_of(table, requirements, search), None


def _joint(table: Table, spec: Spec, progress: Watcher) -> tuple[Ended, JointSearch]:
    search, steps, bits = start_joint(table, spec, MemoryEngine(table), progress), 0, 0.0
    for steps, step in enumerate(search.steps(), start=1):
        bits += step.gain
        progress("refining", steps, None)
    return ended(search, steps, bits), search


def bought_by_omissions(table: Table, spec: Spec, progress: Watcher, found: Ended | None = None) -> Bought | None:
    """What the records left out buy, if the spec lets some be left out; `found` if its search was made already."""
    if not spec.leave_out:
        return None
    found = found or _joint(table, spec, progress)[0]
    without, _ = _joint(table, replace(spec, leave_out=Fraction(0)), progress) if found.left_out else (found, None)
    persons = None if table.persons is None else table.persons.count
    return Bought(share_text(spec.leave_out), table.records, without, found, persons)


def _held(spec: Spec, release: str | Path | Release) -> Release:
    """The release at hand, which must be one that the spec can have made."""
    if spec.plan is None:
        raise SpecError(f"{spec.origin}: a release is explained for a private method only, not for refinement.")
    held = release if isinstance(release, Release) else open_release(release)
    if held.manifest.method != spec.plan.method or list(held.manifest.columns) != [
        attribute.name for attribute in spec.released
    ]:
        raise ReleaseError(f"{release}: this is not a differentially private release by {spec.origin}.")
    return held


def _spending(spec: Spec, table: Table, held: Release | None) -> Spending | None:
    if spec.plan is None:
        return None
    if held is not None:
        return spending_of([held])
    used = table.records - table.beyond(spec.plan.contributions)
    return spending_of([trial_release(table, spec, seed) for seed in DRAWS], used)


def _hardening(spec: Spec) -> tuple[str, ...]:
    """That reasons are those of the search itself, if a release draws something besides."""
    drawn = [key for key, asked in (("margin", spec.margin), ("learn", spec.learn)) if asked]
    return (DRAWN_ANEW.format(" and ".join(drawn)),) if drawn else ()


def _notes(spending: Spending | None) -> tuple[str, ...]:
    if spending is None:
        return (NAMED,)
    return (OWNERS, DRAWN) if spending.seeded else (FROM_RELEASE, OWNERS, DRAWN)


def _prices(
    rows: Rows,
    raw: FrameSource,
    classifiers: Sequence[str],
    protocol: Protocol,
    seeds: Sequence[int],
    progress: Watcher,
) -> tuple[tuple[Price, ...], tuple[str, ...]]:
    """What relaxing would buy, and what was not priced. A table too small to be parted still has its reasons."""
    try:
        splits = by_person(protocol, rows.spec.table.person).splits(raw.frame)
    except TableError as error:
        if isinstance(protocol, Given):
            raise
        return (), (f"no price could be computed: {error}",)
    every = list(relaxations(rows.spec, rows.checked))
    tried = [item for item in every if isinstance(item, Relaxation)]
    left = tuple(item.reason for item in every if isinstance(item, Unrelaxed))
    if not tried:
        return (), left
    total = len(splits) * (1 + len(tried))

    def run(rows: Rows, number: int) -> tuple[Run, str | None]:
        return _run(rows, classifiers, splits, seeds, lambda done: progress(PRICED, number * len(splits) + done, total))

    before, failed = run(rows, 0)
    prices = []
    for number, item in enumerate(tried, start=1):
        after, also = run(Rows(item.spec, rows.checked), number)
        failed = failed or also
        prices.append(Price(item, before, after))
    progress(PRICED, total, total)
    return ranked_prices(prices), (*left, *([f"Accuracy was not measured: {failed}"] if failed else []))


def _run(
    rows: Rows,
    classifiers: Sequence[str],
    splits: Sequence[Split],
    seeds: Sequence[int],
    progress: Callable[[int], None],
) -> tuple[Run, str | None]:
    """What a spec gives on rows that were read already, and why its accuracy could not be measured, if so."""
    tally = Tally(classifiers)
    drawn: list[Release] = []
    failed = None
    try:
        for number, split in enumerate(splits):
            progress(number)
            drawn += try_releases(tally, rows, rows.part(split), number, seeds)
    except (RequirementError, TableError) as error:  # a part of the rows may be too small for what all can have
        failed = str(error)
    errors = {} if failed else tally.errors("released")
    if rows.spec.plan is not None:
        return drawn_run(drawn, errors), failed
    loss = information_loss(rows.whole, rows.spec, table=rows.checked)
    return Run(blocks_of(rows.whole), 1 - loss.global_penalty, errors), failed
