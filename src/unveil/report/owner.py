"""What only the owner's page tells: figures of the raw rows, and the steps of the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil.evaluate import CLASSIFIERS, Evaluation, GroupRisk, InferenceRisk, group_sizes
from unveil.evaluate.evaluation import SETTINGS, Measures
from unveil.release import RefinementManifest, Release
from unveil.report.drawings import Dot, Dots
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
class GroupSummary:
    """The exact sizes of the groups on a quasi-identifier."""

    names: tuple[str, ...]
    groups: int
    smallest: int
    middle: int
    largest: int


def group_summaries(release: Release, names: Sequence[tuple[str, ...]]) -> list[GroupSummary]:
    """The exact sizes of the groups of every requirement."""
    if not isinstance(release.manifest, RefinementManifest):
        return []
    return [_summary(release, item) for item in names]


def _summary(release: Release, names: tuple[str, ...]) -> GroupSummary:
    sizes = group_sizes(release, names)
    return GroupSummary(names, len(sizes), int(sizes[0]), int(np.median(sizes)), int(sizes[-1]))


def accuracy_charts(evaluation: Evaluation) -> list[Dots]:
    """The accuracy of each classifier on the release, between what raw rows and fully masked rows give."""
    return [_accuracy_chart(evaluation, name) for name in evaluation.classifiers]


def _accuracy_chart(evaluation: Evaluation, classifier: str) -> Dots:
    lines = [line for line in evaluation.lines if line.classifier == classifier]
    dots = [
        Dot(
            label=SETTINGS[line.setting].rpartition(" (")[0],
            value=line.accuracy,
            low=line.accuracy if line.high is None else 1 - min(line.high, 1.0),
            high=line.accuracy if line.low is None else 1 - max(line.low, 0.0),
            text=f"{line.accuracy:.1%}" + ("" if line.high is None else f" ± {line.high - line.error:.1%}"),
        )
        for line in lines
    ]
    references = [line.accuracy for line in lines if line.setting in ("raw", "masked")]
    return Dots.of(f"Accuracy of a {CLASSIFIERS[classifier].label}", dots, references)
