"""Exact privacy of noisy tables (`goal = "statistics"`) on small domains, and defects that must be caught.

As for the additive model (`transcripts.py`), neighbours are run with the same outcomes, and every draw is compared by
its exact law. Tables this small afford no pairs, so the number of pairs is fixed; it depends on noisy totals alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from privacy import transcripts
from privacy.transcripts import LEVEL, Plant, compared
from privacy.worlds import World, flat, number, tree
from unveil.arrays import IntArray
from unveil.counting import Cells
from unveil.counting.memory import MemoryEngine
from unveil.publishers.additive import forest, publisher, rounds, tables
from unveil.schema import StatisticsPlan

SMALL = World((flat("town", "here", "there"), number("age", 2), flat("job", "cook", "clerk")))
WORLDS = {
    "three attributes": SMALL,
    "taxonomy and number": World((tree("job"), number("age", 3))),
    "three classes": World((flat("town", "here", "there"), number("age", 2)), labels=("X", "Y", "Z")),
}


@pytest.fixture(autouse=True)
def _two_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "AdditivePlan", StatisticsPlan)
    monkeypatch.setattr(tables, "pair_count", lambda records, attributes: min(2, attributes - 1))
    monkeypatch.setattr(tables, "group_count", lambda records: 2)


@pytest.mark.parametrize(
    ("world", "seed"), [("three attributes", 1), ("taxonomy and number", LEVEL), ("three classes", 2)]
)
def test_no_draw_loses_more_than_its_charge(world: str, seed: int) -> None:
    found, same = compared(WORLDS[world], list(WORLDS[world].neighbours(2)), Fraction(1), seed)
    for verdict in found.values():
        print(f"{verdict.where}: {verdict.loss:.4f} of {verdict.share:.4f} ({verdict.tightness:.0%})")
        assert not verdict.broken, verdict
    assert same, "the release depends on more than its draws"
    exact = [kind for kind in found if kind.startswith(("class totals", "table of", "counts of pair"))]
    assert len(exact) == len(WORLDS[world].attributes) + 2
    assert {found[kind].tightness for kind in exact} == {1}


def test_a_choice_can_lose_most_of_its_charge() -> None:
    """A record can raise the score of one pair and lower that of another, each by 1."""
    found, _ = compared(SMALL, list(SMALL.neighbours(1)), Fraction(1), 1)
    assert found["choice of pair"].tightness > 0.9


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(20)])
def test_nor_at_a_small_or_a_large_epsilon(epsilon: Fraction) -> None:
    world = WORLDS["three classes"]
    found, same = compared(world, list(world.neighbours(1)), epsilon, 7)
    assert not any(verdict.broken for verdict in found.values())
    assert same


def test_the_tables_get_something_however_many_pairs_there_are() -> None:
    assert tables.TOTALS + tables.MOST_PAIRS * tables.PAIR < 1


class Unpaid(rounds.Draws):
    """The counts of later pairs are drawn on the charge of the choice."""

    def noisy(self, purpose: str, sums: IntArray, sensitivity: int, epsilon: Fraction) -> IntArray:
        if not purpose.startswith("counts of pair") or purpose.endswith(" 1"):
            return super().noisy(purpose, sums, sensitivity, epsilon)
        return rounds.with_noise(sums, epsilon / sensitivity, self._source)


class MonotoneScores(rounds.Draws):
    """The scores are taken to rise only, and get the tighter rate."""

    def chosen(self, purpose: str, scores: list[int], sensitivity: int, epsilon: Fraction) -> int:
        self.ledger.charge(purpose, epsilon)
        return rounds.permute_and_flip(np.array(scores), epsilon / sensitivity, self._source)


class OneChargeForAllTables(rounds.Draws):
    """Tables are taken to be about different records, and each gets what all of them may cost."""

    def noisy(self, purpose: str, sums: IntArray, sensitivity: int, epsilon: Fraction) -> IntArray:
        self.ledger.charge(purpose, epsilon)
        rate = 3 * epsilon if purpose.startswith("table") else epsilon
        return rounds.with_noise(sums, rate / sensitivity, self._source)


def of_draws(defect: type[rounds.Draws]) -> Plant:
    return lambda: patch.object(publisher, "Draws", defect)


def records_counted_twice() -> AbstractContextManager[object]:
    cells = MemoryEngine.cells

    def doubled(engine: MemoryEngine, cuts: object) -> Cells:
        found = cells(engine, cuts)  # type: ignore[arg-type]
        return Cells(found.blocks, 2 * found.counts)

    return patch.object(MemoryEngine, "cells", doubled)


BROKEN: dict[str, Plant] = {
    "an unpaid pair": of_draws(Unpaid),
    "scores that are taken for monotone": of_draws(MonotoneScores),
    "one charge for all tables": of_draws(OneChargeForAllTables),
    "a record that counts twice": records_counted_twice,
}


@pytest.mark.parametrize("defect", BROKEN)
def test_a_planted_defect_is_caught(defect: str) -> None:
    found, _ = compared(SMALL, list(SMALL.neighbours(1)), Fraction(1), 1, BROKEN[defect])
    assert any(verdict.broken for verdict in found.values())


@contextmanager
def groups_that_see_rows() -> Iterator[None]:
    """Which bins are a group depends on the exact counts, not on noisy ones."""
    counted, grouped = tables._counted, forest.groups_of
    seen = 0

    def counting(of_codes: IntArray, counts: IntArray, bins: object) -> IntArray:
        nonlocal seen
        seen += int(counts.sum())
        return counted(of_codes, counts, bins)  # type: ignore[arg-type]

    def spoiled(shares: IntArray, most: int, *, ordered: bool) -> IntArray:
        found = grouped(shares, most, ordered=ordered)
        return found if seen % 2 else found[::-1]

    with patch.object(tables, "_counted", counting), patch.object(tables, "groups_of", spoiled):
        yield


def test_groups_that_look_at_the_rows_are_caught() -> None:
    _, same = compared(SMALL, list(SMALL.neighbours(1)), Fraction(1), 3, groups_that_see_rows)
    assert not same
