"""The joint search against a brute-force search that shares no code with it: same steps, same groups, same table."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import unveil
from bridge import joint_spec, records_of, released_records, table_of
from oracles.joint import joint, masked
from oracles.problem import Problem
from oracles.strategies import gapped_problems, mixed_problems, problems, spread_problems, template_problems
from unveil.schema import Recoding

pytestmark = pytest.mark.engines

RECODINGS: SearchStrategy[Recoding] = st.sampled_from(("local", "global"))
ANY = st.one_of(problems(), template_problems(), mixed_problems(), spread_problems())


def assert_same(problem: Problem, recoding: Recoding) -> None:
    release, result = unveil.publish(table_of(problem), joint_spec(problem, recoding)), joint(problem, recoding)
    assert [(step["attribute"], step["refined"], tuple(step["into"]), step.get("group")) for step in release.trace] == [
        (step.attribute, step.refined, step.into, step.group) for step in result.steps
    ]
    for step, expected in zip(release.trace, result.steps, strict=True):
        assert step["gain"] == pytest.approx(expected.gain, abs=1e-6)
        assert step["score"] == pytest.approx(expected.score, abs=1e-6)
    assert released_records(release) == records_of(problem, masked(problem, result))


@settings(deadline=None, max_examples=300)
@given(ANY, RECODINGS)
def test_same_steps_groups_and_table(problem: Problem, recoding: Recoding) -> None:
    assert_same(problem, recoding)


@settings(deadline=None, max_examples=80)
@given(gapped_problems(), RECODINGS)
def test_missing_values_are_values(problem: Problem, recoding: Recoding) -> None:
    assert_same(problem, recoding)


@settings(deadline=None, max_examples=60)
@given(ANY, RECODINGS, st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_plays_no_part(problem: Problem, recoding: Recoding, seed: int) -> None:
    table, spec = table_of(problem), joint_spec(problem, recoding)
    order = np.random.default_rng(seed).permutation(table.num_rows)
    release, other = unveil.publish(table, spec), unveil.publish(table.take(pa.array(order)), spec)
    assert release.trace == other.trace
    assert release.manifest == other.manifest
    assert release.table.equals(other.table)


@settings(deadline=None, max_examples=60)
@given(ANY, RECODINGS, st.integers(0, 6))
def test_stopped_at_any_time_the_table_is_the_one_reached_by_then(
    problem: Problem, recoding: Recoding, steps: int
) -> None:
    """Every published table is recounted, so it satisfies its requirements."""
    table, spec = table_of(problem), joint_spec(problem, recoding)
    stopped = unveil.publish(table, spec, steps=steps)
    expected = masked(problem, joint(replace(problem, steps=steps), recoding))
    assert stopped.trace == unveil.publish(table, spec).trace[:steps]
    assert released_records(stopped) == records_of(problem, expected)
