"""Exact privacy of the additive method on small domains (`transcripts.py`), and defects that must be caught.

All pairs of neighbouring tables up to a size are run with the same outcomes. No charge may be smaller than what its
draws lose, all draws together lose at most ε, and the release must be the same. The losses must not be far below the
charges either, or the test would look at harmless draws only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from privacy.transcripts import LEVEL, Plant, compared
from privacy.worlds import World, flat, number, tree
from unveil.arrays import Array, FloatArray, IntArray
from unveil.counting import binned
from unveil.counting.binned import BinnedChunk
from unveil.publishers.additive import model, publisher, rounds
from unveil.tables import Chunk

WORLDS = {
    "taxonomy and number": World((tree("job"), number("age", 3))),
    "flat and number": World((flat("town", "here", "there"), number("age", 4))),
    "three classes": World((flat("town", "here", "there"), number("age", 2)), labels=("X", "Y", "Z")),
}
SMALL = World((flat("town", "here", "there"), number("age", 2)))


@pytest.mark.parametrize(("world", "seed"), [*((world, LEVEL) for world in WORLDS), ("three classes", 1)])
def test_no_draw_loses_more_than_its_charge(world: str, seed: int) -> None:
    pairs = list(WORLDS[world].neighbours(2))
    found, same = compared(WORLDS[world], pairs, Fraction(1), seed)
    for verdict in found.values():
        print(f"{verdict.where}: {verdict.loss:.4f} of {verdict.share:.4f} ({verdict.tightness:.0%})")
        assert not verdict.broken, verdict
    assert same, "the release depends on more than its draws"
    tightness = {kind: verdict.tightness for kind, verdict in found.items()}
    assert tightness["class totals"] == tightness["counts of the leaves"] == tightness["sums of round"] == 1


def test_a_choice_can_lose_its_charge() -> None:
    """If the model knows nothing, a record can raise the worth of one attribute and lower that of another by a unit."""
    found, _ = compared(SMALL, list(SMALL.neighbours(2)), Fraction(1), LEVEL)
    assert found["choice of round"].tightness > 0.9


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(20)])
def test_nor_at_a_small_or_a_large_epsilon(epsilon: Fraction) -> None:
    """The unit of the weights follows ε."""
    found, same = compared(SMALL, list(SMALL.neighbours(2)), epsilon, 7)
    assert not any(verdict.broken for verdict in found.values())
    assert same


def test_nor_on_tables_of_three_records() -> None:
    found, same = compared(SMALL, list(SMALL.neighbours(3)), Fraction(1), 11)
    assert not any(verdict.broken for verdict in found.values())
    assert same


def test_all_charges_add_up_to_epsilon() -> None:
    for count in range(2, rounds.MOST_ROUNDS + 1):
        assert sum(rounds.round_shares(count)) == 1
    assert rounds.TOTALS + rounds.LEAVES < 1


@pytest.mark.parametrize("unit", [1, 2, 64, 512])
def test_no_record_weighs_more_than_a_unit(unit: int) -> None:
    weights = model.weight_table(unit)
    assert weights.min() >= 0
    assert weights.max() == unit
    assert len(weights) == 2 * model.REACH + 1


def test_sums_of_the_largest_table_fit_64_bits() -> None:
    """At most 2^53 records are read, each of at most one unit."""
    assert 2**53 * rounds.UNIT < 2**63


class Unpaid(rounds.Draws):
    """The sums of later rounds are drawn on the charge of the choice."""

    def noisy(self, purpose: str, sums: IntArray, sensitivity: int, epsilon: Fraction) -> IntArray:
        if not purpose.startswith("sums of round") or purpose.endswith(" 1"):
            return super().noisy(purpose, sums, sensitivity, epsilon)
        return rounds.with_noise(sums, epsilon / sensitivity, self._source)


class HalfTheSensitivity(rounds.Draws):
    """S is taken to be half of what a record can weigh."""

    def noisy(self, purpose: str, sums: IntArray, sensitivity: int, epsilon: Fraction) -> IntArray:
        halved = max(sensitivity // 2, 1)
        return super().noisy(purpose, sums, halved if purpose.startswith("sums") else sensitivity, epsilon)


class MonotoneWorth(rounds.Draws):
    """The worth is taken to rise only, and gets the tighter rate."""

    def chosen(self, purpose: str, scores: list[int], sensitivity: int, epsilon: Fraction) -> int:
        self.ledger.charge(purpose, epsilon)
        return rounds.permute_and_flip(np.array(scores), epsilon / sensitivity, self._source)


def of_draws(defect: type[rounds.Draws]) -> Plant:
    return lambda: patch.object(publisher, "Draws", defect)


def residuals_from_an_unrounded_model() -> AbstractContextManager[object]:
    """Weights are ratios of odds that are not rounded down to one unit."""

    def table(unit: int) -> IntArray:
        odds: FloatArray = np.arange(-model.REACH, model.REACH + 1) / model.STEP
        weights: IntArray = np.rint(unit * np.minimum(np.exp(-odds), 50)).astype(np.int64)
        return weights

    return patch.object(model, "weight_table", table)


def rows_of_a_bin_counted_twice() -> AbstractContextManager[object]:
    """A record adds its weight twice."""
    sums = binned.BinnedRows.sums
    return patch.object(binned.BinnedRows, "sums", lambda rows, scoring: 2 * sums(rows, scoring))


@contextmanager
def steps_that_see_rows() -> Iterator[None]:
    """What is added to the model depends on the exact number of rows, not on the noisy sums alone."""
    chunk_of, steps = binned.binned_chunk, rounds.steps
    seen = 0

    def counted(chunk: Chunk, bins: Sequence[Array]) -> BinnedChunk:
        nonlocal seen
        seen = len(chunk)
        return chunk_of(chunk, bins)

    def spoiled(against: FloatArray, within: FloatArray, kernel: FloatArray, variance: float) -> FloatArray:
        return steps(against, within, kernel, variance) + seen / 10

    with patch.object(binned, "binned_chunk", counted), patch.object(rounds, "steps", spoiled):
        yield


BROKEN: dict[str, Plant] = {
    "an unpaid round": of_draws(Unpaid),
    "half the sensitivity": of_draws(HalfTheSensitivity),
    "a worth that is taken for monotone": of_draws(MonotoneWorth),
    "residuals from an unrounded model": residuals_from_an_unrounded_model,
    "a record that counts twice": rows_of_a_bin_counted_twice,
}


@pytest.mark.parametrize("defect", BROKEN)
def test_a_planted_defect_is_caught(defect: str) -> None:
    pairs = list(SMALL.neighbours(2))
    verdicts = [compared(SMALL, pairs, Fraction(1), seed, BROKEN[defect])[0].values() for seed in (LEVEL, 2)]
    assert any(verdict.broken for found in verdicts for verdict in found)


def test_a_step_that_looks_at_the_rows_is_caught() -> None:
    _, same = compared(SMALL, list(SMALL.neighbours(2)), Fraction(1), 3, steps_that_see_rows)
    assert not same
