"""Recounts of random releases agree with counting on fingers; raw values are read by plain rules."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import exp, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.verifier.data import Reading, summed
from unveil.verifier.values import number, plain, text
from verify.releases import OLD, YOUNG
from verify.sensitive import (
    DISEASES,
    Row,
    Stated,
    claims,
    found,
    groups_of,
    largest_distance,
    largest_share,
    release_of,
    smallest_entropy,
)

TOLERANCE = 1e-9


ROWS = st.lists(
    st.tuples(
        st.sampled_from([YOUNG, OLD]),
        st.sampled_from(["M", "F", "⊥"]),
        st.sampled_from(DISEASES),
        st.integers(-2, 3).map(float),
        st.sampled_from(["low", "high"]),
    ),
    min_size=1,
    max_size=25,
)
WEIGHTS = st.none() | st.lists(st.integers(1, 9), min_size=25, max_size=25)
NAMES = st.sampled_from([["age"], ["sex"], ["sex", "age"]])
VALUES = st.lists(st.sampled_from([*DISEASES, "none"]), min_size=1, unique=True)
SENSITIVE = st.sampled_from(["disease", "pay"])
SHARES = st.sampled_from([0.1, 0.25, 0.3, 0.333, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1])
ORDERS = st.permutations([*DISEASES, "none"])
NUDGES = st.sampled_from([-1e-6, -1e-12, 0.0, 1e-12, 1e-6])
cross_check = settings(max_examples=100, deadline=None)


def drawn(rows: list[Row], weights: list[int] | None) -> tuple[list[Row], list[int], list[int] | None]:
    """Rows and their weights; with a weight column equal rows are one."""
    if weights is None:
        return rows, [1] * len(rows), None
    rows = list(dict.fromkeys(rows))
    return rows, weights[: len(rows)], weights[: len(rows)]


def verified(rows: list[Row], weights: Sequence[int] | None, stated: Stated) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return claims(found(Path(folder), release_of(rows, stated, weights=weights)))


def near(data: st.DataObject, exact: float, low: float, high: float, others: st.SearchStrategy[float]) -> float:
    """A bound anywhere, or just next to what the release comes to."""
    if data.draw(st.booleans()):
        return data.draw(others)
    return min(max(exact + data.draw(NUDGES), low), high)


@cross_check
@given(rows=ROWS, weights=WEIGHTS, names=NAMES, values=VALUES, data=st.data())
def test_confidence(rows: list[Row], weights: Any, names: list[str], values: list[str], data: st.DataObject) -> None:
    rows, counts, weights = drawn(rows, weights)
    worst = largest_share(groups_of(rows, counts, names, "disease"), values)
    limit = near(data, float(worst), 1e-9, 1, SHARES)
    stated = {"kind": "confidence", "channel": names, "sensitive": "disease", "values": values, "limit": limit}
    assert verified(rows, weights, stated) == ([] if worst <= Fraction(str(limit)) else ["confidence"])


@cross_check
@given(rows=ROWS, weights=WEIGHTS, names=NAMES, values=VALUES, k=st.integers(1, 6), alpha=SHARES)
def test_alpha_k(rows: list[Row], weights: Any, names: list[str], values: list[str], k: int, alpha: float) -> None:
    rows, counts, weights = drawn(rows, weights)
    groups = groups_of(rows, counts, names, "disease")
    stated = {
        "kind": "alpha-k-anonymity",
        "quasi-identifier": names,
        "k": k,
        "sensitive": "disease",
        "values": values,
        "alpha": alpha,
    }
    expected = ["group-size"] if min(group.total() for group in groups.values()) < k else []
    expected += ["alpha"] if largest_share(groups, values) > Fraction(str(alpha)) else []
    assert verified(rows, weights, stated) == expected


@cross_check
@given(rows=ROWS, weights=WEIGHTS, names=NAMES, sensitive=SENSITIVE, least=st.integers(1, 5))
def test_distinct_diversity(rows: list[Row], weights: Any, names: list[str], sensitive: str, least: int) -> None:
    rows, counts, weights = drawn(rows, weights)
    fewest = min(len(group) for group in groups_of(rows, counts, names, sensitive).values())
    stated = {
        "kind": "l-diversity",
        "quasi-identifier": names,
        "sensitive": sensitive,
        "l": least,
        "variant": "distinct",
    }
    assert verified(rows, weights, stated) == ([] if fewest >= least else ["diversity"])


@cross_check
@given(rows=ROWS, weights=WEIGHTS, names=NAMES, sensitive=SENSITIVE, data=st.data())
def test_entropy_diversity(
    rows: list[Row], weights: Any, names: list[str], sensitive: str, data: st.DataObject
) -> None:
    rows, counts, weights = drawn(rows, weights)
    lowest = smallest_entropy(groups_of(rows, counts, names, sensitive))
    least = near(data, exp(lowest), 1, 9, st.sampled_from([1, 1.2, 1.5, 2, 2.5, 3, 4]))
    stated = {
        "kind": "l-diversity",
        "quasi-identifier": names,
        "sensitive": sensitive,
        "l": least,
        "variant": "entropy",
    }
    assert verified(rows, weights, stated) == ([] if lowest >= log(least) - TOLERANCE else ["diversity"])


@cross_check
@given(
    rows=ROWS,
    weights=WEIGHTS,
    names=NAMES,
    sensitive=SENSITIVE,
    distance=st.sampled_from(["equal", "ordered"]),
    order=ORDERS,
    data=st.data(),
)
def test_closeness(
    rows: list[Row],
    weights: Any,
    names: list[str],
    sensitive: str,
    distance: str,
    order: list[str],
    data: st.DataObject,
) -> None:
    rows, counts, weights = drawn(rows, weights)
    ordered: list[Any] = order if sensitive == "disease" else sorted({row[3] for row in rows})
    groups = groups_of(rows, counts, names, sensitive)
    farthest = largest_distance(groups, ordered if distance == "ordered" else None)
    most = near(data, float(farthest), 0, 1, st.sampled_from([0, 0.1, 0.2, 0.25, 0.3, 0.5, 1]))
    stated = {
        "kind": "t-closeness",
        "quasi-identifier": names,
        "sensitive": sensitive,
        "t": most,
        "distance": distance,
        "order": order if distance == "ordered" and sensitive == "disease" else None,
    }
    assert verified(rows, weights, stated) == ([] if float(farthest) <= most + TOLERANCE else ["closeness"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("17", 17),
        ("-17", -17),
        ("+17", 17),
        (" 17 ", 17),
        ("017", 17),
        ("17.50", 17.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("9007199254740993", 2**53 + 1),
        (17, 17),
        (17.5, 17.5),
        (Decimal("17.5"), 17.5),
    ],
)
def test_what_is_a_number(value: Any, expected: float) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    "value",
    ["", "1_000", "1,5", "１７", "0x10", "nan", "inf", "1e999", "7th", None, True, float("nan"), float("-inf")],
)
def test_what_is_not_a_number(value: Any) -> None:
    assert number(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "a"), ("", ""), (True, "true"), (False, "false"), (1, "1"), (1.0, "1.0"), (date(2001, 2, 3), "2001-02-03")],
)
def test_what_a_value_reads_as(value: Any, expected: str) -> None:
    assert text(value) == expected


@pytest.mark.parametrize("value", [None, float("nan")])
def test_what_is_missing_has_no_text(value: Any) -> None:
    assert text(value) is None


def test_a_time_is_read_to_the_nanosecond_with_and_without_pandas() -> None:
    [value] = plain(pa.array([1], pa.timestamp("ns")))
    assert text(value) == "1970-01-01 00:00:00.000000001"


CODES = st.sampled_from([0, 1, 2, 7, 40_000, 2**31 - 1, 2**62, -1, -(2**62)])


@given(st.integers(1, 6).flatmap(lambda width: st.lists(st.tuples(*[CODES] * width), min_size=1, max_size=30)))
def test_rows_of_codes_of_any_size_are_summed_apart(rows: list[tuple[int, ...]]) -> None:
    keys = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    found, sums = summed(keys, np.arange(1, len(rows) + 1))
    expected: Counter[tuple[int, ...]] = Counter()
    for amount, row in enumerate(rows, start=1):
        expected[row] += amount
    assert len(sums) == len(expected)
    assert dict(zip(zip(*(key.tolist() for key in found), strict=True), sums.tolist(), strict=True)) == expected


TWO = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2)), max_size=30)
IN_ORDER = st.booleans()
ENDS = st.lists(st.integers(0, 30), max_size=4)


def counted(rows: Sequence[tuple[str | None, int]], ends: Sequence[int]) -> tuple[list[Any], bool]:
    """The distinct rows with their counts as they are read, batch after batch, and whether they are sorted."""
    schema = pa.schema([("letter", pa.string()), ("number", pa.int64())])
    reading = Reading(cast("Any", SimpleNamespace(schema=schema)))
    edges = [0, *sorted(min(end, len(rows)) for end in ends), len(rows)]
    for start, stop in pairwise(edges):
        held = zip(*rows[start:stop], strict=True) if start < stop else ([], [])
        reading.add(pa.table([list(column) for column in held], schema=schema))
    data = reading.data(cast("Any", SimpleNamespace(columns=[])))
    values = [[plain(column.values)[code] for code in column.codes] for column in data.columns.values()]
    return list(zip(*values, data.counts.tolist(), strict=True)), data.disorder is None


def sorted_rows(rows: Sequence[tuple[str | None, int]]) -> list[tuple[str | None, int]]:
    return sorted(rows, key=lambda row: (row[0] is None, row[0] or "", row[1]))


@cross_check
@given(TWO, ENDS, IN_ORDER)
def test_equal_rows_are_counted_in_any_order_and_in_any_batches(
    rows: list[tuple[str | None, int]], ends: list[int], in_order: bool
) -> None:
    rows = sorted_rows(rows) if in_order else rows
    found, is_sorted = counted(rows, ends)
    assert is_sorted == (rows == sorted_rows(rows))
    assert len(found) == len(set(rows))
    assert {row[:2]: row[2] for row in found} == Counter(rows)


def test_equal_rows_apart_are_counted_twice_unless_their_order_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("b", 1), ("a", 1), ("b", 1)]
    assert sorted(counted(rows, [])[0]) == [("a", 1, 1), ("b", 1, 2)]
    monkeypatch.setattr("unveil.verifier.data.order_finding", lambda columns, before: None)
    assert sorted(counted(rows, [])[0]) == [("a", 1, 1), ("b", 1, 1), ("b", 1, 1)]
