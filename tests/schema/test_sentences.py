"""Words that every message uses: the nearest known name, and counts with their nouns."""

import pytest

from unveil.errors import count_text, did_you_mean


@pytest.mark.parametrize(
    ("word", "known", "nearest"),
    [
        ("rnage", ["kind", "range"], "range"),
        ("agee", ["wage", "age"], "age"),
        ("kk", ["kind", "k"], "k"),
        ("c46", ["tree", "c45"], "c45"),
        ("AGE", ["sex", "age"], "age"),
        ("quasi_identifier", ["k", "quasi-identifier"], "quasi-identifier"),
        ("ab", ["abx", "aby"], "abx"),
    ],
)
def test_a_slip_finds_the_name(word: str, known: list[str], nearest: str) -> None:
    assert did_you_mean(word, known) == f"; did you mean {nearest!r}?"


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("age", ["change"]),
        ("income", ["outcome"]),
        ("education", ["occupation"]),
        ("a", ["b", "c"]),
        ("age", []),
        ("", ["a"]),
        ("x" * 20_000, ["y" * 20_000]),
    ],
)
def test_another_word_is_not_offered(word: str, known: list[str]) -> None:
    assert did_you_mean(word, known) == ""


def test_counts_and_their_nouns() -> None:
    assert [count_text(count, "different value") for count in (0, 1, 2, 12000)] == [
        "0 different values",
        "1 different value",
        "2 different values",
        "12,000 different values",
    ]
