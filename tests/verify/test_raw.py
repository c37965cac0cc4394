"""The plain rules by which a raw value is read."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from unveil.verifier.columns import number, plain, text


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
def test_what_is_no_number(value: Any) -> None:
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
