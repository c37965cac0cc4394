"""What an evaluation found: errors next to their reference lines, and what a table shows of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from unveil import html
from unveil.evaluation.classifiers import CLASSIFIERS, classifier, tested
from unveil.evaluation.examples import Examples
from unveil.evaluation.information import InformationLoss, information_loss
from unveil.evaluation.population import Population, percent
from unveil.evaluation.protocol import Scores, interval, mean_scores
from unveil.evaluation.reidentification import (
    ReidentificationRisk,
    Whose,
    quasi_identifiers,
    reidentification_risk,
    whole_row_risk,
)
from unveil.evaluation.statistics import TABLE_COLUMNS, Statistics
from unveil.release import RefinementManifest, Release
from unveil.schema import Spec, decimal_text
from unveil.tables import Table

SETTINGS: dict[Setting, str] = {
    "raw": "raw data (BE)",
    "released": "the release (AE, SE)",
    "removed": "sensitive attributes removed (RE)",
    "masked": "everything masked (UE)",
}
"""What is learned from, in the order of a table, with the papers' names for the errors."""
SCORES = ("balanced accuracy", "AUC", "log loss")
"""The scores that are shown next to the error."""
COMPARED: tuple[Setting, ...] = ("raw", "released", "masked")
"""The settings that a comparison shows."""


Setting = Literal["raw", "released", "removed", "masked"]


@dataclass(frozen=True)
class Line:
    """The error of a classifier in a setting: its mean over the runs and its confidence interval."""

    setting: Setting
    classifier: str
    error: float
    low: float | None
    """None for a single run, as `high`."""
    high: float | None
    n: int
    """How many runs."""
    scores: Scores
    """Its other scores, each a mean over the runs."""

    @property
    def accuracy(self) -> float:
        """The share of records that it gets right."""
        return 1 - self.error

    @property
    def bounds(self) -> str:
        """The confidence interval as a cell of a table; empty for a single run."""
        return "" if self.low is None or self.high is None else f"{max(self.low, 0):.2%} – {min(self.high, 1):.2%}"

    @property
    def other(self) -> tuple[str, ...]:
        """Balanced accuracy, AUC and log loss as cells of a table."""
        return _cells(self.scores)

    @property
    def population(self) -> tuple[str, ...]:
        """The error and these for the population; no cells if the table is not a survey."""
        people = self.scores.population
        return () if people is None else (f"{1 - people.accuracy:.2%}", *_cells(people))


def _cells(scores: Scores) -> tuple[str, ...]:
    area = "" if scores.auc is None else f"{scores.auc:.3f}"
    return f"{scores.balanced_accuracy:.2%}", area, f"{scores.log_loss:.3f}"


@dataclass(frozen=True)
class Measures:
    """What the release of all rows costs and risks, whatever is learned from it."""

    loss: InformationLoss
    risks: tuple[ReidentificationRisk, ...]
    """One per quasi-identifier or channel."""
    whole_row: ReidentificationRisk
    """On all released columns together, which no requirement bounds."""


@dataclass(frozen=True)
class Evaluation:
    """What a release by this spec is worth. Computed from raw data, so it is private to the owner."""

    spec: Spec
    protocol: str
    lines: tuple[Line, ...]
    measures: Measures | None
    """None for a release of noisy counts, which has no records to lose or to trace."""
    statistics: Statistics
    """What survives of tables, means and quantiles: in the release of all rows; of private ones, in those of the
    training rows."""
    notes: tuple[str, ...]
    """What a reader must know about the figures."""
    population: Population | None = None
    """Population estimates, if the table is a survey."""

    def line(self, setting: Setting, classifier: str) -> Line:
        """The line of a setting and a classifier that were tried."""
        return next(line for line in self.lines if (line.setting, line.classifier) == (setting, classifier))

    def errors(self, classifier: str) -> tuple[str, ...]:
        """What a comparison shows of a classifier: its error in each setting."""
        return tuple(f"{self.line(setting, classifier).error:.2%}" for setting in COMPARED)

    def classes(self, classifier: str) -> list[tuple[str, ...]]:
        """A row of a table for each class, the largest first: its share; recall and precision, raw and released."""
        raw, released = (self.line(setting, classifier).scores.classes for setting in ("raw", "released"))
        return [
            (one.label, *map(percent, (one.share, one.recall, other.recall, one.precision, other.precision)))
            for one, other in sorted(zip(raw, released, strict=True), key=lambda pair: -pair[0].share)
        ]

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The classifiers that were tried."""
        return tuple(dict.fromkeys(line.classifier for line in self.lines))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "spec": self.spec.origin,
            "protocol": self.protocol,
            "lines": [asdict(line) for line in self.lines],
            "measures": None if self.measures is None else asdict(self.measures),
            "statistics": self.statistics.to_dict(),
            "population": None if self.population is None else self.population.to_dict(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        errors = "; ".join(f"{line.classifier}, {line.setting}: {line.error:.2%}" for line in self.lines)
        return f"Evaluation({self.spec.origin}: errors on test rows, {self.protocol}: {errors})"

    def _repr_html_(self) -> str:
        """The errors and what to know about them, for notebooks."""
        rows = (
            (
                CLASSIFIERS[line.classifier].label,
                SETTINGS[line.setting],
                f"{line.error:.2%}",
                line.bounds,
                *line.other,
                line.n,
            )
            for line in self.lines
        )
        heads = ("classifier", "learned from", "error", "95% interval", *SCORES, "runs")
        return html.page_part(
            html.paragraph(f"{self.spec.origin}: errors on test rows, {self.protocol}"),
            html.table(heads, rows),
            html.table(TABLE_COLUMNS, self.statistics.table_rows()),
            *(html.paragraph(note, stripe=html.PLAIN) for note in self.notes),
        )


@dataclass(frozen=True)
class Comparison:
    """Evaluations of several specs on the same rows."""

    evaluations: tuple[Evaluation, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Everything in plain values, for JSON."""
        return [{**item.to_dict(), "guarantee": guarantee(item.spec)} for item in self.evaluations]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the figures, each note once."""
        return tuple(dict.fromkeys(note for item in self.evaluations for note in item.notes))

    def __repr__(self) -> str:
        return f"Comparison({', '.join(map(repr, self.evaluations))})"

    def _repr_html_(self) -> str:
        """One row per spec and classifier, for notebooks."""
        rows = (
            (
                item.spec.origin,
                guarantee_text(item.spec),
                CLASSIFIERS[name].label,
                *item.errors(name),
                *item.line("released", name).other,
                *item.statistics.overall,
            )
            for item in self.evaluations
            for name in item.classifiers
        )
        return html.page_part(
            html.paragraph(f"Errors on the same test rows, {self.evaluations[0].protocol}"),
            html.table(("spec", "asks for", "classifier", *COMPARED, *SCORES, *TABLE_COLUMNS[1:]), rows),
            *(html.paragraph(note, stripe=html.PLAIN) for note in self.notes),
        )


class Tally:
    """Collects the scores of single runs. Classifiers learn from `records`, drawn at random, if there are more."""

    def __init__(self, classifiers: Sequence[str], records: int | None = None) -> None:
        self.records = records
        self._classifiers = tuple(classifier(name).name for name in dict.fromkeys(classifiers))
        self._scores: defaultdict[tuple[str, str], list[Scores]] = defaultdict(list)

    def try_all(self, setting: Setting, train: Examples, test: Examples) -> None:
        """Tries every classifier on a pair of parts."""
        learned = train if self.records is None else train.drawn(self.records, seed=0)
        for name in self._classifiers:
            self._scores[setting, name].append(tested(name, learned, test))

    def extend(self, other: Tally) -> None:
        """Adds the runs of another tally after those of this one."""
        for key, runs in other._scores.items():
            self._scores[key] += runs

    def errors(self, setting: Setting) -> dict[str, tuple[float, ...]]:
        """The errors of each classifier in a setting, run by run."""
        return {name: _errors(self._scores[setting, name]) for name in self._classifiers}

    def lines(self) -> tuple[Line, ...]:
        """The means over the runs, by classifier and setting."""
        return tuple(
            _line(setting, name, self._scores[setting, name])
            for name in self._classifiers
            for setting in SETTINGS
            if (setting, name) in self._scores
        )


def _line(setting: Setting, name: str, runs: Sequence[Scores]) -> Line:
    error = interval(_errors(runs))
    return Line(setting, name, error.mean, error.low, error.high, error.n, mean_scores(runs))


def _errors(runs: Sequence[Scores]) -> tuple[float, ...]:
    return tuple(1 - run.accuracy for run in runs)


def reference_columns(spec: Spec, names: Sequence[str]) -> dict[Setting, list[str]]:
    """What the reference lines learn from: the columns of the raw table that each keeps.

    Fully masked attributes hold one value each, so that leaving them out is the same. The sensitive attributes of
    templates and their like are in a release as they are; without them nobody could infer anything.
    """
    sensitive = {requirement.sensitive for requirement in spec.requirements} - {None}
    kept: dict[Setting, list[str]] = {"raw": list(names)}
    if sensitive:
        kept["removed"] = [name for name in names if name not in sensitive]
    kept["masked"] = [name for name in names if name not in spec.masked]
    return kept


def measures(release: Release, spec: Spec, table: Table) -> Measures | None:
    """The measures of a release of masked rows."""
    if not isinstance(release.manifest, RefinementManifest):
        return None
    whose = Whose.of(release, table)
    return Measures(
        loss=information_loss(release, spec, table=table),
        risks=tuple(reidentification_risk(release, names, whose=whose) for names in quasi_identifiers(release)),
        whole_row=whole_row_risk(release),
    )


def guarantee(spec: Spec) -> dict[str, float]:
    """The numbers that say how much a spec asks for: ε, or the strictest of each bound."""
    if spec.plan is not None:
        return {"ε": float(spec.plan.epsilon)}
    strictest: dict[str, float] = {}
    for requirement in spec.requirements:
        for key, bound in requirement.bounds.items():
            stricter = max if bound.way == "least" else min
            asked, name = getattr(requirement, key), bound.symbol or key
            strictest[name] = stricter(strictest.get(name, asked), asked)
    return strictest


def guarantee_text(spec: Spec) -> str:
    """The same as a cell of a table."""
    if spec.plan is not None:
        return f"ε = {decimal_text(spec.plan.epsilon)}"
    return ", ".join(f"{name} = {value:g}" for name, value in guarantee(spec).items())
