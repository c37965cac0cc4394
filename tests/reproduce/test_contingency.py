"""The noisy full contingency table."""

from fractions import Fraction

import pyarrow as pa
import pytest
from reproduce.contingency import contingency_table, domain_sizes, raw_cells

from unveil.errors import BudgetError
from unveil.noise import Ledger, SeededSource
from unveil.schema import load_spec
from unveil.tables import Table, load_table


def small_table() -> Table:
    spec = load_spec(
        {
            "table": {"class": "class"},
            "attributes": {
                "size": {"kind": "number", "range": [0, 5], "whole": True},
                "colour": {"kind": "category", "values": ["red", "green", "blue"]},
                "class": {"values": ["no", "yes"]},
            },
            "require": [{"kind": "differential-privacy", "epsilon": 1}],
            "publish": {"method": "diffgen", "specializations": 1},
        }
    )
    rows = {"size": [1, 1, 1, 4], "colour": ["red", "red", "blue", "blue"], "class": ["yes", "no", "no", "no"]}
    return load_table(spec, pa.table(rows))


def test_cells_are_all_combinations_of_raw_values() -> None:
    table = small_table()
    assert domain_sizes(table) == [5, 3]
    cells = raw_cells(table)
    assert cells.blocks.tolist() == [[1, 0], [1, 2], [4, 2]]
    assert cells.counts.tolist() == [[1, 1], [1, 0], [1, 0]]


def test_every_combination_is_published_and_little_noise_leaves_the_counts() -> None:
    ledger = Ledger(Fraction(50))
    published = contingency_table(small_table(), ledger, SeededSource(1))
    assert published.num_rows == 5 * 3 * 2
    held = {tuple(row.values()) for row in published.to_pylist() if row["count"]}
    assert held == {(1, "red", "yes", 1), (1, "red", "no", 1), (1, "blue", "no", 1), (4, "blue", "no", 1)}
    assert ledger.left == 0


def test_empty_combinations_get_noise() -> None:
    published = contingency_table(small_table(), Ledger(Fraction(1, 10)), SeededSource(1))
    assert sum(1 for row in published.to_pylist() if row["count"]) > 4


def test_an_empty_budget_is_refused() -> None:
    ledger = Ledger(Fraction(1))
    ledger.charge("something else", Fraction(1))
    with pytest.raises(BudgetError):
        contingency_table(small_table(), ledger, SeededSource(1))
