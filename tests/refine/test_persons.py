"""Groups of persons, who have one row or several: every search against its brute force, and every kind."""

import pytest
from hypothesis import given, settings

import unveil
from bridge import PERSON, records_of, released_records, spec_of, table_of
from oracles.problem import Problem
from oracles.strategies import person_problems
from oracles.tdr import tdr

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
