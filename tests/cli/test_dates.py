"""Dates from a first spec to masked later rows, on the command line."""

from pathlib import Path

import polars as pl
import pytest

from commands import Run

ROWS = ["name,born,seen,town,ill"] + [
    f"p{row},{2000 + row % 9}-{1 + row % 12:02}-{1 + row % 28:02},2024-0{1 + row % 5}-01T08:{row % 60:02}:00Z,"
    f"{('Oslo', 'Rome')[row % 2]},{int(row % 9 > 4)}"
    for row in range(90)
]
SPEC = """\
[table]
source = "people.csv"
class  = "ill"

[attributes.name]
role = "identifier"

[attributes.born]
kind  = "date"
range = [2000-01-01, 2010-01-01]

[attributes.seen]
kind = "date"

[attributes.town]
kind = "category"

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["born", "seen", "town"]
k                = 5
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("\n".join(ROWS) + "\n")
    (tmp_path / "people.toml").write_text(SPEC)
    return tmp_path / "people.toml"


def test_check_publish_verify_apply_and_evaluate(spec: Path, run: Run) -> None:
    folder, table = spec.parent / "release", spec.parent / "people.csv"
    assert run("check", spec).code == 0
    published = run("publish", spec, "--to", folder, "--format", "csv")
    assert published.code == 0
    assert "[2000-01-01, " in published.out
    assert run("verify", folder, "--raw", spec).code == 0
    assert run("apply", folder, table, "--to", spec.parent / "later.csv").code == 0
    labels = set(pl.read_csv(folder / "data.csv")["born"])
    assert set(pl.read_csv(spec.parent / "later.csv")["born"]) == labels
    assert run("evaluate", spec, "--seeds", 1).code == 0


def test_apply_shows_intervals_as_asked(spec: Path, run: Run) -> None:
    folder, table = spec.parent / "release", spec.parent / "people.csv"
    run("publish", spec, "--to", folder)
    bounds, middles = spec.parent / "bounds.parquet", spec.parent / "middles.csv"
    assert run("apply", folder, table, "--to", bounds, "--intervals", "bounds").code == 0
    assert pl.read_parquet(bounds).schema["born"] == pl.Struct({"from": pl.Date, "to": pl.Date})
    assert run("apply", folder, table, "--to", middles, "--intervals", "midpoint", "--suppressed", "*").code == 0
    assert pl.read_csv(middles, try_parse_dates=True).schema["born"] == pl.Date
    refused = run("apply", folder, table, "--to", spec.parent / "x.csv", "--intervals", "bounds")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "x.csv: a csv file has no pairs of bounds" in refused.err
    assert run("apply", folder, table, "--to", spec.parent / "x.csv", "--intervals", "dots").code == 2
    assert not (spec.parent / "x.csv").exists()


def test_init_guesses_dates(spec: Path, run: Run) -> None:
    drafted = run("init", spec.parent / "people.csv").out
    born = len({row.split(",")[1] for row in ROWS[1:]})
    risk = "100% of the rows have a unique value"
    assert (
        f'[attributes.born]    # guess: {born} different dates; {risk}\nkind = "date"\n# range = [1999-01-01, '
        in drafted
    )
    assert (
        '[attributes.seen]    # guess: 5 different dates\nkind = "date"\n# range = [2023-12-01, 2024-06-01]' in drafted
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "2010-01-01",
            "attribute 'born': the value 2010-01-01 lies outside its range [2000-01-01, 2010-01-01) (1 row).",
        ),
        ("2001-02-29", "attribute 'born': the value '2001-02-29' (1 row) is not a date."),
        ("1.2.2003", "attribute 'born': the value '1.2.2003' (1 row) is not a date."),
        ("20010203", "attribute 'born': the value '20010203' (1 row) is not a date."),
    ],
)
def test_a_bad_date_is_one_sentence(spec: Path, run: Run, value: str, words: str) -> None:
    with (spec.parent / "people.csv").open("a") as file:
        file.write(f"x,{value},2024-01-01,Oslo,1\n")
    outcome = run("publish", spec, "--to", spec.parent / "release")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"unveil: people.csv: {words}\n")
    assert not (spec.parent / "release").exists()
