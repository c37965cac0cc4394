"""Views of a release: real intervals, bounds, midpoints or text, and what replaces suppressed values."""

import datetime
from collections import Counter
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import unveil
from unveil.errors import TableError

MASKED = ["age", "height", "born", "town"]
SPEC: dict[str, Any] = {
    "table": {"class": "ill"},
    "attributes": {
        "age": {"kind": "number", "whole": True},
        "height": {"kind": "number"},
        "born": {"kind": "date"},
        "town": {"kind": "category"},
        "seen": {"kind": "date"},
    },
    "require": [{"kind": "k-anonymity", "quasi-identifier": MASKED, "k": 4}],
    "publish": {"recoding": "global"},
}
DAY = datetime.date(2020, 1, 1)


def person(number: int) -> dict[str, Any]:
    return {
        "age": 20 + number * 7 % 50,
        "height": 1.5 + number * 3 % 7 / 10,
        "born": DAY + datetime.timedelta(days=number * 31 % 1000),
        "town": ("Oslo", "Rome", "Lima")[number % 3 if number % 10 else 2],
        "seen": DAY,
        "ill": number * 7 % 50 > 20,
    }


PEOPLE = pd.DataFrame([person(number) for number in range(80)])


@pytest.fixture(scope="module")
def release() -> unveil.Release:
    release = unveil.publish(PEOPLE, SPEC)
    assert len(release.masking["age"].blocks) > 1
    return release


def test_pandas_has_real_intervals(release: unveil.Release) -> None:
    frame = release.to_pandas()
    assert frame["age"].dtype == pd.IntervalDtype("int64", closed="left")
    assert frame["height"].dtype == pd.IntervalDtype("float64", closed="left")
    assert frame["born"].dtype == pd.IntervalDtype("datetime64[us]", closed="left")
    assert frame["ill"].dtype == bool
    assert frame["seen"].dtype.kind == "M"
    groups = frame.groupby("age")["ill"].mean()
    assert list(groups.index) == sorted(set(frame["age"]))


def test_a_model_of_the_release_takes_later_rows(release: unveil.Release) -> None:
    """What learned from `to_pandas` fits what `apply` gives, for intervals as for labels."""
    frame = release.to_pandas()
    model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(frame[MASKED], frame["ill"])
    later = release.masking.apply(PEOPLE)
    assert (later.dtypes[MASKED] == frame.dtypes[MASKED]).all()
    assert (model.predict(later[MASKED]) == PEOPLE["ill"]).mean() > 0.9


def test_polars_and_arrow_have_two_bounds(release: unveil.Release) -> None:
    frame, table = release.to_polars(), release.to_arrow()
    whole = pl.Struct({"from": pl.Int64, "to": pl.Int64})
    assert frame.schema["age"] == whole
    assert frame.schema["born"] == pl.Struct({"from": pl.Date, "to": pl.Date})
    assert (frame.schema["ill"], frame.schema["seen"]) == (pl.Boolean, pl.Date)
    assert table.schema.field("height").type == pa.struct([("from", pa.float64()), ("to", pa.float64())])
    assert isinstance(release.masking.apply(pl.from_pandas(PEOPLE)), pl.DataFrame)
    assert release.masking.apply(pl.from_pandas(PEOPLE)).schema["age"] == whole
    blocks = {(block.from_, block.to) for block in release.masking["age"].blocks}
    assert {(pair["from"], pair["to"]) for pair in table["age"].to_pylist()} == blocks


def test_text_is_what_the_files_hold(release: unveil.Release) -> None:
    assert release.to_arrow(intervals="text").equals(release.table)
    assert set(release.to_pandas(intervals="text")["age"]) == {block.label for block in release.masking["age"].blocks}


def test_a_midpoint_is_the_middle_of_what_an_interval_can_hold() -> None:
    """Whole numbers of [17, 20) are 17, 18 and 19; days likewise; other numbers go up to the end."""
    columns = {"age": [17, 19] * 4, "height": [1.0, 2.0] * 4, "born": [DAY, DAY + datetime.timedelta(days=2)] * 4}
    spec = {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "whole": True, "range": [17, 20]},
            "height": {"kind": "number", "range": [1, 4]},
            "born": {"kind": "date", "range": ["2020-01-01", "2020-01-04"]},
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "height", "born"], "k": 8}],
    }
    release = unveil.publish(pa.table(columns | {"ill": [0, 1] * 4}), spec)
    row = release.to_arrow(intervals="midpoint").to_pylist()[0]
    assert row == {"age": 18.0, "height": 2.5, "born": datetime.date(2020, 1, 2), "ill": 0}


def test_a_suppressed_value_is_a_marker_of_choice_or_null(release: unveil.Release) -> None:
    labels = release.table["town"].to_pylist()
    hidden = labels.count("⊥")
    assert 0 < hidden < len(labels) or labels == ["⊥"] * len(labels)
    assert release.to_arrow(suppressed="*")["town"].to_pylist().count("*") == hidden
    assert release.to_pandas(suppressed=None)["town"].isna().sum() == hidden
    assert release.to_polars(suppressed=None)["town"].null_count() == hidden
    assert "⊥" not in release.to_pandas(suppressed=None)["town"].cat.categories


def test_a_marker_that_is_a_label_is_refused() -> None:
    spec = SPEC | {"require": [{"kind": "k-anonymity", "quasi-identifier": ["town"], "k": 2}]}
    release = unveil.publish(PEOPLE, spec)
    assert "Rome" in release.masking["town"].disclosed
    with pytest.raises(TableError, match="column 'town': 'Rome' is a label"):
        release.to_pandas(suppressed="Rome")


def test_a_value_without_a_block_is_null_where_intervals_are_not_text(release: unveil.Release) -> None:
    rows = PEOPLE.head(2).assign(age=[10**6, 30])
    for intervals in ("interval", "bounds", "midpoint"):
        shown = release.masking.apply(rows, unseen="suppress", intervals=intervals)["age"]
        assert list(shown.isna()) == [True, False]
    assert release.masking.apply(rows, unseen="suppress", intervals="text")["age"][0] == "⊥"


@pytest.mark.parametrize("intervals", ["interval", "dots"])
def test_a_view_that_there_is_not(release: unveil.Release, intervals: Any) -> None:
    with pytest.raises(TableError, match="intervals"):
        release.to_arrow(intervals=intervals)


def holds(released: dict[str, Any], raw: dict[str, Any], disclosed: set[str]) -> bool:
    """Whether a released row may represent a raw one. It reads bounds as they are and no label."""
    intervals = (released["age"], released["height"], released["born"])
    values = (raw["age"], raw["height"], raw["born"])
    inside = all(bounds["from"] <= value < bounds["to"] for bounds, value in zip(intervals, values, strict=True))
    town = raw["town"] if raw["town"] in disclosed else None
    return inside and released["town"] == town and all(released[name] == raw[name] for name in ("seen", "ill"))


@st.composite
def crowds(draw: st.DrawFn) -> list[dict[str, Any]]:
    row = st.fixed_dictionaries(
        {
            "age": st.integers(-3, 120),
            "height": st.floats(-1e6, 1e6).map(lambda height: height + 0.0),
            "born": st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
            "town": st.sampled_from(["Oslo", "Rome", "Lima", "Bern"]),
            "seen": st.just(DAY) | st.dates(),
            "ill": st.booleans(),
        }
    )
    return draw(st.lists(row, min_size=4, max_size=30))


@settings(max_examples=25, deadline=None)
@given(rows=crowds())
def test_every_raw_value_lies_in_its_released_interval(rows: list[dict[str, Any]]) -> None:
    assume(len({row["ill"] for row in rows}) == 2)
    release = unveil.publish(pa.Table.from_pylist(rows), SPEC)
    shown = release.to_arrow(suppressed=None).to_pylist()
    disclosed = {row["town"] for row in shown} - {None}
    kinds = {str(row): row for row in shown}
    counts = Counter(str(row) for row in shown)
    for raw in rows:
        (kind,) = (key for key, row in kinds.items() if holds(row, raw, disclosed))
        counts[kind] -= 1
    assert set(counts.values()) == {0}


@settings(max_examples=25, deadline=None)
@given(rows=crowds(), later=crowds())
def test_every_later_value_lies_in_its_interval(rows: list[dict[str, Any]], later: list[dict[str, Any]]) -> None:
    assume(len({row["ill"] for row in rows}) == 2)
    release = unveil.publish(pa.Table.from_pylist(rows), SPEC)
    masked, cuts = release.masking.apply(pd.DataFrame(later), unseen="suppress"), release.to_pandas()
    for raw, (_, shown) in zip(later, masked.iterrows(), strict=True):
        for name, value in (("age", raw["age"]), ("height", raw["height"]), ("born", pd.Timestamp(raw["born"]))):
            inside = [interval for interval in set(cuts[name]) if value in interval]
            assert pd.isna(shown[name]) or value in shown[name]
            assert not inside or shown[name] == inside[0]
