"""What `check` warns of: tables in which a promise about records says little about people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from commands import Run
from project import Project

ROWS = 400
RNG = np.random.default_rng(5)
TOWNS = RNG.choice(["Aarhus", "Bergen", "Cork"], ROWS)
PEOPLE: dict[str, Any] = {
    "id": np.arange(ROWS),
    "age": RNG.integers(20, 60, ROWS),
    "town": TOWNS,
    "pay": RNG.integers(1, 9, ROWS) * 100,
    "ill": RNG.choice(["yes", "no"], ROWS),
}


def warnings(changed: dict[str, Any], **table: Any) -> tuple[str, ...]:
    spec = {
        "table": {"class": "ill", "others": "release", **table},
        "attributes": {"id": {"role": "identifier"}, "age": {"kind": "number"}, "town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 2}],
    }
    return unveil.check(pa.table({**PEOPLE, **changed}), spec).warnings


def test_an_ordinary_table_is_not_warned_of() -> None:
    assert warnings({}) == ()


def test_an_identifier_that_repeats() -> None:
    [warning] = warnings({"id": np.arange(ROWS) // 3})
    assert warning.startswith("the identifier 'id' has 134 values in 400 rows: if it says whose row it is, ")


def test_an_identifier_of_few_values_does_not_name_people() -> None:
    assert warnings({"id": np.arange(ROWS) % 7}) == ()


def test_a_column_that_nearly_identifies() -> None:
    [warning] = warnings({"pay": np.arange(ROWS) * 1.5})
    assert warning == "'pay' is released as it is, and 100% of the rows have a unique value in it"


def test_a_column_that_tells_a_masked_one() -> None:
    codes = np.array([{"Aarhus": 8000, "Bergen": 5000, "Cork": 7000}[town] for town in TOWNS])
    [warning] = warnings({"pay": codes})
    assert warning == "'pay' is released as it is, and reveals the raw value of the masked 'town' for 100% of the rows"


def test_a_column_that_tells_what_nearly_everybody_is_tells_nothing() -> None:
    town = np.where(np.arange(ROWS) < 4, "Cork", "Bergen")
    assert warnings({"town": town}) == ()


@pytest.mark.parametrize(
    ("weight", "ages", "why"),
    [
        (RNG.integers(20, 300, ROWS), np.arange(ROWS), "hardly any weight is 1"),
        (np.ones(ROWS, dtype=np.int64), PEOPLE["age"], "rows repeat others"),
    ],
)
def test_a_weight_that_looks_like_a_surveys(weight: np.ndarray, ages: np.ndarray, why: str) -> None:
    [warning] = warnings({"PWGTP": weight, "age": ages}, weight="PWGTP", others="drop")
    assert warning.startswith("the weight 'PWGTP' looks like that of a survey")
    assert why in warning


def test_a_weight_that_counts_equal_rows_is_fine() -> None:
    weight = np.where(np.arange(ROWS) % 3 == 0, 4, 1)
    assert warnings({"n": weight, "age": np.arange(ROWS)}, weight="n", others="drop") == ()


def test_a_limit_on_a_declared_value_that_no_row_holds() -> None:
    spec = {
        "table": {"class": "ill", "others": "drop"},
        "attributes": {
            "age": {"kind": "number"},
            "town": {"kind": "category", "values": ["Aarhus", "Bergen", "Cork", "CORK"]},
        },
        "require": [
            {"kind": "confidence", "channel": ["age"], "sensitive": "town", "values": ["CORK"], "limit": 0.5},
        ],
    }
    found = unveil.check(pa.table(PEOPLE), spec).warnings
    assert found == ("no row holds 'CORK' of 'town', which a requirement limits",)


def test_warnings_are_printed(run: Run, project: Project) -> None:
    rows = project.spec.with_name("people.csv").read_text(encoding="utf-8").splitlines()
    project.spec.with_name("people.csv").write_text("\n".join([*rows, *rows[1:]]) + "\n", encoding="utf-8")
    out = run("check", project.spec).out
    assert "Warning: the identifier 'name' has " in out


def test_a_column_that_is_not_an_identifier_is_not_called_one(tmp_path: Path) -> None:
    """Of a csv file: asked for no column, it gives all of them."""
    lines = ["age,ill", *(f"{20 + number // 2},{'yes' if number % 2 else 'no'}" for number in range(40))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = {
        "table": {"class": "ill"},
        "attributes": {"age": {"kind": "number"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 2}],
    }
    assert unveil.check(tmp_path / "people.csv", spec).warnings == ()
