"""TDR, Section II: which requirements imply which."""

from itertools import permutations

import pytest

from unveil.schema import KAnonymity, without_redundant

AB4, A4, A5, B3, BA4 = (
    KAnonymity(quasi_identifier=("A", "B"), k=4),
    KAnonymity(quasi_identifier=("A",), k=4),
    KAnonymity(quasi_identifier=("A",), k=5),
    KAnonymity(quasi_identifier=("B",), k=3),
    KAnonymity(quasi_identifier=("B", "A"), k=4),
)


@pytest.mark.parametrize(
    ("one", "other", "implies"),
    [(AB4, A4, True), (AB4, B3, True), (AB4, A5, False), (A4, AB4, False), (AB4, BA4, True), (A5, A4, True)],
)
def test_a_larger_quasi_identifier_with_no_smaller_k_implies(one: KAnonymity, other: KAnonymity, implies: bool) -> None:
    assert one.implies(other) is implies


@pytest.mark.parametrize("requirements", list(permutations([AB4, A4, A5, B3])))
def test_what_another_one_implies_is_dropped_in_any_order(requirements: tuple[KAnonymity, ...]) -> None:
    kept = without_redundant(requirements)
    assert set(kept) == {AB4, A5}
    assert list(kept) == [requirement for requirement in requirements if requirement in kept]


def test_of_two_equal_ones_the_first_is_kept() -> None:
    assert without_redundant([AB4, BA4]) == (AB4,)
    assert without_redundant([BA4, AB4, BA4]) == (BA4,)


def test_what_a_reader_is_reported() -> None:
    requirement = KAnonymity(quasi_identifier=("age", "sex"), k=1_500)
    assert requirement.sentence() == (
        "Every combination of released values of {age, sex} is shared by at least 1,500 records."
    )
    assert requirement.describe() == {"kind": "k-anonymity", "quasi-identifier": ["age", "sex"], "k": 1_500}
