"""Distinct rows next to a plain count: whatever the chunks, the weights and the number of words of a key."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import cores
from unveil.arrays import packed_keys, sorted_order, unpacked_columns
from unveil.counting import distinct
from unveil.counting.distinct import DistinctRows

SIZES = ((1,), (3, 2), (2**31, 5), (2**31, 2**31, 7, 2**31), (2**62, 2, 2), (0, 4))
"""One word, one word that is full, several words, and a column without values."""

Row = tuple[int, ...]


@st.composite
def chunked(draw: st.DrawFn) -> tuple[tuple[int, ...], list[list[tuple[Row, int]]]]:
    """Sizes, and chunks of rows with their weights; codes near both ends, so that rows are equal now and then."""
    sizes = draw(st.sampled_from(SIZES))
    codes = [st.sampled_from(sorted({0, max(size - 1, 0), max(size - 2, 0)})) for size in sizes]
    rows = st.lists(st.tuples(st.tuples(*codes), st.integers(1, 5)), max_size=12)
    return sizes, draw(st.lists(rows, max_size=9))


def columns_of(rows: list[Row], width: int) -> list[np.ndarray]:
    return [np.array([row[place] for row in rows], dtype=np.int64) for place in range(width)]


@settings(deadline=None)  # the kernel is loaded, or compiled, by the first example
@given(chunked(), st.booleans())
def test_rows_are_collapsed_and_sorted_as_a_plain_count_says(
    made: tuple[tuple[int, ...], list[list[tuple[Row, int]]]], weighted: bool
) -> None:
    sizes, chunks = made
    expected: Counter[Row] = Counter()
    found = DistinctRows(sizes)
    for chunk in chunks:
        for row, weight in chunk:
            expected[row] += weight if weighted else 1
        weights = np.array([weight for _, weight in chunk], dtype=np.int64)
        found.add(columns_of([row for row, _ in chunk], len(sizes)), weights if weighted else None)
    rows = found.sorted()
    held = list(zip(*(column.tolist() for column in rows.columns()), strict=True))
    assert list(zip(held, rows.weight.tolist(), strict=True)) == sorted(expected.items())


def test_long_runs_are_unpacked_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distinct, "BLOCK", 7)
    rng = np.random.default_rng(1)
    codes = [rng.integers(50, size=1000), rng.integers(9, size=1000)]
    found = DistinctRows([50, 9])
    for start in range(0, 1000, 30):
        found.add([column[start : start + 30] for column in codes])
    rows = found.sorted()
    expected = Counter(zip(*(column.tolist() for column in codes), strict=True))
    first, second = rows.columns()
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == sorted(expected)
    assert rows.weight.tolist() == [expected[key] for key in sorted(expected)]
    assert [column.dtype for column in (first, second)] == [np.uint8, np.uint8]


@given(chunked())
def test_keys_hold_all_there_is_of_the_columns(made: tuple[tuple[int, ...], list[list[tuple[Row, int]]]]) -> None:
    sizes, chunks = made
    columns = columns_of([row for chunk in chunks for row, _ in chunk], len(sizes))
    unpacked = unpacked_columns(packed_keys(columns, sizes), sizes)
    assert [column.tolist() for column in unpacked] == [column.tolist() for column in columns]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), max_size=30))
def test_rows_are_ordered_by_all_keys_and_ties_by_place(rows: list[Row]) -> None:
    order = sorted_order(columns_of(rows, 3))
    assert order.tolist() == sorted(range(len(rows)), key=lambda place: (rows[place], place))


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_that_are_sorted_on_several_cores_are_merged(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    monkeypatch.setattr(distinct, "SORTED", 70)
    monkeypatch.setattr(cores, "WORTH", 1)
    monkeypatch.setenv(cores.VARIABLE, "3")
    rng = np.random.default_rng(2)
    codes, weight = [rng.integers(50, size=1000), rng.integers(9, size=1000)], rng.integers(1, 5, size=1000)
    found = DistinctRows([50, 9])
    for part in (slice(0, 900), slice(900, 1000)):
        found.add([column[part] for column in codes], weight[part] if weighted else None)
    expected: Counter[Row] = Counter()
    for row, count in zip(zip(*(column.tolist() for column in codes), strict=True), weight.tolist(), strict=True):
        expected[row] += count if weighted else 1
    rows = found.sorted()
    held = zip(*(column.tolist() for column in rows.columns()), strict=True)
    assert list(zip(held, rows.weight.tolist(), strict=True)) == sorted(expected.items())
