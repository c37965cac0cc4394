"""What the joint search counts: samples, many values, any number of boxes ahead, and defects that a recount finds."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings

import oracles.joint
import unveil
from bridge import spec_of, table_of
from oracles.joint import joint
from oracles.problem import Problem
from oracles.strategies import mixed_problems, problems
from unveil.errors import BrokenPromiseError
from unveil.refine import boxes
from unveil.refine import joint as loop
from unveil.refine.boxes import Partition
from unveil.schema import Attribute, KAnonymity, Spec, TableSpec

ROWS = 4_000


def people(seed: int = 0) -> pa.Table:
    """A class that depends on two numbers with hundreds of values each and on a category."""
    rng = np.random.default_rng(seed)
    age, pay, job = rng.integers(0, 400, ROWS), rng.integers(0, 700, ROWS), rng.integers(0, 5, ROWS)
    label = np.where((age > 150) ^ (pay > 300) ^ (job == 2) ^ (rng.random(ROWS) < 0.1), "Y", "N")
    return pa.table({"age": age, "pay": pay, "job": [f"job {number}" for number in job], "class": label})


def spec(recoding: str = "local", k: int = 20) -> Spec:
    return Spec(
        table=TableSpec(class_="class"),
        attributes={
            "age": Attribute("age", kind="number", range=(0, 400), whole=True),
            "pay": Attribute("pay", kind="number", range=(0, 700), whole=True),
            "job": Attribute("job"),
        },
        requirements=(KAnonymity(quasi_identifier=("age", "pay", "job"), k=k),),
        search="joint",
        recoding=recoding,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_more_than_256_values_are_counted_apart(recoding: str) -> None:
    """Codes of all attributes are numbered together, and do not fit in a byte."""
    release = unveil.publish(people(), spec(recoding))
    assert len(release.trace) > 5


def test_a_sample_depends_neither_on_the_order_nor_on_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "SAMPLE", 64)
    table = people()
    release = unveil.publish(table, spec())
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(ROWS)))
    for other in (unveil.publish(shuffled, spec()), unveil.publish(table, spec(), engine="stream")):
        assert other.trace == release.trace
        assert other.table.equals(release.table)


@settings(deadline=None, max_examples=40)
@given(problems())
def test_looking_at_two_attributes_only(problem: Problem) -> None:
    """Small tables have few attributes, so that the best four are all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes, "WIDTH", 2)
        patch.setattr(oracles.joint, "WIDTH", 2)
        assert steps_of(problem) == expected(problem)


@settings(deadline=None, max_examples=40)
@given(mixed_problems())
def test_how_many_boxes_are_split_ahead_changes_nothing(problem: Problem) -> None:
    once = steps_of(problem)
    with pytest.MonkeyPatch.context() as patch:
        split_ahead = Partition.split_ahead
        patch.setattr(Partition, "split_ahead", lambda self, box, most: split_ahead(self, box, 1))
        assert steps_of(problem) == once


def steps_of(problem: Problem) -> list[tuple[object, ...]]:
    asked = replace(spec_of(problem), search="joint", recoding="local", criterion="score")
    trace = unveil.publish(table_of(problem), asked).trace
    return [(step["attribute"], step["refined"], tuple(step["into"]), step.get("group")) for step in trace]


def expected(problem: Problem) -> list[tuple[object, ...]]:
    return [(step.attribute, step.refined, step.into, step.group) for step in joint(problem, "local").steps]


def without_a_piece(self: Partition, scan: object) -> object:
    """Does not check the last piece of each candidate."""
    last = np.append(np.diff(scan.owner) > 0, True)  # type: ignore[attr-defined]
    kept = [(scan.pieces[~last], scan.owner[~last])]  # type: ignore[attr-defined]
    return VALID(self, scan._replace(judged=lambda: kept))  # type: ignore[attr-defined]


VALID: Callable[..., object] = Partition._valid


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_piece_that_is_not_checked_fails_the_recount(recoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partition, "_valid", without_a_piece)
    with pytest.raises(BrokenPromiseError, match="a group does not satisfy its requirements"):
        unveil.publish(people(), spec(recoding))
    monkeypatch.setattr("unveil.publishers.refinement.check_groups", lambda search: None)
    with pytest.raises(AssertionError, match=re.escape("does not hold")):
        unveil.publish(people(), spec(recoding))


def test_ties_that_follow_the_order_of_rows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the place in the domain decided nothing, and neither did the age of a box, the oracle's steps would differ."""
    enter = loop.JointSearch._enter

    def youngest_first(self: loop.JointSearch, number: int, made: list[int]) -> None:
        enter(self, number, made[::-1])

    monkeypatch.setattr(loop.JointSearch, "_enter", youngest_first)

    @settings(deadline=None, max_examples=1000, database=None, phases=(Phase.generate,), derandomize=True)
    @given(problems())
    def differs(problem: Problem) -> None:
        assert steps_of(problem) == expected(problem)

    with pytest.raises(AssertionError):
        differs()
