"""Groups of persons, who have one row or several: every search against its brute force, and every kind."""

from typing import Any

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
from unveil.counting.memory import MemoryEngine
from unveil.counting.scans import ALL, SPLIT
from unveil.counting.splits import Choices
from unveil.errors import BrokenPromiseError, RequirementError
from unveil.publishers import start_joint
from unveil.refine.boxes import Partition
from unveil.schema import Recoding, load_spec
from unveil.tables import load_table

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


def visits(seed: int) -> pa.Table:
    """Each person has about four rows, and the class depends more on what is refined group by group than on the age."""
    draw = np.random.default_rng(seed)
    age, town, job, pay = (draw.integers(0, size, 1500) for size in (30, 6, 6, 40))
    ill = np.where(3 * town + 3 * job + age / 5 + draw.integers(0, 6, 1500) > 20, "yes", "no")
    person = draw.integers(0, 400, 1500)
    return pa.table({"person": person, "age": age, "town": town, "job": job, "pay": pay, "ill": ill})


def test_a_group_that_was_split_ahead_counts_a_person_once() -> None:
    """Its rows are by piece then, and stay so if the group is refined by an attribute of all groups instead."""
    number, category = {"kind": "number", "whole": True}, {"kind": "category"}
    spec = load_spec(
        {
            "table": {"class": "ill", "person": "person"},
            "attributes": {"age": number, "town": category, "job": category, "pay": number},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town", "job", "pay"], "k": 8}],
        }
    )
    table = load_table(spec, visits(0))
    search = start_joint(table, spec, MemoryEngine(table))
    partition, shapes = search.partitions[0], search.blocks.shapes
    group, every = partition.boxes(np.array([0])), np.ones(4, dtype=np.bool_)

    def counted() -> list[list[int]]:
        return [
            row for scan, *_ in partition.rows.scan(group, every, shapes, pure_too=True) for row in scan.pieces.tolist()
        ]

    before = counted()
    for column, cell in ((0, 15), (3, 20), (1, 3)):
        way = SPLIT if column in (0, 3) else ALL
        partition.rows.split(group, Choices(*(np.array([item]) for item in (column, way, cell))), shapes)
        assert counted() == before


def test_a_share_of_persons_may_fall_where_a_group_is_split() -> None:
    """Why shares are over records: each of two persons has one row with the value and one without."""
    rows = [("a", 0, "flu"), ("a", 1, "cold"), ("b", 0, "cold"), ("b", 1, "flu")]

    def share(group: list[tuple[str, int, str]]) -> float:
        return len({person for person, _, ill in group if ill == "flu"}) / len({person for person, _, _ in group})

    halves = [[row for row in rows if row[1] == half] for half in (0, 1)]
    assert share(rows) > max(map(share, halves))
    assert all(len({person for person, _, _ in half}) <= 2 for half in halves)


def test_an_alpha_k_requirement_counts_persons_and_a_share_of_their_records() -> None:
    """Twelve rows of six persons: k = 7 persons cannot hold though there are more records."""
    table = pa.table(
        {"whose": [*"aabbccddeeff"], "age": list(range(12)), "ill": ["flu", "cold"] * 6, "class": [*"yynn"] * 3}
    )
    spec: dict[str, Any] = {
        "table": {"class": "class", "person": "whose"},
        "attributes": {"age": {"kind": "number", "range": [0, 20], "whole": True}, "ill": {"kind": "category"}},
        "require": [
            {"kind": "alpha-k-anonymity", "quasi-identifier": ["age"], "sensitive": "ill", "k": 3, "alpha": 0.5}
        ],
    }
    release = unveil.publish(table, spec)
    assert "at least 3 persons. Each of the values 'cold', 'flu' of ill is held by at most 50% of their records." in (
        release.manifest.guarantee
    )
    spec["require"][0]["k"] = 7
    with pytest.raises(RequirementError, match=r"k = 7 persons on \{age\}: it has 6 persons"):
        unveil.publish(table, spec)


def test_a_group_with_too_few_persons_is_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that believes every candidate to be valid is stopped by the recount of its groups."""
    monkeypatch.setattr(Partition, "_valid", lambda self, scan: np.ones(len(scan.box), dtype=np.bool_))
    spec = {
        "table": {"class": "ill", "person": "person"},
        "attributes": {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 200}],
    }
    with pytest.raises(BrokenPromiseError, match="a group does not satisfy its requirements"):
        unveil.publish(visits(0).drop_columns(["job", "pay"]), spec)


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize(("twice", "apart"), [("p0", False), ("p9", True)])
def test_one_person_with_two_records_among_persons_with_one(twice: str, apart: bool, recoding: str) -> None:
    """Three records in the south are of two persons if one of them has two; then the south is no group of three."""
    rows = [("north", f"p{number}", "y") for number in range(3, 8)] + [("north", "p9", "n")]
    rows += [("south", "p0", "n"), ("south", "p1", "n"), ("south", twice, "n")]
    table = pa.table(dict(zip(("town", "person", "ill"), map(list, zip(*rows, strict=True)), strict=True)))
    spec = {
        "table": {"class": "ill", "person": "person"},
        "attributes": {"town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["town"], "k": 3}],
        "publish": {"search": "joint", "recoding": recoding},
    }
    assert len(set(unveil.publish(table, spec).table["town"].to_pylist())) == (2 if apart else 1)
