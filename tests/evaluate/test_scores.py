"""Scores of answers, recomputed in plain Python: pair by pair, record by record."""

from dataclasses import replace
from itertools import product
from math import log
from statistics import fmean

import numpy as np
import pytest

from unveil.evaluation import protocol as module
from unveil.evaluation.classifiers import CLASSIFIERS
from unveil.evaluation.examples import Examples
from unveil.evaluation.protocol import LEAST_CHANCE, Answers, Scores, mean_scores, scores


class Case:
    """Random chances, some of them equal, for test rows with weights; a class may be in one part alone."""

    def __init__(self, seed: int, known: str, held: str) -> None:
        draw = np.random.default_rng(seed)
        rows = 40
        raw = draw.integers(0, 5, (rows, len(known))) + 0.25
        self.answers = Answers(np.array(list(known)), raw / raw.sum(axis=1, keepdims=True))
        self.truth = draw.choice(list(held), rows)
        self.weights = draw.integers(1, 4, rows).astype(float)

    @property
    def test(self) -> Examples:
        return Examples({}, self.truth, self.weights)

    def chance(self, row: int, label: str) -> float:
        known = self.answers.labels.tolist()
        return float(self.answers.chances[row, known.index(label)]) if label in known else 0.0

    def told(self, row: int) -> str:
        return max(self.answers.labels.tolist(), key=lambda label: self.chance(row, label))


def weight_of(case: Case, true: str | None = None, told: str | None = None) -> float:
    """What the rows weigh that have a class, and that are said to have one."""
    return sum(
        case.weights[row]
        for row in range(len(case.truth))
        if true in (None, case.truth[row]) and told in (None, case.told(row))
    )


def area(case: Case, label: str) -> float:
    """How often a record of the class has a higher chance than one of another class; ties count half."""
    rows = range(len(case.truth))
    inside, outside = ([row for row in rows if (case.truth[row] == label) is held] for held in (True, False))
    won = total = 0.0
    for one, other in product(inside, outside):
        weight = case.weights[one] * case.weights[other]
        mine, theirs = case.chance(one, label), case.chance(other, label)
        won += weight * (1.0 if mine > theirs else 0.5 if mine == theirs else 0.0)
        total += weight
    return won / total


def expected(case: Case) -> dict[str, float]:
    rows = range(len(case.truth))
    labels = sorted(set(case.truth.tolist()))
    recalls = {label: weight_of(case, label, label) / weight_of(case, label) for label in labels}
    losses = [-log(max(case.chance(row, case.truth[row]), 0.001)) * case.weights[row] for row in rows]
    return {
        "accuracy": sum(weight_of(case, label, label) for label in labels) / weight_of(case),
        "balanced_accuracy": fmean(recalls.values()),
        "auc": fmean(area(case, label) for label in labels),
        "log_loss": sum(losses) / case.weights.sum(),
        **{f"recall of {label}": recall for label, recall in recalls.items()},
    }


def figures(found: Scores) -> dict[str, float | None]:
    plain = {name: getattr(found, name) for name in ("accuracy", "balanced_accuracy", "auc", "log_loss")}
    return {**plain, **{f"recall of {item.label}": item.recall for item in found.classes}}


CASES = [
    Case(1, "ab", "ab"),
    Case(2, "abc", "abc"),
    Case(3, "abc", "ab"),  # a class that no test row has
    Case(4, "ab", "abc"),  # one that no training row had
]


@pytest.mark.parametrize("case", CASES)
def test_scores_by_hand(case: Case) -> None:
    found = scores(case.answers, case.test)
    assert figures(found) == pytest.approx(expected(case))
    for item in found.classes:
        said, right = weight_of(case, told=item.label), weight_of(case, item.label, item.label)
        assert item.precision == (pytest.approx(right / said) if said else None)
        assert item.share == pytest.approx(weight_of(case, item.label) / weight_of(case))


@pytest.mark.parametrize("defect", ["weights", "clip", "majority"])
def test_defects_would_be_found(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[3]
    test, answers = case.test, case.answers
    if defect == "weights":
        test = replace(test, weights=None)
    elif defect == "clip":
        monkeypatch.setattr(module, "LEAST_CHANCE", 1e-12)
    else:
        answers = replace(answers, chances=np.tile([0.6, 0.4], (len(case.truth), 1)))
    assert figures(scores(answers, test)) != pytest.approx(expected(case))


def test_one_class_has_no_curve() -> None:
    found = scores(Answers(np.array(["a"]), np.ones((3, 1))), Examples({}, np.array(["a", "a", "a"])))
    assert (found.accuracy, found.auc, found.log_loss) == (1, None, 0)
    unknown = scores(Answers(np.array([""]), np.ones((2, 1))), Examples({}, np.array(["a", "a"])))
    assert unknown.accuracy == 0
    assert unknown.log_loss == pytest.approx(-log(LEAST_CHANCE))


def test_means_over_runs() -> None:
    first, second = scores(CASES[0].answers, CASES[0].test), scores(CASES[1].answers, CASES[1].test)
    found = mean_scores([first, second])
    assert found.auc == pytest.approx(fmean([first.auc or 0, second.auc or 0]))
    assert [item.label for item in found.classes] == ["a", "b", "c"]
    assert found.classes[2] == second.classes[2]
    assert found.classes[0].recall == pytest.approx(fmean([first.classes[0].recall, second.classes[0].recall]))


@pytest.mark.parametrize("name", ["tree", "bayes", "boosting"])
def test_chances_add_up(name: str) -> None:
    draw = np.random.default_rng(0)
    towns = np.array(["Aarhus", "Bergen", "Cork"], dtype=object)[draw.integers(0, 3, 300)]
    examples = Examples({"town": towns, "age": draw.random(300)}, draw.choice(["x", "y", "z"], 300))
    answers = CLASSIFIERS[name].answers(examples, examples)
    assert answers.labels.tolist() == ["x", "y", "z"]
    assert answers.chances.sum(axis=1) == pytest.approx(np.ones(300))
