"""The ε-DP tree learner: what it learns, what it charges, and what its noise hides."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from reproduce.private_tree import TreeNode, _pessimistic_errors, grow_private_tree, private_error

from unveil.noise import Ledger, SeededSource
from unveil.schema import load_spec
from unveil.tables import Table, load_table

COLOURS = ["red", "green", "blue"]


def made_table(records: int, seed: int = 0) -> Table:
    """The class follows from a number and a colour: at least 60, or red."""
    draw = np.random.default_rng(seed)
    numbers, colours = draw.integers(0, 100, records), draw.choice(COLOURS, records)
    labels = np.where((numbers >= 60) | (colours == "red"), "yes", "no")
    spec = load_spec(
        {
            "table": {"class": "class"},
            "attributes": {
                "number": {"kind": "number", "range": [0, 100], "whole": True},
                "colour": {"kind": "category", "values": COLOURS},
                "noise": {"kind": "category", "values": ["a", "b"]},
                "class": {"values": ["no", "yes"]},
            },
            "require": [{"kind": "differential-privacy", "epsilon": 1}],
            "publish": {"method": "diffgen", "specializations": 1},
        }
    )
    rows = {"number": numbers, "colour": colours, "noise": draw.choice(["a", "b"], records), "class": labels}
    return load_table(spec, pa.table(rows))


def test_it_learns_where_the_budget_is_ample() -> None:
    tree = grow_private_tree(made_table(20_000), Ledger(Fraction(40)), 3, SeededSource(3))
    assert private_error(tree, made_table(2_000, seed=1)) < 0.05


def test_a_tiny_budget_gives_no_more_than_the_majority() -> None:
    test = made_table(2_000, seed=1)
    tree = grow_private_tree(made_table(2_000), Ledger(Fraction(1, 100)), 3, SeededSource(3))
    assert not tree.root.children
    shares = np.bincount(test.classes.codes) / test.rows
    assert private_error(tree, test) in [pytest.approx(share) for share in shares]


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_the_whole_budget_is_charged_and_not_more(depth: int) -> None:
    ledger = Ledger(Fraction(1))
    grow_private_tree(made_table(500), ledger, depth, SeededSource(3))
    assert ledger.left == 0
    assert len(ledger.entries) == (2 + 1) * depth + 2
    assert {entry.epsilon for entry in ledger.entries} == {Fraction(1, 3 * depth + 2)}
    assert {entry.composition for entry in ledger.entries} == {"parallel"}


def test_what_is_charged_does_not_hang_on_the_data() -> None:
    ledgers = [Ledger(Fraction(2)), Ledger(Fraction(2))]
    for ledger, records in zip(ledgers, (3, 5_000), strict=True):
        grow_private_tree(made_table(records), ledger, 2, SeededSource(3))
    assert ledgers[0].entries == ledgers[1].entries


def test_a_seed_gives_the_same_tree() -> None:
    test = made_table(300, seed=1)
    found = [grow_private_tree(made_table(3_000), Ledger(Fraction(5)), 3, SeededSource(9)).classify(test) for _ in "ab"]
    assert (found[0] == found[1]).all()


def test_splits_lie_within_their_interval_and_leave_nothing_out() -> None:
    tree = grow_private_tree(made_table(20_000), Ledger(Fraction(40)), 4, SeededSource(5))

    def check(node: TreeNode) -> None:
        assert len(node.rows) == 0  # a finished tree does not tell whom it has seen
        if not node.children:
            return
        lo, hi = node.ranges[node.column]
        ends = [child.ranges[node.column] for child in node.children]
        assert ends[0][0] == lo
        assert ends[-1][1] == hi
        assert all(left[1] == right[0] for left, right in pairwise(ends))
        assert all(start < end for start, end in ends)
        for child in node.children:
            check(child)

    check(tree.root)


def test_pessimistic_errors_are_c45s() -> None:
    # Quinlan 1993, Section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143.
    assert _pessimistic_errors(np.array([6, 0])) == pytest.approx(6 * 0.206, abs=0.003)
    assert _pessimistic_errors(np.array([0, 9])) == pytest.approx(9 * 0.143, abs=0.003)
    # U25%(1, 16) = 0.157 exactly; the normal approximation that Weka uses too comes close.
    assert _pessimistic_errors(np.array([15, 1])) == pytest.approx(16 * 0.157, abs=0.16)
    assert _pessimistic_errors(np.array([0, 0])) == 0
