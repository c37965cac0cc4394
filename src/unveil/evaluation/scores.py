"""How good the answers of a classifier are: scores of the chances that it gives to the classes of test rows.

A row of weight w counts as w rows in every score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray
from unveil.evaluation.examples import Examples, Labels

LEAST_CHANCE = 0.001
"""A smaller chance counts as this one in the log loss, so that a single surprise does not decide it."""


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
    """How well the records of one class are told from others."""

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
    told, weight = np.argmax(chances, axis=1), test.weight
    # What the records of each true class are said to be.
    counts = np.bincount(truth * len(labels) + told, weights=weight, minlength=len(labels) ** 2)
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
    areas = [run.auc for run in runs if run.auc is not None]
    by_label: dict[str, list[ClassScores]] = {}
    for run in runs:
        for item in run.classes:
            by_label.setdefault(item.label, []).append(item)
    return Scores(
        accuracy=_mean([run.accuracy for run in runs]),
        balanced_accuracy=_mean([run.balanced_accuracy for run in runs]),
        auc=_mean(areas) if areas else None,
        log_loss=_mean([run.log_loss for run in runs]),
        classes=tuple(_mean_class(label, by_label[label]) for label in sorted(by_label)),
        population=mean_scores(people) if (people := [run.population for run in runs if run.population]) else None,
    )


def _mean_class(label: str, runs: Sequence[ClassScores]) -> ClassScores:
    precisions = [run.precision for run in runs if run.precision is not None]
    return ClassScores(
        label=label,
        share=_mean([run.share for run in runs]),
        recall=_mean([run.recall for run in runs]),
        precision=_mean(precisions) if precisions else None,
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
