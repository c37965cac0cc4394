"""The papers' data sets: the bundled tables, their splits, and what the specs say about their attributes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from reproduce.hierarchies import read_hchy
from reproduce.places import BUNDLED, CACHE, SHARED
from unveil.arrays import BoolArray
from unveil.schema import Taxonomy

Section = dict[str, Any]

# The attributes in the order in which C4.5 ranks them; TopN are the first N. TDR has all, PDA only the categories.
ADULT_RANKED = (
    *("capital-gain", "age", "marital-status", "education-num", "relationship", "hours-per-week", "sex"),
    *("education", "occupation"),
)
ADULT_RANKED_CATEGORIES = ("marital-status", "relationship", "education", "sex")
CRX_RANKED = ("A9", "A11", "A10", "A8", "A15", "A7", "A14", "A6", "A5")
CRX_RANKED_CATEGORIES = ("A9", "A10", "A7", "A6")
GERMAN_RANKED = (
    *("credit-amount", "account-status", "duration", "credit-history", "savings", "installment-plans", "purpose"),
    *("debtors", "property"),
)

ADULT_RANGES = {
    "age": [17, 91],
    "fnlwgt": [0, 1_500_000],
    "education-num": [1, 17],
    "capital-gain": [0, 100_000],
    "capital-loss": [0, 5_000],
    "hours-per-week": [1, 100],
}
AUTHORS_SPELLING = {"marital-status": "martial-status"}
CRX_TRAINING = 490
GERMAN_TRAINING = 666
SEED = 2007


@dataclass(frozen=True)
class DataSet:
    """Complete records, which of them are for training, and how a spec describes their attributes."""

    table: pa.Table
    training: BoolArray
    class_: str
    described: Mapping[str, Section]
    """Each attribute with its taxonomy or range."""
    source: str
    """Which taxonomies, ranges and split these are."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes."""
        return tuple(self.described)

    @property
    def categories(self) -> tuple[str, ...]:
        """The attributes that are not numbers."""
        return tuple(name for name, section in self.described.items() if section["kind"] == "category")

    @property
    def train(self) -> pa.Table:
        """The training records."""
        return self.table.filter(pa.array(self.training))

    @property
    def test(self) -> pa.Table:
        """The test records."""
        return self.table.filter(pa.array(~self.training))

    def select(self, names: Sequence[str]) -> DataSet:
        """Only these attributes, and the class."""
        kept = [name for name in self.attributes if name in names]
        return DataSet(
            self.table.select([*kept, self.class_]),
            self.training,
            self.class_,
            {name: self.described[name] for name in kept},
            self.source,
        )

    def spec(self, require: Sequence[Section], *, suppress: bool = False, **publish: Any) -> Section:
        """A spec; `suppress` leaves the taxonomies out, so that categories are suppressed value by value."""
        bare = {"kind": "category"}
        return {
            "table": {"class": self.class_},
            "attributes": {
                name: bare if suppress and section["kind"] == "category" else section
                for name, section in self.described.items()
            },
            "require": list(require),
            "publish": publish or {"search": "paper", "bounds": "observed"},  # as the papers print them
        }


def k_anonymity(names: Sequence[str], k: int) -> Section:
    """A requirement of k-anonymity."""
    return {"kind": "k-anonymity", "quasi-identifier": list(names), "k": k}


@cache
def adult() -> DataSet:
    """30,162 training and 15,060 test records; the authors' taxonomies where they are, the bundled ones elsewhere."""
    table = _complete(pa.parquet.read_table(BUNDLED / "adult.parquet"))
    training = np.asarray(pc.equal(table["split"], "train"))
    table = table.drop_columns(["split"])
    describe = _by_authors() if _authors_file().exists() else _by_bundle
    names = [name for name in table.column_names if name != "income"]
    source = "the authors' taxonomies and ranges" if _authors_file().exists() else "the bundled taxonomies and ranges"
    return DataSet(table, training, "income", {name: describe(name) for name in names}, source)


@cache
def crx() -> DataSet:
    """465 training and 188 test records: the first 490 rows and the last 200, those without missing values."""
    table = pa.parquet.read_table(BUNDLED / "crx.parquet")
    training = np.arange(table.num_rows) < CRX_TRAINING
    whole = _whole_rows(table)
    return _undescribed(table.filter(pa.array(whole)), training[whole], "the papers' split")


@cache
def german() -> DataSet:
    """666 training and 334 test records."""
    table = pa.parquet.read_table(BUNDLED / "german.parquet")
    order_file = SHARED / "splits" / "german-order-as-uci-rows.txt"
    if order_file.exists():
        lines = [line for line in order_file.read_text().splitlines() if not line.startswith("#")]
        order, source = np.array([int(line) - 1 for line in lines]), "the papers' split"
    else:
        order = np.random.default_rng(SEED).permutation(table.num_rows)
        source = "a seeded split, since the papers' is not here"
    return _undescribed(table.take(pa.array(order)), np.arange(len(order)) < GERMAN_TRAINING, source)


DATA_SETS: dict[str, Callable[[], DataSet]] = {"adult": adult, "crx": crx, "german": german}


def _undescribed(table: pa.Table, training: BoolArray, source: str) -> DataSet:
    """No taxonomy is known, and no range is declared: domains are as observed."""
    described: dict[str, Section] = {}
    for name in table.column_names[:-1]:
        kind = table.schema.field(name).type
        if pa.types.is_string(kind):
            described[name] = {"kind": "category"}
        else:
            described[name] = {"kind": "number", "whole": bool(pa.types.is_integer(kind))}
    return DataSet(table, training, "class", described, source)


def _by_bundle(name: str) -> Section:
    if name in ADULT_RANGES:
        return {"kind": "number", "range": ADULT_RANGES[name], "whole": True}
    return {"kind": "category", "taxonomy": str(BUNDLED / "taxonomies" / f"{name}.tree")}


def _authors_file() -> Path:
    return SHARED / "taxonomies" / "authors" / "adult.hchy"


def _by_authors() -> Callable[[str], Section]:
    """The authors spell an attribute in a way of their own, so its tree is written under the right name."""
    known = read_hchy(_authors_file())
    folder = CACHE / "taxonomies"
    folder.mkdir(parents=True, exist_ok=True)

    def describe(name: str) -> Section:
        theirs = AUTHORS_SPELLING.get(name, name)
        if theirs in known.ranges:
            return {"kind": "number", "range": list(known.ranges[theirs]), "whole": True}
        file = folder / f"{name}.tree"
        text = f"{Taxonomy(known.trees[theirs])}\n"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            draft = file.with_suffix(f".{os.getpid()}")
            draft.write_text(text, encoding="utf-8")
            draft.rename(file)
        return {"kind": "category", "taxonomy": str(file)}

    return describe


def _complete(table: pa.Table) -> pa.Table:
    return table.filter(pa.array(_whole_rows(table)))


def _whole_rows(table: pa.Table) -> BoolArray:
    whole = np.ones(table.num_rows, dtype=np.bool_)
    for name in table.column_names:
        column = table[name]
        gone = pc.equal(column, "?") if pa.types.is_string(column.type) else pc.is_null(column)
        whole &= ~np.asarray(gone)
    return whole
