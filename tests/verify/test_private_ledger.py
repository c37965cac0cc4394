"""The ledger of a differentially private release, with charges that are lost, moved, doubled or of a wrong amount."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from unveil.verifier import Finding
from verify.private_releases import (
    COUNTS,
    Charge,
    PrivateDraft,
    as_in_the_paper,
    charge,
    discretization,
    each,
    ledger,
    private_draft,
    spent,
    verify_private,
)


def verify_ledger(folder: Path, charges: list[Charge], *, settle: bool = True, paper: bool = False) -> list[Finding]:
    """Verifies a release with this ledger; the counts take what is left, as the budget would have it."""
    if settle and not paper:
        charges[-1]["epsilon"] = str(1 - spent(charges[:-1]))

    def plant(planted: PrivateDraft) -> None:
        if paper:
            as_in_the_paper(planted)
        planted.manifest["ledger"] = charges

    return verify_private(folder, plant)


def true_ledger() -> list[Charge]:
    return ledger("1/28", "17/28")


def without(*purposes: str) -> list[Charge]:
    return [entry for entry in true_ledger() if entry["purpose"] not in purposes]


def moved(purpose: str, place: int) -> list[Charge]:
    charges = true_ledger()
    entry = next(entry for entry in charges if entry["purpose"] == purpose)
    charges.remove(entry)
    charges.insert(place, entry)
    return charges


def inserted(entry: Charge, place: int) -> list[Charge]:
    charges = true_ledger()
    charges.insert(place, entry)
    return charges


def composed(place: int, composition: str) -> list[Charge]:
    charges = true_ledger()
    charges[place]["composition"] = composition
    return charges


def test_the_ledger_of_the_draft_spends_everything() -> None:
    charges = private_draft().manifest["ledger"]
    assert charges == true_ledger()
    assert spent(charges) == 1


BROKEN = {
    "specialization left out": (without("specialization 6"), "5 specializations are charged, but there were 6"),
    "specialization in the middle left out": (without("specialization 2"), "'specialization 3', which does not belong"),
    "specialization too many": (
        inserted(charge("specialization 7", "1/28"), 11),
        "'specialization 7', which does not belong",
    ),
    "specialization twice": (inserted(charge("specialization 6", "1/28"), 11), "which does not belong"),
    "specializations out of order": (moved("specialization 6", 2), "charge 3 is for 'specialization 6'"),
    "first split left out": (without("first split of age"), "'age' has 3 intervals, but no charge for its first split"),
    "first split twice": (inserted(charge("first split of age", "1/28"), 1), "charge 2 is for 'first split of age'"),
    "first split of a category": (inserted(charge("first split of sex", "1/28"), 0), "'first split of sex'"),
    "first split of nothing": (inserted(charge("first split of ", "1/28"), 0), "'first split of '"),
    "first split after a specialization": (
        moved("first split of height", 2),
        "charge 3 is for 'first split of height'",
    ),
    "splits too early": (moved("splits after specialization 3", 3), "charge 4 is for 'splits after specialization 3'"),
    "splits too late": (moved("splits after specialization 1", 4), "'splits after specialization 1'"),
    "splits before all": (inserted(charge("splits after specialization 0", "1/28", "parallel"), 2), "charge 3 is for"),
    "splits twice": (inserted(charge("splits after specialization 1", "1/28", "parallel"), 4), "charge 5 is for"),
    "splits of halves left out": (
        without("splits after specialization 1", "splits after specialization 3", "splits after specialization 5"),
        "splits are charged after 0 specializations, but the intervals of 2 numbers take from 1 to 3",
    ),
    "splits of categories": (
        inserted(charge("splits after specialization 2", "1/28", "parallel"), 5),
        "splits are charged after 4 specializations",
    ),
    "unknown purpose": (inserted(charge("a look at the data", "1/28"), 0), "'a look at the data'"),
    "parallel specializations": (composed(2, "parallel"), "charge 3 for 'specialization 1' is parallel"),
    "parallel first split": (composed(0, "parallel"), "charge 1 for 'first split of age' is parallel"),
    "sequential splits": (composed(3, "sequential"), "is sequential, not parallel"),
    "parallel counts": (composed(-1, "parallel"), "the charge for the 'counts of all cells' is parallel"),
}


@each(BROKEN)
def test_a_draw_that_is_not_paid_as_it_happened_is_found(tmp_path: Path, case: tuple[list[Charge], str]) -> None:
    charges, words = case
    findings = verify_ledger(tmp_path, charges)
    assert {finding.claim for finding in findings} == {"ledger"}, findings
    assert any(words in finding.message for finding in findings), findings


@each({"lost": without(COUNTS), "not last": moved(COUNTS, 5), "twice": inserted(charge(COUNTS, "1/28"), 11)})
def test_counts_that_are_not_the_one_last_charge_are_found(tmp_path: Path, case: list[Charge]) -> None:
    assert "ledger" in {finding.claim for finding in verify_ledger(tmp_path, case, settle=False)}


@pytest.mark.parametrize("paper", [False, True])
@pytest.mark.parametrize("place", [0, 2, 3, 10])
@pytest.mark.parametrize("amount", ["1/29", "1/27", "1/14", "1"])
def test_a_draw_of_another_price_is_found(tmp_path: Path, place: int, amount: str, paper: bool) -> None:
    charges = ledger("1/28", "1/2") if paper else true_ledger()
    charges[place]["epsilon"] = amount
    findings = verify_ledger(tmp_path, charges, settle=amount != "1", paper=paper)
    message = next(finding.message for finding in findings if finding.claim == "charge")
    assert f"the charge for {charges[place]['purpose']!r} is {amount}, but ε / (2(2 + 2·6)) is 1/28" in message
    over = Fraction(amount) == 1
    assert {finding.claim for finding in findings} == ({"charge", "budget"} if over else {"charge"})


@pytest.mark.parametrize(("counts", "over"), [("1/2", False), ("18/28", True), ("16/28", False), ("1", True)])
def test_with_the_full_budget_the_counts_take_all_that_is_left(tmp_path: Path, counts: str, over: bool) -> None:
    charges = true_ledger()
    charges[-1]["epsilon"] = str(Fraction(counts))
    findings = verify_ledger(tmp_path, charges, settle=False)
    assert [finding.claim for finding in findings] == (["charge", "budget"] if over else ["charge"])
    assert "what is left of ε is 17/28" in findings[0].message


@pytest.mark.parametrize("counts", ["17/28", "1/3"])
def test_in_the_paper_the_counts_take_half(tmp_path: Path, counts: str) -> None:
    findings = verify_ledger(tmp_path, ledger("1/28", counts), paper=True)
    assert [finding.claim for finding in findings] == ["charge"]
    assert "ε / 2 is 1/2" in findings[0].message


def test_charges_that_exceed_epsilon_by_any_little_are_found(tmp_path: Path) -> None:
    """In floats the sum would be 1."""
    charges = true_ledger()
    charges[-1]["epsilon"] = str(Fraction(17, 28) + Fraction(1, 10**100))
    findings = verify_ledger(tmp_path, charges, settle=False)
    assert [finding.claim for finding in findings] == ["charge", "budget"]


def test_a_number_of_one_value_draws_no_split(tmp_path: Path) -> None:
    """It counts as a number, but there is nothing to split."""

    def plant(planted: PrivateDraft) -> None:
        planted.manifest["masking"]["year"] = discretization((2020, 2021))
        planted.rows = [(*row[:5], "[2020, 2021)", *row[5:]) for row in planted.rows]
        planted.manifest["ledger"] = ledger("1/30", "19/30")

    assert verify_private(tmp_path, plant) == []


@pytest.mark.parametrize("budget", ["full", "paper"])
def test_without_specializations_only_the_counts_cost(tmp_path: Path, budget: str) -> None:
    def plant(planted: PrivateDraft) -> None:
        counts = charge(COUNTS, "1" if budget == "full" else "1/2")
        job = planted.manifest["masking"]["job"]
        planted.manifest.update(specializations=0, ledger=[counts], budget=budget, masking={"job": job}, cells=2)
        planted.rows = [("⊥", "high", 7), ("⊥", "low", 0)]

    assert verify_private(tmp_path, plant) == []
