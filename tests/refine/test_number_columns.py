"""Columns of numbers and dates of every size, with nothing declared: published, verified and applied.

The fixture that counts every published table again holds each release to its promise.
"""

import datetime
import math
from collections import Counter
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.masking import Discretization

pytestmark = pytest.mark.engines

CLASSES = st.sampled_from(("yes", "no"))


@st.composite
def decimals(draw: st.DrawFn) -> tuple[dict[str, Any], list[float]]:
    """Decimals of one resolution, as in 3.03, 3.04, … or 1e15, 2e15, ….; with their step or without."""
    exponent = draw(st.sampled_from((-300, -20, -7, -3, -2, -1, 0, 1, 2, 7, 15, 290)))
    offset = draw(st.sampled_from((0, 0, -500, 300, 10**6)))
    digits = draw(st.lists(st.integers(-999, 999), min_size=3, max_size=20))
    numbers = [float(Decimal(offset + digit).scaleb(exponent)) for digit in digits]
    step = draw(st.sampled_from(({}, {"step": float(Decimal(1).scaleb(exponent))})))
    return {"kind": "number", **step}, numbers


@st.composite
def floats(draw: st.DrawFn) -> tuple[dict[str, Any], list[float]]:
    return {"kind": "number"}, draw(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=20))


@st.composite
def whole_numbers(draw: st.DrawFn) -> tuple[dict[str, Any], list[int]]:
    most = draw(st.sampled_from((20, 10**4, 2**53)))
    return {"kind": "number", "whole": True}, draw(st.lists(st.integers(-most, most), min_size=3, max_size=20))


@st.composite
def dates(draw: st.DrawFn) -> tuple[dict[str, Any], list[datetime.date]]:
    last = draw(st.sampled_from((datetime.date(1, 3, 1), datetime.date(2020, 3, 1), datetime.date(9999, 12, 30))))
    first = max(datetime.date.min.toordinal(), last.toordinal() - draw(st.sampled_from((9, 400, 10**6))))
    days = st.integers(first, last.toordinal()).map(datetime.date.fromordinal)
    return {"kind": "date"}, draw(st.lists(days, min_size=3, max_size=20))


columns = st.one_of(decimals(), floats(), whole_numbers(), dates())


@settings(deadline=None, max_examples=200)
@given(columns, st.integers(1, 3), st.sampled_from(("csv", "parquet")), st.data())
def test_a_column_with_nothing_declared(
    column: tuple[dict[str, Any], list[Any]], k: int, ending: str, data: st.DataObject
) -> None:
    attribute, values = column
    others = data.draw(st.lists(CLASSES, min_size=len(values) - 2, max_size=len(values) - 2))
    classes = ["yes", "no", *others]
    with TemporaryDirectory() as folder:
        raw, written = Path(folder) / f"raw.{ending}", Path(folder) / "release"
        write(pa.table({"x": values, "c": classes}), raw)
        spec = {
            "table": {"class": "c", "source": str(raw)},
            "attributes": {"x": attribute},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": k}],
        }
        release = unveil.publish(raw, spec)
        release.write(written)
        assert unveil.verify(written, spec) == []
        assert isinstance(release.masking["x"], Discretization)
        again = release.masking.labels(pa.table({"x": values}))
        assert Counter(again["x"].to_pylist()) == Counter(release.table["x"].to_pylist())
        for intervals in ("bounds", "midpoint", "interval"):
            assert len(release.to_pandas(intervals=intervals)) == len(values)


@settings(deadline=None, max_examples=200)
@given(columns, st.integers(1, 3), st.data())
def test_round_bounds_part_the_rows_as_observed_ones_do(
    column: tuple[dict[str, Any], list[Any]], k: int, data: st.DataObject
) -> None:
    attribute, values = column
    others = data.draw(st.lists(CLASSES, min_size=len(values) - 2, max_size=len(values) - 2))
    table = pa.table({"x": values, "c": ["yes", "no", *others]})
    spec = {
        "table": {"class": "c"},
        "attributes": {"x": attribute},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": k}],
    }
    ways = ({"search": "paper", "bounds": bounds} for bounds in ("round", "observed"))
    release, paper = (unveil.publish(table, {**spec, "publish": way}) for way in ways)
    assert scores(release) == scores(paper)
    rounded, observed = (cut.masking["x"].labels(values) for cut in (release, paper))
    assert len(set(zip(rounded, observed, strict=True))) == len(set(rounded)) == len(set(observed))
    known = sorted(set(values))
    starts = splits(release)
    assert all(start not in known or adjacent(known[known.index(start) - 1], start, attribute) for start in starts)
    assert set(splits(paper)) <= set(known)


def splits(release: unveil.Release) -> list[Any]:
    """Where the intervals begin, but for the first; whole bounds as the floats that they are."""
    bounds = [block.from_ for block in release.masking["x"].blocks[1:]]
    return [bound if isinstance(bound, datetime.date) else float(bound) for bound in bounds]


def scores(release: unveil.Release) -> list[tuple[float, float, float]]:
    return [(step["gain"], step["loss"], step["score"]) for step in release.trace]


def adjacent(left: Any, right: Any, attribute: dict[str, Any]) -> bool:
    """Whether no value of the attribute lies between two values."""
    if attribute["kind"] == "date":
        return bool(right - left == datetime.timedelta(days=1))
    step = Decimal(str(attribute.get("step", int(attribute.get("whole", False)))))
    return Decimal(str(right)) - Decimal(str(left)) <= step or math.nextafter(left, right) == right


def write(table: pa.Table, path: Path) -> None:
    if path.suffix == ".csv":
        path.write_text("".join(f"{row['x']},{row['c']}\n" for row in [{"x": "x", "c": "c"}, *table.to_pylist()]))
    else:
        pq.write_table(table, path)
