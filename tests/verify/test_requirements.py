from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verdicts import verify_release
from verify.releases import OLD, YOUNG, Draft, Row, Verify, draft


def test_a_group_below_k_is_found(verify_planted: Verify) -> None:
    def plant(planted: Draft) -> None:
        planted.rows.remove((OLD, "9th", "⊥", 0.0, "high"))
        planted.rows.remove((OLD, "9th", "⊥", 40.0, "low"))
        planted.recount()

    [finding] = verify_planted(plant)
    assert finding.claim == "group-size"
    assert "(age='[37, 91)', education='9th', sex='⊥') is shared by 1 record," in finding.message
    assert "requirement 1 asks for at least 2 (1 of 3 groups are too small)" in finding.message


def test_every_requirement_is_recounted(verify_planted: Verify) -> None:
    def plant(planted: Draft) -> None:
        planted.manifest["requirements"] += [
            {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 4},
            {"kind": "k-anonymity", "quasi-identifier": ["education", "sex"], "k": 4},
        ]

    [finding] = verify_planted(plant)
    assert finding.claim == "group-size"
    assert "requirement 3 asks for at least 4" in finding.message


@pytest.mark.parametrize(("weight", "expected"), [(1, ["group-size"]), (2, [])])
def test_weights_are_counted_and_not_rows(verify_planted: Verify, weight: int, expected: list[str]) -> None:
    def plant(planted: Draft) -> None:
        planted.manifest["masking"]["sex"]["disclosed"] = []
        planted.rows = [(YOUNG, "9th", "⊥", 1.0, "low"), (OLD, "9th", "⊥", 1.0, "low")]
        planted.weigh([weight, 5])

    assert [finding.claim for finding in verify_planted(plant)] == expected


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["age", "income"], "'income', which is the class"),
        (["age", "hours"], "'hours', which is released as it is"),
        (["age", "zip"], "'zip', which is not an attribute of the release"),
        (["age", "age"], "'age' twice"),
    ],
)
def test_a_quasi_identifier_that_is_not_masked_is_found(verify_planted: Verify, names: list[str], words: str) -> None:
    def plant(planted: Draft) -> None:
        planted.manifest["requirements"][0]["quasi-identifier"] = names

    [finding] = verify_planted(plant)
    assert finding.claim == "quasi-identifier"
    assert words in finding.message


def test_the_weight_is_no_quasi_identifier(verify_planted: Verify) -> None:
    def plant(planted: Draft) -> None:
        planted.rows = sorted(set(planted.rows))
        planted.weigh([2] * len(planted.rows))
        planted.manifest["requirements"][0]["quasi-identifier"] = ["age", "n"]

    [finding] = verify_planted(plant)
    assert finding.claim == "quasi-identifier"


@pytest.mark.parametrize(
    "stated",
    [
        {"kind": "magic", "k": 2},
        {"kind": None},
        {"kind": ["k-anonymity"]},
        {},
        {"kind": "k-anonymity", "k": 2},
        {"kind": "k-anonymity", "quasi-identifier": [], "k": 2},
        {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 0},
        {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 2.5},
        {"kind": "k-anonymity", "quasi-identifier": "age", "k": 2},
        {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 2, "except": ["age"]},
    ],
)
def test_a_requirement_that_cannot_be_checked_is_found(verify_planted: Verify, stated: dict[str, Any]) -> None:
    findings = verify_planted(lambda planted: planted.manifest.update(requirements=[stated]))
    assert {finding.claim for finding in findings} == {"requirement"}


ROWS = st.lists(
    st.tuples(
        st.sampled_from([YOUNG, OLD]),
        st.sampled_from(["University", "9th", "10th"]),
        st.sampled_from(["M", "⊥"]),
        st.integers(0, 2).map(float),
        st.sampled_from(["low", "high"]),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(
    rows=ROWS,
    k=st.integers(1, 5),
    names=st.lists(st.sampled_from(["age", "education", "sex"]), unique=True, min_size=1),
)
def test_the_recount_agrees_with_counting_on_fingers(rows: list[Row], k: int, names: list[str]) -> None:
    planted = draft()
    planted.rows = rows
    planted.recount()
    planted.manifest["masking"]["sex"]["disclosed"] = ["M"] if any(row[2] == "M" for row in rows) else []
    planted.manifest["requirements"] = [{"kind": "k-anonymity", "quasi-identifier": names, "k": k}]
    places = [planted.columns.index(name) for name in names]
    smallest = min(Counter(tuple(row[place] for place in places) for row in rows).values())
    with tempfile.TemporaryDirectory() as folder:
        findings = verify_release(planted.write(Path(folder) / "release"))
    assert [finding.claim for finding in findings] == (["group-size"] if smallest < k else [])
    assert all(f"shared by {smallest} record" in finding.message for finding in findings)
