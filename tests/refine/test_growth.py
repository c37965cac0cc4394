"""Work in the number of steps: what a step costs must not grow with the number of candidates.

Counted, not timed: how often a candidate is ranked, and how many values are counted to disclose one. `bench/steps.py`
has the seconds.
"""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.counting import index, memory
from unveil.counting.holders import Holders
from unveil.masking import Block
from unveil.publishers.refinement import describe, start_search
from unveil.refine.hierarchies import Values
from unveil.refine.ranking import Ranked, Ranking
from unveil.schema import Taxonomy, load_spec
from unveil.tables import load_table

SMALL, LARGE = 400, 1600


def numbers(rows: int) -> tuple[pa.Table, dict[str, Any]]:
    """Different numbers with random classes: every step splits an interval."""
    rng = np.random.default_rng(rows)
    table = pa.table({"x": rng.permutation(rows), "class": rng.choice(["a", "b"], rows)})
    return table, {"x": {"kind": "number", "range": [0, rows]}}


def pairs(count: int) -> tuple[pa.Table, dict[str, Any]]:
    """A taxonomy of pairs, whose values differ in class: after the first step all pairs are candidates."""
    names = [f"p{pair:05d}" for pair in range(count)]
    table = pa.table({"x": [f"{name}{end}" for name in names for end in "ab"], "class": ["a", "b"] * count})
    tree = ("any", [(name, [(f"{name}a", []), (f"{name}b", [])]) for name in names])
    return table, {"x": {"kind": "category", "taxonomy": Taxonomy(tree)}}


def values(count: int) -> tuple[pa.Table, dict[str, Any]]:
    """Different values, two records each, with random classes: every step discloses one."""
    rng = np.random.default_rng(count)
    held = rng.permutation(np.arange(2 * count) % count)
    table = pa.table({"x": [f"v{value:05d}" for value in held], "class": rng.choice(["a", "b"], 2 * count)})
    return table, {"x": {"kind": "category"}}


def traced(made: tuple[pa.Table, dict[str, Any]]) -> list[dict[str, Any]]:
    table, attributes = made
    spec = load_spec(
        {
            "table": {"class": "class"},
            "attributes": attributes,
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 1}],
            "publish": {"search": "paper"},
        }
    )
    coded = load_table(spec, table)
    return [describe(step) for step in start_search(coded, spec, memory.MemoryEngine(coded)).steps()]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often candidates are ranked, and how many values are counted on demand."""
    done: Counter[str] = Counter()
    put, pieces = Ranking.put, Holders.pieces

    def counted_put(self: Ranking, ranked: Ranked, score: float) -> None:
        done["ranked"] += 1
        put(self, ranked, score)

    def counted_pieces(self: Holders, weight: Any, sensitive: Any, column: int, codes: Any) -> Any:
        done["values"] += len(codes)
        return pieces(self, weight, sensitive, column, codes)

    monkeypatch.setattr(Ranking, "put", counted_put)
    monkeypatch.setattr(Holders, "pieces", counted_pieces)
    return done


@pytest.mark.parametrize(("made", "what"), [(numbers, "ranked"), (pairs, "ranked"), (values, "values")])
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_the_cost_of_a_step_does_not_depend_on_the_candidates(made: Any, what: str, size: int, work: Counter) -> None:
    steps = traced(made(size))
    assert len(steps) > size / 3
    assert 0 < work[what] < 6 * len(steps)


@pytest.mark.parametrize("made", [numbers, values])
def test_a_table_of_many_values_is_refined_as_if_every_piece_were_counted_at_once(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_demand = traced(made(SMALL))
    monkeypatch.setattr(index, "MANY", SMALL)
    assert traced(made(SMALL)) == on_demand


def test_what_stays_suppressed_is_what_was_not_disclosed_by_then() -> None:
    table, attributes = values(300)
    spec = load_spec(
        {
            "table": {"class": "class"},
            "attributes": attributes,
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 1}],
            "publish": {"search": "paper"},
        }
    )
    coded = load_table(spec, table)
    left = set(range(300))
    # All steps are made before any is looked at: a step must not change with those that follow.
    for step in list(start_search(coded, spec, memory.MemoryEngine(coded)).steps()):
        value, rest = step.refinement.children
        assert set(step.refinement.block.codes.tolist()) == left
        left -= {value.first}
        assert set(rest.codes.tolist()) == left


def test_equal_weights_and_classes_are_disclosed_in_the_order_of_the_values() -> None:
    count = 300
    table = pa.table({"x": [f"v{value:05d}" for value in range(count)] * 2, "class": ["a"] * count + ["b"] * count})
    release = unveil.publish(
        table,
        load_spec(
            {
                "table": {"class": "class"},
                "attributes": {"x": {"kind": "category"}},
                "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 2}],
                "publish": {"search": "paper"},
            }
        ),
    )
    assert [step["into"][0] for step in release.trace] == [f"v{value:05d}" for value in range(count)]


def test_a_chain_of_disclosures_is_released_without_listing_what_each_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step leaves a rest with the same label; to list the values of each would take the square of the steps."""
    made: Counter[str] = Counter()
    usual = Values.block

    def counted(self: Values, key: tuple[int, int]) -> Block:
        made["blocks"] += 1
        return usual(self, key)

    monkeypatch.setattr(Values, "block", counted)
    held, attributes = values(SMALL)
    table = pa.concat_tables([held, pa.table({"x": ["alone"], "class": ["a"]})])  # so not all at once
    spec = {
        "table": {"class": "class"},
        "attributes": attributes,
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 2}],
        "publish": {"search": "joint", "recoding": "local"},
    }
    steps = len(unveil.publish(table, spec).trace)
    assert steps > SMALL / 2
    assert made["blocks"] < 4 * SMALL
