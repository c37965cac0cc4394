"""DiffGen: Mohammed, Chen, Fung, Yu, "Differentially private data release for data mining", KDD 2011."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean
from typing import Any

import pyarrow as pa

import unveil
from reproduce.blowup import blow_up
from reproduce.contingency import contingency_table
from reproduce.data import SEED, Section, adult, k_anonymity
from reproduce.learn import counted_error, error, folds, majority_error, masked, raw_error
from reproduce.points import Setting, Value
from reproduce.private_tree import grow_private_tree, private_error
from reproduce.timing import search_seconds
from unveil.noise import Ledger, SeededSource
from unveil.schema import load_spec
from unveil.tables import load_table

EPSILONS = (0.1, 0.25, 0.5, 1.0)
SPECIALIZATIONS = (4, 7, 10, 13, 16)
RUNS = 10
COMPARED_EPSILONS = (0.75, 1.0, 2.0, 3.0, 4.0)
COMPARED_SPECIALIZATIONS = 15
TREE_DEPTH = 5
TDS_K = 5
SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)


def private_spec(epsilon: float, specializations: int, utility: str = "max", budget: str = "paper") -> Section:
    """A spec of DiffGen for all 14 attributes of Adult."""
    spec = adult().spec(
        [{"kind": "differential-privacy", "epsilon": epsilon}],
        method="diffgen",
        specializations=specializations,
        utility=utility,
        budget=budget,
    )
    spec["attributes"][adult().class_] = {"values": ["<=50K", ">50K"]}
    return spec


def seed_of(setting: Setting, fold: int = 0) -> int:
    """A seed for each run and fold."""
    return SEED * 10_000 + int(setting["run"]) * 100 + fold


def baseline(setting: Setting) -> Value:
    """BA and LA: everything known, and nothing but the class."""
    data = adult()
    if setting["what"] == "BA":
        return {"accuracy": 100 - raw_error(data)}
    return {"accuracy": 100 - majority_error(data.train, data.test, data.class_)}


def accuracy(setting: Setting) -> Value:
    """Fig. 3: only the training records are published; their cuts are applied to the test records."""
    data = adult()
    spec = private_spec(setting["epsilon"], setting["h"], setting["utility"], setting["budget"])
    release = unveil.publish(data.train, spec, unsafe_seed=seed_of(setting))
    return {"accuracy": 100 - counted_error(release, data.test), "cells": release.table.num_rows}


def compared(setting: Setting) -> Value:
    """Fig. 4: one run of ten folds."""
    data = adult()
    accuracies = []
    for fold, training in enumerate(folds(data.table.num_rows, setting["run"])):
        train, test = data.table.filter(pa.array(training)), data.table.filter(pa.array(~training))
        accuracies.append(100 - METHODS[setting["method"]](train, test, setting, seed_of(setting, fold)))
    return {"accuracy": fmean(accuracies)}


def _diffgen(train: pa.Table, test: pa.Table, setting: Setting, seed: int) -> float:
    spec = private_spec(setting["epsilon"], COMPARED_SPECIALIZATIONS, budget=setting["budget"])
    return counted_error(unveil.publish(train, spec, unsafe_seed=seed), test)


def _private_tree(train: pa.Table, test: pa.Table, setting: Setting, seed: int) -> float:
    spec = load_spec(private_spec(setting["epsilon"], 1))
    ledger = Ledger(Fraction(str(setting["epsilon"])))
    tree = grow_private_tree(load_table(spec, train), ledger, TREE_DEPTH, SeededSource(seed))
    return 100 * private_error(tree, load_table(spec, test))


def _tds(train: pa.Table, test: pa.Table, setting: Setting, seed: int) -> float:
    release = unveil.publish(train, adult().spec([k_anonymity(adult().attributes, setting["k"])]))
    return error(masked(train, release), masked(test, release), adult().class_)


METHODS: dict[str, Any] = {"DiffGen": _diffgen, "DiffP-C4.5": _private_tree, "TDS": _tds}


def contingency(setting: Setting) -> Value:
    """The noisy full contingency table of the training records, all attributes or the categories alone."""
    data = adult()
    if setting["attributes"] == "categories":
        data = data.select(data.categories)
    spec = private_spec(setting["epsilon"], 1)
    spec["attributes"] = {name: spec["attributes"][name] for name in [*data.attributes, data.class_]}
    table = load_table(load_spec(spec), data.train)
    source = SeededSource(seed_of(setting))
    cells = contingency_table(table, Ledger(Fraction(str(setting["epsilon"]))), source)
    return {
        "accuracy": 100 - error(cells, data.test, data.class_, weight="count"),
        "cells": cells.num_rows,
    }


def publish_time(setting: Setting) -> Value:
    """Fig. 5: from a table in memory to the noisy counts."""
    data = adult()
    rows = blow_up(data.table, setting["rows"], data.attributes)
    spec = private_spec(setting["epsilon"], COMPARED_SPECIALIZATIONS)
    return search_seconds(rows, spec, seed_of(setting))


MEASURES = {
    "diffgen.baseline": baseline,
    "diffgen.accuracy": accuracy,
    "diffgen.compared": compared,
    "diffgen.contingency": contingency,
    "diffgen.time": publish_time,
}
