"""The first pass over the rows: which values each column holds, and how many rows and records hold each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.cores import each
from unveil.errors import TableError, did_you_mean, listed, rows_text
from unveil.schema import Attribute, Spec, parse_number
from unveil.tables.coder import Coder, Reading, Sight, add_counts
from unveil.tables.columns import MISSING, Codes, followed, other_columns
from unveil.tables.domains import (
    Coding,
    Outline,
    RawValues,
    class_coding,
    number_coding,
    text_coding,
    value_checks,
    weight_coding,
    weights,
)
from unveil.tables.persons import Withheld


class SeenColumn:
    """The values of one column in order of appearance, and how many rows and records hold each."""

    def __init__(self, name: str, type_: pa.DataType) -> None:
        self.name = name
        self.type = type_
        self.number_of: dict[Any, int] = {}
        self.missing = 0
        self.rows: IntArray = np.zeros(0, dtype=np.int64)
        self.records: IntArray = np.zeros((0, 0), dtype=np.int64)

    def numbered(self, values: Sequence[Any]) -> Codes:
        """The numbers of values; new values get new numbers."""
        number_of = self.number_of
        return np.array([number_of.setdefault(value, len(number_of)) for value in values], dtype=np.int32)

    def count(self, sight: Sight, class_: str, width: int, records: IntArray | None) -> None:
        """Counts rows and, for the `width` classes known, records; without these a row is one record."""
        raw, classes = sight.columns[self.name], sight.columns[class_]
        numbers, labels = sight.numbers[self.name], sight.numbers[class_]
        shape = len(raw.place_of), len(classes.place_of)
        pairs = raw.entries * np.int64(shape[1]) + classes.entries
        cells = np.bincount(pairs, weights=records, minlength=shape[0] * shape[1]).astype(np.int64)
        self.rows = _grown(self.rows, (len(self.number_of),))
        add_counts(self.rows, numbers, cells.reshape(shape).sum(axis=1) if records is None else raw.rows())
        self.records = _grown(self.records, (len(self.number_of), width))
        cell_numbers = numbers[:, None] * np.int64(width) + labels
        add_counts(self.records.reshape(-1), cell_numbers.reshape(-1), cells)

    def absorb(self, other: SeenColumn, classes: Codes, width: int) -> None:
        """Adds what another survey saw of the column; `classes` are the numbers here of the classes there."""
        numbers = self.numbered(list(other.number_of))
        size = len(self.number_of)
        self.missing += other.missing
        self.rows = _grown(self.rows, (size,))
        self.rows[numbers] += other.rows
        self.records = _grown(self.records, (size, width))
        self.records[np.ix_(numbers, classes)] += other.records

    def held(self) -> tuple[RawValues, IntArray]:
        """The values that some kept row holds, and their numbers."""
        rows = _grown(self.rows, (len(self.number_of),))
        numbers = np.flatnonzero(rows)
        values = list(self.number_of)
        return RawValues(self.name, tuple(values[number] for number in numbers), rows[numbers], self.type), numbers


class Survey:
    """Reads rows batch by batch, and checks the result against the spec."""

    def __init__(self, spec: Spec, schema: pa.Schema, origin: str, withheld: Withheld | None = None) -> None:
        self.others = other_names(spec, schema.names, origin)
        """The columns that are released although the spec does not describe them."""
        self._spec = spec
        self._schema = schema
        self._origin = origin
        self.attributes = [attribute.name for attribute in spec.released]
        weight = [spec.table.weight] if spec.table.weight else []
        names = [*self.attributes, spec.table.class_, *weight]
        self.columns = {name: SeenColumn(name, schema.field(name).type) for name in names}
        self._needed = dict.fromkeys(spec.needed, 0)
        """How many rows miss a value in each column that is not released but that every row needs."""
        dates = frozenset(attribute.name for attribute in spec.released if attribute.unit == "date")
        missing = {name: spec.missing_of(name) for name in [*names, *spec.needed]}
        self._reading = Reading(dates, missing, value_checks(spec, origin), origin, withheld)
        self.read = 0
        self._kept = 0
        self._withheld = 0

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return [*self.columns, *self._needed]

    def fresh(self) -> Survey:
        """A survey of the same table that has seen nothing yet."""
        return Survey(self._spec, self._schema, self._origin, self._reading.withheld)

    def add(self, batch: pa.Table) -> Sight:
        """Adds rows."""
        sight = self._reading.sight(
            batch, self.columns, lambda raw: self.columns[raw.name].numbered(raw.distinct), list(self._needed)
        )
        self.read += batch.num_rows
        self._kept += int(sight.kept.sum())
        self._withheld += sight.withheld
        class_ = self._spec.table.class_
        records = self._provisional(sight)
        classes = len(self.columns[class_].number_of)
        each(lambda column: column.count(sight, class_, classes, records), self.columns.values(), batch.num_rows)
        for name, column in self.columns.items():
            column.missing += sight.missing[name]
        for name in self._needed:
            self._needed[name] += sight.missing[name]
        return sight

    def absorb(self, other: Survey) -> None:
        """Adds what a survey of other rows of the same table saw."""
        class_ = self._spec.table.class_
        classes = self.columns[class_].numbered(list(other.columns[class_].number_of))
        for name, column in self.columns.items():
            column.absorb(other.columns[name], classes, len(self.columns[class_].number_of))
        for name, rows in other._needed.items():
            self._needed[name] += rows
        self.read += other.read
        self._kept += other._kept
        self._withheld += other._withheld

    def _provisional(self, sight: Sight) -> IntArray | None:
        """Weights before they are checked; an invalid one counts as 0 and is refused at the end."""
        if self._spec.table.weight is None:
            return None
        raw = sight.columns[self._spec.table.weight]
        numbers = [parse_number(value) or 0.0 for value in raw.distinct]
        records = np.array([number if 0 < number < 2**53 else 0 for number in numbers], dtype=np.int64)
        return followed(raw.place_of, records)[raw.entries]

    def result(self) -> tuple[Outline, Coder]:
        """Checks all values against the spec and numbers them in the order of their domains."""
        self._check_rows()
        codings: dict[str, Coding] = {}
        codes: dict[str, Codes] = {}
        class_ = self._spec.table.class_
        for name in [*self.attributes, class_]:
            held, numbers = self.columns[name].held()
            codings[name] = self._class_coding(held) if name == class_ else self._coding(held)
            codes[name] = _spread(codings[name].code_of, numbers, len(self.columns[name].number_of))
        records = self._records()
        histograms = tuple(
            self._histogram(name, codings[name], codes[name], codes[class_], len(codings[class_].domain))
            for name in self.attributes
        )
        outline = Outline(
            attributes=self._spec.released,
            columns=tuple(codings[name].domain for name in self.attributes),
            classes=codings[class_].domain,
            histograms=histograms,
            others=self._others_schema(),
            read=self.read,
            dropped=self.read - self._kept - self._withheld,
            withheld=self._withheld,
            records=int(self.columns[class_].records.sum()),
            weighted=self._spec.table.weight is not None,
            origin=self._origin,
            persons=None,
        )
        return outline, self._coder(codes, records)

    def _coder(self, codes: dict[str, Codes], records: IntArray | None) -> Coder:
        table = self._spec.table
        return Coder(
            attributes=tuple(self.attributes),
            class_=table.class_,
            weight=table.weight,
            others=self.others,
            reading=self._reading,
            dropped=self.read - self._kept,
            number_of={name: column.number_of for name, column in self.columns.items()},
            rows={name: column.rows for name, column in self.columns.items()},
            codes=codes,
            records=records,
            person=table.person,
            needed=self._spec.needed,
        )

    def _coding(self, held: RawValues) -> Coding:
        attribute, private = self._spec.attributes[held.name], self._spec.plan is not None
        if attribute.weighting is not None:
            return weight_coding(held, attribute, self._origin)
        if attribute.ordered:
            return number_coding(held, attribute, self._origin, snap=private)
        return text_coding(held, attribute, self._origin, private=private)

    def _class_coding(self, held: RawValues) -> Coding:
        table, private = self._spec.table, self._spec.plan is not None
        labels = Attribute(held.name, values=table.class_values, missing=table.class_missing)
        coding = class_coding(held, labels, self._origin, private=private)
        # The release must not reveal that a private table is empty or has one class, so these are published as usual.
        if len(held.distinct) < 2 and not private:
            label = coding.domain.values[int(coding.code_of[0])]
            raise one_label(self._origin, held.name, str(label))
        return coding

    def _histogram(self, name: str, coding: Coding, codes: Codes, class_codes: Codes, width: int) -> IntArray:
        seen = self.columns[name]
        records = _grown(seen.records, (len(codes), len(class_codes)))
        held, labels = np.flatnonzero(codes != MISSING), np.flatnonzero(class_codes != MISSING)
        histogram = np.zeros((len(coding.domain), width), dtype=np.int64)
        np.add.at(histogram, np.ix_(codes[held], class_codes[labels]), records[np.ix_(held, labels)])
        return histogram

    def _records(self) -> IntArray | None:
        if self._spec.table.weight is None:
            return None
        seen = self.columns[self._spec.table.weight]
        held, numbers = seen.held()
        records = np.zeros(len(seen.number_of), dtype=np.int64)
        records[numbers] = weights(held, self._origin)
        return records

    def _check_rows(self) -> None:
        """Checks the missing-value policy and that rows remain. A private table may be empty and must not show it."""
        if self.read == 0 and self._spec.plan is None:
            raise TableError(f"{self._origin}: the table has no rows.")
        missing = {**{name: column.missing for name, column in self.columns.items()}, **self._needed}
        for name, rows in missing.items():
            if rows and self._spec.missing_of(name).rows == "refuse":
                whose = self._why_needed(name)
                keep = ", or to 'keep' to make it a value" if name in self.attributes and not whose else ""
                raise TableError(
                    f"{self._origin}: the column {name!r}{whose} has missing values ({rows_text(rows)}), and "
                    f"the policy of {self._spec.origin} is to refuse them; set missing.rows to 'drop' to leave such "
                    f"rows out{keep}."
                )
        for name, rows in missing.items():
            if rows == self.read and self._spec.plan is None:
                raise TableError(f"{self._origin}: the column {name!r} is missing in every row, so none is left.")
        if self._kept == 0 and self._withheld:
            raise TableError(
                f"{self._origin}: all {rows_text(self._withheld)} would have to be held back to keep the promise "
                "together with the earlier releases; wait until more people joined or left."
            )
        if self._kept == 0 and self._spec.plan is None:
            raise TableError(f"{self._origin}: every row has a missing value, so none is left.")

    def _why_needed(self, name: str) -> str:
        """Why every row needs a column that is not masked, as a clause."""
        weight = self._spec.survey_weight
        if weight is not None and weight.name == name:
            return ", the survey weight,"
        return ", which says whose row it is," if name in self._needed else ""

    def _others_schema(self) -> pa.Schema:
        empty = pa.schema([self._schema.field(name) for name in self.others]).empty_table()
        return other_columns(empty, self._origin).schema


def one_label(origin: str, class_: str, label: str) -> TableError:
    """The error for rows that are all of one class."""
    return TableError(f"{origin}: the class {class_!r} has one label only, {label!r}, so there is nothing to learn.")


def other_names(spec: Spec, names: Sequence[str], origin: str) -> tuple[str, ...]:
    """The columns that the spec does not describe and releases as they are.

    Refuses a table without the columns that the spec describes, and others if it asks for that.
    """
    table = spec.table
    described = [*spec.attributes, table.class_, *([table.weight] if table.weight else []), *table.person]
    for name in described:
        if name not in names:
            hint = did_you_mean(name, names) or f"; it has {listed(names)}."
            raise TableError(f"{origin}: the column {name!r} that {spec.origin} describes is not in the table{hint}")
    unknown = [name for name in names if name not in described]
    if unknown and spec.table.others == "refuse":
        columns, them = ("column", "it") if len(unknown) == 1 else ("columns", "them")
        raise TableError(
            f"{origin}: {spec.origin} does not describe the {columns} {listed(unknown, 30)}; describe {them}, "
            "or set [table] others to 'drop' or 'release'."
        )
    return tuple(unknown) if spec.table.others == "release" else ()


def _spread(codes: Codes, numbers: IntArray, size: int) -> Codes:
    """Codes by number of appearance; values that no kept row holds have none."""
    spread = np.full(size, MISSING, dtype=np.int32)
    spread[numbers] = codes
    return spread


def _grown(counts: IntArray, shape: tuple[int, ...]) -> IntArray:
    if counts.shape == shape:
        return counts
    return np.pad(counts, [(0, size - now) for size, now in zip(shape, counts.shape, strict=True)])
