"""β-likeness and (k, e)-anonymity recounted; and no kind of requirement is known on one side only."""

from pathlib import Path

import pytest

from unveil.schema import KINDS as PUBLISHED
from unveil.verifier.requirements import KINDS as RECOUNTED
from verify.releases import OLD, YOUNG
from verify.sensitive import claims, found, paid, people, release_of

if set(PUBLISHED) != set(RECOUNTED):
    raise RuntimeError(f"known on one side only: {sorted(set(PUBLISHED) ^ set(RECOUNTED))}")

ALIKE = [*people(YOUNG, "flu", "cold", "cold"), *people(OLD, "flu", "cold", "cold")]
RARE = [*people(YOUNG, "flu", "cold", "gout"), *people(OLD, "flu", "cold", "cold")]
APART = [*paid(YOUNG, 0.1, 0.3), *paid(OLD, 5, 6)]


def likeness(beta: float) -> dict:
    return {"kind": "beta-likeness", "quasi-identifier": ["age"], "sensitive": "disease", "beta": beta}


def spread(k: int, e: float, sensitive: str = "pay") -> dict:
    return {"kind": "k-e-anonymity", "quasi-identifier": ["age"], "k": k, "sensitive": sensitive, "e": e}


def test_groups_like_the_table(tmp_path: Path) -> None:
    assert found(tmp_path, release_of(ALIKE, likeness(0.001))) == []


def test_a_gain_may_be_met(tmp_path: Path) -> None:
    assert found(tmp_path, release_of(RARE, likeness(1))) == []


def test_a_rare_value_that_one_group_holds_alone_is_found(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(RARE, likeness(0.9)))
    assert finding.claim == "likeness"
    assert finding.message == (
        "data.parquet has disease='gout' in 1 of the 3 records of (age='[17, 37)'), a share of 0.333333, 2 times that "
        "of the whole release, but requirement 1 allows at most 1 + 0.9 times (too much in 1 of 2 groups)."
    )


@pytest.mark.parametrize(("k", "e", "broken"), [(2, 0.2, []), (2, 0.21, ["span"]), (3, 0.2, ["diversity"])])
def test_numbers_apart(tmp_path: Path, k: int, e: float, broken: list[str]) -> None:
    """0.3 - 0.1 is 0.2, though not in floats."""
    assert claims(found(tmp_path, release_of(APART, spread(k, e)))) == broken


def test_the_closest_group_is_named(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(APART, spread(2, 0.9)))
    assert finding.message == (
        "data.parquet: in (age='[17, 37)') the values of 'pay' span 0.2, but requirement 1 asks for at least 0.9 "
        "(too close in 1 of 2 groups)."
    )


def test_only_numbers_are_apart(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(ALIKE, spread(1, 1, "disease")))
    assert finding.message == "manifest.json: requirement 1 measures 'disease', which is not a number."
