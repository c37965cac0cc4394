"""The released rows of a local masking: the labels of the boxes that hold them, on every engine."""

from collections import Counter
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engines
from masking.trees import AGES, CITIES, JOBS, Box, Grown, frozen, maskings, root_block, rows
from unveil.counting.engine import Engine, open_engine
from unveil.errors import BrokenPromiseError
from unveil.masking import LeftOut
from unveil.masking.walk import Walk
from unveil.release import ReleasedRows
from unveil.schema import Taxonomy, load_spec

pytestmark = pytest.mark.engines(*engines.ROWS)


def _branch(label: str) -> Any:
    return label, [_branch(child) for child in JOBS.get(label, ())]


NAMES = ["age", "job", "city", "home"]
SPEC = {
    "table": {"class": "ill"},
    "attributes": {
        "age": {"kind": "number", "range": list(AGES), "whole": True},
        "job": {"kind": "category", "taxonomy": Taxonomy(_branch("Any"))},
        "city": {"kind": "category", "values": list(CITIES)},
        "home": {"kind": "category", "values": list(CITIES)},
    },
    "require": [
        {"kind": "k-anonymity", "quasi-identifier": ["age", "job", "home"], "k": 1},
        {"kind": "k-anonymity", "quasi-identifier": ["city", "home"], "k": 1},
    ],
}  # fmt: skip
people = st.lists(rows, min_size=2, max_size=25)
Row = dict[str, Any]


def opened(held: list[Row], **table: Any) -> Engine:
    frame = pd.DataFrame([row | {"ill": ["yes", "no"][place % 2]} for place, row in enumerate(held)])
    return open_engine(load_spec({**SPEC, "table": {**SPEC["table"], **table}}), frame)[1]


def expected(grown: Grown, held: list[Row]) -> list[tuple[Any, ...]]:
    found = []
    for place, row in enumerate(held):
        labels = grown.labels(row)
        found.append((*(labels[name] for name in NAMES), ["yes", "no"][place % 2]))
    return sorted(found)


def values(released: ReleasedRows) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in released.table().to_pylist()]


def check_dictionaries(table: pa.Table) -> None:
    """No dictionary has a label that no row has."""
    for name in NAMES:
        for chunk in table[name].chunks:
            assert set(chunk.dictionary.to_pylist()) <= set(table[name].to_pylist()), name


@settings(deadline=None, max_examples=40)
@given(maskings(), people)
def test_rows_are_released_under_the_labels_of_their_boxes(grown: Grown, held: list[Row]) -> None:
    released = opened(held).released(grown.masking, None)
    assert values(released) == expected(grown, held)
    check_dictionaries(released.table())
    assert released.num_rows == len(held)


@settings(deadline=None, max_examples=20)
@given(maskings(), people, st.data())
def test_rows_in_leaves_that_are_left_out_are_dropped_or_masked(grown: Grown, held: list[Row], data: Any) -> None:
    leaves = tuple(
        tuple(data.draw(st.sets(st.integers(0, tree.leaves - 1), max_size=3))) for tree in grown.masking.boxes
    )
    out = [_is_out(grown, leaves, row) for row in held]
    left_out = LeftOut(grown.masking.boxes, leaves, sum(out))
    labels = {name: root_block(name).label for name in NAMES}
    engine = opened(held)
    kept = [row for row, left in zip(expected_in_order(grown, held), out, strict=True) if not left]
    dropped = engine.released(grown.masking, None, left_out)
    assert values(dropped) == sorted(kept)
    check_dictionaries(dropped.table())
    masked = engine.released(grown.masking, None, LeftOut(grown.masking.boxes, leaves, sum(out), labels))
    roots = [(*labels.values(), ["yes", "no"][place % 2]) for place, left in enumerate(out) if left]
    assert values(masked) == sorted([*kept, *roots])
    check_dictionaries(masked.table())


def expected_in_order(grown: Grown, held: list[Row]) -> list[tuple[Any, ...]]:
    return [(*(grown.labels(row)[name] for name in NAMES), ["yes", "no"][place % 2]) for place, row in enumerate(held)]


def _is_out(grown: Grown, leaves: tuple[tuple[int, ...], ...], row: Row) -> bool:
    for root, numbers in zip(grown.roots, leaves, strict=True):
        for number, leaf in enumerate(root.leaves()):
            if number in numbers and all(row[name] in block.values for name, block in leaf.blocks.items()):
                return True
    return False


PAIR = [
    {"age": 1, "job": "Clerk", "city": "Bern", "home": "Chur"},
    {"age": 2, "job": "Sales", "city": "Bern", "home": "Chur"},
]


@settings(deadline=None, max_examples=5)
@given(maskings())
def test_equal_rows_are_merged_under_a_weight(grown: Grown) -> None:
    held = [row | {"n": place + 2} for place, row in enumerate([*PAIR, *PAIR])]
    released = opened(held, weight="n").released(grown.masking, "n")
    counts: Counter[tuple[Any, ...]] = Counter()
    for row, labels in zip(held, expected_in_order(grown, held), strict=True):
        counts[labels] += row["n"]
    assert values(released) == sorted((*labels, count) for labels, count in counts.items())


@settings(deadline=None, max_examples=5)
@given(maskings())
def test_columns_that_the_spec_does_not_describe_are_kept(grown: Grown) -> None:
    held = [row | {"note": note} for row, note in zip(PAIR, ["b", "a"], strict=True)]
    released = opened(held, others="release").released(grown.masking, None)
    kept = zip(expected_in_order(grown, held), held, strict=True)
    notes = [(*labels[:-1], row["note"], labels[-1]) for labels, row in kept]
    assert values(released) == sorted(notes)


def test_a_row_that_reaches_no_leaf_fails_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened(PAIR).released(frozen(_roots()), None).num_rows == 2
    init = Walk.__init__

    def without_leaves(walk: Walk, *rest: Any) -> None:
        init(walk, *rest)
        walk.leaf_of[:] = -1

    monkeypatch.setattr(Walk, "__init__", without_leaves)
    with pytest.raises(Exception, match=r"a row is in no group of \{age, job, home\}") as caught:
        opened(PAIR).released(frozen(_roots()), None).table()
    assert isinstance(caught.value, BrokenPromiseError) or "BrokenPromiseError" in str(caught.value)


def _roots() -> list[Any]:
    return [Box({name: root_block(name) for name in names}) for names in (NAMES[:2] + NAMES[3:], NAMES[2:])]


def test_a_value_outside_its_root_fails_the_release() -> None:
    masking = frozen(_roots())
    short = masking["age"].model_copy(update={"blocks": masking["age"].blocks[:1]})
    masking.columns["age"] = short.model_copy(update={"blocks": (short.blocks[0].model_copy(update={"to": 2}),)})
    with pytest.raises(BrokenPromiseError, match="'age' has a value without a block in its boxes"):
        opened(PAIR).released(masking, None)
