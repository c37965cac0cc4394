"""Contributions: the rows of a person that a private release uses, against the rule in plain Python, on all engines."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import engines
import unveil
from unveil.counting import used_places
from unveil.counting.engine import open_engine
from unveil.tables import load_table

pytestmark = pytest.mark.engines(*engines.ROWS)

WORD = 2**64
SPEC: dict[str, Any] = {
    "table": {
        "class": "ill",
        "person": ["clinic", "patient"],
        "name": "visits",
        "missing": {"values": ["?"], "rows": "drop"},
    },
    "attributes": {
        "age": {
            "kind": "number",
            "range": [20, 40],
            "whole": True,
            "outside": "clamp",
            "missing": {"values": ["?"], "rows": "keep"},
        },
        "paid": {"kind": "number", "range": [-1, 2], "step": 0.25},
        "town": {"kind": "category", "values": ["Cork", "Bergen"]},
        "ill": {"values": ["no", "yes"]},
    },
    "require": [{"kind": "differential-privacy", "epsilon": 4.0, "contributions": 3}],
    "publish": {"method": "diffgen", "specializations": 4},
}
Row = tuple[int, ...]


def visits(rows: int = 300, seed: int = 0) -> pa.Table:
    """Rows of 40 patients, of whom some have one row and some have a dozen, equal ones among them."""
    rng = np.random.default_rng(seed)
    who = np.minimum(rng.geometric(0.1, rows), 40)
    return pa.table(
        {
            "clinic": pa.array([f"c{number % 3}" for number in who]),
            "patient": pa.array(who // 3),
            "age": pa.array([str(age) if age < 45 else "?" for age in rng.integers(15, 48, rows)]),
            "paid": pa.array(rng.integers(-4, 8, rows) / 4),
            "town": pa.array(rng.choice(["Cork", "Bergen", "?"], rows, p=[0.45, 0.45, 0.1])),
            "ill": pa.array(rng.choice(["no", "yes"], rows)),
        }
    )


def mixed(number: int) -> int:
    """SplitMix64."""
    number = (number + 0x9E3779B97F4A7C15) % WORD
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % WORD
    return number ^ (number >> 31)


def places(row: dict[str, Any]) -> Row:
    """A row by the places of its values in the declared domains; what is missing comes after all ages."""
    age = 20 if row["age"] == "?" else min(max(int(row["age"]), 20), 39) - 20
    return (
        age,
        round((row["paid"] + 1) / 0.25),
        ["Cork", "Bergen"].index(row["town"]),
        ["no", "yes"].index(row["ill"]),
    )


def expected(table: pa.Table, most: int) -> Counter[Row]:
    """The rule, person by person."""
    persons: dict[tuple[str, str], Counter[Row]] = {}
    for row in table.to_pylist():
        if row["town"] != "?":
            persons.setdefault((row["clinic"], str(row["patient"])), Counter())[places(row)] += 1
    used: Counter[Row] = Counter()
    for names, held in persons.items():
        digest = blake2b("".join(f"{len(name)}:{name}" for name in names).encode(), digest_size=16).digest()
        words = [int.from_bytes(digest[start : start + 8], "little") >> 2 for start in (0, 8)]
        numbered = []
        for row, rows in held.items():
            number = 0
            for value in (*words, *row):
                number = mixed(number ^ value)
            numbered += [(mixed(number ^ copy), row) for copy in range(rows)]
        chosen = sorted(numbered)[:most] if len(numbered) > most else numbered
        used.update(row for _, row in chosen)
    return used


def found(table: pa.Table, most: int) -> Counter[Row]:
    """What the engine counts."""
    spec = unveil.load_spec(SPEC)
    bounded, _ = open_engine(spec, table)[1].bounded(most)
    age, paid, town = bounded.columns
    used: Counter[Row] = Counter()
    columns = [*(column.codes.tolist() for column in (age, paid, town, bounded.classes)), bounded.weight.tolist()]
    for a, p, t, ill, weight in zip(*columns, strict=True):
        years = age.values[a]
        used[(20 if years >= 40 else int(years) - 20, round((paid.values[p] + 1) / 0.25), t, ill)] += weight
    return used


@pytest.mark.parametrize("most", [1, 3, 100])
def test_the_rows_that_are_used_are_those_of_the_rule(most: int, engine: str) -> None:
    for seed in range(1 if engine == "spark" else 3):
        table = visits(seed=seed)
        assert found(table, most) == expected(table, most)


def test_the_order_of_the_file_does_not_matter() -> None:
    table = visits()
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    assert found(shuffled, 2) == found(table, 2)


@pytest.mark.parametrize("publish", [SPEC["publish"], {"method": "additive"}])
def test_a_release_is_that_of_the_used_rows_with_a_part_of_epsilon(publish: dict[str, Any]) -> None:
    """By the same seed: the rows that are used, without persons, and ε / m."""
    table = visits()
    asked = {"kind": "differential-privacy", "epsilon": 3.0, "contributions": 3}
    spec = {**SPEC, "publish": publish, "require": [asked]}
    held = load_table(unveil.load_spec(spec), table)
    kept = table.filter(pa.array(held.kept)).take(pa.array(used_places(held, 3))).drop(["clinic", "patient"])
    plain = {key: item for key, item in SPEC["table"].items() if key != "person"}
    by_row = {**spec, "table": plain, "require": [{"kind": "differential-privacy", "epsilon": 1.0}]}
    first, second = unveil.publish(table, spec, unsafe_seed=5), unveil.publish(kept, by_row, unsafe_seed=5)
    assert first.table.equals(second.table)


@pytest.mark.parametrize("method", [{"method": "additive"}, {"method": "safe", "delta": 1e-3}, SPEC["publish"]])
def test_every_engine_draws_the_same(method: dict[str, Any]) -> None:
    table, spec = visits(), {**SPEC, "publish": method}
    here, there = (unveil.publish(table, spec, unsafe_seed=3, engine=engine) for engine in (None, "memory"))
    assert here.table.equals(there.table)
    assert here.manifest.requirements[0]["contributions"] == 3
