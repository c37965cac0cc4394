"""The recount of published tables finds what is planted in them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from .recount import Published, broken, within

BLOCKS = [{"label": "[0, 0.3)", "from": 0, "to": 0.3}, {"label": "[0.3, 1)", "from": 0.3, "to": 1}]
MASKING = {
    "dose": {"kind": "discretization", "blocks": BLOCKS},
    "job": {"kind": "generalization", "blocks": [{"label": "any", "values": ["nurse", "cook"]}]},
    "town": {"kind": "suppression", "disclosed": ["Cork"], "marker": "⊥"},
    "ill": {"kind": "released"},
}
ROWS = [
    {"dose": "[0, 0.3)", "job": "any", "town": "Cork", "ill": "yes", "n": 1},
    {"dose": "[0, 0.3)", "job": "any", "town": "Cork", "ill": "no", "n": 2},
    {"dose": "[0.3, 1)", "job": "any", "town": "⊥", "ill": "yes", "n": 1},
    {"dose": "[0.3, 1)", "job": "any", "town": "⊥", "ill": "no", "n": 2},
]
RAW = {
    "dose": {0.1: 1, 0.2: 2, 0.3: 3},
    "job": {"nurse": 4, "cook": 2},
    "town": {"Cork": 3, "Galway": 2, "Sligo": 1},
    "ill": {"yes": 2, "no": 4},
}
REQUIREMENTS: list[Mapping[str, Any]] = [
    {"kind": "k-anonymity", "quasi-identifier": ["dose", "town"], "k": 3},
    {"kind": "confidence", "channel": ["dose"], "sensitive": "ill", "values": ["yes"], "limit": 0.34},
    {
        "kind": "alpha-k-anonymity",
        "quasi-identifier": ["town"],
        "k": 3,
        "sensitive": "ill",
        "values": ["yes"],
        "alpha": 0.5,
    },
    {"kind": "l-diversity", "quasi-identifier": ["job", "town"], "sensitive": "ill", "l": 2, "variant": "distinct"},
    {"kind": "l-diversity", "quasi-identifier": ["town"], "sensitive": "ill", "l": 1.8, "variant": "entropy"},
    {"kind": "t-closeness", "quasi-identifier": ["dose"], "sensitive": "ill", "t": 0, "distance": "equal"},
]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def published(*requirements: Mapping[str, Any]) -> Published:
    manifest = {"masking": MASKING, "weight": "n", "requirements": requirements}
    return Published(manifest, columns_of(ROWS), [1, 1, 1, 1], RAW)


def test_a_true_release_has_nothing_broken() -> None:
    assert broken(published(*REQUIREMENTS)) == []


@pytest.mark.parametrize(
    ("number", "key", "value"),
    [(0, "k", 4), (1, "limit", 0.33), (2, "k", 4), (2, "alpha", 0.3), (3, "l", 3), (4, "l", 1.95)],
)
def test_a_requirement_that_asks_for_more_is_broken(number: int, key: str, value: float) -> None:
    assert len(broken(published({**REQUIREMENTS[number], key: value}))) == 1


def test_closeness_is_broken_by_a_group_of_one_value() -> None:
    rows = [*ROWS[:1], {**ROWS[1], "ill": "yes"}, *ROWS[2:]]
    assert broken(replace(published(REQUIREMENTS[5]), columns=columns_of(rows))) != []


@pytest.mark.parametrize(
    "change",
    [{"dose": None}, {"dose": "[0.3, 1)"}, {"job": "nurse"}, {"town": "⊥"}, {"n": 2}],
    ids=["no label", "another interval", "a leaf", "hidden", "another weight"],
)
def test_a_row_under_another_label_is_found(change: dict[str, Any]) -> None:
    assert broken(replace(published(), columns=columns_of([{**ROWS[0], **change}, *ROWS[1:]]))) != []


def test_a_row_counted_twice_is_found() -> None:
    assert broken(replace(published(), counts=[2, 1, 1, 1])) != []


def test_a_value_outside_every_block_is_found() -> None:
    assert broken(replace(published(), raw={**RAW, "dose": {0.1: 1, 0.2: 2, 1.0: 3}})) != []


def test_an_interval_holds_what_is_written_in_it() -> None:
    assert within("[0.3, 0.4)", 0.3)
    assert not within("[0.2, 0.3)", 0.3)
    assert not within("[0.3, 0.4)", 0.29999999999999993)
    assert within("[2019-01-01, 2019-02-01)", date(2019, 1, 31))
    assert not within("[2019-01-01, 2019-02-01)", date(2019, 2, 1))
