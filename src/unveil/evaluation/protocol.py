"""How rows are parted into those to learn from and those to be tested on, and how good the answers for the latter are.

Scores judge the chances that a classifier gives to the classes of test rows. A row of weight w counts as w rows in
every score. Several runs are put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import FloatArray, IntArray, group_numbers
from unveil.errors import TableError, UnveilError, did_you_mean, rows_text
from unveil.evaluation.examples import Examples, Labels
from unveil.masking import dictionary_of

CONFIDENCE = 0.95
LEAST_CHANCE = 0.001
"""A smaller chance counts as this one in the log loss, so that a single surprise does not decide it."""


class Split(NamedTuple):
    """Numbers of the rows to learn from and of those to be tested on."""

    train: IntArray
    test: IntArray


@dataclass(frozen=True)
class Holdout:
    """Holds out a share of the rows, drawn again for each seed."""

    test: float = 1 / 3
    seeds: Sequence[int] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not 0 < self.test < 1:
            raise UnveilError(f"the share to test on is {self.test:g}, but it must be between 0 and 1.")
        if not self.seeds:
            raise UnveilError("a hold-out needs at least one seed.")

    def splits(self, table: pa.Table) -> list[Split]:
        """One split per seed."""
        _enough(table, 2)
        held = min(max(round(table.num_rows * self.test), 1), table.num_rows - 1)
        orders = [np.random.default_rng(seed).permutation(table.num_rows) for seed in self.seeds]
        return [Split(np.sort(order[held:]), np.sort(order[:held])) for order in orders]

    def __str__(self) -> str:
        times = "once" if len(self.seeds) == 1 else f"{len(self.seeds)} times"
        return f"{self.test:.0%} of the rows held out, {times}"


@dataclass(frozen=True)
class Folds:
    """Splits the rows into k parts and tests each on what was learned from the others."""

    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.k < 2:
            raise UnveilError(f"the number of folds is {self.k}, but there must be at least 2.")

    def splits(self, table: pa.Table) -> list[Split]:
        """One split per part."""
        _enough(table, self.k)
        parts = np.array_split(np.random.default_rng(self.seed).permutation(table.num_rows), self.k)
        return [
            Split(np.sort(np.concatenate([*parts[:place], *parts[place + 1 :]])), np.sort(part))
            for place, part in enumerate(parts)
        ]

    def __str__(self) -> str:
        return f"{self.k}-fold cross-validation"


@dataclass(frozen=True)
class Given:
    """A column of the table says which rows are for which; other rows are left out."""

    column: str
    train: str = "train"
    test: str = "test"

    def __post_init__(self) -> None:
        if self.train == self.test:
            raise UnveilError(
                f"the rows of column {self.column!r} to learn from and to test on are both called {self.train!r}; "
                "test on other rows."
            )

    def splits(self, table: pa.Table) -> list[Split]:
        """The one split that the column gives."""
        if self.column not in table.column_names:
            hint = did_you_mean(self.column, table.column_names) or "."
            raise TableError(f"the table has no column {self.column!r} to tell training rows from test rows{hint}")
        texts = table[self.column].cast(pa.string())
        train, test = (
            np.flatnonzero(pc.equal(texts, value).fill_null(False).to_numpy()) for value in (self.train, self.test)
        )
        for value, rows in ((self.train, train), (self.test, test)):
            if not len(rows):
                raise TableError(f"column {self.column!r}: no row holds {value!r}, so there is no such part.")
        return [Split(train, test)]

    def __str__(self) -> str:
        return f"the rows that {self.column} calls {self.train!r} and {self.test!r}"


@dataclass(frozen=True)
class ByPerson:
    """Splits rows by another protocol, but keeps those of a person on the side of the first of them.

    Otherwise a classifier would be tested on persons that it has learned by heart.
    """

    rows: Holdout | Folds | Given
    person: tuple[str, ...]

    def splits(self, table: pa.Table) -> list[Split]:
        """The splits of the other protocol, with persons as a whole."""
        columns = [dictionary_of(table[name]) for name in self.person]
        codes = [column.indices.cast(pa.int64()).fill_null(len(column.dictionary)).to_numpy() for column in columns]
        people, _ = group_numbers(codes)
        first = np.unique(people, return_index=True)[1][people]
        return [self._whole(split, first) for split in self.rows.splits(table)]

    def _whole(self, split: Split, first: IntArray) -> Split:
        side = np.zeros(len(first), dtype=np.int8)
        side[split.train], side[split.test] = 1, 2
        used, sides = side > 0, side[first]
        return Split(np.flatnonzero(used & (sides == 1)), np.flatnonzero(used & (sides == 2)))

    def __str__(self) -> str:
        return f"{self.rows}, with all rows of a person on one side"


Protocol = Holdout | Folds | Given | ByPerson


def by_person(protocol: Protocol, person: tuple[str, ...]) -> Protocol:
    """The protocol, with persons as a whole if columns say whose row each is."""
    return ByPerson(protocol, person) if person and not isinstance(protocol, ByPerson) else protocol


@dataclass(frozen=True)
class Interval:
    """The mean of some runs, and between which bounds it lies."""

    mean: float
    low: float | None
    high: float | None
    n: int


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The t-interval of a mean. One run has no bounds.

    Runs of a hold-out or of folds share training rows, so they are more alike than independent ones: read the interval
    as how far the runs spread, not as a test.
    """
    from scipy.special import stdtrit

    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Interval(mean, None, None, n)
    reach = float(stdtrit(n - 1, (1 + confidence) / 2) * np.std(values, ddof=1) / np.sqrt(n))
    return Interval(mean, mean - reach, mean + reach, n)


def _enough(table: pa.Table, least: int) -> None:
    if table.num_rows < least:
        raise TableError(f"the table has {rows_text(table.num_rows)}, too few to split {least} ways.")


@dataclass(frozen=True, eq=False)
class Answers:
    """What a classifier thinks of every test row."""

    labels: Labels
    """The classes that it knows, in order."""
    chances: FloatArray
    """The chance of each class, `[row, class]`; every row adds up to 1."""

    @property
    def likeliest(self) -> Labels:
        """The class with the highest chance; of equal ones the first."""
        answers: Labels = self.labels[np.argmax(self.chances, axis=1)]
        return answers


@dataclass(frozen=True)
class ClassScores:
    """How well the records of one class are distinguished from others."""

    label: str
    share: float
    """The share of the test records that have this class."""
    recall: float
    """The share of them that is found."""
    precision: float | None
    """How many of the records that are said to have the class do have it; None if none is said to."""


@dataclass(frozen=True)
class Scores:
    """How good answers are, in more than one number."""

    accuracy: float
    """The share of the records that it gets right."""
    balanced_accuracy: float
    """The mean recall over the classes: a class counts the same however rare it is."""
    auc: float | None
    """The area under the ROC curve; with more than two classes the mean of one against the rest. None for one class."""
    log_loss: float
    """The mean of −ln(chance of the true class)."""
    classes: tuple[ClassScores, ...]
    population: Scores | None = None
    """The same for the people that the test rows represent, if these are of a survey."""


def scores(answers: Answers, test: Examples) -> Scores:
    """Scores answers against the true classes of the test rows; of a survey also for its population."""
    if test.survey is None or not test.survey.any():
        return _scores(answers, test)
    people = _scores(answers, replace(test, weights=test.survey))
    return replace(_scores(answers, test), population=people)


def _scores(answers: Answers, test: Examples) -> Scores:
    labels, chances, truth = _aligned(answers, test.labels)
    chosen, weight = np.argmax(chances, axis=1), test.weight
    # What the records of each true class are said to be.
    counts = np.bincount(truth * len(labels) + chosen, weights=weight, minlength=len(labels) ** 2)
    counts = counts.reshape(len(labels), -1)
    held, said, right = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    classes = tuple(
        ClassScores(
            label=str(labels[place]),
            share=float(held[place] / held.sum()),
            recall=float(right[place] / held[place]),
            precision=float(right[place] / said[place]) if said[place] else None,
        )
        for place in np.flatnonzero(held).tolist()
    )
    chance = np.maximum(chances[np.arange(len(truth)), truth], LEAST_CHANCE)
    return Scores(
        accuracy=float(right.sum() / held.sum()),
        balanced_accuracy=float(np.mean([item.recall for item in classes])),
        auc=_auc(chances, truth, weight),
        log_loss=float(np.average(-np.log(chance), weights=weight)),
        classes=classes,
    )


def _aligned(answers: Answers, truth: Labels) -> tuple[Labels, FloatArray, IntArray]:
    """Known classes and those that only test rows have, with their chances, and the place of the truth among them."""
    known = pa.array(answers.labels.tolist(), pa.string())
    held = pa.array(truth, pa.string()).dictionary_encode()
    new = np.array([label for label in held.dictionary.to_pylist() if label not in set(known.to_pylist())], np.str_)
    labels = np.concatenate([answers.labels.astype(np.str_), new])
    place_of = {label: place for place, label in enumerate(labels.tolist())}
    places = np.array([place_of[label] for label in held.dictionary.to_pylist()], dtype=np.int64)
    unknown = np.zeros((len(truth), len(new)))
    return labels, np.hstack([answers.chances, unknown]), places[held.indices.to_numpy()]


def _auc(chances: FloatArray, truth: IntArray, weight: FloatArray) -> float | None:
    from sklearn.metrics import roc_auc_score

    held = np.flatnonzero(np.bincount(truth, weights=weight, minlength=chances.shape[1]))
    if len(held) < 2:
        return None
    areas = [
        roc_auc_score(truth == place, chances[:, place], sample_weight=weight)
        # With two classes one curve is the other, mirrored.
        for place in (held[1:] if chances.shape[1] == 2 else held)
    ]
    return float(np.mean(areas))


def mean_scores(runs: Sequence[Scores]) -> Scores:
    """The means over several runs; those of a class over the runs whose test rows have it."""
    by_label: dict[str, list[ClassScores]] = {}
    for run in runs:
        for item in run.classes:
            by_label.setdefault(item.label, []).append(item)
    return Scores(
        **means(runs, "accuracy", "balanced_accuracy", "auc", "log_loss"),
        classes=tuple(
            ClassScores(label, **means(by_label[label], "share", "recall", "precision")) for label in sorted(by_label)
        ),
        population=mean_scores(people) if (people := [run.population for run in runs if run.population]) else None,
    )


def means(runs: Sequence[Any], *figures: str) -> dict[str, Any]:
    """The mean of each of these figures over the runs that have it; None if none has."""
    known = {figure: [getattr(run, figure) for run in runs if getattr(run, figure) is not None] for figure in figures}
    return {figure: float(np.mean(values)) if values else None for figure, values in known.items()}


def check_trials(classifiers: Sequence[str], protocol: Protocol, seeds: Sequence[int]) -> None:
    """Refuses arguments of another type before any work is done for them."""
    if isinstance(classifiers, str) or not isinstance(classifiers, Sequence):
        raise UnveilError(f"classifiers is {classifiers!r}, but it must be a list of names, such as ['tree'].")
    if not hasattr(protocol, "splits"):
        raise UnveilError(f"protocol is {protocol!r}, but it must be a Holdout, Folds or Given.")
    if not isinstance(seeds, Sequence) or not all(isinstance(seed, int) for seed in seeds):
        raise UnveilError(f"seeds is {seeds!r}, but it must be a list of whole numbers, such as [0, 1, 2].")


def check_sample(sample: object) -> None:
    """Refuses a number of rows that is none."""
    if sample is not None and (not isinstance(sample, int) or sample < 1):
        raise UnveilError(f"sample is {sample!r}, but it must be a whole number of rows, 1 or more.")
