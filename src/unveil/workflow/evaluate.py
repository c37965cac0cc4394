"""Evaluate: what classifiers learn from a release, beside what they learn from raw and from fully masked rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.errors import SpecError, TableError
from unveil.evaluation.evaluation import Comparison, Evaluation, Tally, measures, reference_columns
from unveil.evaluation.examples import Examples
from unveil.evaluation.protocol import Holdout, Protocol, Split
from unveil.progress import Tasks, Watcher, unwatched
from unveil.release import RefinementManifest, Release
from unveil.schema import COUNT, Spec, SpecLike, load_spec
from unveil.tables import Column, FrameSource, Table, load_table
from unveil.workflow.publish import publish
from unveil.workflow.samples import held_rows

OWNERS = "These figures are computed from the raw rows; no guarantee covers them. Keep them as you keep those."
DRAWN = (
    "The private releases behind them were drawn from seeds and thrown away; nothing was charged to the ledger. "
    "To pick ε or the number of specializations by such figures on the real rows is a look at the data that no budget "
    "counts: use public rows of the same kind for it where there are some."
)
TOGETHER = "Training and test rows were masked together, as in the papers: the masking has seen the test rows."
APART = "A private release is drawn from training rows alone, here too."


def evaluate(
    table: Any,
    spec: SpecLike | None = None,
    *,
    classifiers: Sequence[str] = ("tree",),
    protocol: Protocol = Holdout(),  # noqa: B008 - it is never changed
    together: bool = False,
    seeds: Sequence[int] = (0,),
    progress: Watcher = unwatched,
    sample: int | None = None,
) -> Evaluation:
    """Publishes training rows, masks test rows the same way, and tests on them what classifiers learned.

    Beside it stand the errors on raw rows and on rows with everything masked; where a requirement protects sensitive
    attributes, also on raw rows without them.

    Nothing that is published here is handed out. A differentially private release is drawn from a seed, so that it is
    not charged to the owner's ledger and says that it is not private. The figures are private to the owner.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table. A spec file may stand in its place; it names its
            own table.
        spec: The spec: a path to a TOML file, a mapping of the same shape, or a `Spec`.
        classifiers: Names out of `CLASSIFIERS`.
        protocol: How rows are parted: `Holdout`, `Folds` or `Given`.
        together: Mask all rows together, then part them, as the papers do. A private release always sees the training
            rows alone.
        seeds: Seeds of private draws; each split is drawn once per seed.
        sample: Work on so many rows, drawn at random, if there are more. Without it, on all rows of a table that is
            held in memory, and else on a million of them; the notes of the result say so.
        progress: Told of every setting that is tried.
    """
    checked = load_spec(table if spec is None else spec)
    source = checked.source if spec is None else table
    return _evaluations([checked], source, sample, classifiers, protocol, together, seeds, progress)[0]


def compare(
    specs: Sequence[SpecLike],
    *,
    table: Any = None,
    classifiers: Sequence[str] = ("tree",),
    protocol: Protocol = Holdout(),  # noqa: B008 - it is never changed
    together: bool = False,
    seeds: Sequence[int] = (0,),
    progress: Watcher = unwatched,
    sample: int | None = None,
) -> Comparison:
    """Evaluates several specs of one table on the same rows held out.

    Args:
        specs: The specs. Without a table they must name the same one.
        table: The rows: a path, or a pandas, polars or pyarrow table.
        classifiers: Names out of `CLASSIFIERS`.
        protocol: How rows are parted.
        together: Mask all rows together, then part them.
        seeds: Seeds of private draws.
        sample: Work on so many rows, as for `evaluate`; the same ones for every spec.
        progress: Told of every setting that is tried.
    """
    checked = [load_spec(spec) for spec in specs]
    if not checked:
        raise SpecError("there is no spec to compare.")
    if table is None:
        _same_source(checked)
    source = checked[0].source if table is None else table
    return Comparison(tuple(_evaluations(checked, source, sample, classifiers, protocol, together, seeds, progress)))


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that a spec releases, still raw: typed, and without those that its policy drops."""

    spec: Spec
    """The spec without identifiers, and without a folder that an owner's ledger lies in."""
    checked: Table
    table: pa.Table
    numbers: IntArray
    """Which row of the raw table each one is."""

    @property
    def names(self) -> list[str]:
        """The columns that a release would have, class and weight aside."""
        described = self.spec.table
        return [name for name in self.table.column_names if name not in (described.class_, described.weight)]

    def part(self, split: Split) -> tuple[pa.Table, pa.Table]:
        """The rows to learn from and those to be tested on."""
        train, test = (self.table.filter(pa.array(np.isin(self.numbers, part))) for part in split)
        if not (train.num_rows and test.num_rows):
            raise TableError(f"{self.checked.origin}: rows with missing values aside, a part of the split is empty.")
        return train, test

    def examples(self, rows: pa.Table) -> Examples:
        """Raw or masked rows to learn from."""
        return Examples.of(rows, self.spec.table.class_, self.spec.table.weight)

    def masked(self, release: Release, rows: pa.Table) -> Examples:
        """Rows masked as a release is; a value that it has no block for is suppressed."""
        masked = release.masking.labels(rows, unseen="suppress")
        for name in (self.spec.table.class_, self.spec.table.weight):
            masked = masked if name is None else masked.append_column(name, rows[name])
        return self.examples(masked)


def _evaluations(
    specs: Sequence[Spec],
    source: Any,
    sample: int | None,
    classifiers: Sequence[str],
    protocol: Protocol,
    together: bool,
    seeds: Sequence[int],
    progress: Watcher,
) -> list[Evaluation]:
    """All specs on the same splits."""
    progress("reading the table", 0, None)
    raw, notes = held_rows(source, sample, specs[0])
    splits = protocol.splits(raw.frame)
    trials = Tasks(progress, "learning and testing", sum(1 + len(splits) * _settings(spec) for spec in specs))
    return [_evaluate(spec, raw, classifiers, protocol, splits, together, seeds, notes, trials) for spec in specs]


def _evaluate(
    spec: Spec,
    raw: FrameSource,
    classifiers: Sequence[str],
    protocol: Protocol,
    splits: Sequence[Split],
    together: bool,
    seeds: Sequence[int],
    notes: tuple[str, ...],
    trials: Tasks,
) -> Evaluation:
    tally = Tally(classifiers)
    rows = rows_of(spec, raw)
    # Of the raw rows and not of those that are left, so that a refusal can say how many were left out.
    whole = publish(raw, spec) if spec.plan is None else None
    trials.finish()
    for number, split in enumerate(splits):
        train, test = rows.part(split)
        for setting, names in reference_columns(spec, rows.names).items():
            tally.try_all(setting, *(rows.examples(part).select(names) for part in (train, test)))
            trials.finish()
        if whole is not None and together:
            tally.try_all("released", rows.masked(whole, train), rows.masked(whole, test))
        else:
            try_releases(tally, rows, train, test, number, seeds)
        trials.finish()
    return Evaluation(
        spec=spec,
        protocol=str(protocol),
        lines=tally.lines(),
        measures=None if whole is None else measures(whole, spec, rows.checked),
        notes=(*notes, *_notes(spec, together)),
    )


def _settings(spec: Spec) -> int:
    """How many settings are tried on each split."""
    return len(reference_columns(spec, ())) + 1


def rows_of(spec: Spec, raw: FrameSource) -> Rows:
    """Checks the table as `publish` does, and keeps which of its rows are left."""
    checked = load_table(spec, raw)
    bare = replace(spec, attributes={item.name: item for item in spec.released}, is_file=False)
    columns = {column.name: _values(column) for column in checked.columns}
    columns |= {name: checked.other_columns[name] for name in checked.others.names}
    columns[checked.classes.name] = _values(checked.classes)
    if spec.table.weight is not None:
        columns[spec.table.weight] = pa.array(checked.weight)
    return Rows(bare, checked, pa.table(columns), np.flatnonzero(checked.kept))


def _values(column: Column) -> pa.Array:
    values = column.array
    codes = pa.array(column.codes)
    return pa.DictionaryArray.from_arrays(codes, values) if pa.types.is_string(values.type) else values.take(codes)


def try_releases(
    tally: Tally, rows: Rows, train: pa.Table, test: pa.Table, split: int, seeds: Sequence[int]
) -> list[Release]:
    """Publishes the training rows of a split, and tests what is learned from that; gives what was published."""
    releases = list(_releases(rows, train, split, seeds))
    for release in releases:
        tally.try_all("released", _learned(release), rows.masked(release, test))
    return releases


def _releases(rows: Rows, train: pa.Table, split: int, seeds: Sequence[int]) -> Iterator[Release]:
    """The release of the training rows; of a private one as many draws as there are seeds, other ones in each split."""
    source = FrameSource(train, f"{rows.checked.origin} (training rows)")
    if rows.spec.plan is None:
        yield publish(source, rows.spec)
        return
    for seed in seeds:
        yield publish(source, rows.spec, unsafe_seed=int(np.random.SeedSequence([seed, split]).generate_state(1)[0]))


def _learned(release: Release) -> Examples:
    """A release as whoever gets it learns from it: noisy counts are weights."""
    manifest = release.manifest
    weight = manifest.weight if isinstance(manifest, RefinementManifest) else COUNT
    return Examples.of(release.table, manifest.class_, weight)


def _notes(spec: Spec, together: bool) -> tuple[str, ...]:
    if spec.plan is not None:
        return (OWNERS, DRAWN, *([APART] if together else []))
    return (OWNERS, TOGETHER) if together else (OWNERS,)


def _same_source(specs: Sequence[Spec]) -> None:
    for spec in specs[1:]:
        if spec.table.query != specs[0].table.query:
            raise SpecError(f"{spec.origin}: its query is not that of {specs[0].origin}; both must be about one table.")
        if spec.source_path.resolve() != specs[0].source_path.resolve():
            raise SpecError(
                f"{spec.origin}: its table is {spec.source_path}, but that of {specs[0].origin} is "
                f"{specs[0].source_path}; only specs of one table can be compared."
            )
