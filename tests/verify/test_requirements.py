"""Requirements are recounted, and the guarantee of a release is the sentence that they make."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.schema import Requirement
from unveil.schema.requirements import (
    AlphaKAnonymity,
    BetaLikeness,
    Confidence,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    TCloseness,
)
from unveil.verifier.requirements import read_statement
from verdicts import verify_release
from verify.releases import OLD, YOUNG, Draft, Row, Verify, draft
from verify.sensitive import alpha_k, closeness, confidence, diversity, found, people, release_of

WORDS = "Every combination of released values of {age, education, sex} is shared by at least 2 records."
CHANGES = (("{age}", "{sex}"), ("5", "4"), ("25", "2"), ("5", "55"), ("'flu'", "'gout'"), ("least", "most"))


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


def test_the_weight_is_not_a_quasi_identifier(verify_planted: Verify) -> None:
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


PEOPLE = people(YOUNG, "flu", "cold", "gout", "mumps")
KINDS = {
    "confidence": (
        confidence(0.25, "flu", "cold"),
        "Among the records that share a combination of released values of {age}, each of the values 'flu', 'cold' of "
        "disease is held by at most 25%.",
    ),
    "diversity": (
        diversity(1.5, "entropy"),
        "The records that share a combination of released values of {age} hold at least 1.5 well represented values "
        "(entropy) of disease.",
    ),
    "closeness": (
        closeness(0.125),
        "Among the records that share a combination of released values of {age}, disease is distributed as in the "
        "whole release up to a distance (equal) of 0.125.",
    ),
    "alpha": (
        alpha_k(4, 0.5, "flu"),
        "Every combination of released values of {age} is shared by at least 4 records. The value 'flu' of disease is "
        "held by at most 50% of them.",
    ),
}


def promising(sentence: str, verify_planted: Verify) -> list[str]:
    def plant(planted: Draft) -> None:
        planted.manifest["guarantee"] = sentence

    return [finding.message for finding in verify_planted(plant) if finding.claim == "guarantee"]


def test_the_sentence_of_the_requirements_holds(verify_planted: Verify) -> None:
    assert promising(WORDS, verify_planted) == []


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (WORDS.replace("2", "500"), "'500 records.'"),
        (WORDS.replace("2", "５００"), "'５００ records.'"),
        (WORDS.replace("2", "2⁹"), "'2⁹ records.'"),
        (WORDS.replace("2", "\u202e51\u202c"), r"\u202e51\u202c"),
        (WORDS.replace("2 records", "two thousand records, see note 2"), "two thousand records"),
        (WORDS.replace("age, ", ""), "'education, sex} is shared"),
        (WORDS.replace("sex", "sex, hours"), "', hours} is shared"),
        (WORDS + " No more than one in a million is at risk.", "' No more than one in a million"),
        (WORDS.removesuffix("."), "it reads …"),
        ("It is safe.", "'It is safe.'"),
    ],
)
def test_any_other_sentence_is_found(sentence: str, said: str, verify_planted: Verify) -> None:
    [message] = promising(sentence, verify_planted)
    assert message.startswith("manifest.json: the guarantee is not the sentence that its requirements make: ")
    assert said.strip("'") in message


def test_a_long_sentence_is_shown_around_its_first_difference(verify_planted: Verify) -> None:
    [message] = promising(WORDS + "!" * 80_000, verify_planted)
    assert "from character 95 on" in message
    assert len(message) < 400


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_requirement(kind: str, tmp_path: Path) -> None:
    stated, sentence = KINDS[kind]
    planted = release_of(PEOPLE, stated)
    planted.manifest["guarantee"] = sentence
    assert found(tmp_path, planted) == []


@pytest.mark.parametrize(
    ("kind", "change"), [(kind, change) for kind in KINDS for change in CHANGES if change[0] in KINDS[kind][1]]
)
def test_every_kind_of_requirement_with_another_promise(kind: str, change: tuple[str, str], tmp_path: Path) -> None:
    stated, sentence = KINDS[kind]
    planted = release_of(PEOPLE, stated)
    planted.manifest["guarantee"] = sentence.replace(*change)
    assert [finding.claim for finding in found(tmp_path, planted)] == ["guarantee"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("marital-status", "{marital-status}"),
        ("age, sex", "{'age, sex'}"),
        ("x} is shared by at least 9 records. {y", "{'x} is shared by at least 9 records. {y'}"),
    ],
)
def test_a_name_cannot_add_to_the_sentence(name: str, shown: str) -> None:
    sentence = f"Every combination of released values of {shown} is shared by at least 2 records."
    assert read_statement({"kind": "k-anonymity", "quasi-identifier": [name], "k": 2}).sentence() == sentence
    assert KAnonymity(quasi_identifier=(name,), k=2).sentence() == sentence


def test_a_tiny_share_is_not_rounded_to_nothing() -> None:
    stated = {"kind": "confidence", "channel": ["a"], "sensitive": "b", "values": ["c"], "limit": 1e-9}
    assert read_statement(stated).sentence().endswith("is held by at most 0.0000001%.")


NAMES = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4).map(tuple)
SHARES = st.floats(0, 1, exclude_min=True)
SIZES = st.integers(1, 10**9)
GROUPS = {"quasi_identifier": NAMES, "sensitive": st.text()}
REQUIREMENTS: st.SearchStrategy[Any] = st.one_of(
    st.builds(KAnonymity, quasi_identifier=NAMES, k=SIZES),
    st.builds(Confidence, channel=NAMES, sensitive=st.text(), values=NAMES, limit=SHARES),
    st.builds(LDiversity, **GROUPS, l=st.floats(1, 1e6), variant=st.sampled_from(["distinct", "entropy"])),
    st.builds(TCloseness, **GROUPS, t=st.floats(0, 1), distance=st.sampled_from(["equal", "ordered"])),
    st.builds(AlphaKAnonymity, **GROUPS, k=SIZES, values=NAMES, alpha=SHARES),
    st.builds(BetaLikeness, **GROUPS, beta=st.floats(1e-6, 1e6)),
    st.builds(KEAnonymity, **GROUPS, k=SIZES, e=st.floats(1e-6, 1e6)),
)


@given(REQUIREMENTS)
def test_what_publish_writes_is_what_verify_writes(requirement: Requirement) -> None:
    assert read_statement(requirement.describe()).sentence() == requirement.sentence()
