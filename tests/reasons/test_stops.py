"""Reasons against brute force, and the brute force against reasons that are spoiled on purpose."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from bridge import spec_of, table_of
from oracles.problem import QID, Discretized, Generalized, Problem, Record, Suppressed, Template
from oracles.strategies import (
    closenesses,
    diversities,
    domains,
    mixed_problems,
    person_problems,
    problems,
    tables,
    template_problems,
)
from reasons.confirmation import confirm, relaxed
from unveil import Explanation
from unveil.counting.memory import MemoryEngine
from unveil.publishers import describe, start_search
from unveil.reasons import Cut, Stop, pieces, reason, summary
from unveil.refine import Search
from unveil.schema import Atom, load_spec
from unveil.schema.requirements import LDiversity, TCloseness
from unveil.tables import load_table


def explained(problem: Problem) -> Explanation:
    return unveil.explain(table_of(problem), spec_of(problem), shadow=False)


@settings(deadline=None, max_examples=150)
@given(problems())
def test_reasons_of_quasi_identifiers(problem: Problem) -> None:
    confirm(problem, explained(problem))


@settings(deadline=None, max_examples=100)
@given(template_problems())
def test_reasons_of_templates(problem: Problem) -> None:
    confirm(problem, explained(problem))


@settings(deadline=None, max_examples=200)
@given(mixed_problems())
def test_reasons_of_any_mix(problem: Problem) -> None:
    confirm(problem, explained(problem))


@settings(deadline=None, max_examples=60)
@given(person_problems())
def test_reasons_of_groups_of_persons(problem: Problem) -> None:
    confirm(problem, explained(problem))


@st.composite
def strict_problems(draw: st.DrawFn) -> Problem:
    """One requirement about a sensitive attribute, as strict as can hold: what a mix draws too seldom."""
    table = draw(tables(sensitive=domains()))
    kind = draw(st.sampled_from((diversities, closenesses)))
    return replace(table, inferences=draw(kind(table, False)))


@settings(deadline=None, max_examples=150)
@given(strict_problems())
def test_reasons_of_strict_requirements(problem: Problem) -> None:
    confirm(problem, explained(problem))


def test_the_problems_that_are_drawn_have_reasons_of_every_kind() -> None:
    seen: set[str] = set()

    @settings(deadline=None, max_examples=150, database=None, derandomize=True)
    @given(strict_problems(), mixed_problems())
    def look(strict: Problem, mixed: Problem) -> None:
        for problem in (strict, mixed):
            for cut in explained(problem).cuts:
                for stop in cut.stops:
                    seen.add(stop.why)
                    seen.update(kind_of(item.atom) for item in stop.breaks)

    look()
    whys = {"unveiled", "unheld", "pure", "invalid"}
    kinds = {"KAnonymity", "Template", "distinct", "entropy", "equal", "ordered", "BetaLikeness"}
    assert seen == whys | kinds


def kind_of(atom: Atom) -> str:
    match atom:
        case LDiversity(variant=kind) | TCloseness(distance=kind):
            return kind
    return type(atom).__name__


@settings(deadline=None, max_examples=60)
@given(mixed_problems())
def test_batches_of_groups_make_no_difference(problem: Problem) -> None:
    whole = explained(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "ROOM", 1)
        assert explained(problem).cuts == whole.cuts


@settings(deadline=None, max_examples=60)
@given(mixed_problems())
def test_relaxed_to_what_is_reported_the_search_offers_that_very_refinement(problem: Problem) -> None:
    trace = unveil.publish(table_of(problem), spec_of(problem)).trace
    for cut in explained(problem).cuts:
        for stop in cut.stops:
            if stop.why == "invalid":
                search = replayed(relaxed(problem, stop), trace)
                offered = [describe(step) for step in search.candidates()]
                assert [cut.attribute, stop.block, list(stop.into)] in [
                    [step["attribute"], step["refined"], step["into"]] for step in offered
                ]


def replayed(problem: Problem, trace: list[dict[str, Any]]) -> Search:
    """A search under other requirements, led along the steps of a trace."""
    spec = spec_of(problem)
    table = load_table(spec, table_of(problem))
    search = start_search(table, spec, MemoryEngine(table))
    place = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    wanted = iter(trace)

    def along(scores: np.ndarray) -> int:
        def order(step) -> tuple[int, int]:
            hides = step.refinement.children[-1].label == step.refinement.block.label
            block = step.refinement.children[0] if hides else step.refinement.block
            return place[step.refinement.attribute.name], block.first

        now = next(wanted)
        told = [describe(step) for step in sorted(search.candidates(), key=order)]
        assert len(told) == len(scores)
        keys = ("attribute", "refined", "into")
        return next(number for number, step in enumerate(told) if all(step[key] == now[key] for key in keys))

    search._select = along
    steps = search.steps()
    for _ in trace:
        next(steps)
    return search


# ---- A table with every kind of reason ----

TOWNS = ("Oslo", "Bergen", "Cork", "Rome")
JOBS = ("any", [("office", [("clerk", []), ("lawyer", [])]), ("craft", [("baker", []), ("smith", [])])])


def little(*requirements: Any) -> Problem:
    dice = Random(1)  # noqa: S311
    rows = [
        (dice.randrange(20, 60), dice.choice(("clerk", "lawyer", "baker")), dice.choice(TOWNS[:3]), dice.choice("aab"))
        for _ in range(80)
    ]
    records = [
        Record({"age": age, "job": job, "town": town, "ill": ill}, "Y" if age >= 40 or town == "Cork" else "N")
        for age, job, town, ill in rows
    ]
    return Problem(
        [Discretized("age", 20, 60), Generalized("job", JOBS), Suppressed("town", TOWNS)],
        records,
        qids=[item for item in requirements if isinstance(item, QID)],
        inferences=[item for item in requirements if not isinstance(item, QID)],
        sensitive={"ill": ("a", "b")},
    )


BOTH = (QID(("age", "job", "town"), 7), Template(("age", "town"), "ill", "a", "0.80"))


def test_the_table_has_every_kind_of_reason() -> None:
    found = explained(little(*BOTH))
    confirm(little(*BOTH), found)
    assert {stop.why for cut in found.cuts for stop in cut.stops} >= {"unveiled", "pure", "invalid"}
    assert {item.requirement for cut in found.cuts for stop in cut.stops for item in stop.breaks} == {1, 2}


def spoiled(found: Explanation, change: Callable[[Stop], Stop | None]) -> Explanation:
    """The same with its first invalid stop changed, or left out."""
    cuts, done = [], False
    for cut in found.cuts:
        stops = []
        for stop in cut.stops:
            if stop.breaks and not done:
                done = True
                changed = change(stop)
                stops += [changed] if changed else []
            else:
                stops.append(stop)
        cuts.append(replace(cut, stops=tuple(stops)))
    assert done
    return replace(found, cuts=tuple(cuts))


def with_break(**changes: Any) -> Callable[[Stop], Stop]:
    return lambda stop: replace(stop, breaks=(replace(stop.breaks[0], **changes), *stop.breaks[1:]))


DEFECTS: dict[str, Callable[[Stop], Stop | None]] = {
    "a block without a reason": lambda stop: None,
    "an invalid block called pure": lambda stop: replace(stop, why="pure"),
    "a requirement that is not named": lambda stop: replace(stop, breaks=stop.breaks[1:]),
    "a level that is one off": lambda stop: with_break(level=stop.breaks[0].level + 1)(stop),
    "a group of another size": lambda stop: with_break(records=stop.breaks[0].records + 1)(stop),
    "a bound that nobody asked for": with_break(bound=99),
    "a wrong count of groups": with_break(broken=1000),
    "a wrong count of records": lambda stop: replace(stop, records=stop.records + 1),
}


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS.keys())
def test_a_spoiled_explanation_is_found_out(defect: Callable[[Stop], Stop | None]) -> None:
    problem = little(*BOTH)
    with pytest.raises((AssertionError, KeyError)):
        confirm(problem, spoiled(explained(problem), defect))


@pytest.mark.parametrize("kind", ["rest", "weight", "child"])
def test_a_count_that_goes_wrong_is_found_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = pieces._Cells.pieces

    def wrong(self: Any, group: Any, cell: Any, counts: Any) -> pieces.Pieces:
        made = honest(self, group, cell, counts)
        if kind == "rest":
            return pieces.Pieces(*(field[:-1] for field in made))
        if kind == "weight":
            return made._replace(counts=np.minimum(made.counts, 1))
        return made._replace(child=np.zeros_like(made.child))

    monkeypatch.setattr(pieces._Cells, "pieces", wrong)
    problem = little(*BOTH)
    with pytest.raises((AssertionError, KeyError, IndexError)):
        confirm(problem, explained(problem))


# ---- What an owner reads ----


def test_an_implied_requirement_is_named_where_it_would_break_too() -> None:
    problem = little(QID(("age", "job", "town"), 7), QID(("town",), 6))
    stops = [stop for cut in explained(problem).cuts for stop in cut.stops if stop.breaks]
    assert all(1 in {item.requirement for item in stop.breaks} for stop in stops)
    confirm(problem, explained(problem))


def test_sentences_name_requirement_group_and_distance() -> None:
    found = explained(little(QID(("age", "job", "town"), 25)))
    sentences = " ".join(summary(cut) for cut in found.cuts)
    assert "held back by requirement 1" in sentences
    assert "k asks for 25" in sentences
    told = [reason(stop) for cut in found.cuts for stop in cut.stops]
    assert any("to disclose " in line and "short" in line for line in told)


def test_what_rounding_alone_rules_out_is_reported_as_such() -> None:
    stop = Stop("[0, 9)", ("[0, 4)", "[4, 9)"), "invalid", 9)
    assert reason(stop) == "[0, 9) → [0, 4), [4, 9): ruled out by rounding at a bound."
    cut = Cut("age", "discretization", 1, (stop,), ())
    assert summary(cut).startswith("age, 1 block: held back by rounding at a bound; ")


def test_alpha_k_anonymity_names_the_part_that_breaks() -> None:
    problem = little()
    spec = load_spec(
        {
            "table": {"class": "the class", "weight": "# of Recs."},
            "attributes": {
                "age": {"kind": "number", "range": [20, 60], "whole": True},
                "job": {"kind": "category"},
                "town": {"kind": "category"},
                "ill": {"kind": "category"},
            },
            "require": [
                {
                    "kind": "alpha-k-anonymity",
                    "quasi-identifier": ["age", "town"],
                    "k": 3,
                    "sensitive": "ill",
                    "values": ["a"],
                    "alpha": 0.7,
                }
            ],
            "publish": {"search": "paper"},
        }
    )
    found = unveil.explain(table_of(problem), spec, shadow=False)
    told = " ".join(reason(stop) for cut in found.cuts for stop in cut.stops)
    assert "points above 70%" in told
    assert "ill = a" in told
