"""What a survey says about the population: its records weighed by how many people each represents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unveil.arrays import FloatArray
from unveil.errors import count_text
from unveil.evaluation.statistics import Statistics, statistics
from unveil.masking import dictionary_of
from unveil.release import Release
from unveil.schema import Spec, value_text
from unveil.tables import Table

CLASS_COLUMNS = ("class", "of the records", "of the people", "by the release")


@dataclass(frozen=True)
class ClassShare:
    """How large a class is."""

    label: str
    records: float
    """Its share of the records."""
    people: float
    """Its share of the people that they represent."""
    released: float | None = None
    """The same, estimated from a release; None if that has no weights."""


@dataclass(frozen=True)
class Population:
    """Population estimates. Computed from raw data, so they are private to the owner."""

    weight: str
    """The column of the weights."""
    records: int
    people: float
    """How many people the records represent."""
    classes: tuple[ClassShare, ...]
    """The largest first."""
    statistics: Statistics | None = None
    """How well estimates from a release agree with those from the raw table; None if the release has no weights."""

    @property
    def sentence(self) -> str:
        """How many people there are, and what they are counted by."""
        records = count_text(self.records, "record")
        return f"Weighted by {self.weight!r}, {records} represent about {self.people:,.0f} people."

    def class_rows(self, most: int) -> list[tuple[str, ...]]:
        """A row of a table for each of the largest classes."""
        return [
            (item.label, *(percent(share) for share in (item.records, item.people, item.released)))
            for item in self.classes[:most]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "weight": self.weight,
            "records": self.records,
            "people": self.people,
            "classes": [asdict(item) for item in self.classes],
            "statistics": None if self.statistics is None else self.statistics.to_dict(),
        }


def percent(share: float | None) -> str:
    """A share as a cell of a table."""
    return "" if share is None else f"{share:.1%}"


def population(spec: Spec, table: Table, release: Release | None = None) -> Population | None:
    """The estimates that a table allows, next to those of a release; None if the table has no survey weights."""
    if spec.survey_weight is None or table.survey is None:
        return None
    codes, size = table.classes.codes, len(table.classes)
    records, people = np.bincount(codes, minlength=size), np.bincount(codes, weights=table.survey, minlength=size)
    labels = [value_text(value) for value in table.classes.array.to_pylist()]
    weighed = None if release is None or release.manifest.survey_weight is None else release
    shares = None if weighed is None else released_shares(weighed)
    classes = [
        ClassShare(
            label,
            float(records[place] / records.sum()),
            float(people[place] / people.sum()),
            None if shares is None else shares.get(label, 0.0),
        )
        for place, label in enumerate(labels)
        if records[place]
    ]
    return Population(
        weight=spec.survey_weight.name,
        records=table.records,
        people=float(people.sum()),
        classes=tuple(sorted(classes, key=lambda item: -item.people)),
        statistics=None if weighed is None else statistics(weighed, spec, table, people=table.survey),
    )


def released_shares(release: Release) -> dict[str, float]:
    """The share of the population in each class, as a reader of a release with weights estimates it."""
    rows, counts = release.counted
    weights: FloatArray = counts * rows[release.manifest.survey_weight].to_numpy()
    held = dictionary_of(rows[release.manifest.class_])
    labels: Sequence[Any] = held.dictionary.to_pylist()
    people = np.bincount(held.indices.to_numpy(), weights=weights, minlength=len(labels))
    total = people.sum() or 1.0
    return {value_text(label): float(share / total) for label, share in zip(labels, people, strict=True)}
