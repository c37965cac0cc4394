"""Report: one page about a release, to hand out or for its owner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.cores import begun
from unveil.errors import ReleaseError, UnveilError, UnverifiedError
from unveil.evaluation.protocol import Holdout, Protocol, check_sample, check_trials
from unveil.evaluation.reidentification import Whose, group_summaries
from unveil.progress import Watcher, unwatched
from unveil.release import RefinementManifest, Release, check_absent, open_release, write_text
from unveil.reports import Owner, handout_page, owner_page
from unveil.schema import Spec, SpecLike, load_spec
from unveil.tables import load_table
from unveil.tables.sources import held_rows
from unveil.workflow.verify import release_folder, verify

if TYPE_CHECKING:
    from unveil.attacks.exposure import Exposure
    from unveil.evaluation.reidentification import GroupSummary
    from unveil.tables import Table
    from unveil.workflow.evaluate import Rows

HOLDOUTS = 5


def report(
    release: str | Path | Release,
    owner: SpecLike | None = None,
    *,
    table: Any = None,
    seeds: Sequence[int] = range(HOLDOUTS),
    sample: int | None = None,
    progress: Watcher = unwatched,
) -> str:
    """One self-contained HTML page about a release.

    The release is verified first: a page must not repeat a claim that does not hold.

    Args:
        release: The release folder, or a release that is not written yet.
        owner: The owner's spec. With it the page is private: it adds exact figures, the steps of the search, risks and
            what classifiers keep. Without it the page is made from the folder alone and is safe to hand out
            with it.
        table: The raw table, where the owner's spec does not name it: a path, or a pandas, polars or pyarrow table.
        seeds: For the owner's page: the seeds of the hold-outs that say what classifiers keep.
        sample: For the owner's page: classifiers are tried on this many random rows, and learn from all of them
            that are not held out. Without it, on all rows, and they learn from at most 100,000 values.
        progress: Called as the work is done.
    """
    protocol = Holdout(1 / 3, seeds)
    check_trials(("tree",), protocol, seeds)
    check_sample(sample)
    spec = None if owner is None else load_spec(owner)
    with release_folder(release) as folder:
        if spec is None:
            return handout_page(_opened(folder, None, table, progress))
        return owner_page(*_owner(folder, spec, table, protocol, sample, progress))


def _opened(folder: Path, spec: Spec | None, table: Any, progress: Watcher) -> Release:
    """A release whose claims hold."""
    if findings := verify(folder, spec, table=table, progress=progress):
        raise UnverifiedError(f"{folder}: {findings[0]}")
    return open_release(folder)


def report_to_file(
    release: Path,
    target: Path,
    owner: SpecLike | None = None,
    *,
    seeds: Sequence[int] = range(HOLDOUTS),
    sample: int | None = None,
    progress: Watcher = unwatched,
) -> None:
    """Writes the page, whole or not at all, and never into the release folder."""
    if release.absolute() in target.absolute().parents:
        raise ReleaseError(f"{target}: a report cannot be written into the release {release}: it is not part of it.")
    check_absent(target, "report")
    write_text(target, report(release, owner, seeds=seeds, sample=sample, progress=progress), "report")


def _owner(
    folder: Path, spec: Spec, given: Any, protocol: Protocol, sample: int | None, progress: Watcher
) -> tuple[Release, Owner]:
    """The release, and the owner's figures. The raw table is read once for them, unless it is too large to hold."""
    # These search and learn: the page to hand out waits neither for a compiler nor for classifiers.
    from unveil.evaluation.evaluation import measures
    from unveil.evaluation.statistics import statistics
    from unveil.workflow.check import fit_of
    from unveil.workflow.evaluate import Rows, evaluate_rows
    from unveil.workflow.explain import bought_by_omissions
    from unveil.workflow.publish import publish

    source = spec.source if given is None else given
    progress("reading the table", 0, None)
    raw, notes = held_rows(source, sample, spec)
    rows = Rows(spec, load_table(spec, raw, progress))
    sampled = bool(notes)
    table = load_table(spec, source, progress) if sampled else rows.checked
    # The release is verified and attacked while classifiers learn from the rows.
    judging = begun(partial(_judged, folder, spec, given, rows, table))
    try:
        evaluation = evaluate_rows(rows, raw, protocol, notes, progress, sampled=sample is not None)
    except UnveilError:
        judging()  # a claim that does not hold comes first
        raise
    release, summaries, exposure = judging()
    private = spec.plan is not None
    fit = None if private else fit_of(spec, table, progress)
    if not private and not sampled and _same_rows(release, rows.whole):
        kept, counted = evaluation.measures, evaluation.statistics
    else:
        kept, counted = measures(release, spec, table), statistics(release, spec, table)
    return release, Owner(
        spec=spec,
        read=table.read,
        dropped=table.dropped,
        records=table.records,
        persons=None if table.persons is None else table.persons.count,
        evaluation=evaluation,
        measures=kept,
        statistics=counted,
        trace=None if private else _steps(release, publish(source, spec, progress=progress) if sampled else rows.whole),
        bought=None if (price := bought_by_omissions(table, spec, progress)) is None else price.sentence(),
        groups=() if fit is None else fit.groups,
        summaries=summaries,
        inferences=() if fit is None else fit.inferences,
        exposure=exposure,
    )


def _judged(
    folder: Path, spec: Spec, given: Any, rows: Rows, table: Table
) -> tuple[Release, list[GroupSummary], Exposure]:
    """Verifies a release, and then counts its groups and attacks it."""
    from unveil.workflow.attack import attack_rows

    release = _opened(folder, spec, given, unwatched)
    summaries = group_summaries(release, Whose.of(release, table))
    return release, summaries, attack_rows(rows, release, unwatched, complete=table is rows.checked)


def _same_rows(release: Release, whole: Release) -> bool:
    """Whether a verified release has the masking and the rows of another of the same table, as the spec makes it."""
    one, other = release.manifest, whole.manifest
    if not (isinstance(one, RefinementManifest) and isinstance(other, RefinementManifest)):
        return False
    if (one.columns, one.boxes, one.rows) != (other.columns, other.boxes, other.rows):
        return False
    if not (one.rows.left_out or one.rows.learned or one.rows.held_back):
        return True  # all rows of the table, masked alike
    return bool(release.table.equals(whole.table.cast(release.table.schema)))


def _steps(release: Release, whole: Release) -> list[dict[str, Any]] | None:
    """The steps that led to a release: those of the whole search, or the first of them where it was stopped early."""
    from unveil.reasons.prices import blocks_of

    aim, cuts = ({name: set(held) for name, held in blocks_of(item).items()} for item in (release, whole))
    for count in range(len(whole.trace), -1, -1):
        if cuts == aim:
            return whole.trace[:count]
        if count:
            step = whole.trace[count - 1]
            cuts[step["attribute"]] = cuts[step["attribute"]] - set(step["into"]) | {step["refined"]}
    return None
