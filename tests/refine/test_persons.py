"""Groups of persons, who have one row or several: every search against its brute force, and every kind."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from bridge import PERSON, joint_spec, records_of, released_records, spec_of, table_of
from oracles.joint import joint, masked
from oracles.problem import Problem
from oracles.strategies import person_problems
from oracles.tdr import tdr
from unveil.schema import Recoding

pytestmark = pytest.mark.engines


@settings(deadline=None, max_examples=60)
@given(person_problems())
def test_the_papers_search_takes_the_same_steps(problem: Problem) -> None:
    """Every table that is published in memory is recounted by person too."""
    release, result = unveil.publish(table_of(problem), spec_of(problem)), tdr(problem)
    assert [(step["attribute"], step["refined"], tuple(step["into"])) for step in release.trace] == [
        (step.attribute, step.refined, tuple(step.into)) for step in result.steps
    ]
    for step, expected in zip(release.trace, result.steps, strict=True):
        assert step["loss"] == pytest.approx(expected.loss, abs=1e-9)
    assert released_records(release) == records_of(problem, result.records)
    assert PERSON not in release.table.column_names
    assert release.manifest.persons == len({record.person for record in problem.records})


@settings(deadline=None, max_examples=60)
@given(person_problems(), st.sampled_from(("local", "global")), st.integers(0, 2**32 - 1))
def test_the_joint_search_takes_the_same_steps(problem: Problem, recoding: Recoding, seed: int) -> None:
    """In whatever order the rows come, and however persons are called."""
    table, spec, result = table_of(problem), joint_spec(problem, recoding), joint(problem, recoding)
    release = unveil.publish(table, spec)
    assert [(step["attribute"], step["refined"], tuple(step["into"]), step.get("group")) for step in release.trace] == [
        (step.attribute, step.refined, step.into, step.group) for step in result.steps
    ]
    assert released_records(release) == records_of(problem, masked(problem, result))
    other = unveil.publish(table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows))), spec)
    assert (other.trace, other.manifest) == (release.trace, release.manifest)
