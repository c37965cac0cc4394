"""The joint search with the owner's steering, and the brute-force oracle: the same steps and the same groups."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from _pytest.outcomes import Failed
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import unveil
import unveil.publishers.steering as steering_of_publishers
import unveil.refine.boxes as boxes_of_search
from bridge import spec_of, table_of
from oracles.blocks import Bottom, Disclosed, Interval, Node
from oracles.joint import Block, Steering, UnsatisfiedError, joint
from oracles.problem import Attribute, Discretized, Generalized, Problem, Suppressed
from oracles.strategies import mixed_problems, some_of
from unveil.counting.engine import open_engine
from unveil.errors import RequirementError
from unveil.publishers.joint import start_joint
from unveil.refine.gains import ClassInformation, Goal, Statistics
from unveil.refine.hierarchies import Intervals, Key, Labels, Shape, Values
from unveil.refine.joint import JointSearch
from unveil.schema import Criterion, Fineness, Recoding, Spec, Taxonomy
from unveil.sklearn.descriptions import taxonomy_of

RECODINGS: tuple[Recoding, ...] = get_args(Recoding)


def at_depth(node: Node, depth: int) -> Iterator[Node]:
    if depth == 0 or not node.children:
        yield node
        return
    for child in node.children:
        yield from at_depth(child, depth - 1)


def intervals(attribute: Discretized, step: float) -> tuple[Block, ...]:
    """The range, cut at every multiple of a step."""
    inside = [n * step for n in range(-20, 20) if attribute.lo < n * step < attribute.hi]
    ends = [attribute.lo, *inside, attribute.hi]
    return tuple(Interval(lo, hi) for lo, hi in pairwise(ends))


def is_whole(attribute: Attribute, problem: Problem) -> bool:
    return all(isinstance(record.values[attribute.name], int) for record in problem.records)


@st.composite
def steerings(draw: DrawFn, problem: Problem) -> tuple[Steering, dict[str, Fineness]]:
    """Some weights, some bounds on the fineness, and any goal; with what is kept as an owner writes it."""
    told = tuple(name for name in problem.sensitive if len({record.values[name] for record in problem.records}) > 1)
    goal = draw(st.sampled_from(("class", "statistics", told or "class")))
    weights = {a.name: draw(st.sampled_from((0.25, 1.0, 1.0, 3.0))) for a in problem.attributes}
    keep: dict[str, tuple[Block, ...]] = {}
    kept: dict[str, Fineness] = {}
    finest: dict[str, tuple[str, ...] | float] = {}
    for attribute in problem.attributes:
        name, asked = attribute.name, draw(st.sampled_from(((), (), ("finest",), ("keep",), ("keep", "finest"))))
        if isinstance(attribute, Generalized):
            coarse = draw(st.integers(0, 2))
            if "keep" in asked:
                keep[name] = tuple(at_depth(Node(attribute.tree), coarse))
                kept[name] = tuple(node.label for node in keep[name])
            if "finest" in asked:
                fine = at_depth(Node(attribute.tree), coarse + draw(st.integers(0, 1)))
                finest[name] = tuple(node.label for node in fine)
        elif isinstance(attribute, Suppressed) and "keep" in asked:
            held = {record.values[name] for record in problem.records}
            shown = kept[name] = draw(some_of(tuple(value for value in attribute.values if value in held)))
            ordered = [value for value in attribute.values if value in shown]
            rest = tuple(value for value in attribute.values if value not in shown)
            keep[name] = (*map(Disclosed, ordered), Bottom(rest))
        elif isinstance(attribute, Discretized) and is_whole(attribute, problem):
            step = draw(st.sampled_from((1.0, 2.0, 3.0)))
            if "finest" in asked:
                finest[name] = step
            if "keep" in asked:
                kept[name] = step = step * draw(st.integers(1, 3))
                keep[name] = intervals(attribute, step)
    return Steering(goal, draw(st.booleans()), weights, keep, finest), kept


@st.composite
def steered_problems(draw: DrawFn) -> tuple[Problem, Spec, Steering]:
    problem = draw(mixed_problems())
    steering, kept = draw(steerings(problem))
    spec = spec_of(problem)
    attributes = dict(spec.attributes)
    for name, weight in steering.weights.items():
        fineness = {"keep": kept.get(name), "finest": steering.finest.get(name)}
        attributes[name] = replace(attributes[name], gain_weight=weight, **fineness)
    criterion: Criterion = "anonymity" if steering.per_anonymity else "score"
    asked = replace(spec, search="joint", attributes=attributes, goal=steering.goal, criterion=criterion)
    return problem, asked, steering


def searched(problem: Problem, spec: Spec) -> JointSearch:
    outline, counts = open_engine(spec, table_of(problem))
    return start_joint(outline, spec, counts)


def groups(search: JointSearch, partition: int) -> list[dict[str, str]]:
    live = search.partitions[partition].live.rows
    return [search.labels(partition, box) for box in np.flatnonzero(live).tolist()]


@pytest.mark.parametrize("recoding", RECODINGS)
@settings(deadline=None, max_examples=40)
@given(drawn=steered_problems())
def test_the_same_steps_and_groups(recoding: Recoding, drawn: tuple[Problem, Spec, Steering]) -> None:
    assert_same(recoding, *drawn)


def assert_same(recoding: Recoding, problem: Problem, spec: Spec, steering: Steering) -> None:
    """The search takes the steps of the oracle, or both find that a requirement does not hold at the start."""
    try:
        expected = joint(problem, recoding, steering)
    except UnsatisfiedError:
        with pytest.raises(RequirementError):
            searched(problem, replace(spec, recoding=recoding))
        return
    search = searched(problem, replace(spec, recoding=recoding))
    steps = list(search.steps())
    assert [(step.attribute.name, step.refined, step.into, step.group) for step in steps] == [
        (step.attribute, step.refined, step.into, step.group) for step in expected.steps
    ]
    assert [step.gain for step in steps] == pytest.approx([step.gain for step in expected.steps], abs=1e-9)
    assert [step.score for step in steps] == pytest.approx([step.score for step in expected.steps], abs=1e-9)
    for number, boxes in enumerate(expected.boxes.values()):
        labels = [{name: block.label for name, block in box.blocks.items()} for box in boxes]
        assert sorted(map(str, groups(search, number))) == sorted(map(str, labels))


# ---- What an owner sees ----

JOBS = {"Any job": {"Office": ["clerk", "lawyer"], "Craft": ["baker", "smith"]}}
PEOPLE = pd.DataFrame(
    {
        "age": [18 + (7 * i) % 62 for i in range(240)],
        "job": [("clerk", "lawyer", "baker", "smith")[(i // 2) % 4] for i in range(240)],
        "town": [("Aarhus", "Bergen", "Cork")[(i // 3) % 3] for i in range(240)],
        "smokes": ["yes" if (i // 2) % 4 == 3 else "no" for i in range(240)],
        "alive": "yes",
        "ill": ["yes" if (7 * i) % 62 > 31 else "no" for i in range(240)],
    }
)


def people(publish: dict[str, Any], k: int = 5, **steering: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, dict[str, Any]] = {
        "age": {"kind": "number", "range": [0, 100], "whole": True},
        "job": {"kind": "category", "taxonomy": taxonomy_of(JOBS, "job")},
        "town": {"kind": "category"},
        "smokes": {"kind": "category"},
        "alive": {"kind": "category"},
    }
    return {
        "table": {"class": "ill"},
        "attributes": {name: {**keys, **steering.get(name, {})} for name, keys in described.items()},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "job", "town"], "k": k}],
        "publish": {"search": "joint", **publish},
    }


def bounds(release: unveil.Release, name: str) -> set[tuple[float, float]]:
    return {tuple(map(float, label[1:-1].split(", "))) for label in release.table[name].to_pylist()}  # type: ignore[misc]


@pytest.mark.parametrize("recoding", RECODINGS)
def test_a_release_is_as_fine_as_asked_and_no_finer(recoding: Recoding, tmp_path: Path) -> None:
    spec = people(
        {"recoding": recoding},
        age={"keep": 40, "finest": 10},
        job={"finest": 1, "weight": 5},
        town={"keep": ["Cork"]},
    )
    release = unveil.publish(PEOPLE, spec)
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", spec, table=PEOPLE) == []
    ages = bounds(release, "age")
    assert all(bound % 10 == 0 for ends in ages for bound in ends)
    assert all(lo // 40 == (hi - 1) // 40 for lo, hi in ages)
    assert any(hi - lo < 40 for lo, hi in ages)
    assert set(release.table["job"].to_pylist()) <= {"Any job", "Office", "Craft"}
    assert release.table["town"].to_pylist().count("Cork") == (PEOPLE["town"] == "Cork").sum()


@pytest.mark.parametrize("recoding", RECODINGS)
def test_a_goal_decides_what_is_told_apart(recoding: Recoding) -> None:
    def labels(goal: object, name: str) -> set[str]:
        return set(unveil.publish(PEOPLE, people({"recoding": recoding, "goal": goal}, k=20)).table[name].to_pylist())

    assert len(labels("class", "age")) > 1
    assert len(labels(["smokes"], "job")) > 1
    assert len(labels("statistics", "town")) == 3


def test_intervals_between_which_there_is_nobody_are_kept_too() -> None:
    few = PEOPLE[(PEOPLE["age"] < 30) | (PEOPLE["age"] >= 70)]
    for recoding in RECODINGS:
        release = unveil.publish(few, people({"recoding": recoding}, age={"keep": 20, "finest": 20}))
        assert bounds(release, "age") == {(0.0, 20.0), (20.0, 40.0), (60.0, 80.0)}
        later = release.masking.apply(pd.DataFrame({**few.iloc[:1].to_dict("list"), "age": [50]}))
        assert list(map(str, later["age"])) == ["[40, 60)"]


@pytest.mark.parametrize(
    ("steering", "problem"),
    [
        (
            {"age": {"keep": 5}},
            "spec: table cannot satisfy k = 20 on {age, job, town} with what is kept of age: the group {age [15, 20)} "
            "would have 8 records; k asks for 20: 12 short; k = 8 would hold.",
        ),
        (
            {"job": {"keep": 2}, "town": {"keep": ["Cork"]}},
            "with what is kept of job and town: the group {job ",
        ),
    ],
)
def test_what_it_costs_to_keep_too_much(steering: dict[str, Any], problem: str) -> None:
    for recoding in RECODINGS:
        for verb in (unveil.publish, unveil.check):
            with pytest.raises(RequirementError) as caught:
                verb(PEOPLE, people({"recoding": recoding}, k=20, **steering))
            assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("publish", "steering", "problem"),
    [
        ({"goal": ["alive"]}, {}, "spec: [publish] goal names 'alive', which has a single value in table, so there is"),
        (
            {},
            {"town": {"keep": ["Corc"]}},
            "keep names 'Corc', which is not a value that table has; did you mean 'Cork'?",
        ),
        (
            {},
            {"age": {"range": [0, 100000], "keep": 1}},
            "keep is 1.0, which makes about 100,000 intervals of its range;",
        ),
    ],
)
def test_steering_that_the_table_cannot_follow(publish: dict[str, Any], steering: dict[str, Any], problem: str) -> None:
    for verb in (unveil.publish, unveil.check):
        with pytest.raises(unveil.UnveilError) as caught:
            verb(PEOPLE, people(publish, **steering))
        assert problem in str(caught.value)


# ---- Planted faults: the tests above would see each of them ----


def no_bound(self: Labels, key: Key) -> Shape:
    """Refines beyond the finest labels."""
    self._finest = frozenset()
    return SHAPE(self, key)


SHAPE = Labels.shape
FAULTS: dict[str, tuple[object, str, object]] = {
    "finest labels are refined": (Labels, "shape", no_bound),
    "labels above those to keep are left": (Labels, "kept", lambda *_: None),
    "bounds to keep are left": (Intervals, "kept", lambda *_: None),
    "values to keep are hidden": (Values, "kept", lambda *_: None),
    "weights do not count": (Goal, "_worth", lambda self, steps, attribute: steps / self.fine),
    "statistics count the class": (Statistics, "weighed", Goal.weighed),
    "every split pays": (ClassInformation, "price", Goal.price),
    "anonymity lost does not count": (boxes_of_search, "anonymity_lost", lambda levels, groups, scan, fine: scan.bits),
    "all steps of a number are allowed": (steering_of_publishers, "step_split", lambda left, right, *_: right),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, defect = FAULTS[fault]
    monkeypatch.setattr(place, name, defect)

    @settings(deadline=None, max_examples=300, database=None, phases=(Phase.generate,), derandomize=True)
    @given(drawn=steered_problems(), recoding=st.sampled_from(RECODINGS))
    def compared(drawn: tuple[Problem, Spec, Steering], recoding: Recoding) -> None:
        assert_same(recoding, *drawn)

    with pytest.raises((AssertionError, Failed)):
        compared()


@settings(deadline=None, max_examples=40)
@given(steered_problems(), st.sampled_from(RECODINGS))
def test_a_steered_release_is_as_fine_as_the_verifier_reads_the_spec(
    drawn: tuple[Problem, Spec, Steering], recoding: Recoding
) -> None:
    problem, spec, _ = drawn
    table, spec = table_of(problem), replace(spec, recoding=recoding)
    try:
        release = unveil.publish(table, spec)
    except RequirementError:
        return  # what the owner keeps cannot hold
    assert unveil.verify(release, spec, table=table) == []


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("left_out", ["0%", "5%"])
def test_what_is_kept_may_lie_where_nobody_is(recoding: str, left_out: str) -> None:
    """Nobody is older than 40 or has a craft, but two sets of attributes share what is kept there."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.integers(0, 40, 400), "job": rng.choice(["clerk", "lawyer"], 400)})
    table = table.assign(town=rng.choice(["Bonn", "Cork"], 400), sex=rng.choice(["f", "m"], 400))
    table["ill"] = np.where((table["age"] > 20) ^ (table["sex"] == "f"), "yes", "no")
    crafts = ("craft", [("wood", [("carver", []), ("joiner", [])]), ("metal", [("smith", [])])])
    tree = ("any", [("office", [("clerk", []), ("lawyer", [])]), crafts])
    spec = {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "range": [0, 100], "whole": True, "keep": 20},
            "job": {"kind": "category", "taxonomy": Taxonomy(tree), "keep": 2},
            "town": {"kind": "category"},
            "sex": {"kind": "category"},
        },
        "require": [
            {"kind": "k-anonymity", "quasi-identifier": ["age", "job", other], "k": 5} for other in ("town", "sex")
        ],
        "publish": {"recoding": recoding, "leave-out": left_out},
    }
    release = unveil.publish(table, spec)
    assert unveil.verify(release, spec, table=table) == []
    assert {"[40, 60)", "[60, 80)", "[80, 100)"} <= set(release.manifest.columns["age"].shown)
    assert {"wood", "metal"} <= {block.label for block in release.manifest.columns["job"].blocks}
    same = release.masking.apply(table, intervals="text")[["age", "job", "town", "sex"]]
    if left_out == "0%":
        assert sorted(same.itertuples(index=False)) == sorted(
            release.to_pandas(intervals="text")[["age", "job", "town", "sex"]].itertuples(index=False)
        )


@pytest.mark.parametrize("name", ["c", "statistics", "ill"])
def test_statistics_are_kept_whatever_the_class_is_called(name: str) -> None:
    table = pd.DataFrame({"age": list(range(20)) * 2, name: ["no", "yes"] * 20})
    spec = {
        "table": {"class": name},
        "attributes": {"age": {"kind": "number", "range": [0, 20], "whole": True}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 4}],
        "publish": {"goal": "statistics"},
    }
    assert len(set(unveil.publish(table, spec).table["age"].to_pylist())) == 8
