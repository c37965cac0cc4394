"""The guarantee of a release: it says what the requirements state, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.releases import YOUNG, Draft, Verify
from verify.sensitive import alpha_k, closeness, confidence, diversity, found, people, release_of

WORDS = "Every combination of released values of {age, education, sex} is shared by at least 2 records."
ROWS = people(YOUNG, "flu", "cold", "gout", "mumps")
KINDS = {
    "confidence": (
        confidence(0.25, "flu", "cold"),
        "No combination of released values of {age} lets anyone infer any one of the values 'flu', 'cold' of disease "
        "with a confidence above 25%.",
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
        "Every combination of released values of {age} is shared by at least 4 records. At most 50% of them hold the "
        "value 'flu' of disease.",
    ),
}


def promising(sentence: str, verify_planted: Verify) -> list[str]:
    def plant(planted: Draft) -> None:
        planted.manifest["guarantee"] = sentence

    return [finding.message for finding in verify_planted(plant) if finding.claim == "guarantee"]


@pytest.mark.parametrize("sentence", [WORDS, "{age, education, sex}: groups of 2.", "Of {age, education, sex}: 2."])
def test_words_are_free(sentence: str, verify_planted: Verify) -> None:
    assert promising(sentence, verify_planted) == []


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (WORDS.replace("2", "5"), "does not say 2 of requirement 1"),
        (WORDS.replace("2", "20"), "speaks of '0'"),
        (WORDS.replace("2", "12"), "speaks of '1'"),
        (WORDS.replace("age, ", ""), "does not say {age, education, sex} of requirement 1"),
        (WORDS.replace("sex", "sex, hours"), "does not say {age, education, sex} of requirement 1"),
        (WORDS + " No more than 1% are at risk.", "speaks of '1%'"),
        (WORDS + " The same is true of {hours}.", "speaks of '{hours}.'"),
        ("It is safe.", "does not say {age, education, sex} of requirement 1"),
    ],
)
def test_a_promise_that_no_requirement_states_is_found(sentence: str, said: str, verify_planted: Verify) -> None:
    [message] = promising(sentence, verify_planted)
    assert message.startswith("manifest.json: the guarantee ")
    assert said in message


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_requirement(kind: str, tmp_path: Path) -> None:
    stated, sentence = KINDS[kind]
    planted = release_of(ROWS, stated)
    planted.manifest["guarantee"] = sentence
    assert found(tmp_path, planted) == []


CHANGES = (("{age}", "{sex}"), ("5", "4"), ("25", "2"), ("5", "55"), ("'flu'", "'gout'"))


@pytest.mark.parametrize(
    ("kind", "change"), [(kind, change) for kind in KINDS for change in CHANGES if change[0] in KINDS[kind][1]]
)
def test_every_kind_of_requirement_with_another_promise(kind: str, change: tuple[str, str], tmp_path: Path) -> None:
    stated, sentence = KINDS[kind]
    planted = release_of(ROWS, stated)
    planted.manifest["guarantee"] = sentence.replace(*change)
    assert [finding.claim for finding in found(tmp_path, planted)] == ["guarantee"]
