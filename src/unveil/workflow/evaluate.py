"""Evaluate: what classifiers learn from a release, compared with raw and with fully masked rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.cores import begun, following
from unveil.errors import SpecError, TableError, UnveilError
from unveil.evaluation.classifiers import classifier
from unveil.evaluation.evaluation import (
    Comparison,
    Evaluation,
    Measures,
    Setting,
    Tally,
    measures,
    reference_columns,
)
from unveil.evaluation.examples import Examples
from unveil.evaluation.population import population
from unveil.evaluation.protocol import Holdout, Protocol, Split, by_person, check_sample, check_trials
from unveil.evaluation.statistics import Statistics, mean_statistics, statistics
from unveil.progress import Tasks, Watcher, unwatched
from unveil.publishers import trial_release
from unveil.release import Release
from unveil.schema import Spec, SpecLike, load_spec, value_text
from unveil.tables import Column, FrameSource, Table, load_table, part_of
from unveil.tables.sources import held_rows
from unveil.workflow.check import alone_notes

OWNERS = "These figures are computed from the raw rows; no guarantee covers them. Keep them as you keep those."
DRAWN = (
    "The private releases behind them were drawn from seeds and thrown away; nothing was charged to the ledger. "
    "To pick ε or a number under [publish] by such figures on the real rows is a look at the data that no budget "
    "counts: use public rows of the same kind for it where there are some."
)
TOGETHER = "Training and test rows were masked together, as in the papers: the masking has seen the test rows."
APART = "A private release is drawn from training rows alone, here too."
LEARNED = 40_000
"""How many records of each training part classifiers learn from unless a sample is asked for."""
TESTED = 100_000
"""And how many rows they are tested on."""
VALUES_FOR_PAGE = 100_000
"""How many values (records times columns) they learn from on the owner's page, so that it takes seconds."""
DRAWN_ROWS = (
    "Classifiers learned from {:,} records of each training part and were tested on {:,} rows, drawn at random. With "
    "--sample N, N rows are used, and classifiers learn from or are tested on all of these."
)
TRIALS = "learning and testing"
"""What a watcher calls an evaluation."""


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
    """Publishes training rows, masks test rows the same way, and tests classifiers on them.

    It also gives the errors on raw rows and on rows with everything masked; where a requirement protects sensitive
    attributes, also on raw rows without them.

    These releases are thrown away. A differentially private release is drawn from a seed, so that it is
    not charged to the owner's ledger and says that it is not private. The figures are private to the owner.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table. Or a spec file, which names its
            own table.
        spec: The spec: a path to a TOML file, a mapping of the same shape, or a `Spec`.
        classifiers: Names from `CLASSIFIERS`.
        protocol: How rows are split into training and test rows: `Holdout`, `Folds` or `Given`.
        together: Mask all rows together, then split them, as the papers do. A private release always sees the training
            rows alone.
        seeds: Seeds of private draws; each split is drawn once per seed.
        sample: Use at most this many rows, drawn at random. Without it, all rows of a table that is held in memory,
            otherwise a million of them; of those, classifiers learn from 40,000 records and are tested on 100,000 rows
            of each split. The notes of the result say so.
        progress: Called for every setting that is tried.
    """
    found = compare(
        [table if spec is None else spec],
        table=None if spec is None else table,
        classifiers=classifiers,
        protocol=protocol,
        together=together,
        seeds=seeds,
        progress=progress,
        sample=sample,
    )
    return found.evaluations[0]


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
    """Evaluates several specs of one table on the same test rows.

    Args:
        specs: The specs. Without a table they must name the same one.
        table: The rows: a path, or a pandas, polars or pyarrow table.
        classifiers: Names from `CLASSIFIERS`.
        protocol: How rows are split into training and test rows.
        together: Mask all rows together, then split them.
        seeds: Seeds of private draws.
        sample: Use this many rows, as for `evaluate`; the same ones for every spec.
        progress: Called for every setting that is tried.
    """
    checked = [load_spec(spec) for spec in specs]
    if not checked:
        raise SpecError("there is no spec to compare.")
    if table is None:
        _same_source(checked)
    check_trials(classifiers, protocol, seeds)
    check_sample(sample)
    progress("reading the table", 0, None)
    raw, notes = held_rows(checked[0].source if table is None else table, sample, checked[0])
    protocol = by_person(protocol, next((spec.table.person for spec in checked if spec.table.person), ()))
    splits = protocol.splits(raw.frame)
    trials = Tasks(progress, TRIALS, sum(1 + len(splits) * _settings(spec) for spec in checked))
    learned = LEARNED if sample is None else None
    tried = (_Trials(Rows(spec, load_table(spec, raw)), classifiers, learned, together, seeds) for spec in checked)
    return Comparison(tuple(one.evaluation(protocol, splits, notes, trials) for one in tried))


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that a spec releases, read and checked once, for every release and every figure that is made of them."""

    spec: Spec
    checked: Table

    @property
    def names(self) -> list[str]:
        """The columns that a release would have, class and weights aside."""
        attributes = [item.name for item in self.checked.attributes if item.weighting is None]
        return [*attributes, *self.checked.others.names]

    @cached_property
    def table(self) -> pa.Table:
        """The rows, still raw: typed, and without those that the spec drops."""
        checked = self.checked
        columns = {column.name: _values(column) for column in checked.columns}
        columns |= {name: checked.other_columns[name] for name in checked.others.names}
        columns[checked.classes.name] = _values(checked.classes)
        if self.spec.table.weight is not None:
            columns[self.spec.table.weight] = pa.array(checked.weight)
        return pa.table(columns)

    @cached_property
    def known(self) -> pa.Table:
        """The same, with the labels of missing numbers where there are several: nulls would not tell them apart."""
        table = self.table
        for place, column in enumerate(self.checked.columns):
            if len(column.missing) > 1:
                texts = pa.array([value_text(value) for value in column.plain()], pa.string())
                coded = pa.DictionaryArray.from_arrays(pa.array(column.codes), texts)
                table = table.set_column(place, column.name, coded)
        return table

    @cached_property
    def raw(self) -> Examples:
        """The raw rows to learn from."""
        examples = Examples.of(self.table, self.spec.table.class_, self.spec.table.weight)
        return replace(examples, survey=self.checked.survey)

    @cached_property
    def whole(self) -> Release:
        """The release of all rows, where nothing is drawn."""
        return trial_release(self.checked, self.spec)

    def part(self, split: Split) -> Split:
        """The places of the rows to learn from and of those to be tested on, among the rows that are left."""
        numbers = np.flatnonzero(self.checked.kept)
        train, test = (np.flatnonzero(np.isin(numbers, part)) for part in split)
        if not (len(train) and len(test)):
            raise TableError(f"{self.checked.origin}: rows with missing values aside, a part of the split is empty.")
        return Split(train, test)

    def training(self, train: IntArray) -> Table:
        """Some rows alone, to publish."""
        return part_of(self.checked, self.spec, train, f"{self.checked.origin} (training rows)")

    def releases(self, train: IntArray, split: int, seeds: Sequence[int]) -> Iterator[Release]:
        """The release of training rows; of a private one a draw for every seed, other ones in each split."""
        part = self.training(train)
        if self.spec.plan is None:
            yield trial_release(part, self.spec)
            return
        for seed in seeds:
            yield trial_release(part, self.spec, int(np.random.SeedSequence([seed, split]).generate_state(1)[0]))

    def masked(self, release: Release, places: IntArray) -> Examples:
        """Some rows masked as a release is; a value that it has no block for is suppressed."""
        rows = self.known.take(pa.array(places))
        masked = release.masking.labels(rows, unseen="suppress").select(self.names)
        for name in (self.spec.table.class_, self.spec.table.weight):
            masked = masked if name is None else masked.append_column(name, rows[name])
        examples = Examples.of(masked, self.spec.table.class_, self.spec.table.weight, release.masking)
        return examples if self.checked.survey is None else replace(examples, survey=self.checked.survey[places])


def evaluate_rows(
    rows: Rows, raw: FrameSource, protocol: Protocol, notes: tuple[str, ...], progress: Watcher, *, sampled: bool
) -> Evaluation:
    """The evaluation of rows that were read already, with the usual classifier and seed.

    Unless the rows are a sample that was asked for, the classifier learns from few values, so that a wide or long table
    does not take minutes; the releases are those of whole parts.
    """
    protocol = by_person(protocol, rows.spec.table.person)
    splits = protocol.splits(raw.frame)
    trials = Tasks(progress, TRIALS, 1 + len(splits) * _settings(rows.spec))
    learned = None if sampled else VALUES_FOR_PAGE // max(len(rows.names), 1)
    return _Trials(rows, ("tree",), learned).evaluation(protocol, splits, notes, trials)


class _Trial(NamedTuple):
    """One setting on one split."""

    setting: Setting
    names: list[str]
    """The raw columns to learn from; none where a release is learned from."""
    number: int
    part: Split


@dataclass(frozen=True)
class _Trials:
    """How a spec is evaluated on its rows: each setting on each split, several of them at a time."""

    rows: Rows
    classifiers: Sequence[str]
    learned: int | None
    """How many records of each split classifiers learn from; None for all."""
    together: bool = False
    seeds: Sequence[int] = (0,)

    def evaluation(
        self, protocol: Protocol, splits: Sequence[Split], notes: tuple[str, ...], trials: Tasks
    ) -> Evaluation:
        """All settings on all splits, and what masking costs in the release of all rows."""
        rows, spec, learned = self.rows, self.rows.spec, self.learned
        parts = [rows.part(split) for split in splits]
        if learned is not None:
            if any(len(part.train) > learned or len(part.test) > TESTED for part in parts):
                most = max(parts, key=lambda part: len(part.train))
                notes = (*notes, DRAWN_ROWS.format(min(learned, len(most.train)), min(TESTED, len(most.test))))
            parts = [Split(part.train, _drawn(part.test, TESTED)) for part in parts]
        # Made once, before several threads ask for them.
        _ = rows.raw, rows.known
        if self.together and spec.plan is None:
            _ = rows.whole
        of_all = begun(self.of_all)
        tally = Tally(self.classifiers, learned)
        kept: list[Statistics] = []
        # Those of releases take longest and come first, so that all cores are busy until the end.
        settings: dict[Setting, list[str]] = {"released": [], **reference_columns(spec, rows.names)}
        tries = [_Trial(*setting, *part) for setting, part in product(settings.items(), enumerate(parts))]
        perform = map if any(classifier(name).alone for name in self.classifiers) else following
        try:
            for found, figures in perform(self.perform, tries):
                tally.extend(found)
                kept += figures
                trials.finish()
        except UnveilError:
            of_all()  # what is wrong with all rows says more than what is wrong with a part of them
            raise
        whole, measured, compared = of_all()
        trials.finish()
        return Evaluation(
            spec=spec,
            protocol=str(protocol),
            lines=tally.lines(),
            measures=measured,
            statistics=mean_statistics([*compared, *kept]),
            notes=(*notes, *_notes(spec, self.together)),
            population=population(spec, rows.checked, whole),
        )

    def of_all(self) -> tuple[Release | None, Measures | None, list[Statistics]]:
        """The release of all rows, what masking costs and what statistics keep in it; nothing where it is drawn."""
        rows = self.rows
        if rows.spec.plan is not None:
            return None, None, []
        compared = statistics(rows.whole, rows.spec, rows.checked)
        return rows.whole, measures(rows.whole, rows.spec, rows.checked), [compared]

    def perform(self, trial: _Trial) -> tuple[Tally, list[Statistics]]:
        """The scores, and what statistics keep where the release is drawn anew."""
        tally, rows, (train, test) = Tally(self.classifiers, self.learned), self.rows, trial.part
        if trial.setting != "released":
            # Of rows with weights the tally draws records; others are drawn here, before their values become texts.
            few = train if self.learned is None or rows.checked.weight is not None else _drawn(train, self.learned)
            tally.try_all(trial.setting, *(rows.raw.select(trial.names).take(part) for part in (few, test)))
            return tally, []
        if rows.spec.plan is None and self.together:
            tally.try_all("released", rows.masked(rows.whole, train), rows.masked(rows.whole, test))
            return tally, []
        drawn = try_releases(tally, rows, trial.part, trial.number, self.seeds)
        private = drawn if rows.spec.plan is not None else []
        return tally, [statistics(release, rows.spec, rows.training(train)) for release in private]


def _drawn(places: IntArray, most: int) -> IntArray:
    """This many places, drawn at random, if there are more."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))


def _settings(spec: Spec) -> int:
    """How many settings are tried on each split."""
    return len(reference_columns(spec, ())) + 1


def _values(column: Column) -> pa.Array:
    values = column.array
    codes = pa.array(column.codes)
    return pa.DictionaryArray.from_arrays(codes, values) if pa.types.is_string(values.type) else values.take(codes)


def try_releases(tally: Tally, rows: Rows, part: Split, split: int, seeds: Sequence[int]) -> list[Release]:
    """Publishes the training rows of a split, and tests what is learned from that; gives what was published."""
    releases = list(rows.releases(part.train, split, seeds))
    for release in releases:
        tally.try_all("released", learned_from(release, tally.records), rows.masked(release, part.test))
    return releases


def learned_from(release: Release, most: int | None) -> Examples:
    """A release as its reader learns from it: noisy counts are weights; of more rows without, `most` are drawn."""
    manifest, table = release.manifest, release.table
    table = table if manifest.survey_weight is None else table.drop_columns([manifest.survey_weight])
    if most is not None and manifest.weighed_by is None:
        table = table.take(pa.array(_drawn(np.arange(table.num_rows), most)))
    return Examples.of(table, manifest.class_, manifest.weighed_by, release.masking)


def _notes(spec: Spec, together: bool) -> tuple[str, ...]:
    if spec.plan is not None:
        return (OWNERS, DRAWN, *([APART] if together else []))
    return (OWNERS, *([TOGETHER] if together else []), *alone_notes(spec))


def _same_source(specs: Sequence[Spec]) -> None:
    for spec in specs[1:]:
        if spec.table.query != specs[0].table.query:
            raise SpecError(f"{spec.origin}: its query is not that of {specs[0].origin}; both must be about one table.")
        if spec.source_path.resolve() != specs[0].source_path.resolve():
            raise SpecError(
                f"{spec.origin}: its table is {spec.source_path}, but that of {specs[0].origin} is "
                f"{specs[0].source_path}; only specs of one table can be compared."
            )
