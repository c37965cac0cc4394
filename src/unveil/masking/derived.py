"""Derived columns of some rows: computed value by value, so that rows are gone through once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from unveil.errors import TableError, did_you_mean, rows_text
from unveil.masking.values import days, dictionary_of, python_values, single_values
from unveil.schema import Derivation, UnfitError, value_text

TYPE = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Derivations:
    """The derived columns of a table, and how rows get them."""

    by_name: Mapping[str, Derivation]
    unread: Collection[str] = ()
    """Columns that are there to derive others from, and that nobody else reads."""
    alone: bool = False
    """Whether a value that nothing can be derived from is missing, instead of an error."""
    place: str = field(default="", kw_only=True)
    """What messages call the rows, followed by a colon and a space."""

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of rows after derivation.

        Raises:
            TableError: A source is not there, or a derived column is there already.
        """
        for name, derivation in self.by_name.items():
            if name in given.names and derivation.from_ != name:
                raise TableError(f"{self.place}the table has a column {name!r} already, so it cannot be derived.")
            if derivation.from_ not in given.names:
                hint = did_you_mean(derivation.from_, given.names) or "."
                raise TableError(
                    f"{self.place}the column {derivation.from_!r}, from which {name!r} is derived, is not in the "
                    f"table{hint}"
                )
        kept = [column for column in given if column.name not in {*self.unread, *self.by_name}]
        return pa.schema([*kept, *(pa.field(name, TYPE) for name in self.by_name)])

    def sources(self, names: Sequence[str]) -> list[str]:
        """The columns to read for some columns."""
        return list(dict.fromkeys(self.by_name[name].from_ if name in self.by_name else name for name in names))

    def rows(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        """Some columns of rows, derived where the rows do not have them."""
        return pa.table({name: self._column(name, table) for name in names})

    def _column(self, name: str, table: pa.Table) -> pa.ChunkedArray:
        if name not in self.by_name:
            return table[name]
        derivation = self.by_name[name]
        column = days(table[derivation.from_]) if derivation.unit == "date" else table[derivation.from_]
        encoded = dictionary_of(column)
        values = (single_values if self.alone else python_values)(encoded.dictionary)
        texts = (*derivation.values, *(() if derivation.names is None else derivation.missing))
        numbers = {text: number for number, text in enumerate(texts)}
        found_texts = (self._of(value, name, column) for value in values)
        places = [None if text is None else numbers[text] for text in found_texts]
        # A null takes a null from the places.
        found = pa.array(places, pa.int32()).take(encoded.indices)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(found, pa.array(texts, pa.string()))])

    def _of(self, value: object, name: str, column: pa.ChunkedArray) -> str | None:
        derivation = self.by_name[name]
        try:
            return derivation.of(value)
        except UnfitError as error:
            if self.alone:
                return None
            encoded = dictionary_of(column)
            held = [entry == value for entry in python_values(encoded.dictionary)]
            rows = int(np.bincount(encoded.indices.drop_null().to_numpy(), minlength=len(held))[held].sum())
            held_by = f"the value {value_text(value)!r} ({rows_text(rows)})"
            raise TableError(
                f"{self.place}column {derivation.from_!r}: {held_by} {error}, so {name!r} cannot be derived from it."
            ) from error
