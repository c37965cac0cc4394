"""The dictionaries that parquet files carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import listed
from unveil.verify.findings import Finding
from unveil.verify.parts import PARQUET


class StoredWords:
    """The texts that the dictionaries of the files list, whether or not a row holds them."""

    def __init__(self) -> None:
        self._words: dict[str, pa.Array] = {}
        self._latest: dict[str, pa.Array] = {}

    def add(self, batch: pa.Table) -> None:
        """Takes the dictionaries of some rows. Those of one row group share one, which is looked at once."""
        for name, column in zip(batch.column_names, batch.columns, strict=True):
            for chunk in column.chunks if pa.types.is_dictionary(column.type) else ():
                if name not in self._latest or not chunk.dictionary.equals(self._latest[name]):
                    self._latest[name] = chunk.dictionary
                    words = pc.cast(chunk.dictionary, pa.string())
                    known = self._words.get(name, words.slice(0, 0))
                    self._words[name] = pc.unique(pa.concat_arrays([known, words]))

    def findings(self, held: Mapping[str, pa.Array]) -> Iterator[Finding]:
        """A dictionary may list values that no row holds: hidden ones, for all we know.

        Args:
            held: The values of each column that some row holds.
        """
        for name, words in self._words.items():
            unused = words.filter(pc.invert(pc.is_in(words, value_set=pc.cast(held[name], pa.string()))))
            if len(unused):
                values = listed(str(value) for value in unused.to_pylist())
                message = f"{PARQUET}: the dictionary of the column {name!r} lists {values}, which no row holds."
                yield Finding("dictionary", message)
