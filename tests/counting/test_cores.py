"""Releases are the same whatever the number of cores, and parts of the work come back in their order."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import cores
from unveil.masking import walk

ROWS = 4_000


def table() -> pa.Table:
    random = np.random.default_rng(5)
    age, wage = random.integers(0, 60, ROWS), random.integers(0, 900, ROWS)
    job, town = random.choice(list("abcdefg"), ROWS), random.choice(list("uvwxyz"), ROWS)
    ill = np.where(random.random(ROWS) < 0.2 + 0.5 * (age > 30) * (job > "c"), "yes", "no")
    whose = random.integers(0, ROWS // 2, ROWS)
    return pa.table({"age": age, "wage": wage, "job": job, "town": town, "ill": ill, "whose": whose})


SEARCHES = {
    "local": {"search": "joint", "recoding": "local"},
    "global": {"search": "joint", "recoding": "global"},
    "paper": {"search": "paper"},
}


def spec(person: bool, search: str) -> dict[str, object]:
    numbers = {name: {"kind": "number", "whole": True} for name in ("age", "wage")}
    return {
        "table": {"class": "ill", "others": "drop", **({"person": "whose"} if person else {})},
        "attributes": {**numbers, "job": {"kind": "category"}, "town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "wage", "job", "town"], "k": 7}],
        "publish": SEARCHES[search],
    }


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("person", [False, True])
def test_a_release_is_the_same_on_one_two_and_four_cores(
    monkeypatch: pytest.MonkeyPatch, person: bool, search: str
) -> None:
    monkeypatch.setattr(cores, "WORTH", 16)
    monkeypatch.setattr(walk, "BLOCK", 100)
    found = []
    for number in ("1", "2", "4"):
        monkeypatch.setenv(cores.VARIABLE, number)
        release = unveil.publish(table(), spec(person, search))
        found.append((release.to_arrow(), release.trace, release.manifest))
    assert found[0] == found[1] == found[2]
    assert found[0][1]


def test_parts_come_back_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cores.VARIABLE, "4")
    assert cores.each(lambda part: part * 2, range(50)) == list(range(0, 100, 2))


@pytest.mark.parametrize("number", ["1", "3"])
def test_parts_that_follow_come_back_in_their_order_and_few_are_held(
    monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    monkeypatch.setenv(cores.VARIABLE, number)
    begun: list[int] = []

    def parts() -> Iterator[int]:
        for part in range(40):
            begun.append(part)
            yield part

    for place, found in enumerate(cores.following(lambda part: part * 2, parts())):
        assert found == 2 * place
        assert len(begun) <= place + 1 + int(number)
    assert len(begun) == 40


def test_work_inside_a_thread_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cores.VARIABLE, "2")
    nested = cores.each(lambda part: cores.each(lambda inner: part + inner, range(4)), range(8))
    assert nested == [[part + inner for inner in range(4)] for part in range(8)]


def test_what_fails_in_a_thread_fails_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cores.VARIABLE, "2")
    with pytest.raises(ZeroDivisionError):
        cores.each(lambda part: 1 // part, range(3))


@pytest.mark.parametrize("rows", [[], [5], [1] * 40, [1000, 1, 1, 1000], [0, 0, 0], [1, 1, 5000]])
def test_shares_cover_everything_once(monkeypatch: pytest.MonkeyPatch, rows: list[int]) -> None:
    monkeypatch.setattr(cores, "WORTH", 16)
    monkeypatch.setenv(cores.VARIABLE, "3")
    parts = cores.shares(np.array(rows, dtype=np.int64))
    assert [place for part in parts for place in part] == list(range(len(rows)))
    assert all(len(part) for part in parts)
    assert len(parts) <= 3


def test_boxes_refined_all_at_once_are_those_refined_step_by_step() -> None:
    at_once, by_step = (unveil.publish(table(), spec(False, "local"), stop=stop) for stop in (None, lambda: False))
    assert at_once.manifest == by_step.manifest
    assert at_once.to_arrow() == by_step.to_arrow()
    assert at_once.trace == by_step.trace
    assert len(by_step.trace) > 100
