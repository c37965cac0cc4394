"""The engine against a brute-force TDR that shares no code with it: same steps, same scores, same masking."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from bridge import WEIGHT, known, records_of, released_records, spec_of, table_of
from oracles.problem import Problem
from oracles.strategies import gapped_problems, mixed_problems, problems, spread_problems, template_problems
from oracles.tdr import tdr
from unveil.counting import index
from unveil.release import Release

pytestmark = pytest.mark.engines


def assert_same(problem: Problem, release: Release) -> None:
    result = tdr(problem)
    assert [(step["attribute"], step["refined"], tuple(step["into"])) for step in release.trace] == [
        (step.attribute, step.refined, tuple(step.into)) for step in result.steps
    ]
    for step, expected in zip(release.trace, result.steps, strict=True):
        score = expected.score if problem.criterion == "score" else expected.gain
        assert step["gain"] == pytest.approx(expected.gain, abs=1e-12)
        assert step["loss"] == pytest.approx(expected.loss, abs=1e-9)
        assert step["score"] == pytest.approx(score, abs=1e-12)
    for name, labels in result.masking.items():
        values = list(labels)
        assert release.masking[name].labels(list(map(known, values))) == [labels[value] for value in values]
    assert released_records(release) == records_of(problem, result.records)


@settings(deadline=None, max_examples=300)
@given(problems())
def test_same_steps_scores_and_masking(problem: Problem) -> None:
    assert_same(problem, unveil.publish(table_of(problem), spec_of(problem)))


@settings(deadline=None, max_examples=80)
@given(gapped_problems())
def test_missing_values_are_values(problem: Problem) -> None:
    release = unveil.publish(table_of(problem), spec_of(problem))
    assert_same(problem, release)
    with TemporaryDirectory() as folder:
        release.write(Path(folder) / "release")
        assert unveil.verify(Path(folder) / "release") == []


@settings(deadline=None, max_examples=200)
@given(template_problems())
def test_templates_as_pda_discloses_them(problem: Problem) -> None:
    assert_same(problem, unveil.publish(table_of(problem), spec_of(problem)))


@settings(deadline=None, max_examples=200)
@given(mixed_problems())
def test_any_mix_of_requirements(problem: Problem) -> None:
    release = unveil.publish(table_of(problem), spec_of(problem))
    assert_same(problem, release)
    with TemporaryDirectory() as folder:
        release.write(Path(folder) / "release")
        assert unveil.verify(Path(folder) / "release") == []


@settings(deadline=None, max_examples=200)
@given(spread_problems())
def test_numbers_are_kept_apart(problem: Problem) -> None:
    release = unveil.publish(table_of(problem), spec_of(problem))
    assert_same(problem, release)
    with TemporaryDirectory() as folder:
        release.write(Path(folder) / "release")
        assert unveil.verify(Path(folder) / "release") == []


@settings(deadline=None, max_examples=150)
@given(st.one_of(problems(), template_problems(), mixed_problems()))
def test_pieces_that_are_counted_only_when_they_are_asked_for(problem: Problem) -> None:
    """As for attributes of many suppressed values, which small tables do not have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "MANY", 0)
        assert_same(problem, unveil.publish(table_of(problem), spec_of(problem)))


@settings(deadline=None, max_examples=100)
@given(mixed_problems())
def test_round_bounds_change_nothing_but_labels(problem: Problem) -> None:
    table, spec = table_of(problem), spec_of(problem)
    paper, release = unveil.publish(table, spec), unveil.publish(table, replace(spec, bounds="round"))
    for step, expected in zip(release.trace, paper.trace, strict=True):
        assert {**step, "refined": "", "into": len(step["into"])} == {
            **expected,
            "refined": "",
            "into": len(expected["into"]),
        }
    names = [attribute.name for attribute in problem.attributes if attribute.name in spec.masked]
    labels = [
        {name: found.masking[name].labels(table[name].to_pylist()) for name in names} for found in (release, paper)
    ]
    for name in names:
        pairs = set(zip(labels[0][name], labels[1][name], strict=True))
        assert len(pairs) == len({rounded for rounded, _ in pairs}) == len({observed for _, observed in pairs})


@settings(deadline=None, max_examples=100)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_order_and_the_index_of_the_rows_play_no_part(problem: Problem, seed: int) -> None:
    table, spec = table_of(problem), spec_of(problem)
    shuffle = np.random.default_rng(seed)
    order = shuffle.permutation(table.num_rows)
    shuffled = table.take(pa.array(order)).to_pandas()
    shuffled.index = shuffle.integers(0, 5, len(shuffled))
    release, other = unveil.publish(table, spec), unveil.publish(shuffled, spec)
    assert release.trace == other.trace
    assert release.manifest == other.manifest
    assert release.table.equals(other.table)


@settings(deadline=None, max_examples=60)
@given(problems())
def test_rows_standing_for_themselves_are_masked_as_weighted_rows_are(problem: Problem) -> None:
    table, spec = table_of(problem), spec_of(problem)
    expanded = table.take(pa.array(np.repeat(np.arange(table.num_rows), table[WEIGHT].to_numpy())))
    one = {WEIGHT: pa.array(np.ones(expanded.num_rows, dtype=np.int64))}
    unit = pa.table({name: one.get(name, expanded[name]) for name in expanded.column_names})
    release, other = unveil.publish(table, spec), unveil.publish(unit, spec)
    assert release.trace == other.trace
    assert release.table.equals(other.table)


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(0, 6))
def test_stopped_at_any_time_the_table_is_the_one_reached_by_then(problem: Problem, steps: int) -> None:
    table, spec = table_of(problem), spec_of(problem)
    stopped = unveil.publish(table, spec, steps=steps)
    whole = unveil.publish(table, spec)
    assert stopped.trace == whole.trace[:steps]
    for requirement in spec.requirements:
        groups: Counter = Counter()
        for row in stopped.table.to_pylist():
            groups[tuple(row[name] for name in requirement.quasi_identifier)] += row[WEIGHT]
        assert min(groups.values()) >= requirement.k
