"""What is on the owner's page only: figures of the raw rows, and the steps of the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unveil.evaluation import CLASSIFIERS, Evaluation, GroupRisk, InferenceRisk
from unveil.evaluation.evaluation import COMPARED, SETTINGS, Measures
from unveil.reports.drawings import Dot, Dots
from unveil.schema import Spec


@dataclass(frozen=True)
class Owner:
    """What the owner's spec and raw table add to a release."""

    spec: Spec
    read: int
    """Rows of the raw table."""
    dropped: int
    """Rows left out for missing values."""
    records: int
    evaluation: Evaluation
    """What classifiers learn from releases made by the same spec."""
    measures: Measures | None
    """What this release costs and risks; None for noisy counts."""
    trace: Sequence[dict[str, Any]] | None
    """The steps that led to the release; None where they cannot be told."""
    groups: Sequence[GroupRisk] = ()
    """What the raw table would give away about who is who."""
    inferences: Sequence[InferenceRisk] = ()
    """What the raw table would give away about sensitive values."""


@dataclass(frozen=True)
class Accuracy:
    """What a classifier keeps, drawn and in a sentence."""

    chart: Dots
    sentence: str


def accuracies(evaluation: Evaluation) -> list[Accuracy]:
    """The accuracy of each classifier on the release, between what raw rows and fully masked rows give."""
    return [Accuracy(_chart(evaluation, name), _sentence(evaluation, name)) for name in evaluation.classifiers]


def _chart(evaluation: Evaluation, classifier: str) -> Dots:
    dots = [
        Dot(
            label=SETTINGS[line.setting].rpartition(" (")[0],
            mark=line.setting,
            value=line.accuracy,
            low=line.accuracy if line.high is None else 1 - min(line.high, 1.0),
            high=line.accuracy if line.low is None else 1 - max(line.low, 0.0),
            text=f"{line.accuracy:.1%}" + ("" if line.high is None else f" ± {100 * (line.high - line.error):.1f}"),
        )
        for line in evaluation.lines
        if line.classifier == classifier
    ]
    return Dots.of(f"Accuracy of a {CLASSIFIERS[classifier].label}", dots)


def _sentence(evaluation: Evaluation, classifier: str) -> str:
    raw, released, masked = (evaluation.line(setting, classifier).accuracy for setting in COMPARED)
    return (
        f"Trained on the release it is right for {released:.1%} of the rows: {_points(released - raw)} than with "
        f"raw data, {_points(released - masked)} than with everything masked."
    )


def _points(difference: float) -> str:
    return f"{abs(100 * difference):.1f} points {'more' if difference >= 0 else 'less'}"
