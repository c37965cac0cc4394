"""The ledger of one release: exact fractions, and no more than the budget."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import BudgetError
from unveil.noise import Entry, Ledger

amounts = st.fractions(min_value=-1, max_value=2, max_denominator=1000)


def test_charges_are_exact() -> None:
    ledger = Ledger(Fraction(1))
    for _ in range(3):
        ledger.charge("a third", Fraction(1, 3))
    assert ledger.left == 0
    assert ledger.spent == 1
    tenths = Ledger(Fraction(1, 10) + Fraction(2, 10))
    tenths.charge("what floats cannot add", Fraction(3, 10))
    assert tenths.left == 0


def test_what_exceeds_the_budget_is_refused_with_what_is_left() -> None:
    ledger = Ledger(Fraction(1, 2))
    ledger.charge("splits", Fraction(1, 3))
    with pytest.raises(BudgetError, match=r"^counts: a charge of 1/5 exceeds what is left of the budget, 1/6\.$"):
        ledger.charge("counts", Fraction(1, 5))
    assert ledger.entries == [Entry("splits", Fraction(1, 3))]
    ledger.charge("counts", Fraction(1, 6))


@pytest.mark.parametrize("amount", [Fraction(0), Fraction(-1, 5)])
def test_a_charge_is_above_0(amount: Fraction) -> None:
    ledger = Ledger(Fraction(1))
    with pytest.raises(BudgetError, match="not above 0"):
        ledger.charge("counts", amount)
    assert ledger.left == 1


def test_a_parallel_charge_is_written_down_as_one() -> None:
    ledger = Ledger(Fraction(1))
    ledger.charge("splits of both children", Fraction(1, 4), "parallel")
    ledger.charge("counts", Fraction(1, 4))
    assert [entry.composition for entry in ledger.entries] == ["parallel", "sequential"]
    assert ledger.left == Fraction(1, 2)


@given(
    st.fractions(min_value=0, max_value=3), st.lists(st.tuples(amounts, st.sampled_from(["sequential", "parallel"])))
)
def test_the_budget_is_never_exceeded(total: Fraction, charges: list[tuple[Fraction, str]]) -> None:
    ledger = Ledger(total)
    taken = Fraction(0)
    for number, (amount, composition) in enumerate(charges):
        fits = 0 < amount <= total - taken
        try:
            ledger.charge(str(number), amount, composition)
        except BudgetError:
            assert not fits
        else:
            assert fits
            taken += amount
        assert ledger.spent == taken <= total
        assert ledger.left == total - taken
    assert sum(entry.epsilon for entry in ledger.entries) == taken
