"""The ledgers of private releases, and the rows of sampled ones, with planted faults."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.noise import Source, Thinning
from unveil.schema import load_spec
from unveil.verifier import Finding, judge_release
from unveil.verifier.raw.comparison import judge_against_raw
from verdicts import verify_against_raw, verify_release
from verify.additive_releases import SPEC, Manifest, content, people, planted, rewritten, write_project
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
from verify.releases import edit_manifest


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


SAFE = SPEC.replace('"additive"', '"safe"\ndelta = 1e-6\nspecializations = 4')


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """The releases here have so many rows that batches of three would take minutes."""


def published(folder: Path) -> Path:
    """A release that calls itself private, as one without a seed does."""
    found = load_spec(write_project(folder, SAFE))
    assert found.plan is not None
    release = unveil.publish(people(), found, unsafe_seed=5)
    release.write(folder / "release")
    manifest = release.manifest
    sentence = (
        f"{found.plan.sentence(weighted=False)} Each row is a record of the table, masked, and was kept with "
        f"probability {manifest.sampled}; at least {manifest.k} rows agree in all columns."
    )
    edit_manifest(folder / "release", lambda manifest: manifest.update(private=True, guarantee=sentence))
    return folder / "release"


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("safe"))


def test_an_honest_release_holds(true: Path) -> None:
    verdict = judge_release(true)
    assert verdict.findings == []
    assert "That rows were sampled cannot be seen" in verdict.notes[0]
    raw = judge_against_raw(true, load_spec(true.parent / "spec.toml"))
    assert raw.findings == []
    assert "All rows are in the raw table" in raw.notes[0]


Edit = Callable[[Manifest], Any]
FAULTS: dict[str, tuple[Edit, str, str]] = {
    "a smaller k": (lambda m: m.update(k=m["k"] - 1), "delta", "it is "),
    "a larger share": (lambda m: m.update(sampled="9/10"), "delta", "too many records are kept"),
    "no probability": (lambda m: m.update(sampled="3/2"), "delta", "is between 0 and 1"),
    "a smaller delta": (lambda m: m["requirements"][0].update(delta="1/1000000000"), "delta", "but with β"),
    "sampling unpaid": (lambda m: m["ledger"].pop(), "ledger", "not a sequential one for 'sampling and suppression'"),
    "sampling cheaper": (lambda m: m["ledger"][-1].update(epsilon="1/2"), "charge", "but 3ε / 4 is 3/2"),
    "a cheap choice": (lambda m: m["ledger"][0].update(epsilon="1/1000"), "charge", "ε / (4("),
}  # fmt: skip


@each(FAULTS)
def test_a_planted_claim_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str, str]) -> None:
    edit, claim, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def test_a_group_of_one_row_too_few_is_found(true: Path, tmp_path: Path) -> None:
    least = content(true)["k"]

    def shorter(table: pa.Table) -> pa.Table:
        groups = table.group_by(table.column_names).aggregate([([], "count_all")]).sort_by("count_all")
        smallest = groups["count_all"][0].as_py()
        rows = table.to_pylist()
        first = {name: groups[name][0].as_py() for name in table.column_names}
        places = [place for place, row in enumerate(rows) if row == first][: smallest - least + 1]
        return table.take(pa.array([place for place in range(len(rows)) if place not in places]))

    [finding] = rewritten(true, tmp_path, shorter)
    assert finding.claim == "k"
    assert f"appears {least - 1} times" in finding.message


SAMPLINGS: dict[str, tuple[Callable[[Thinning, Any, Source], Any], str]] = {
    "everybody is kept": (lambda thinning, counts, source: counts * (counts >= thinning.least), "each is kept with"),
    "half of the share": (
        lambda thinning, counts, source: (
            (counts * float(thinning.share) / 2).astype(int) * (counts > 2 * thinning.least / float(thinning.share))
        ),
        "each is kept with",
    ),
    "rows that nobody is": (lambda thinning, counts, source: counts + 50, "that the raw table does not have"),
}


@each(SAMPLINGS)
def test_rows_that_were_not_sampled_as_stated_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[Callable[..., Any], str]
) -> None:
    sampling, words = case
    monkeypatch.setattr(Thinning, "draw", sampling)
    release = published(tmp_path)
    findings = verify_against_raw(release, load_spec(tmp_path / "spec.toml"))
    assert any(words in finding.message for finding in findings), findings


def test_another_plan_than_that_of_the_spec_is_found(true: Path) -> None:
    spec = true.parent / "spec.toml"
    other = true.parent / "other.toml"
    changed = spec.read_text(encoding="utf-8").replace("delta = 1e-6", "delta = 1e-7")
    other.write_text(changed.replace("specializations = 4", "specializations = 5"), encoding="utf-8")
    told = " ".join(finding.message for finding in verify_against_raw(true, load_spec(other)))
    assert "the δ '1/1000000', but the spec has '1/10000000'" in told
    assert "the specializations 4, but the spec has 5" in told


def test_the_rows_are_those_of_the_parquet_file(true: Path) -> None:
    assert pq.read_table(true / "data.parquet").num_rows == unveil.open_release(true).rows.num_rows
