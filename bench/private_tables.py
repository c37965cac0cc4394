"""The tables that private releases are made of, how they are split, and their public places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from accuracy_diffgen import Setting, spec
from blowup import original_records
from samples import CENSUS_FIELDS, census_files, census_text

from unveil import load_spec
from unveil.evaluation.statistics import covered_codes
from unveil.masking import AnyMasking, Discretization
from unveil.publishers.additive.bins import number_levels
from unveil.schema import Attribute, Spec
from unveil.tables import load_table

Array = np.ndarray
SEED = 2011
TABLES = ("adult", "census")
CENSUS_NUMBERS = {
    "age": (0, (0, 91)),
    "wage-per-hour": (5, (0, 10_000)),
    "capital-gains": (16, (0, 100_000)),
    "capital-losses": (17, (0, 5_000)),
    "dividends": (18, (0, 100_000)),
    "weeks-worked": (39, (0, 53)),
}
"""Fields of Census-Income, where they are, and their ranges."""
CENSUS_CATEGORIES = {
    "class-of-worker": 1,
    "education": 4,
    "marital-status": 7,
    "industry": 8,
    "occupation": 9,
    "race": 10,
    "sex": 12,
    "union-member": 13,
    "employment": 15,
    "tax-filer-status": 19,
    "household": 23,
    "citizenship": 35,
    "own-business": 36,
    "year": 40,
}
CENSUS_CLASS = "income"


@dataclass(frozen=True, eq=False)
class Split:
    """Rows that are released and rows for tests, with their public places."""

    spec: Spec
    train: pa.Table
    test: pa.Table

    @property
    def attributes(self) -> list[Attribute]:
        return list(self.spec.released)

    @property
    def class_(self) -> str:
        return self.spec.table.class_

    def labels(self, table: pa.Table) -> Array:
        """1 for the second declared class."""
        assert self.spec.table.class_values is not None
        return (np.array(table[self.class_].to_pylist()) == self.spec.table.class_values[1]).astype(np.int64)

    def truth(self) -> tuple[list[Array], list[int]]:
        """The true places of all columns and of the class."""
        places = [Public(attribute).places(self.train[attribute.name]) for attribute in self.attributes]
        sizes = [Public(attribute).size for attribute in self.attributes]
        return [*places, self.labels(self.train)], [*sizes, 2]


class Public:
    """The public places of an attribute: the finest bins of a number, the leaves of a category."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        if attribute.ordered:
            bins = number_levels(attribute)[-1]
            self.starts = np.array([bins.grid.value(place) for place in (0, *bins.thresholds)], dtype=np.float64)
            self.end = float(bins.grid.value(bins.grid.size))
            self.size = len(self.starts)
        else:
            taxonomy = attribute.taxonomy
            self.leaves = list((attribute.values or ()) if taxonomy is None else taxonomy.leaves)
            self.size = len(self.leaves)

    def places(self, column: pa.ChunkedArray) -> Array:
        if self.attribute.ordered:
            return np.searchsorted(self.starts, column.to_numpy().astype(np.float64), side="right") - 1
        return pc.index_in(column, pa.array(self.leaves)).to_numpy().astype(np.int64)

    def spread(self, entry: AnyMasking) -> Array:
        """How the blocks of a cut cover the places; one that covers nothing, evenly over all."""
        if isinstance(entry, Discretization):
            ends = np.append(self.starts[1:], self.end)
            shares = [
                np.clip(np.minimum(block.hi, ends) - np.maximum(block.lo, self.starts), 0, None)
                for block in entry.blocks
            ]
        else:
            covered = covered_codes(entry, self.leaves)
            shares = [np.isin(np.arange(self.size), covered.get(label, ())) for label in entry.shown]
        found = np.array(shares, dtype=np.float64)
        found[~found.any(axis=1)] = 1
        return found / found.sum(axis=1, keepdims=True)


def held(name: str) -> bool:
    """Whether a table is there."""
    return name == "adult" or census_files() is not None


def split_of(name: str, number: int) -> Split:
    """A split of a table: a random one, or for Census-Income its own."""
    loaded, records, train = _table(name)
    if train is not None:
        return Split(loaded, records.slice(0, train), records.slice(train))
    order = np.random.default_rng((SEED, number)).permutation(records.num_rows)
    cut = records.num_rows * 2 // 3
    return Split(loaded, *(records.take(pa.array(part)) for part in (order[:cut], order[cut:])))


@cache
def _table(name: str) -> tuple[Spec, pa.Table, int | None]:
    """The spec, the rows, and how many of them are released if the table says so itself."""
    if name == "adult":
        return load_spec(spec(Setting("full", 1.0, 10))), original_records(), None
    if name == "census":
        return _census()
    loaded = load_spec(name)
    records = pa.parquet.read_table(loaded.source_path)
    return loaded, records.filter(pa.array(load_table(loaded, records).kept)), None


def _census() -> tuple[Spec, pa.Table, int]:
    """Census-Income without fields that repeat others or are mostly missing; values are those of both parts."""
    files = census_files()
    assert files is not None
    parts = [_census_rows(census_text(file)) for file in files]
    rows = pa.concat_tables(parts)
    attributes: dict[str, Any] = {
        name: {"kind": "number", "range": list(ends), "whole": True} for name, (_, ends) in CENSUS_NUMBERS.items()
    }
    for name in (*CENSUS_CATEGORIES, CENSUS_CLASS):
        attributes[name] = {"kind": "category", "values": sorted(rows[name].unique().to_pylist())}
    del attributes[CENSUS_CLASS]["kind"]
    wish = {
        "table": {"class": CENSUS_CLASS},
        "attributes": attributes,
        "require": [{"kind": "differential-privacy", "epsilon": 1}],
        "publish": {"method": "additive"},
    }
    return load_spec(wish), rows, parts[0].num_rows


def _census_rows(text: pa.Table) -> pa.Table:
    numbers = {
        name: pc.min_element_wise(text[str(place)].cast(pa.int64()), ends[1] - 1)
        for name, (place, ends) in CENSUS_NUMBERS.items()
    }
    categories = {name: text[str(place)] for name, place in CENSUS_CATEGORIES.items()}
    return pa.table({**numbers, **categories, CENSUS_CLASS: text[str(CENSUS_FIELDS - 1)]})
