"""The joint search on rows that are not in one place: the same steps and the same release, bit by bit.

Here the rows lie in chunks of three, each asked by itself, in place of a cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
import unveil.refine.boxes as boxes_of_search
from bridge import joint_spec, table_of
from oracles.problem import Problem
from oracles.strategies import mixed_problems, problems, spread_problems, template_problems
from unveil.counting import Marked
from unveil.counting.distinct import DistinctRows
from unveil.counting.far import FarMarked, Held, Places, Tally
from unveil.counting.memory import MemoryEngine
from unveil.errors import EngineError
from unveil.schema import Recoding, Spec

RECODINGS: tuple[Recoding, ...] = ("local", "global")
ANY = st.one_of(problems(), template_problems(), mixed_problems(), spread_problems())
CHUNK = 3


def far_away(rows: Marked, sizes: list[int]) -> FarMarked:
    """The same rows, of which only answers are seen."""

    def gather(function: Callable[[Held], Tally], numbers: Sequence[int]) -> Tally:
        found = DistinctRows(numbers)
        for start in range(0, len(rows.weight), CHUNK):
            here = slice(start, start + CHUNK)
            held = ([column[here] for column in columns] for columns in (rows.codes, rows.marks))
            found.add(*function(Held(*held, rows.weight[here])))
        asked = found.sorted()
        return Tally(asked.columns(), asked.weight)

    return FarMarked(gather, sizes, rows.widths, len(rows.weight), int(rows.weight.sum()))


marked = MemoryEngine.marked


def elsewhere(self: MemoryEngine, columns: Sequence[int], marks: Sequence[int]) -> FarMarked:
    outline = self._rows.outline
    return far_away(marked(self, columns, marks), [len(outline.columns[column]) for column in columns])


def both(table: Any, spec: Spec | dict[str, Any]) -> tuple[unveil.Release, unveil.Release]:
    here = unveil.publish(table, spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryEngine, "marked", elsewhere)
        return here, unveil.publish(table, spec)


def assert_same(table: Any, spec: Spec | dict[str, Any]) -> None:
    here, there = both(table, spec)
    assert there.trace == here.trace
    assert there.manifest == here.manifest
    assert there.table.equals(here.table)


@settings(deadline=None, max_examples=40)
@given(ANY, st.sampled_from(RECODINGS), st.sampled_from(("class", "statistics")), st.booleans())
def test_the_same_steps_wherever_the_rows_are(problem: Problem, recoding: Recoding, goal: Any, anonymity: bool) -> None:
    spec = replace(joint_spec(problem, recoding), goal=goal, criterion="anonymity" if anonymity else "score")
    assert_same(table_of(problem), spec)


def people() -> pa.Table:
    rng = np.random.default_rng(3)
    age, town = rng.integers(20, 80, 400), rng.choice(["Aarhus", "Bergen", "Cork", "Dover"], 400)
    ill = (age > 45) ^ (town == "Cork") ^ (rng.random(400) < 0.1)
    return pa.table(
        {"age": age, "town": town, "job": rng.choice(list("abcde"), 400), "ill": np.where(ill, "yes", "no")}
    )


def spec(*qids: list[str], **publish: Any) -> dict[str, Any]:
    kinds = {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}, "job": {"kind": "category"}}
    require = [{"kind": "k-anonymity", "quasi-identifier": qid, "k": 12} for qid in qids]
    settled = {key.replace("_", "-"): value for key, value in publish.items()}
    return {"table": {"class": "ill"}, "attributes": kinds, "require": require, "publish": settled}


EVERY = ["age", "town", "job"]


@pytest.mark.parametrize("publish", [{}, {"leave_out": "5%"}, {"goal": "statistics"}, {"recoding": "global"}])
def test_samples_and_records_left_out_are_the_same(publish: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With few rows to look ahead on, they are a sample, which does not depend on where the rows are."""
    monkeypatch.setattr(boxes_of_search, "SAMPLE", 16)
    assert_same(people(), spec(EVERY, **publish))


def test_several_sets_share_their_attributes() -> None:
    assert_same(people(), spec(["age", "town"], ["town", "job"]))


def test_records_of_several_sets_are_left_out_in_one_place_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryEngine, "marked", elsewhere)
    with pytest.raises(EngineError, match="several sets of attributes are searched in the driver only"):
        unveil.publish(people(), spec(["age", "town"], ["town", "job"], leave_out="2%"))


def test_an_answer_that_misses_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: some rows of every chunk do not answer."""
    monkeypatch.setattr(Places, "keys", lambda self, codes: np.where(codes[:, 0] % 7, KEYS(self, codes), -1))
    with pytest.raises((AssertionError, unveil.UnveilError)):
        assert_same(people(), spec(EVERY))


KEYS = Places.keys
