"""Distinct rows as Spark moves them: nothing is lost on the way, and parts share no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.counting.distinct import DistinctRows, SortedRows
from unveil.counting.spark import runs

SIZES = (3, 1 << 40, 5, 1 << 40, 2)
"""They take two words, of which the first repeats."""
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 4), st.integers(0, 2), st.integers(0, 1)),
    max_size=60,
)


def sorted_rows(rows: list[tuple[int, ...]], weight: int = 1) -> SortedRows:
    distinct = DistinctRows(SIZES)
    columns = np.array(rows, dtype=np.int64).reshape(-1, len(SIZES)).T
    distinct.add(list(columns), np.full(len(rows), weight))
    return distinct.sorted()


def arrived(tables: Iterable[pa.Table]) -> dict[int, list[tuple[int, ...]]]:
    """The keys of each part with their weights, in the order of the blocks."""
    held: dict[int, list[tuple[int, ...]]] = {}
    for table in tables:
        for batch in table.to_batches():
            for part, rows in runs.received(batch, SIZES):
                pairs = zip(rows.keys.tolist(), rows.weight.tolist(), strict=True)
                held.setdefault(part, []).extend((*key, weight) for key, weight in pairs)
    return held


def all_of(rows: SortedRows) -> list[tuple[int, ...]]:
    return [(*key, weight) for key, weight in zip(rows.keys.tolist(), rows.weight.tolist(), strict=True)]


@settings(deadline=None)
@given(ROWS, st.integers(1, 9), st.sampled_from([1, 255, 256, 70_000, 1 << 40]))
def test_hashed_parts_hold_each_row_once(rows: list[tuple[int, ...]], parts: int, weight: int) -> None:
    packed = sorted_rows(rows, weight)
    assert packed.keys.shape[1] == 2
    found = arrived(runs.hashed_blocks(packed, parts))
    assert set(found) <= set(range(parts))
    assert all(held == sorted(held) for held in found.values())
    assert Counter(row for held in found.values() for row in held) == Counter(all_of(packed))


@settings(deadline=None)
@given(ROWS, ROWS, st.integers(1, 9))
def test_equal_rows_of_two_tasks_meet(one: list[tuple[int, ...]], other: list[tuple[int, ...]], parts: int) -> None:
    places = [
        {row[:2]: part for part, held in arrived(runs.hashed_blocks(sorted_rows(rows), parts)).items() for row in held}
        for rows in (one, other)
    ]
    for key in places[0].keys() & places[1].keys():
        assert places[0][key] == places[1][key]


@settings(deadline=None)
@given(ROWS, st.integers(2, 9))
def test_rows_with_one_first_word_are_in_one_part(rows: list[tuple[int, ...]], parts: int) -> None:
    found = arrived(runs.hashed_blocks(sorted_rows(rows), parts, 1))
    firsts = [{row[0] for row in held} for held in found.values()]
    assert sum(map(len, firsts)) == len(set().union(*firsts))


@settings(deadline=None)
@given(ROWS, ROWS)
def test_ranged_parts_follow_each_other(rows: list[tuple[int, ...]], bounds: list[tuple[int, ...]]) -> None:
    packed, edges = sorted_rows(rows), sorted_rows(bounds).keys
    found = arrived(runs.ranged_blocks(packed, edges))
    assert [row for part in sorted(found) for row in found[part]] == all_of(packed)
    for part, held in found.items():
        assert all(part == sum(edge <= list(row[:2]) for edge in edges.tolist()) for row in held)


def test_blocks_are_cut_where_they_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "BLOCK", 4)
    packed = sorted_rows([(a, b, c, 0, 0) for a in range(3) for b in range(2) for c in range(3)])
    tables = list(runs.blocks(packed, 7))
    assert [table["size"][0].as_py() for table in tables] == [4, 4, 4, 4, 2]
    assert arrived(tables) == {7: all_of(packed)}


@pytest.mark.parametrize(
    ("rows", "shuffles", "parts"), [(0, 4, 1), (5 << 20, 4, 4), (5 << 20, 200, 6), (99 << 24, 4, 100)]
)
def test_how_many_parts(rows: int, shuffles: int, parts: int) -> None:
    assert runs.parts_of(rows, shuffles) == parts


@settings(deadline=None)
@given(ROWS, st.integers(1, 9))
def test_a_run_has_as_many_blocks_as_are_asked_for(rows: list[tuple[int, ...]], least: int) -> None:
    """Their first rows say where parts begin: with one block, a part would get almost everything."""
    packed = sorted_rows(rows)
    tables = list(runs.blocks(packed, least=least))
    assert arrived(tables).get(0, []) == all_of(packed)
    assert len(tables) >= min(least, len(packed))


@settings(deadline=None)
@given(st.lists(ROWS, max_size=3), st.integers(1, 9))
def test_unordered_rows_are_those_of_all_blocks(parts: list[list[tuple[int, ...]]], least: int) -> None:
    held = [sorted_rows(rows, 300) for rows in parts]
    tables = [table for part, rows in enumerate(held) for table in runs.blocks(rows, part, least)]
    frame = SimpleNamespace(toArrow=lambda: pa.concat_tables([*tables, *runs.blocks(sorted_rows([(0, 0, 0, 0, 0)]))]))
    codes, weight = runs.Runs(cast("Any", frame), SIZES, len(parts)).unordered()
    found = Counter(zip(*(column.tolist() for column in codes), weight.tolist(), strict=True))
    expected = [row for rows in held for row in zip(*(c.tolist() for c in rows.columns()), rows.weight, strict=True)]
    assert found == Counter([*expected, (0, 0, 0, 0, 0, 1)])
