"""The same data gives the same masking and the same rows, whatever frame or file it came in."""

import csv
import datetime
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import unveil

KINDS = {"whole": "number", "part": "number", "day": "date", "word": "category", "flag": "category", "kept": "number"}
TYPES = {
    "whole": pa.int64(),
    "part": pa.float64(),
    "day": pa.date32(),
    "word": pa.string(),
    "flag": pa.bool_(),
    "kept": pa.float64(),
    "label": pa.int64(),
}
NAMES = [
    "a b",
    'a "quoted" name',
    "it's",
    "dot.ted",
    "com,ma",
    "日本 語",
    "naïve",
    "index",
    "values",
    "columns",
    "T",
    "shape",
    "size",
    "count",
    "class",
    "level_0",
    "__index_level_0__",
    "0",
    "None",
    "nan",
    "[17, 37)",
    "#",
    "\\",
    "{}",
    "%s",
]
WORDS = ["a", "b c", "ÆØÅ", "日本", 'q"', "com,ma", "NA", "null", "1", "1.0", "-", "x" * 300, "🙂"]


@dataclass(frozen=True)
class People:
    """A table as plain Python values, with a name for each of its columns."""

    names: dict[str, str]
    rows: list[dict[str, Any]]

    def column(self, key: str) -> list[Any]:
        return [row[key] for row in self.rows]

    def spec(self) -> dict[str, Any]:
        names = self.names
        attributes: dict[str, Any] = {names[key]: {"kind": kind} for key, kind in KINDS.items()}
        attributes[names["whole"]]["whole"] = True
        masked = [names[key] for key in ("whole", "part", "day", "word", "flag")]
        return {
            "table": {"class": names["label"], "missing": {"rows": "drop"}},
            "attributes": attributes,
            "require": [{"kind": "k-anonymity", "quasi-identifier": masked, "k": 2}],
        }

    def arrow(self) -> pa.Table:
        return pa.table({self.names[key]: pa.array(self.column(key), type_) for key, type_ in TYPES.items()})


@st.composite
def people(draw: st.DrawFn) -> People:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=len(TYPES), max_size=len(TYPES), unique=True))
    cells = {
        "whole": st.integers(-5, 40),
        "part": st.sampled_from([-1.5, 0.0, -0.0, 0.1, 0.30000000000000004, 2.0, 1e16, 1e-300]),
        "day": st.dates(datetime.date(1899, 12, 25), datetime.date(2101, 2, 3)) | st.just(datetime.date(2020, 2, 29)),
        "word": st.sampled_from(WORDS),
        "flag": st.booleans(),
        "kept": st.sampled_from([1.5, 2.0, 0.0, -0.0]),
        "label": st.integers(0, 2),
    }
    row = st.fixed_dictionaries({key: st.none() | cell if key != "label" else cell for key, cell in cells.items()})
    full = st.fixed_dictionaries(cells)
    rows = draw(st.lists(full, min_size=4, max_size=12)) + draw(st.lists(row, max_size=8))
    return People(dict(zip(TYPES, names, strict=True)), draw(st.permutations(rows)))


def with_numpy(data: People) -> pd.DataFrame:
    """What pandas makes of Python values: floats where an integer is missing, objects of truth values, time stamps."""
    frame = pd.DataFrame({data.names[key]: pd.Series(data.column(key), dtype=None) for key in TYPES})
    frame[data.names["day"]] = pd.to_datetime(frame[data.names["day"]])
    return frame


def with_nullable(data: People) -> pd.DataFrame:
    return data.arrow().to_pandas().convert_dtypes()


def with_pyarrow(data: People) -> pd.DataFrame:
    return data.arrow().to_pandas(types_mapper=pd.ArrowDtype)


def with_categories(data: People) -> pd.DataFrame:
    frame = with_numpy(data)
    for key in ("word", "flag"):
        frame[data.names[key]] = frame[data.names[key]].astype("category")
    return frame


def with_strange_index(data: People) -> pd.DataFrame:
    """Two levels, values that repeat, and the names of columns."""
    frame = with_numpy(data)
    levels = [["x", "y"][place % 2] for place in range(len(frame))], [7] * len(frame)
    frame.index = pd.MultiIndex.from_arrays(levels, names=[data.names["label"], data.names["day"]])
    return frame


def with_polars(data: People) -> pl.DataFrame:
    frame = pl.from_arrow(data.arrow())
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col(data.names["word"]).cast(pl.Categorical))


def with_zoned_times(data: People) -> pl.DataFrame:
    """Midnight in a zone where it is another day in UTC."""
    frame = pl.from_arrow(data.arrow())
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col(data.names["day"]).cast(pl.Datetime("us")).dt.replace_time_zone("Etc/GMT-9"))


def with_dictionaries(data: People) -> pa.Table:
    table = data.arrow()
    return pa.table({name: table[name].dictionary_encode() for name in table.column_names})


def with_other_types(data: People) -> pa.Table:
    """The same values in wider and narrower types, in several chunks."""
    types = {"whole": pa.int8(), "word": pa.large_string(), "day": pa.timestamp("ns"), "label": pa.uint16()}
    table = data.arrow()
    for key, type_ in types.items():
        place = table.column_names.index(data.names[key])
        table = table.set_column(place, data.names[key], table[data.names[key]].cast(type_))
    middle = table.num_rows // 2
    return pa.concat_tables([table.slice(0, middle), table.slice(middle)])


def with_nan(data: People) -> pa.Table:
    """A missing float may be NaN, too."""
    table = data.arrow()
    name = data.names["part"]
    return table.set_column(table.column_names.index(name), name, table[name].fill_null(float("nan")))


def backwards(data: People) -> pa.Table:
    table = data.arrow()
    return table.select(table.column_names[::-1]).take(pa.array(range(table.num_rows - 1, -1, -1)))


def in_a_parquet_file(data: People) -> Path:
    path = Path(tempfile.mkdtemp()) / "people.parquet"
    pq.write_table(data.arrow(), path, row_group_size=3)
    return path


def in_a_csv_file(data: People) -> Path:
    path = Path(tempfile.mkdtemp()) / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([data.names[key] for key in TYPES])
        writer.writerows([[written(row[key]) for key in TYPES] for row in data.rows])
    return path


def written(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


FORMS: list[Callable[[People], Any]] = [
    with_numpy,
    with_nullable,
    with_pyarrow,
    with_categories,
    with_strange_index,
    with_polars,
    with_zoned_times,
    with_dictionaries,
    with_other_types,
    with_nan,
    backwards,
    in_a_parquet_file,
    in_a_csv_file,
]


def released(table: Any, data: People) -> tuple[Any, ...]:
    """What a release says, class labels as text: a csv file has no other."""
    release = unveil.publish(table, data.spec())
    rows = [
        tuple(str(value) if name == data.names["label"] else value for name, value in row.items())
        for row in release.table.to_pylist()
    ]
    return release.manifest.columns, release.manifest.rows, release.manifest.guarantee, rows


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=people())
def test_the_same_data_gives_the_same_release(form: Callable[[People], Any], data: People) -> None:
    assume(len({row["label"] for row in data.rows if None not in row.values()}) > 1)
    assert released(form(data), data) == released(data.arrow(), data)


def test_a_changed_value_is_noticed() -> None:
    """The comparison can fail: one record on another day gives another release."""
    cells = {"whole": 1, "part": 0.5, "word": "a", "flag": True, "kept": 1.5}
    days = [datetime.date(2020, 1, 1 + place) for place in range(6)]
    rows = [cells | {"day": day, "label": place % 2} for place, day in enumerate(days)]
    data = People({key: key for key in TYPES}, rows)
    other = People(data.names, [*rows[:-1], rows[-1] | {"day": datetime.date(2031, 1, 1)}])
    assert released(with_numpy(data), data) == released(data.arrow(), data)
    assert released(with_numpy(other), data) != released(data.arrow(), data)
