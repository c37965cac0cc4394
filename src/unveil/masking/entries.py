"""The entries of a manifest that say how each attribute is masked (`docs/release.md`), and the labels they give.

A local release has an entry per attribute too. Where an attribute is refined group by group, its entry is a vocabulary:
every label that some group has, so labels overlap, and the trees of boxes say which rows have which.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from math import nan
from operator import not_
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from unveil.arrays import FloatArray
from unveil.errors import BrokenPromiseError
from unveil.masking.trees import Scale
from unveil.schema import (
    SUPPRESSED,
    Kind,
    Missing,
    Range,
    Shown,
    Unit,
    missing_number,
    number_of,
    number_text,
    rounded_weight,
    value_text,
)

Bound = int | float | datetime.date
"""An end of an interval, as the manifest writes it."""
Domain = Literal["declared", "observed"]
Labels = list[str | None]
"""The label of each value; None if the masking has no block for it."""


Local = Annotated[bool, Field(exclude_if=not_)]
"""Whether the attribute is refined group by group: its labels overlap, and a tree of boxes says who has which."""


Kinds = dict[str, tuple[str, ...]]
"""The labels of missing values that are kept, each with the texts that mean it; a null is of the kind with the empty
text, or else of the first."""


class Entry(BaseModel):
    """A part of a manifest: fixed keys, fixed types, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)


def _is_none(value: object) -> bool:
    return value is None


class Generalized(Entry):
    """A block of a taxonomy cut: its label and its leaves."""

    label: str
    values: tuple[str, ...]
    rest: bool = Field(default=False, exclude_if=not_)
    """In a vocabulary: whether this is what other groups leave of a node, so that it covers these values at most."""


class Interval(Entry):
    """A block of a discretization: `[from, to)`, missing values, or both."""

    label: str
    from_: Bound | None = Field(default=None, alias="from", exclude_if=_is_none)
    to: Bound | None = Field(default=None, exclude_if=_is_none)
    missing: tuple[str, ...] = Field(default=(), exclude_if=not_)
    """The kinds of missing values that it holds, besides its numbers or alone."""

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if (self.from_ is None) != (self.to is None) or (self.from_ is None and not self.missing):
            raise ValueError(f"the block {self.label!r} lacks a bound")
        return self

    @property
    def numbers(self) -> Range | None:
        """Its numbers; those of a date are days since 1970-01-01. None if it holds missing values only."""
        return None if self.from_ is None or self.to is None else (_number(self.from_), _number(self.to))

    @property
    def lo(self) -> float:
        """Where its numbers start; NaN if there are none."""
        return nan if self.numbers is None else self.numbers[0]

    @property
    def hi(self) -> float:
        """Where they end."""
        return nan if self.numbers is None else self.numbers[1]


def _number(bound: Bound) -> float:
    return number_of(bound, "date" if isinstance(bound, datetime.date) else "number") or 0


class Generalization(Entry):
    """A cut through a taxonomy."""

    kind: Literal["generalization"] = "generalization"
    domain: Domain
    local: Local = False
    missing: Kinds = Field(default_factory=dict, exclude_if=not_)
    blocks: tuple[Generalized, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """What a reader may see in the column, in domain order."""
        return tuple(block.label for block in self.blocks)

    def labels(self, values: Sequence[Any]) -> Labels:
        """The label above each value; None for a value that the taxonomy does not have."""
        _check_cut(self)
        label_of = {value: block.label for block in self.blocks for value in block.values}
        return [None if value is None else label_of.get(value_text(value)) for value in values]


class Suppression(Entry):
    """The disclosed values. Every other value is hidden, whether or not it was ever seen."""

    kind: Literal["suppression"] = "suppression"
    domain: Domain
    local: Local = False
    missing: Kinds = Field(default_factory=dict, exclude_if=not_)
    disclosed: tuple[str, ...]
    marker: str = SUPPRESSED

    @property
    def shown(self) -> tuple[str, ...]:
        """What a reader may see in the column, in domain order."""
        return (*self.disclosed, self.marker)

    def labels(self, values: Sequence[Any]) -> Labels:
        """The value itself if it is disclosed, else the marker."""
        _check_cut(self)
        disclosed = set(self.disclosed)
        texts = [None if value is None else value_text(value) for value in values]
        return [text if text is None or text in disclosed else self.marker for text in texts]


class Discretization(Entry):
    """Intervals that cover the range."""

    kind: Literal["discretization"] = "discretization"
    domain: Domain
    local: Local = False
    unit: Unit = "number"
    """What the bounds are: numbers, or dates."""
    whole: bool
    missing: Kinds = Field(default_factory=dict, exclude_if=not_)
    blocks: tuple[Interval, ...]

    @model_validator(mode="after")
    def _on_one_scale(self) -> Self:
        if all(block.numbers is None for block in self.blocks):
            raise ValueError("no block has numbers")
        for block in self.blocks:
            if strange := [kind for kind in block.missing if kind not in self.missing]:
                raise ValueError(
                    f"the block {block.label!r} holds {strange[0]!r}, which is not a kind of missing value"
                )
        return self

    @property
    def shown(self) -> tuple[str, ...]:
        """What a reader may see in the column, in domain order."""
        return tuple(block.label for block in self.blocks)

    @property
    def scale(self) -> Scale:
        """Its range, and after it the kinds of missing values."""
        ends = [block.numbers for block in self.blocks if block.numbers is not None]
        return Scale(ends[0][0], max(hi for _, hi in ends), self.unit, tuple(self.missing))

    @property
    def spans(self) -> dict[str, Range]:
        """Where the block of each label begins and ends on the scale."""
        scale = self.scale
        return {block.label: scale.span(block.numbers, block.missing) for block in self.blocks}

    def places(self, values: Sequence[Any]) -> FloatArray:
        """Where values lie on the scale: numbers, and labels of missing values; NaN for anything else."""
        kinds = {label: missing_number(kind) for kind, label in enumerate(self.missing)}
        return np.array(
            [
                kinds[value] if isinstance(value, str) and value in kinds else number_of(value, self.unit)
                for value in values
            ],
            dtype=np.float64,
        )

    @property
    def intervals(self) -> dict[str, Interval]:
        """The blocks by their labels, and the one of the full range: that of rows left out and fully masked."""
        scale = self.scale
        first, last = self.blocks[0], max(self.blocks, key=lambda block: (block.numbers is not None, block.hi))
        label = scale.label(scale.lo, scale.end)
        whole = Interval(label=label, from_=first.from_, to=last.to, missing=scale.missing)
        return {label: whole, **{one.label: one for one in self.blocks}}

    def middle(self, block: Interval) -> float:
        """The middle of the values that an interval can hold.

        Whole numbers in `[17, 46)` run from 17 to 45, so their middle is 31; other numbers come arbitrarily close to
        46, so their middle is 31.5. The middle of dates is a day, the earlier one of two. It is NaN for missing
        values.
        """
        middle = (block.lo + block.hi - (1 if self.whole else 0)) / 2
        return middle // 1 if self.unit == "date" else middle

    def labels(self, values: Sequence[Any]) -> Labels:
        """The interval that holds each number or date; None outside the range and for other values."""
        _check_cut(self)
        starts, ends = np.array(list(self.spans.values())).T
        numbers = self.places(values)
        places = np.searchsorted(starts, numbers, side="right") - 1
        inside = (places >= 0) & (numbers < ends[-1])
        return [self.blocks[place].label if held else None for place, held in zip(places, inside, strict=True)]


class SurveyWeight(Entry):
    """What is released of a survey weight: the value, the nearest multiple of a step, or that of its group's mean."""

    release: Shown
    step: float | None = Field(default=None, exclude_if=_is_none)
    groups: tuple[str, ...] = Field(default=(), exclude_if=not_)
    """The attributes whose groups the mean is of."""

    @property
    def words(self) -> str:
        """What readers learn about the weights."""
        if self.step is None:
            return "survey weights as they are"
        step = number_text(self.step)
        return f"survey weights, rounded to {step}" if self.by_row else f"mean survey weight of a group, to {step}"

    @property
    def by_row(self) -> bool:
        """Whether a row alone decides what is released of its weight."""
        return not self.groups

    def shown(self, weight: float) -> float:
        """What is released of a weight, if a row alone decides that."""
        return weight if self.step is None else rounded_weight(Fraction(str(weight)), self.step)


class AsIs(Entry):
    """An attribute in no requirement, released as it is; a survey weight perhaps rounded."""

    kind: Literal["released"] = "released"
    domain: Domain
    type: Kind
    missing: Kinds = Field(default_factory=dict, exclude_if=not_)
    """A number or a date has null for what is missing; a category has its label."""
    survey_weight: SurveyWeight | None = Field(default=None, alias="survey-weight", exclude_if=_is_none)
    """How many people of the population a record represents, if the column says that."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Nothing is masked, so there is no list of labels."""
        return ()

    @property
    def words(self) -> str:
        """What readers learn about the values."""
        return "every value as it is" if self.survey_weight is None else self.survey_weight.words


Masked = Generalization | Suppression | Discretization
AnyMasking = Masked | AsIs
ColumnMasking = Annotated[AnyMasking, Field(discriminator="kind")]


def known_values(entry: AnyMasking, values: Sequence[Any]) -> list[Any]:
    """Raw values as a masking knows them: the label of one that is missing, None where that has none."""
    marks = tuple(mark for marks in entry.missing.values() for mark in marks)
    return list(map(Missing(marks, "keep", tuple(entry.missing.items())).reader(), values))


def _check_cut(entry: Masked) -> None:
    """Refuses to mask by a vocabulary: a label that holds a value may be finer than the value's group allows."""
    if entry.local:
        raise BrokenPromiseError("an attribute that is refined group by group has no label without its boxes.")
