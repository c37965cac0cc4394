"""The frozen result of a search: how the values of each attribute are released, for these rows and for later ones.

The classes below are both the entries of a manifest (`docs/release.md`) and the code that masks.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field

from unveil import html
from unveil.choices import Intervals, Unseen
from unveil.errors import TableError, did_you_mean, rows_text, shortened
from unveil.frames import arrow_table, is_pandas, like
from unveil.masking.labels import ClassType, typed_labels
from unveil.masking.values import date_column, days, decoded, dictionary_of, is_text, python_values
from unveil.masking.views import View
from unveil.schema import SUPPRESSED, Kind, Unit, number_of, value_text

Bound = int | float | datetime.date
"""An end of an interval, as the manifest writes it."""
Domain = Literal["declared", "observed"]
Labels = list[str | None]
"""The label of each value; None if the masking has no block for it."""


class Entry(BaseModel):
    """A part of a manifest: fixed keys, fixed types, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Generalized(Entry):
    """A block of a taxonomy cut: its label and its leaves."""

    label: str
    values: tuple[str, ...]


class Interval(Entry):
    """A block of a discretization, `[from, to)`."""

    label: str
    from_: Bound = Field(alias="from")
    to: Bound

    @property
    def lo(self) -> float:
        """Where it starts, as a number; a date as days since 1970-01-01."""
        return _number(self.from_)

    @property
    def hi(self) -> float:
        """Where it ends."""
        return _number(self.to)


def _number(bound: Bound) -> float:
    return number_of(bound, "date" if isinstance(bound, datetime.date) else "number") or 0


class Generalization(Entry):
    """A cut through a taxonomy."""

    kind: Literal["generalization"] = "generalization"
    domain: Domain
    blocks: tuple[Generalized, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """What a reader may see in the column, in domain order."""
        return tuple(block.label for block in self.blocks)

    def labels(self, values: Sequence[Any]) -> Labels:
        """The label above each value; None for a value that the taxonomy does not have."""
        label_of = {value: block.label for block in self.blocks for value in block.values}
        return [None if value is None else label_of.get(value_text(value)) for value in values]


class Suppression(Entry):
    """The disclosed values. Every other value is hidden, whether or not it was ever seen."""

    kind: Literal["suppression"] = "suppression"
    domain: Domain
    disclosed: tuple[str, ...]
    marker: str = SUPPRESSED

    @property
    def shown(self) -> tuple[str, ...]:
        """What a reader may see in the column, in domain order."""
        return (*self.disclosed, self.marker)

    def labels(self, values: Sequence[Any]) -> Labels:
        """The value itself if it is disclosed, else the marker."""
        disclosed = set(self.disclosed)
        texts = [None if value is None else value_text(value) for value in values]
        return [text if text is None or text in disclosed else self.marker for text in texts]


class Discretization(Entry):
    """Intervals that cover the range."""

    kind: Literal["discretization"] = "discretization"
    domain: Domain
    unit: Unit = "number"
    """What the bounds are: numbers, or dates."""
    whole: bool
    blocks: tuple[Interval, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """What a reader may see in the column, in domain order."""
        return tuple(block.label for block in self.blocks)

    def middle(self, block: Interval) -> float:
        """The middle of the values that an interval can hold.

        Whole numbers in `[17, 46)` run from 17 to 45, so their middle is 31; other numbers come arbitrarily close to
        46, so their middle is 31.5. The middle of dates is a day, the earlier one of two.
        """
        middle = (block.lo + block.hi - (1 if self.whole else 0)) / 2
        return middle // 1 if self.unit == "date" else middle

    def labels(self, values: Sequence[Any]) -> Labels:
        """The interval that holds each number or date; None outside the range and for other values."""
        starts = np.array([block.lo for block in self.blocks])
        numbers = np.array([number_of(value, self.unit) for value in values], dtype=np.float64)
        places = np.searchsorted(starts, numbers, side="right") - 1
        inside = (places >= 0) & (numbers < self.blocks[-1].hi)
        return [self.blocks[place].label if held else None for place, held in zip(places, inside, strict=True)]


class AsIs(Entry):
    """An attribute in no requirement, released as it is."""

    kind: Literal["released"] = "released"
    domain: Domain
    type: Kind

    @property
    def shown(self) -> tuple[str, ...]:
        """Nothing is masked, so there is no list of labels."""
        return ()


ColumnMasking = Annotated[Generalization | Suppression | Discretization | AsIs, Field(discriminator="kind")]


class Masking:
    """How every column of a release is masked. It can be applied to rows that arrive later."""

    def __init__(
        self,
        columns: dict[str, Generalization | Suppression | Discretization | AsIs],
        class_: str | None = None,
        class_type: ClassType = "text",
        weight: str | None = None,
    ) -> None:
        """Stores the arguments.

        Args:
            columns: How each column is masked.
            class_: The column of the class. Later rows that have it keep it.
            class_type: What that column holds.
            weight: The column with the number of records that a row represents, kept in the same way.
        """
        self.columns = columns
        self._class = class_
        self._class_type = class_type
        self._weight = weight

    def __getitem__(self, name: str) -> Generalization | Suppression | Discretization | AsIs:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __repr__(self) -> str:
        return f"Masking({', '.join(f'{name}: {column.kind}' for name, column in self.columns.items())})"

    def _repr_html_(self) -> str:
        """A table of the columns and their labels, for notebooks."""
        head = ("attribute", "masked by", "blocks", "released as")
        return html.table(head, (_described(name, entry) for name, entry in self.columns.items()))

    def apply(
        self,
        rows: Any,
        *,
        unseen: Unseen = "refuse",
        intervals: Intervals | None = None,
        suppressed: str | None = SUPPRESSED,
    ) -> Any:
        """Masks rows that arrive later, in their own order.

        A value that is not disclosed is suppressed, even if it is new. A value without a block (a category that the
        taxonomy does not have, a number outside the range, a missing value) is refused, or suppressed if asked for.
        Class and weight, if the rows have them, follow the masked columns. All other columns are dropped.

        The guarantee of a release covers its own rows; it does not say how many new rows share a group.

        Args:
            rows: A pandas, polars or pyarrow table with the columns of the release.
            unseen: What to do with a value that has no block: `refuse` it with an error, or `suppress` it.
            intervals: How intervals are shown: `interval` (pandas alone), `bounds`, `midpoint` or `text`. By default
                as `Release.to_pandas`, `to_polars` and `to_arrow` show them, so that what learned from a release fits.
            suppressed: The text for a suppressed value; None for null.

        Returns:
            The masked rows, as the kind of table that was given.
        """
        labels = self.rows(arrow_table(rows), unseen=unseen)
        if is_pandas(rows):
            return (
                View(intervals or "interval", suppressed).of_pandas(labels, self.columns).set_axis(rows.index, axis=0)
            )
        return like(rows, View(intervals or "bounds", suppressed).of(labels, self.columns))

    def rows(self, rows: pa.Table, *, unseen: Unseen = "refuse") -> pa.Table:
        """Masks rows as the data files of a release hold them, with class and weight if they have them."""
        masked = self.labels(rows, unseen=unseen)
        if self._class in rows.column_names:
            masked = masked.append_column(self._class, typed_labels(rows[self._class], self._class_type))
        return masked.append_column(self._weight, rows[self._weight]) if self._weight in rows.column_names else masked

    def labels(self, rows: pa.Table, *, unseen: Unseen = "refuse") -> pa.Table:
        """Masks the columns as the data files of a release hold them, and drops all others."""
        return pa.table({name: self._masked(name, rows, unseen) for name in self.columns})

    def _masked(self, name: str, table: pa.Table, unseen: Unseen) -> pa.ChunkedArray | pa.DictionaryArray:
        if name not in table.column_names:
            raise TableError(
                f"the rows to mask lack the column {name!r}{did_you_mean(name, table.column_names) or '.'}"
            )
        entry = self.columns[name]
        if isinstance(entry, AsIs):
            return _typed(name, table[name], entry.type)
        dates = isinstance(entry, Discretization) and entry.unit == "date"
        encoded = dictionary_of(days(table[name]) if dates else table[name])
        held = python_values(encoded.dictionary)
        values = [*(None if value != value else value for value in held), None]
        labels = entry.labels(values)
        indices = encoded.indices.fill_null(len(values) - 1)
        used = set(pc.unique(indices).to_pylist())
        for place, (value, label) in enumerate(zip(values, labels, strict=True)):
            if label is None and place in used and unseen == "refuse":
                shown = "a missing value" if value is None else repr(value)
                rows = rows_text(pc.sum(pc.equal(indices, place)).as_py())
                raise TableError(
                    f"column {name!r}: {shown} has no block in this release ({rows}); --unseen suppress "
                    f'(in Python unseen="suppress") masks it as {SUPPRESSED}.'
                )
        distinct = sorted({label or SUPPRESSED for place, label in enumerate(labels) if place in used})
        place_of = {label: place for place, label in enumerate(distinct)}
        lookup = pa.array([place_of.get(label or SUPPRESSED, 0) for label in labels], pa.int32())
        return pa.DictionaryArray.from_arrays(lookup.take(indices), pa.array(distinct, pa.string()))


def _described(name: str, entry: Generalization | Suppression | Discretization | AsIs) -> tuple[str, str, str, str]:
    if isinstance(entry, AsIs):
        return name, entry.kind, "", "every value as it is"
    return name, entry.kind, str(len(entry.shown)), shortened(entry.shown)


def _typed(name: str, column: pa.ChunkedArray, type_: Kind) -> pa.ChunkedArray:
    """A column released as it is. Numbers and dates that a csv file holds as text become numbers and dates again."""
    if type_ == "date":
        return date_column(name, column)
    plain = decoded(column)
    if type_ == "category" or not is_text(plain.type):
        return plain
    for number in (pa.int64(), pa.float64()):
        try:
            return plain.cast(number)
        except pa.ArrowInvalid:
            continue
    return plain
