"""With invalid rows dropped, one row more changes at most one count, and nothing that the owner's program can show.

Rows are added with whatever a file or a frame can hold. What publish prints and how it ends must be the same with and
without such a row; and where ε is so large that there is no noise, at most one count may differ, by one.
"""

from __future__ import annotations

import datetime
import shutil
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unveil
from commands import Outcome, Run, refused
from noise.invalid import COLUMNS, HEADER, SPEC, WAYS, content, counts
from noise.private import PrivateProject
from project import Project
from unveil.errors import SpecError

pytestmark = pytest.mark.engines

JOBS = ["clerk", "lawyer", "baker", "smith"]
HOSTILE = [
    *("", "?", "⊥", "44.5", "forty", "inf", "-inf", "nan", "NaN", "1e400", "-1e400", "9" * 20, "9" * 5000, "1_0", "٣"),
    *("Office", "Any job", "bakr", "Baker", " baker ", "maybe", "4", "1.0", "1.05", "0.30000001", "-0.0", "true"),
    *("9999-12-31", "10000-01-01", "0000-00-00", "2019-02-30", "2019-01-01T25:00", "2020-01-01T00:00:00Z"),
    *(
        '"',
        '""',
        '"a',
        'a"b',
        '"a"b',
        '"a,b"',
        "\0",
        "a\0b",
        "\ufeff",
        "\u2028",
        "\x0b",
        "\x85",
        ";",
        "\t",
        "x" * 70000,
    ),
]
BYTES = [b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b'"\xff"', b"\x00"]


@st.composite
def valid_rows(draw: st.DrawFn) -> list[Any]:
    day = datetime.date(2019, 1, 1) + datetime.timedelta(days=draw(st.integers(0, 1800)))
    return [
        "x",
        draw(st.integers(0, 99)),
        draw(st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.9])),
        day,
        draw(st.sampled_from(JOBS)),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 1)),
    ]


def as_line(row: list[Any]) -> bytes:
    return ",".join(map(str, row)).encode()


no_break = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=8)
fields = st.sampled_from(HOSTILE).map(str.encode) | st.sampled_from(BYTES) | no_break.map(str.encode)


@st.composite
def added_lines(draw: st.DrawFn) -> bytes:
    """A valid row with some fields replaced, a row with too few or too many, or any bytes."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=30)).replace(b"\r", b"").replace(b"\n", b"")
    row = [str(value).encode() for value in draw(valid_rows())]
    for place in draw(st.sets(st.integers(1, 6), max_size=2)):
        row[place] = draw(fields)
    length = draw(st.sampled_from([7, 7, 7, 7, 1, 6, 8, 20]))
    return b",".join((row * 3)[:length])


def inserted(rows: list[bytes], line: bytes, place: int) -> list[bytes]:
    return [*rows[:place], line, *rows[place:]]


def difference(one: Counter[Any], other: Counter[Any]) -> int:
    assert one.keys() == other.keys()
    return sum(abs(one[cell] - other[cell]) for cell in one)


@pytest.fixture
def people(project: Project) -> PrivateProject:
    private = PrivateProject(project)
    private.spec.write_text(SPEC)
    return private


def published(people: PrivateProject, run: Run, table: bytes) -> Outcome:
    people.table.write_bytes(table)
    shutil.rmtree(people.release, ignore_errors=True)
    people.ledger.unlink(missing_ok=True)
    return run("publish", people.spec, "--to", people.release)


same_folder = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@same_folder
@given(rows=st.lists(valid_rows().map(as_line), max_size=5), line=added_lines(), place=st.integers(0, 5))
def test_a_line_more_shows_in_nothing_but_the_release(
    rows: list[bytes], line: bytes, place: int, people: PrivateProject, run: Run
) -> None:
    without = published(people, run, content(rows))
    assert (without.code, without.err) == (0, "")
    assert published(people, run, content(inserted(rows, line, place))) == without


@same_folder
@given(rows=st.lists(valid_rows().map(as_line), max_size=5), line=added_lines(), place=st.integers(0, 5))
def test_a_line_more_changes_one_count_at_most(
    rows: list[bytes], line: bytes, place: int, people: PrivateProject
) -> None:
    people.table.write_bytes(content(rows))
    without = counts(unveil.publish(people.spec, unsafe_seed=1))
    assert sum(without.values()) == len(rows)
    people.table.write_bytes(content(inserted(rows, line, place)))
    assert difference(without, counts(unveil.publish(people.spec, unsafe_seed=1))) <= 1


HALF = "\ud800"
"""Half of a pair of surrogates."""
OBJECTS = [
    *(None, float("nan"), float("inf"), pd.NA, pd.NaT, 44.5, 10**30, -5, True, b"x", [1], {"a": 1}, object(), 1 + 2j),
    *(10**5000, np.float32(0.1), np.longdouble(5), np.array([1, 2]), np.datetime64("2020-01-01"), np.int8(3), 3 + 0j),
    *(Decimal("0.3"), Decimal("NaN"), datetime.date(9999, 12, 31), datetime.datetime(2020, 1, 1, 5), HALF, "1"),
    *(pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timestamp("2020-01-01", tz="Asia/Kolkata"), 2.0, "2.0"),
]


def series(value: Any) -> pd.Series[Any]:
    """A value as pandas types it by itself, if it can."""
    return pd.Series([value], dtype=object) if value is HALF else pd.Series([value])


@same_folder
@given(
    rows=st.lists(valid_rows(), min_size=1, max_size=5),
    added=st.lists(st.sampled_from([*OBJECTS, *HOSTILE]), min_size=6, max_size=6),
    valid=valid_rows(),
    spoiled=st.sets(st.integers(1, 6)),
    stamps=st.booleans(),
)
def test_a_row_more_in_a_frame_changes_one_count_at_most(
    rows: list[Any], added: list[Any], valid: list[Any], spoiled: set[int], stamps: bool, people: PrivateProject
) -> None:
    """Whatever becomes of the types of its columns."""
    spec = unveil.schema.load_spec(people.spec)
    before = pd.DataFrame(rows, columns=COLUMNS)
    if stamps:
        before["seen"] = pd.to_datetime(before["seen"])
    row = [added[place - 1] if place in spoiled else value for place, value in enumerate(valid)]
    after = pd.concat([before, pd.DataFrame(dict(zip(COLUMNS, map(series, row), strict=True)))])
    without = counts(unveil.publish(before, spec, unsafe_seed=1))
    assert sum(without.values()) == len(rows)
    assert difference(without, counts(unveil.publish(after, spec, unsafe_seed=1))) <= 1


@pytest.mark.parametrize("way", WAYS)
def test_each_way_in_which_a_row_can_be_wrong_shows_only_where_it_is_refused(
    way: str, people: PrivateProject, run: Run
) -> None:
    rows = [b"x,30,0.1,2020-01-01,baker,1,0", b"x,40,0.2,2021-01-01,clerk,2,1"]
    without = published(people, run, content(rows))
    assert published(people, run, content([WAYS[way], *rows])) == without
    people.edit(people.spec, 'invalid = "drop"\n', "")
    outcome = published(people, run, content([WAYS[way], *rows]))
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)


def test_a_line_longer_than_what_is_read_at_a_time(people: PrivateProject, run: Run) -> None:
    rows = [b"x,30,0.1,2020-01-01,baker,1,0"] * 3
    without = published(people, run, content(rows))
    for filler in (b"y", b'"', b'a""'):
        line = b'x,30,0.1,2020-01-01,"' + filler * (9 << 20) + b'",1,0'
        assert published(people, run, content(inserted(rows, line, 1))) == without
        assert sum(counts(unveil.publish(people.spec, unsafe_seed=1)).values()) == 3


def test_lines_end_in_any_way(people: PrivateProject) -> None:
    rows = [b"x,30,0.1,2020-01-01,baker,1,0", b'x,40,"0.2",2021-01-01,clerk,2,1'] * 4
    for end in (b"\n", b"\r\n", b"\r"):
        people.table.write_bytes(end.join([HEADER.strip(), *rows]))
        assert sum(counts(unveil.publish(people.spec, unsafe_seed=1)).values()) == 8


def test_values_of_files_with_types_are_read_one_by_one(people: PrivateProject) -> None:
    """Days after the year 9999, bytes that are not text, and times exact to the nanosecond."""
    far = pa.array([18262, 18263, 2**31 - 1], pa.int32()).cast(pa.date32())
    raw = pa.array([b"baker", b"clerk", b"\xff"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    stamps = pa.array([0, 10**9, 1], pa.int64()).cast(pa.timestamp("ns"))
    people.edit(people.spec, 'values = ["1", "2", "3"]', 'values = ["1970-01-01 00:00:00", "1970-01-01 00:00:01"]')
    fine = {"name": ["x"] * 3, "age": [30] * 3, "paid": [0.1] * 3, "ill": [0, 1, 0]}
    good = {
        "seen": far.take(pa.array([0, 1, 0])),
        "job": pa.array(["baker", "clerk", "baker"]),
        "ward": stamps.take(pa.array([0, 1, 0])),
    }
    spec = unveil.schema.load_spec(people.spec)
    for name, column in {"none": None, "seen": far, "job": texts, "ward": stamps}.items():
        table = pa.table({**fine, **good, **({} if column is None else {name: column})}).select(COLUMNS)
        released = counts(unveil.publish(table, spec, unsafe_seed=1))
        assert sum(released.values()) == (3 if column is None else 2), name


WEIGHTS = ["0", "-1", "1.5", "many", "", "1e400", "9007199254740991", str(2**31 + 1)]


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_row_with_a_wrong_weight_is_dropped(weight: str, people: PrivateProject) -> None:
    people.edit(people.spec, 'class   = "ill"', 'class = "ill"\nweight = "name"')
    people.edit(people.spec, '[attributes.name]\nrole = "identifier"\n', "")
    rows = [b"2,30,0.1,2020-01-01,baker,1,0", b"3,40,0.2,2021-01-01,clerk,2,1"]
    people.table.write_bytes(content([weight.encode() + rows[0][1:], *rows]))
    release = unveil.publish(people.spec)
    assert sum(counts(release).values()) == 5
    release.write(people.release)
    assert unveil.verify(people.release, people.spec) == []


def test_check_tells_the_owner_how_many_rows_are_left_out(people: PrivateProject, run: Run) -> None:
    people.table.write_bytes(content([b"x,30,0.1,2020-01-01,baker,1,0", *WAYS.values()]))
    outcome = run("check", people.spec)
    assert outcome.code == 0
    assert "1 record can be released" in outcome.out
    assert "18 rows with missing or invalid values left out" in outcome.out


def test_the_verifier_leaves_out_the_same_rows(people: PrivateProject, run: Run) -> None:
    """There is no noise at this ε, so that one row more on either side is found out."""
    rows = [b"x,30,0.1,2020-01-01,baker,1,0", b'x,40,"0.2",2021-01-01,clerk,2,1', b"x,140,0.3,2021-01-01,smith,3,1"]
    for way in WAYS.values():
        assert published(people, run, content([*rows * 3, *[way] * 5, *rows])).code == 0
        verified = run("verify", people.release, "--raw", people.spec)
        assert (verified.code, verified.err) == (0, ""), way
    people.table.write_bytes(content([*rows * 9]))
    assert run("verify", people.release, "--raw", people.spec).code == 1


def test_a_table_is_evaluated_without_its_invalid_rows(people: PrivateProject, run: Run) -> None:
    rows = [b"x,30,0.1,2020-01-01,baker,1,0", b"x,40,0.2,2021-01-01,clerk,2,1"] * 20
    people.table.write_bytes(content([*rows, *WAYS.values()]))
    outcome = run("evaluate", people.spec, "--classifier", "tree")
    assert (outcome.code, outcome.err) == (0, "")


def test_the_policy_is_for_differential_privacy(project: Project, run: Run) -> None:
    project.edit(project.spec, 'class   = "ill"', 'class = "ill"\ninvalid = "drop"')
    refused(project, run, ["people.toml", "invalid = 'drop'", "differential privacy"])


def test_missing_values_must_be_dropped_too(people: PrivateProject, run: Run) -> None:
    people.edit(people.spec, 'rows = "drop"', 'rows = "refuse"')
    refused(people, run, ["people.toml", "invalid = 'drop'", "missing.rows must be 'drop'"])


def test_whole_numbers_in_floats_are_whole_numbers(people: PrivateProject) -> None:
    """As pandas makes them of a column in which one value is missing."""
    people.edit(people.spec, 'invalid = "drop"\n', "")
    frame = pd.DataFrame({"name": "x", "age": 30, "paid": 0.1, "seen": "2020-01-01", "job": "baker"}, index=[0, 1])
    frame = frame.assign(ward=[1.0, 2.0], ill=[0.0, float("nan")])
    assert sum(counts(unveil.publish(frame, unveil.schema.load_spec(people.spec), unsafe_seed=1)).values()) == 1


def test_a_spec_by_itself_says_what_is_wrong(people: PrivateProject) -> None:
    people.edit(people.spec, 'invalid = "drop"', 'invalid = "skip"')
    with pytest.raises(SpecError, match="invalid"):
        unveil.schema.load_spec(people.spec)
