from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import TableError
from unveil.schema import load_spec
from unveil.verifier import Finding
from verdicts import verify_against_raw, verify_release
from verify.releases import OLD, RAW_HEADER, RAW_ROWS, RELEASED_ROWS, SPEC, YOUNG, Draft, draft, write_raw


def verify_both(folder: Path, planted: Draft, spec: Path) -> tuple[list[Finding], list[Finding]]:
    """Findings from the files alone, and against the raw table."""
    release = planted.write(folder / "release")
    return verify_release(release), verify_against_raw(release, load_spec(spec))


def test_a_true_release_is_true(tmp_path: Path) -> None:
    assert verify_both(tmp_path, draft(), write_raw(tmp_path)) == ([], [])


def test_a_value_moved_to_the_neighbouring_block_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.rows.remove((YOUNG, "University", "M", 35.5, "high"))
    planted.rows.append((OLD, "University", "M", 35.5, "high"))
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path))
    assert alone == []
    assert [finding.claim for finding in against] == ["truth", "truth"]
    lost, gained = (finding.message for finding in against)
    rest = "education='University', sex='M', hours='35.5', income='high')"
    whole = "(1 record in all, of 1 kinds of rows)"
    assert lost == f"the release lost 1 record of (age='[17, 37)', {rest} {whole}."
    assert gained == f"the release gained 1 record of (age='[37, 91)', {rest} {whole}."


@pytest.mark.parametrize("boundary", [RELEASED_ROWS[4], RELEASED_ROWS[5]])
def test_a_value_on_a_boundary_belongs_to_the_right_block(tmp_path: Path, boundary: tuple[object, ...]) -> None:
    """37 lies in `[37, 91)`; a release that puts it in `[17, 37)` is not true."""
    planted = draft()
    planted.manifest["requirements"][0]["k"] = 1
    planted.rows.remove(boundary)
    planted.rows.append((YOUNG, *boundary[1:]))
    _, against = verify_both(tmp_path, planted, write_raw(tmp_path, spec=SPEC.replace("k = 2", "k = 1")))
    assert [finding.claim for finding in against] == ["truth", "truth"]


def test_a_lost_row_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.rows.remove((YOUNG, "University", "M", 8.0, "high"))
    planted.recount()
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path))
    assert alone == []
    assert [finding.claim for finding in against] == ["raw-rows", "truth"]
    assert "rows.read is 10, but the raw table gives 11" in against[0].message
    assert "lost 1 record of (age='[17, 37)', education='University', sex='M', hours='8'" in against[1].message


def test_a_lost_row_that_is_claimed_as_dropped_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.rows.pop()
    planted.manifest["rows"]["dropped"] = 2
    planted.recount()
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path))
    assert alone == []
    assert [finding.claim for finding in against] == ["raw-rows", "truth"]
    assert "rows.dropped is 2, but the raw table gives 1" in against[0].message


def test_a_doubled_row_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.rows.append((YOUNG, "University", "M", 8.0, "high"))
    planted.recount()
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path))
    assert alone == []
    assert [finding.claim for finding in against] == ["raw-rows", "truth"]
    assert "gained 1 record of (age='[17, 37)', education='University'" in against[1].message


def test_a_row_lost_and_another_doubled_is_found_where_every_count_fits(tmp_path: Path) -> None:
    planted = draft()
    planted.rows.remove((YOUNG, "University", "M", 8.0, "high"))
    planted.rows.append((YOUNG, "University", "M", 40.0, "low"))
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path))
    assert alone == []
    assert [finding.claim for finding in against] == ["truth", "truth"]


@pytest.mark.parametrize(("place", "value"), [(3, 41.0), (4, "low")])
def test_a_changed_value_in_a_column_that_is_released_as_it_is_is_found(
    tmp_path: Path, place: int, value: object
) -> None:
    planted = draft()
    row = list(planted.rows[0])
    row[place] = value
    planted.rows[0] = tuple(row)
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path))
    assert alone == []
    assert [finding.claim for finding in against] == ["truth", "truth"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("Lea", "91", "9th", "F", "40", "low"), "the raw value age='91' has no place"),
        (("Lea", "16.9", "9th", "F", "40", "low"), "the raw value age='16.9' has no place"),
        (("Lea", "1_8", "9th", "F", "40", "low"), "the raw value age='1_8' has no place"),
        (("Lea", "20", "School", "F", "40", "low"), "the raw value education='School' has no place"),
        (("Lea", "20", "9th", "F", "many", "low"), "the raw value hours='many' has no place"),
    ],
)
def test_a_raw_value_that_no_block_holds_is_found(tmp_path: Path, row: tuple[str, ...], words: str) -> None:
    _, against = verify_both(tmp_path, draft(), write_raw(tmp_path, [*RAW_ROWS, row]))
    assert any(words in finding.message for finding in against)
    assert any("the release lost 1 record" in finding.message for finding in against)


def test_nothing_is_dropped_where_the_policy_is_to_refuse(tmp_path: Path) -> None:
    spec = write_raw(tmp_path, spec=SPEC.replace('"drop"', '"refuse"'))
    _, against = verify_both(tmp_path, draft(), spec)
    assert any("rows.dropped is 1, but the raw table gives 0" in finding.message for finding in against)


@pytest.mark.parametrize("place", [1, 2, 3, 4, 5])
def test_a_row_is_dropped_for_any_missing_value_but_an_identifiers(tmp_path: Path, place: int) -> None:
    holed = ["Lea", "20", "9th", "F", "40", "low"]
    holed[place] = "?"
    planted = draft()
    planted.manifest["rows"].update(read=12, dropped=2)
    assert verify_both(tmp_path, planted, write_raw(tmp_path, [*RAW_ROWS, tuple(holed)])) == ([], [])


def test_a_row_is_kept_where_only_an_identifier_is_missing(tmp_path: Path) -> None:
    rows = [("?", *row[1:]) for row in RAW_ROWS]
    assert verify_both(tmp_path, draft(), write_raw(tmp_path, rows)) == ([], [])


WEIGHTED_SPEC = SPEC.replace('class = "income"', 'class = "income"\nweight = "n"')
WEIGHTED_ROWS = [(*row, "2") for row in RAW_ROWS]


def weighted_draft() -> Draft:
    planted = draft()
    planted.rows = sorted(set(RELEASED_ROWS), key=RELEASED_ROWS.index)
    planted.weigh([2 * RELEASED_ROWS.count(row) for row in planted.rows])
    planted.manifest["rows"]["read"] = 11
    return planted


def write_weighted(folder: Path) -> Path:
    return write_raw(folder, WEIGHTED_ROWS, WEIGHTED_SPEC, (*RAW_HEADER, "n"))


def test_weights_are_compared_by_their_sums(tmp_path: Path) -> None:
    assert verify_both(tmp_path, weighted_draft(), write_weighted(tmp_path)) == ([], [])


def test_a_wrong_weight_is_found(tmp_path: Path) -> None:
    planted = weighted_draft()
    planted.rows[0] = (*planted.rows[0][:-1], 3)
    planted.manifest["records"] += 1
    alone, [finding] = verify_both(tmp_path, planted, write_weighted(tmp_path))
    assert alone == []
    assert finding.claim == "truth"
    assert "gained 1 record" in finding.message


@pytest.mark.parametrize("weight", ["0.5", "1.5", "0", "-2", "two", "1e30"])
def test_a_raw_weight_that_is_not_a_count_is_an_error(tmp_path: Path, weight: str) -> None:
    rows = [*WEIGHTED_ROWS[:-1], (*RAW_ROWS[0], weight)]
    spec = write_raw(tmp_path, rows, WEIGHTED_SPEC, (*RAW_HEADER, "n"))
    with pytest.raises(TableError, match=f"n='{weight}' is a weight"):
        verify_both(tmp_path, weighted_draft(), spec)


def _typed() -> pa.Table:
    """The raw table with numbers as numbers and the mark of a missing value as a null."""
    columns = dict(zip(RAW_HEADER, zip(*RAW_ROWS, strict=True), strict=True))
    return pa.table(
        {
            **columns,
            "age": [None if age == "?" else int(age) for age in columns["age"]],
            "hours": [float(hours) for hours in columns["hours"]],
        }
    )


def _as_parquet(folder: Path, table: pa.Table) -> None:
    pq.write_table(table, folder / "raw.parquet")


def _as_dictionaries(folder: Path, table: pa.Table) -> None:
    encoded = [column.dictionary_encode() for column in table.columns]
    pq.write_table(pa.table(encoded, names=table.column_names), folder / "raw.parquet", row_group_size=4)


def _as_folder(folder: Path, table: pa.Table) -> None:
    """A folder with folders below it, and with files that are not part of the table."""
    source = folder / "raw.parquet"
    (source / "k=1.parquet").mkdir(parents=True)
    pq.write_table(table.slice(0, 6), source / "k=1.parquet" / "a.parquet")
    pq.write_table(table.slice(6), source / "b.parquet")
    for name in ["_SUCCESS", "_metadata.parquet", ".b.parquet.crc", "notes.txt"]:
        (source / name).write_text("no table")


@pytest.mark.parametrize("write", [_as_parquet, _as_dictionaries, _as_folder])
def test_the_raw_table_may_be_parquet(tmp_path: Path, write: Callable[[Path, pa.Table], None]) -> None:
    spec = write_raw(tmp_path, spec=SPEC.replace("raw.csv", "raw.parquet"))
    write(tmp_path, _typed())
    assert verify_both(tmp_path, draft(), spec) == ([], [])


def test_columns_of_other_types_compare_as_what_they_say(tmp_path: Path) -> None:
    """A class of booleans and a missing number, released as they are."""
    table = _typed().slice(0, 10)
    high = pa.array([value == "high" for value in table["income"].to_pylist()])
    table = table.set_column(5, "income", high)
    table = table.append_column("bonus", pa.array([None, 1.5] * 5))
    pq.write_table(table, tmp_path / "raw.parquet")
    others = 'source = "raw.parquet"\nothers = "release"'
    spec = write_raw(tmp_path, spec=SPEC.replace('source = "raw.csv"', others))
    planted = draft()
    planted.manifest["masking"]["bonus"] = {"kind": "released", "domain": "observed", "type": "number"}
    planted.manifest["rows"].update(read=10, dropped=0)
    planted.manifest["class_type"] = "boolean"
    masked = [
        (YOUNG, "University", "M", 8.0, 1.5, True),
        (YOUNG, "University", "M", 35.5, None, True),
        (YOUNG, "University", "M", 40.0, 1.5, False),
        (YOUNG, "University", "M", 40.0, None, False),
        (OLD, "9th", "⊥", 0.0, 1.5, True),
        (OLD, "9th", "⊥", 40.0, 1.5, False),
        (OLD, "9th", "⊥", 40.0, None, False),
        (OLD, "University", "M", 12.0, None, False),
        (OLD, "University", "M", 40.0, 1.5, True),
        (OLD, "University", "M", 40.0, None, True),
    ]
    planted.rows = list(masked)
    release = planted.write(tmp_path / "release", sort=False)
    assert verify_release(release) == []
    assert verify_against_raw(release, load_spec(spec)) == []


def test_a_column_that_nobody_releases_may_hold_anything(tmp_path: Path) -> None:
    others = 'source = "raw.parquet"\nothers = "drop"'
    spec = write_raw(tmp_path, spec=SPEC.replace('source = "raw.csv"', others))
    table = _typed()
    pq.write_table(table.append_column("tags", pa.array([["a"]] * table.num_rows)), tmp_path / "raw.parquet")
    assert verify_both(tmp_path, draft(), spec) == ([], [])


def test_a_column_of_lists_cannot_be_compared(tmp_path: Path) -> None:
    spec = write_raw(tmp_path, spec=SPEC.replace("raw.csv", "raw.parquet"))
    table = _typed()
    table = table.set_column(3, "sex", pa.array([["F"]] * table.num_rows))
    pq.write_table(table, tmp_path / "raw.parquet")
    with pytest.raises(TableError, match="the column 'sex' holds list"):
        verify_both(tmp_path, draft(), spec)


def test_a_missing_raw_value_is_not_a_hidden_one(tmp_path: Path) -> None:
    spec = SPEC.replace("raw.csv", "raw.parquet").replace('"drop"', '"refuse"')
    table = _typed().slice(0, 10)
    sexes = [sex if sex == "M" else None for sex in table["sex"].to_pylist()]
    pq.write_table(table.set_column(3, "sex", pa.array(sexes)), tmp_path / "raw.parquet")
    planted = draft()
    planted.manifest["rows"].update(read=10, dropped=0)
    alone, against = verify_both(tmp_path, planted, write_raw(tmp_path, spec=spec))
    assert alone == []
    assert [finding.claim for finding in against] == ["truth", "truth"]


def _with_zip(code: str) -> Draft:
    planted = draft()
    planted.manifest["masking"]["zip"] = {"kind": "released", "domain": "observed", "type": "category"}
    planted.rows = [(*row[:4], code, row[4]) for row in planted.rows]
    return planted


@pytest.mark.parametrize(("code", "expected"), [("01010", []), ("1010", ["truth", "truth"])])
def test_a_category_of_digits_is_text(tmp_path: Path, code: str, expected: list[str]) -> None:
    rows = [(*row, "01010") for row in RAW_ROWS]
    spec = SPEC.replace('source = "raw.csv"', 'source = "raw.csv"\nothers = "release"')
    path = write_raw(tmp_path, rows, spec, (*RAW_HEADER, "zip"))
    alone, against = verify_both(tmp_path, _with_zip(code), path)
    assert alone == []
    assert [finding.claim for finding in against] == expected


def test_a_column_that_the_raw_table_does_not_have_is_found(tmp_path: Path) -> None:
    spec = SPEC.replace('source = "raw.csv"', 'source = "raw.csv"\nothers = "release"')
    _, [finding] = verify_both(tmp_path, _with_zip("01010"), write_raw(tmp_path, spec=spec))
    assert finding == Finding("truth", "the raw table has no column 'zip' to release.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_csv_with_other_delimiters_quotes_and_line_ends_is_read(tmp_path: Path, end: str) -> None:
    spec = write_raw(tmp_path)
    lines = [";".join(f'"{value} "' for value in row) for row in [RAW_HEADER, *RAW_ROWS]]
    (tmp_path / "raw.csv").write_text(end.join(lines), encoding="utf-8-sig", newline="")
    assert verify_both(tmp_path, draft(), spec) == ([], [])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read"),
        (b"a,b\n1\n", "cannot be read"),
        (b"age,income\n17,low\n", "has no column 'education', 'sex', 'hours'"),
        (b"age,age\n17,17\n", "duplicate field names"),
    ],
)
def test_a_raw_table_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes, words: str) -> None:
    spec = write_raw(tmp_path)
    (tmp_path / "raw.csv").write_bytes(content)
    with pytest.raises(TableError, match=words):
        verify_both(tmp_path, draft(), spec)


def test_a_raw_table_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    spec = write_raw(tmp_path)
    (tmp_path / "raw.csv").unlink()
    with pytest.raises(TableError, match="cannot be read"):
        verify_both(tmp_path, draft(), spec)
    (tmp_path / "raw.csv").mkdir()
    with pytest.raises(TableError, match="the folder holds no"):
        verify_against_raw(tmp_path / "release", load_spec(spec))


def test_a_release_that_cannot_be_read_is_never_true(tmp_path: Path) -> None:
    spec = load_spec(write_raw(tmp_path))
    release = draft().write(tmp_path / "release")
    (release / "data.parquet").write_bytes(b"")
    [finding] = verify_against_raw(release, spec)
    assert finding.claim == "truth"
    assert "cannot be compared with the raw table: data.parquet cannot be read" in finding.message


PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(["17", "36", "36.0", "37", "3.7e1", "90", "?"]),
        st.sampled_from(["Bachelors", "Masters", "9th", "10th"]),
        st.sampled_from(["M", "F", "X", "?"]),
        st.sampled_from(["0", "-1.5", "+40", "1e3"]),
        st.sampled_from(["low", "high"]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=50, deadline=None)
@given(people=PEOPLE, victim=st.integers(0), change=st.sampled_from(["none", "lose", "double", "move"]))
def test_any_true_release_is_true_and_any_change_is_found(
    people: list[tuple[str, ...]], victim: int, change: str
) -> None:
    """Masks random people one by one, as a reader of the manifest would, and then changes one of them."""
    planted = draft()
    kept = [row for row in people if "?" not in row]
    planted.rows = [_masked(row) for row in kept]
    if planted.rows and change != "none":
        place = victim % len(planted.rows)
        row = planted.rows.pop(place)
        other = (YOUNG if row[0] == OLD else OLD, *row[1:])
        planted.rows += {"lose": [], "double": [row, row], "move": [other]}[change]
    planted.manifest["rows"] = {
        "read": len(people),
        "dropped": len(people) - len(kept),
        "released": len(planted.rows),
    }
    if not planted.rows:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = load_spec(write_raw(folder, [("Ann", *row) for row in people]))
        findings = verify_against_raw(planted.write(folder / "release"), spec)
    assert bool(findings) == (change != "none")
    assert {finding.claim for finding in findings} <= {"truth"}


def _masked(row: tuple[str, ...]) -> tuple[object, ...]:
    age, education, sex, hours, income = row
    return (
        YOUNG if float(age) < 37 else OLD,
        "University" if education in ("Bachelors", "Masters") else education,
        sex if sex == "M" else "⊥",
        float(hours),
        income,
    )
