"""The frozen result of a search: how the values of each attribute are released, for these rows and for later ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unveil import html
from unveil.arrays import CodeArray, IntArray
from unveil.choices import Intervals, Unseen
from unveil.errors import ReleaseError, TableError, count_text, did_you_mean, rows_text, shortened
from unveil.frames import arrow_table, first_line, is_pandas, like, value_type
from unveil.masking.boxes import BoxTree, groups_text, sketch
from unveil.masking.entries import (
    AnyMasking,
    AsIs,
    Discretization,
    Kinds,
    Masked,
    SurveyWeight,
    known_values,
)
from unveil.masking.values import (
    ClassType,
    Derivations,
    as_type,
    date_column,
    days,
    decoded,
    dictionary_of,
    is_text,
    python_values,
    typed_labels,
)
from unveil.masking.views import View, Vocabulary
from unveil.masking.walk import Walk
from unveil.schema import SUPPRESSED, Derivation, Kind, code_text, value_text


class Masking:
    """How every column of a release is masked. It can be applied to rows that arrive later."""

    def __init__(
        self,
        columns: dict[str, AnyMasking],
        class_: str | None = None,
        class_type: ClassType = "text",
        weight: str | None = None,
        boxes: Sequence[BoxTree] = (),
        derived: Mapping[str, Derivation] | None = None,
        class_missing: Kinds | None = None,
    ) -> None:
        """Stores the arguments.

        Args:
            columns: How each column is masked.
            class_: The column of the class. Later rows that have it keep it.
            class_type: What that column holds.
            weight: The column with the number of records that a row represents, kept in the same way.
            boxes: The trees that give the labels of attributes refined group by group.
            derived: The columns that raw rows do not have, and how each is derived.
            class_missing: If rows without a class were kept: the label of each kind, and the texts that mean it.
        """
        self.columns = columns
        self.boxes = tuple(boxes)
        self._class = class_
        self._class_type = class_type
        self._weight = weight
        self._derived = derived or {}
        self._class_entry = AsIs(domain="declared", type="category", missing=class_missing or {})

    def __getitem__(self, name: str) -> AnyMasking:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __repr__(self) -> str:
        return f"Masking({', '.join(f'{name}: {column.kind}' for name, column in self.columns.items())})"

    def _repr_html_(self) -> str:
        """A table of the columns and their labels, and the top of each tree of groups, for notebooks."""
        head = ("attribute", "masked by", "blocks", "released as")
        table = html.table(head, (_described(name, entry) for name, entry in self.columns.items()))
        return html.page_part(table, *map(_drawn, self.boxes)) if self.boxes else table

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
        Class and weight, if the rows have them, follow the masked columns. A survey weight, if they have it, is as in
        the release, but left out where that shows the means of groups. All other columns are dropped.

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
        rows = self._complete(rows, unseen)
        masked = self.labels(rows, unseen=unseen)
        if self._class in rows.column_names:
            labels = without_marks(rows[self._class], self._class_entry)
            masked = masked.append_column(self._class, typed_labels(labels, self._class_type))
        return masked.append_column(self._weight, rows[self._weight]) if self._weight in rows.column_names else masked

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """What the labels of each attribute that is refined group by group cover."""
        return {
            name: Vocabulary.of(entry)
            for name, entry in self.columns.items()
            if isinstance(entry, Masked) and entry.local
        }

    @cached_property
    def walks(self) -> tuple[Walk, ...]:
        """The trees of boxes, ready to place rows; refuses a local attribute that is not in exactly one of them."""
        held = [name for tree in self.boxes for name in tree.attributes]
        for name, entry in self.columns.items():
            if isinstance(entry, Masked) and entry.local and held.count(name) != 1:
                raise ReleaseError(f"boxes: {name!r} is in {held.count(name)} trees; a local attribute is in one.")
        return tuple(Walk(tree, self.columns) for tree in self.boxes)

    def labels(self, rows: pa.Table, *, unseen: Unseen = "refuse") -> pa.Table:
        """Masks the columns as the data files of a release hold them, and drops all others."""
        rows = self._complete(rows, unseen)
        names = [name for name, entry in self.columns.items() if _is_wanted(name, entry, rows)]
        for name in names:
            if name not in rows.column_names:
                wanted = self._derived[name].from_ if name in self._derived else name
                use = f", from which {name!r} is derived" if name in self._derived else ""
                raise TableError(
                    f"the rows to mask lack the column {wanted!r}{use}{did_you_mean(wanted, rows.column_names) or '.'}"
                )
        local = {name: column for walk in self.walks for name, column in self._local(walk, rows, unseen)}
        masked = {name: local[name] if name in local else self._masked(name, rows, unseen) for name in names}
        return pa.table(masked)

    def _complete(self, rows: pa.Table, unseen: Unseen) -> pa.Table:
        """The rows with the derived columns that they lack. A value that does not fit is refused or suppressed."""
        names = rows.column_names
        lacked = {
            name: item
            for name, item in self._derived.items()
            if item.from_ in names and (name not in names or _is_coded(rows[name], item))
        }
        wanted = list(dict.fromkeys((*names, *lacked)))
        return Derivations(lacked, alone=unseen == "suppress").rows(rows, wanted) if lacked else rows

    def _masked(self, name: str, table: pa.Table, unseen: Unseen) -> pa.ChunkedArray | pa.DictionaryArray:
        entry = self.columns[name]
        if isinstance(entry, AsIs):
            column = _typed(name, without_marks(table[name], entry), entry.type)
            return column if entry.survey_weight is None else _weights(name, column, entry.survey_weight)
        held = _held(table[name], entry)
        labels = entry.labels(held.values)
        if unseen == "refuse":
            _check_seen(name, held, [label is not None for label in labels])
        return _column([label or SUPPRESSED for label in labels], held.places)

    def _local(self, walk: Walk, table: pa.Table, unseen: Unseen) -> Iterator[tuple[str, pa.DictionaryArray]]:
        """The columns that a tree masks. A row ends where a value has no block, with the labels that it has there."""
        held = {name: _held(table[name], self.columns[name]) for name in walk.attributes}
        cell_of = {name: walk.cells[name].of(held[name].values) for name in walk.attributes}
        if unseen == "refuse":
            for name in walk.attributes:
                _check_seen(name, held[name], (cell_of[name] >= 0).tolist())
        nodes = walk.nodes([column.places for column in held.values()], list(cell_of.values()))
        for name in walk.local:
            labels, label_at = walk.labels(name)
            unknown = cell_of[name][held[name].places] < 0
            yield name, _column([*labels, SUPPRESSED], np.where(unknown, len(labels), label_at[nodes]))


def _is_coded(column: pa.ChunkedArray, derivation: Derivation) -> bool:
    """Whether a column holds codes that have labels; otherwise its values are what a release shows already."""
    codes = derivation.names or {}
    return any(code_text(value) in codes for value in python_values(dictionary_of(column).dictionary))


def _is_wanted(name: str, entry: AnyMasking, rows: pa.Table) -> bool:
    """Whether masked rows have the column: later rows need no survey weight, and have no groups to take a mean of."""
    weight = entry.survey_weight if isinstance(entry, AsIs) else None
    return weight is None or (weight.by_row and name in rows.column_names)


def _weights(name: str, column: pa.ChunkedArray, weight: SurveyWeight) -> pa.ChunkedArray:
    """Survey weights as a release shows them."""
    if weight.step is None:
        return column
    held = dictionary_of(column)
    try:
        numbers = held.dictionary.cast(pa.float64()).to_pylist()
    except pa.ArrowInvalid as error:
        raise TableError(f"column {name!r}: a survey weight is not a number: {first_line(error)}.") from error
    shown = pa.array([weight.shown(number) for number in numbers], pa.float64())
    return pa.chunked_array([shown.take(held.indices)])


class _Held(NamedTuple):
    """The values of a column, None for a missing one, and for each row the place of its value."""

    values: list[Any]
    places: IntArray


def _held(column: pa.ChunkedArray, entry: AnyMasking) -> _Held:
    dates = isinstance(entry, Discretization) and entry.unit == "date"
    encoded = dictionary_of(days(column) if dates else column)
    values = known_values(entry, [*python_values(encoded.dictionary), None])
    return _Held(values, encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False))


def _check_seen(name: str, held: _Held, seen: Sequence[bool]) -> None:
    """Refuses rows with a value that has no block."""
    counts = np.bincount(held.places, minlength=len(held.values))
    for value, count, known in zip(held.values, counts.tolist(), seen, strict=True):
        if count and not known:
            shown = "a missing value" if value is None else repr(value)
            raise TableError(
                f"column {name!r}: {shown} has no block in this release ({rows_text(count)}); --unseen suppress "
                f'(in Python unseen="suppress") masks it as {SUPPRESSED}.'
            )


def _column(labels: Sequence[str], places: CodeArray) -> pa.DictionaryArray:
    """A column of labels, in a dictionary of those that occur."""
    used = np.bincount(places, minlength=len(labels)) > 0
    distinct = sorted({label for label, held in zip(labels, used, strict=True) if held})
    rank_of = {label: rank for rank, label in enumerate(distinct)}
    ranks = np.array([rank_of.get(label, 0) for label in labels], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(ranks[places]), pa.array(distinct, pa.string()))


def _described(name: str, entry: AnyMasking) -> tuple[str, str, str, str]:
    if isinstance(entry, AsIs):
        return name, entry.kind, "", entry.words
    kind = f"{entry.kind}, group by group" if entry.local else entry.kind
    return name, kind, str(len(entry.shown)), shortened(entry.shown)


def _drawn(tree: BoxTree) -> str:
    lines = "\n".join(sketch(tree).lines(groups_text))
    return html.folded(f"{count_text(tree.leaves, 'group')} of {', '.join(tree.attributes)}", html.preformatted(lines))


def without_marks(column: pa.ChunkedArray, entry: AsIs) -> pa.ChunkedArray:
    """A column released as it is, with what is missing: null for a number or a date, else its label."""
    if not entry.missing:
        return column
    held = _held(column, entry)
    shown = [None if entry.type != "category" and value in entry.missing else value for value in held.values]
    texts = pa.array([None if value is None else value_text(value) for value in shown], pa.string())
    if is_text(decoded(column).type) or entry.type == "category":
        return pa.chunked_array([texts.take(pa.array(held.places))])
    return pa.chunked_array([pa.array(shown, decoded(column).type).take(pa.array(held.places))])


def _typed(name: str, column: pa.ChunkedArray, type_: Kind) -> pa.ChunkedArray:
    """A column released as it is. Numbers and dates that a csv file holds as text become numbers and dates again."""
    if type_ == "date":
        return date_column(name, column)
    if type_ == "number" and is_text(value_type(column.type)):
        for number in (pa.int64(), pa.float64()):
            with suppress(pa.ArrowInvalid):
                return as_type(column, number)
    return decoded(column)
