"""Kinds of data as they come: every type that a column may have, masked, released as it is, and as the class."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import TableError
from unveil.schema import load_spec
from unveil.tables import domains, load_table

N = 60
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=11 * (row % 13)) for row in range(N)]
TIMES = [datetime.datetime(day.year, day.month, day.day, 3, 4, 5, 678901) for day in DAYS]
WORDS = [("å b", "日本", 'x "q"', " lead")[row % 4] for row in range(N)]
COLUMNS = {
    "int8": pa.array([row % 5 for row in range(N)], pa.int8()),
    "uint64": pa.array([row % 5 for row in range(N)], pa.uint64()),
    "float16": pa.array(np.array([0.5 * (row % 5) for row in range(N)], dtype=np.float16)),
    "float32": pa.array([0.1 * (row % 5) for row in range(N)], pa.float32()),
    "decimal": pa.array([Decimal(row % 5) / 4 for row in range(N)], pa.decimal128(8, 2)),
    "bool": pa.array([row % 2 == 0 for row in range(N)]),
    "date32": pa.array(DAYS),
    "date64": pa.array(DAYS, pa.date64()),
    "time stamp": pa.array(TIMES, pa.timestamp("us")),
    "nanoseconds": pa.array([1_577_836_800_000_000_001 + row % 3 for row in range(N)], pa.timestamp("ns")),
    "zoned": pa.array(TIMES, pa.timestamp("us", "Europe/Oslo")),
    "seconds": pa.array([1_577_934_245 + row % 3 for row in range(N)], pa.timestamp("s")),
    "time": pa.array([datetime.time(row % 24) for row in range(N)]),
    "time in seconds": pa.array([row % 24 for row in range(N)], pa.time32("s")),
    "text": pa.array(WORDS),
    "large text": pa.array(WORDS, pa.large_string()),
    "text view": pa.array(WORDS, pa.string_view()),
    "dictionary of numbers": pa.array([row % 3 for row in range(N)]).dictionary_encode(),
    "dictionary of texts": pa.array(WORDS).dictionary_encode(),
    "one value": pa.array([3] * N),
}
NUMBERS = ["int8", "uint64", "float16", "float32", "decimal", "dictionary of numbers", "one value"]
DATES = ["date32", "date64", "time stamp", "seconds", "nanoseconds", "zoned"]
USES = [
    *((name, "category", how) for name in COLUMNS for how in ("masked", "as it is", "other")),
    *((name, "category", "class") for name in COLUMNS if name != "one value"),
    *((name, "number", how) for name in NUMBERS for how in ("masked", "as it is")),
    *((name, "date", how) for name in DATES for how in ("masked", "as it is")),
]


def people(column: Any) -> pa.Table:
    labels = ["a" if row % 7 > 3 else "b" for row in range(N)]
    return pa.table({"age": [20 + row % 7 for row in range(N)], "v": column, "y": labels})


def spec(kind: str, how: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "age": {"kind": "number", "whole": True},
        "v": {"kind": kind},
        "y": {"kind": "category"},
    }
    if how in ("other", "class"):
        del described["v"]
    return {
        "table": {
            "class": "v" if how == "class" else "y",
            "missing": {"rows": "drop"},
            "others": "release" if how == "other" else "refuse",
        },
        "attributes": described,
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", *(["v"] if how == "masked" else [])], "k": 3}],
    }


@pytest.mark.parametrize(("name", "kind", "how"), USES)
def test_every_type_is_published_and_verified(tmp_path: Path, name: str, kind: str, how: str) -> None:
    table, described = people(COLUMNS[name]), spec(kind, how)
    release = unveil.publish(table, described)
    release.write(tmp_path / "release", ("parquet", "csv"))
    pq.write_table(table, tmp_path / "raw.parquet")
    described["table"]["source"] = str(tmp_path / "raw.parquet")
    assert unveil.verify(tmp_path / "release", described) == []
    again = unveil.open_release(tmp_path / "release")
    assert len(again.to_pandas()) == len(again.to_polars()) == N
    assert again.masking.apply(table).num_rows == N


@pytest.mark.parametrize(
    ("name", "kind", "released"),
    [
        ("int8", "number", "int8"),
        ("uint64", "number", "uint64"),
        ("float16", "number", "float"),
        ("float32", "number", "float"),
        ("decimal", "number", "decimal128(8, 2)"),
        ("dictionary of numbers", "number", "int64"),
        ("date64", "date", "date32[day]"),
        ("zoned", "date", "date32[day]"),
    ],
)
def test_what_is_released_as_it_is_keeps_its_type_and_values(name: str, kind: str, released: str) -> None:
    table = unveil.publish(people(COLUMNS[name]), spec(kind, "as it is")).table
    assert str(table["v"].type) == released
    raw = [value.date() if isinstance(value, datetime.datetime) else value for value in COLUMNS[name].to_pylist()]
    assert sorted(table["v"].to_pylist()) == sorted(raw)


@pytest.mark.parametrize(
    ("labels", "called", "released"),
    [
        (pa.array([0, 1] * 30, pa.int8()), "integer", "int8"),
        (pa.array([True, False] * 30), "boolean", "bool"),
        (pa.array([0.5, 1.0] * 30), "number", "double"),
        (pa.array(DAYS), "date", "date32[day]"),
        (pa.array(["0", "1"] * 30), "text", "string"),
        (pa.array(TIMES), "text", "string"),
    ],
)
def test_the_class_keeps_its_type(tmp_path: Path, labels: pa.Array, called: str, released: str) -> None:
    release = unveil.publish(people(labels), spec("category", "class"))
    release.write(tmp_path / "release")
    stored = pq.read_table(tmp_path / "release" / "data.parquet")["v"]
    assert (release.manifest.class_type, str(stored.type)) == (called, released)
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in labels.to_pylist()]
    kept = [str(value).lower() if isinstance(value, bool) else str(value) for value in stored.to_pylist()]
    assert sorted(kept) == sorted(texts)


def test_the_labels_of_a_csv_file_stay_text(tmp_path: Path) -> None:
    people(pa.array([0, 1] * 30)).to_pandas().to_csv(tmp_path / "people.csv", index=False)
    release = unveil.publish(tmp_path / "people.csv", spec("category", "class"))
    assert release.manifest.class_type == "text"


@pytest.mark.parametrize(
    ("values", "called"), [(["0", "1"], "integer"), (["true", "false"], "boolean"), (["0", "01"], "text")]
)
def test_under_differential_privacy_the_declaration_decides(values: list[str], called: str) -> None:
    """The type that a column happens to have may owe something to its values, even to whether there are any."""
    private = {
        "table": {"class": "y"},
        "attributes": {"v": {"kind": "category", "values": ["a", "b"]}, "y": {"values": values}},
        "require": [{"kind": "differential-privacy", "epsilon": 1.0}],
        "publish": {"method": "diffgen", "specializations": 1},
    }
    full = pa.table({"v": ["a", "b"], "y": values})
    for table in (full, full.slice(0, 0), pd.DataFrame({"v": [], "y": []}, dtype=object)):
        release = unveil.publish(table, private, unsafe_seed=1)
        assert release.manifest.class_type == called


@pytest.mark.parametrize(
    "column",
    [pa.array([[1]] * N), pa.array([{"a": 1}] * N), pa.array([b"x"] * N), pd.Series([1, "x"] * 30)],
    ids=["list", "struct", "binary", "mixed"],
)
@pytest.mark.parametrize("how", ["masked", "as it is", "other", "class"])
def test_what_cannot_be_used_is_refused_where_it_is_used(column: Any, how: str) -> None:
    table: Any = people(pa.array([0] * N)).to_pandas()
    table["v"] = column if isinstance(column, pd.Series) else column.to_pandas()
    with pytest.raises(TableError, match=r"column 'v': values of type .* cannot be"):
        unveil.publish(table, spec("category", how))
    table["age 2"] = table.pop("v")
    dropped = spec("category", "other") | {"table": {"class": "y", "others": "drop"}}
    assert unveil.publish(table, dropped).table.column_names == ["age", "y"]


@pytest.mark.parametrize(
    "value", [2**53 + 1, -(2**60) - 1, str(2**60 + 1), Decimal("0.12345678901234567891")], ids=repr
)
def test_a_number_with_too_many_digits_is_refused(value: object) -> None:
    """As a float it would be another number, and the release would not be true."""
    with pytest.raises(TableError, match=r"attribute 'v': the value '.*' has more digits"):
        unveil.publish(people(pa.array([value] * N)), spec("number", "as it is"))


def test_a_decimal_that_is_released_as_it_is_keeps_its_digits() -> None:
    values = pa.array([Decimal("0.1"), Decimal("0.3"), Decimal("7.7")] * (N // 3), pa.decimal128(38, 20))
    released = unveil.publish(people(values), spec("number", "as it is")).table["v"]
    assert set(released.to_pylist()) == set(values.to_pylist())


@pytest.mark.parametrize("value", [1.7e308, -2e300])
def test_a_number_too_large_for_an_observed_range_is_refused(value: float) -> None:
    with pytest.raises(TableError, match=r"attribute 'v': the value .* is too large for an observed range"):
        unveil.publish(people(pa.array([value, 1.0] * (N // 2))), spec("number", "masked"))


@pytest.mark.parametrize(
    "flavour",
    [
        pd.Series(["a", None, np.nan, pd.NaT, pd.NA, "b"] * 10, dtype=object),
        pd.array(["a", None, None, None, None, "b"] * 10, dtype="string"),
        pd.Categorical(["a", None, None, None, None, "b"] * 10),
        pl.Series(["a", None, None, None, None, "b"] * 10, dtype=pl.Categorical),
        pl.Series(["a", None, None, None, None, "b"] * 10, dtype=pl.Enum(["a", "b", "c"])),
    ],
    ids=["object", "string", "categorical", "polars categorical", "polars enum"],
)
def test_nulls_of_every_flavour_are_missing(flavour: Any) -> None:
    table: Any = people(pa.nulls(N)).to_pandas()
    if isinstance(flavour, pl.Series):
        table = pl.from_pandas(table.drop(columns="v")).with_columns(flavour.alias("v"))
    else:
        table["v"] = flavour
    release = unveil.publish(table, spec("category", "as it is"))
    assert (release.manifest.rows.dropped, release.manifest.rows.released) == (40, 20)
    assert set(release.table["v"].to_pylist()) == {"a", "b"}


@pytest.mark.parametrize("how", ["masked", "as it is", "class"])
@pytest.mark.parametrize("nothing", [pa.nulls(N), pa.array([float("nan")] * N)], ids=["null", "NaN"])
def test_a_column_without_any_value_is_named(nothing: pa.Array, how: str) -> None:
    with pytest.raises(TableError, match="the column 'v' is missing in every row"):
        unveil.publish(people(nothing), spec("category", how))


def test_a_missing_value_has_no_block_though_it_is_written_nan() -> None:
    release = unveil.publish(people(pa.array([0.5, 1.5] * 30)), spec("category", "masked"))
    with pytest.raises(TableError, match="'v': a missing value"):
        release.masking.apply(people(pa.array([float("nan")] * N)))


def test_twelve_of_three_hundred_columns(tmp_path: Path) -> None:
    wide = pa.table({f"c{place}": [row % (place + 2) for row in range(N)] for place in range(300)})
    table = wide.append_column("y", pa.array(WORDS))
    names = [f"c{place}" for place in range(0, 300, 28)]
    described = {
        "table": {"class": "y", "others": "drop"},
        "attributes": {name: {"kind": "number", "whole": True} for name in names},
        "require": [{"kind": "k-anonymity", "quasi-identifier": names[:3], "k": 3}],
    }
    pq.write_table(table, tmp_path / "wide.parquet")
    released = [unveil.publish(source, described) for source in (table, table.to_pandas(), tmp_path / "wide.parquet")]
    assert released[0].table.column_names == [*names, "y"]
    assert all(release.table.equals(released[0].table) for release in released)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.from_regex(domains.FEW_DIGITS, fullmatch=True), min_size=1, max_size=20))
def test_numbers_that_are_read_at_once_are_those_that_are_read_one_by_one(texts: list[str]) -> None:
    rows = pa.table({"x": [*texts, *texts], "class": ["a"] * len(texts) + ["b"] * len(texts)})
    spec = {
        "table": {"class": "class"},
        "attributes": {"x": {"kind": "number"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 1}],
    }
    read = load_table(load_spec(spec), rows).columns[0]
    assert read.values.tolist() == sorted({float(text) + 0.0 for text in texts})
    assert read.values[read.codes][: len(texts)].tolist() == [float(text) + 0.0 for text in texts]
