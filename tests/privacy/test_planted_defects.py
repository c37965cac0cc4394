"""The checks of `test_exact_privacy.py` must fail for a publisher that breaks its promise.

The first four defects are those of the reference implementation of DiffGen; the others are easily made.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from fractions import Fraction

import pytest

from privacy import defects
from privacy.dice import EXACT, cut_laplace_chances, exp
from privacy.losses import INFINITE, TOLERANCE, Structures, loss_charged, worst_release
from privacy.worlds import WORLDS, Records, World, flat, number, tree
from unveil.schema import PrivatePlan

ONE = Fraction(1)
TOWN_AND_AGE = World((flat("town", "here", "there"), number("age", 3)))
TOWN_AND_SEX = World((flat("town", "here", "there"), flat("sex", "f", "m")))


def test_laplace_noise_cast_to_int_is_caught() -> None:
    """Cutting off decimals doubles the mass at 0: the loss is ε + ln 2."""
    plan, someone = PrivatePlan(ONE, 0), ("here", "f", "Y")
    pairs = [((), (someone,)), ((someone,), (someone, someone))]
    honest, cut = (
        worst_release(TOWN_AND_SEX, pairs, plan, 2, *planted) for planted in ((), (nullcontext, cut_laplace_chances))
    )
    assert not honest.broken
    assert cut.broken
    assert abs(cut.loss - EXACT.add(1, EXACT.ln(Decimal(2)))) < TOLERANCE


def test_laplace_noise_cast_to_int_is_caught_next_to_a_structure() -> None:
    verdict = worst_release(
        TOWN_AND_SEX, [((), (("here", "f", "Y"),))], PrivatePlan(ONE, 1), 1, nullcontext, cut_laplace_chances
    )
    assert verdict.broken
    assert verdict.loss < INFINITE


def test_empty_cells_left_out_are_caught() -> None:
    """Which cells are there tells which are occupied."""
    pair = [((), (("here", "f", "Y"),))]
    honest, holes = (
        worst_release(TOWN_AND_SEX, pair, PrivatePlan(ONE, 1), 1, *planted)
        for planted in ((), (defects.occupied_cells_only,))
    )
    assert not honest.broken
    assert holes.broken
    assert holes.loss == INFINITE


Planted = Callable[[], AbstractContextManager[object]]


@pytest.mark.parametrize("specializations", [1, 2])
@pytest.mark.parametrize(("choice", "budget"), [("exponential", "paper"), ("permute-and-flip", "full")])
@pytest.mark.parametrize(
    "defect",
    [
        lambda: defects.structure(defects.UpToTheLargest),
        lambda: defects.structure(defects.MidpointIfLonely),
        lambda: defects.utility(defects.OnlyBeneficial),
    ],
    ids=["split points up to the largest value", "midpoint if lonely", "only beneficial candidates"],
)
def test_outcomes_that_hang_on_the_data_are_caught(
    defect: Planted, specializations: int, choice: str, budget: str
) -> None:
    """What is possible on one table only has an infinite log-ratio."""
    plan = PrivatePlan(ONE, specializations, "max", choice, budget)
    verdict = Structures(TOWN_AND_AGE, plan, defect).worst(TOWN_AND_AGE.neighbours(2))
    assert verdict.broken
    assert verdict.loss == INFINITE


@pytest.mark.parametrize("choice", ["exponential", "permute-and-flip"])
def test_the_tight_exponent_is_caught_with_a_utility_that_can_fall(choice: str) -> None:
    """One candidate rises and the other falls: the loss is up to twice the charge."""
    world, plan = WORLDS["flat and number"], PrivatePlan(ONE, 1, "max", choice)
    planted = Structures(world, plan, lambda: defects.utility(defects.Contrast))
    assert planted.worst(world.neighbours(2)).broken


def test_the_same_utility_keeps_its_promise_with_the_exponent_that_it_needs() -> None:
    """Paper mode never uses the tight exponent."""
    world, plan = WORLDS["flat and number"], PrivatePlan(ONE, 1, "max", "exponential", "paper")
    planted = Structures(world, plan, lambda: defects.utility(defects.Contrast))
    assert not planted.worst(world.neighbours(2)).broken


@pytest.mark.parametrize("choice", ["exponential", "permute-and-flip"])
def test_the_tight_exponent_is_caught_with_information_gain(choice: str) -> None:
    """A record that makes one block of a specialized attribute worth splitting and spoils two other attributes.

    `left` gains: it held one class and now holds two that its children tell apart. The two others told the classes
    apart and no longer do. As long as all candidates hold the same records, information gain never moves that far
    apart, so that two attributes and one specialization would not show it.
    """
    world = World((tree("job"), flat("town", "here", "there"), flat("sex", "f", "m")))
    fewer: Records = (("a", "here", "f", "Y"), ("c", "there", "m", "N"))
    pair = [(fewer, (*fewer, ("b", "here", "f", "N")))]
    plan = PrivatePlan(ONE, 2, "infogain", choice)
    honest, planted = (
        Structures(world, plan, plant).worst(pair, loss_charged)
        for plant in (nullcontext, lambda: defects.information_gain(defects.TakenForMonotone))
    )
    assert not honest.broken
    assert planted.broken
    assert planted.share < planted.loss < INFINITE


@pytest.mark.parametrize("choice", ["exponential", "permute-and-flip"])
def test_a_parallel_charge_for_draws_on_the_same_records_is_caught(choice: str) -> None:
    """The first splits of two numbers are about the same people; one charge does not cover both."""
    world, plan = WORLDS["two numbers"], PrivatePlan(ONE, 1, "max", choice)
    planted = Structures(world, plan, lambda: defects.structure(defects.OneChargeForFirstSplits))
    verdict = planted.worst(world.neighbours(2), loss_charged)
    assert verdict.broken
    assert verdict.where.startswith("first split of age")


def test_a_parallel_charge_for_all_draws_is_caught_in_what_the_release_shows() -> None:
    world, plan = WORLDS["two numbers"], PrivatePlan(ONE, 1)
    planted = Structures(world, plan, lambda: defects.structure(defects.OneChargeForAll))
    verdict = planted.worst(world.neighbours(2))
    assert verdict.broken
    assert verdict.loss < INFINITE


def test_a_draw_before_its_charge_is_caught() -> None:
    with pytest.raises(AssertionError, match="a draw before any charge"):
        Structures(TOWN_AND_AGE, PrivatePlan(ONE, 1), lambda: defects.structure(defects.NoCharge))[()]


def test_a_wrong_chance_of_the_noise_would_be_seen() -> None:
    """The planted noise is what it says: twice the mass of (0, 1) lies at 0."""
    left, centre, right = cut_laplace_chances(ONE, 1)
    assert left == right == EXACT.divide(exp(-ONE), 2)
    assert centre == EXACT.subtract(1, exp(-ONE))
