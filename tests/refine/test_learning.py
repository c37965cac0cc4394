"""Rows that only choose the masking: the same steps and table as by brute force, and which rows are drawn."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b, shake_256
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import unveil
from bridge import has_persons, joint_spec, records_of, released_records, spec_of, table_of
from oracles.joint import UNSTEERED, Steering, masked
from oracles.learning import learned_joint, learned_tdr
from oracles.problem import QID, Discretized, Problem, Record, Suppressed
from oracles.strategies import mixed_problems, person_problems, problems, spread_problems, template_problems
from oracles.tdr import levels, most_masked
from unveil.counting import Marked
from unveil.counting.learning import LearningEngine
from unveil.errors import BrokenPromiseError
from unveil.schema import Recoding, Spec

SHARE, SECRET = Fraction(2, 5), b"which rows"
ANY = st.one_of(problems(), template_problems(), mixed_problems(), spread_problems(), person_problems())
RECODINGS: Any = st.sampled_from(("local", "global"))


def parted(problem: Problem) -> tuple[Problem, list[Record]]:
    """What is released, and the records to learn from: of all rows, or of all persons, those with the lowest lots."""
    units: list[Any] = list(range(len(problem.records)))
    owner: list[Any] = units
    if has_persons(problem):
        owner = [record.person for record in problem.records]
        units = sorted(set(owner), key=words)
    lots = np.frombuffer(shake_256(SECRET).digest(8 * len(units)), dtype="<u8").tolist()
    drawn = sorted(zip(lots, range(len(units)), strict=True))[: int(SHARE * len(units))]
    learns = {units[place] for _, place in drawn}
    pairs = list(zip(owner, problem.records, strict=True))
    released = replace(problem, records=[record for whose, record in pairs if whose not in learns])
    requirements = released.requirements
    whole = levels(released, most_masked(released), requirements)
    if not drawn or not all(one.holds(level) for one, level in zip(requirements, whole, strict=True)):
        reject()
    return released, [record for whose, record in pairs if whose in learns]


def words(person: str) -> tuple[int, int]:
    """The two numbers of a person."""
    digest = blake2b(f"{len(person)}:{person}".encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little") >> 2, int.from_bytes(digest[8:], "little") >> 2


def learning(spec: Spec) -> Spec:
    return replace(spec, learn=SHARE, secret=SECRET, surplus=0)


def steps_of(release: unveil.Release) -> list[tuple[Any, ...]]:
    return [(step["attribute"], step["refined"], tuple(step["into"]), step.get("group")) for step in release.trace]


def assert_same(problem: Problem, recoding: Recoding, spec: Spec, steering: Steering = UNSTEERED) -> None:
    """The spec has what the steering says."""
    shown, others = parted(problem)
    release, result = unveil.publish(table_of(problem), spec), learned_joint(shown, others, recoding, steering)
    assert steps_of(release) == [(step.attribute, step.refined, step.into, step.group) for step in result.steps]
    for step, expected in zip(release.trace, result.steps, strict=True):
        assert step["gain"] == pytest.approx(expected.gain, abs=1e-6)
        assert step["score"] == pytest.approx(expected.score, abs=1e-6)
    assert released_records(release) == records_of(shown, masked(shown, result))


@settings(deadline=None, max_examples=120)
@given(ANY, RECODINGS)
def test_the_joint_search_takes_the_same_steps(problem: Problem, recoding: Recoding) -> None:
    assert_same(problem, recoding, learning(joint_spec(problem, recoding)))


@settings(deadline=None, max_examples=40)
@given(problems(), RECODINGS)
def test_also_for_statistics(problem: Problem, recoding: Recoding) -> None:
    spec = replace(learning(joint_spec(problem, recoding)), goal="statistics")
    assert_same(problem, recoding, spec, Steering(goal="statistics"))


@settings(deadline=None, max_examples=80)
@given(ANY)
def test_the_papers_search_takes_the_same_steps(problem: Problem) -> None:
    shown, others = parted(problem)
    spec = learning(replace(spec_of(problem), criterion="infogain"))
    release, (steps, records) = unveil.publish(table_of(problem), spec), learned_tdr(shown, others)
    found = [(step["attribute"], step["refined"], tuple(step["into"])) for step in release.trace]
    assert found == [(step.attribute, step.refined, step.into) for step in steps]
    for step, expected in zip(release.trace, steps, strict=True):
        assert step["gain"] == pytest.approx(expected.gain, abs=1e-9)
    assert released_records(release) == records_of(shown, records)


def townspeople(seed: int) -> Problem:
    draw = np.random.default_rng(seed)
    records = [
        Record({"age": int(age), "town": str(town)}, "yes" if draw.random() < age / 20 else "no")
        for age, town in zip(draw.integers(0, 20, 40), draw.choice(["Aarhus", "Bergen", "Cork"], 40), strict=True)
    ]
    attributes = [Discretized("age", 0, 20), Suppressed("town", ("Aarhus", "Bergen", "Cork"))]
    return Problem(attributes, records, qids=[QID(("age", "town"), 4)])


def gains_of_all(marked: Marked) -> Marked:
    return marked._replace(weight=marked.weight + marked.held)


def requirements_on_all(marked: Marked) -> Marked:
    return marked._replace(held=marked.weight + marked.held)


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize("fault", [gains_of_all, requirements_on_all, None])
def test_what_counts_the_wrong_rows_is_noticed(
    fault: Callable[[Marked], Marked] | None, recoding: Recoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = LearningEngine.marked
    if fault is not None:
        monkeypatch.setattr(LearningEngine, "marked", lambda *arguments: fault(counted(*arguments)))
    noticed = 0
    for problem in map(townspeople, range(6)):
        try:
            assert_same(problem, recoding, learning(joint_spec(problem, recoding)))
        except (AssertionError, BrokenPromiseError):
            noticed += 1
    assert bool(noticed) is (fault is not None)
