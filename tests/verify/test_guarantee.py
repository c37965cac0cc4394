"""The guarantee of a release is the sentence that its requirements make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.schema import (
    AlphaKAnonymity,
    BetaLikeness,
    Confidence,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    Requirement,
    TCloseness,
)
from unveil.verifier.requirements import read_statement
from verify.releases import YOUNG, Draft, Verify
from verify.sensitive import alpha_k, closeness, confidence, diversity, found, people, release_of

WORDS = "Every combination of released values of {age, education, sex} is shared by at least 2 records."
ROWS = people(YOUNG, "flu", "cold", "gout", "mumps")
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
    planted = release_of(ROWS, stated)
    planted.manifest["guarantee"] = sentence
    assert found(tmp_path, planted) == []


CHANGES = (("{age}", "{sex}"), ("5", "4"), ("25", "2"), ("5", "55"), ("'flu'", "'gout'"), ("least", "most"))


@pytest.mark.parametrize(
    ("kind", "change"), [(kind, change) for kind in KINDS for change in CHANGES if change[0] in KINDS[kind][1]]
)
def test_every_kind_of_requirement_with_another_promise(kind: str, change: tuple[str, str], tmp_path: Path) -> None:
    stated, sentence = KINDS[kind]
    planted = release_of(ROWS, stated)
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
