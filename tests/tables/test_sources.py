"""The same rows give the same release, whatever they come in."""

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random
from unittest.mock import ANY

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import unveil
from project import Project
from unveil.errors import TableError
from unveil.schema import load_spec
from unveil.tables import files, read_table
from unveil.verifier import raw


@pytest.fixture
def typed(project: Project) -> pa.Table:
    """The little table with numbers as numbers and missing values as nulls."""
    return pa.csv.read_csv(
        project.table, convert_options=pa.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    )


def released(project: Project, table: object) -> tuple[object, object]:
    release = unveil.publish(table, project.spec)
    return release.table, release.manifest


def test_frames_give_what_the_file_gives(project: Project, typed: pa.Table) -> None:
    expected = released(project, project.table)
    frame = typed.to_pandas()
    scrambled = frame.sample(frac=1, random_state=1).set_index(np.arange(len(frame)) % 7)
    categories = frame.astype({"job": "category", "town": "category", "ill": "category"})
    batch = typed.combine_chunks().to_batches()[0]
    for table in [typed, batch, frame, scrambled, categories, pl.from_arrow(typed)]:
        assert released(project, table) == expected


def test_files_give_what_the_csv_gives(project: Project, typed: pa.Table) -> None:
    expected = released(project, project.table)
    parquet, folder = project.folder / "one.parquet", project.folder / "many.parquet"
    pa.parquet.write_table(typed, parquet, row_group_size=7)
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for number in range(3):
        pa.parquet.write_table(typed.slice(number * 17, 17), folder / f"part-{number}.parquet")
    gzipped = project.folder / "people.csv.gz"
    with pa.CompressedOutputStream(gzipped, "gzip") as stream:
        stream.write(project.table.read_bytes())
    for path in [parquet, folder, gzipped, str(parquet)]:
        assert released(project, path) == expected


@pytest.mark.parametrize("delimiter", [", ", ";", "\t"])
def test_csv_dialects(project: Project, delimiter: str) -> None:
    expected = released(project, project.table)
    text = project.table.read_text().replace(",", delimiter)
    project.table.write_text("\ufeff" + text, encoding="utf-8")
    assert released(project, project.table) == expected


def test_quoted_fields_may_hold_what_separates(tmp_path: Path) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text('a,b\n"x, y","line\nbreak"\n"say ""hi""",2\n')
    table, _ = read_table(path)
    assert table.to_pylist() == [{"a": "x, y", "b": "line\nbreak"}, {"a": 'say "hi"', "b": "2"}]


def test_a_csv_that_spans_many_blocks(project: Project) -> None:
    rows = project.table.read_text().splitlines()
    project.table.write_text("\n".join([rows[0], *(rows[1:] * 4000)]) + "\n")
    release = unveil.publish(project.spec)
    assert release.manifest.records == 48 * 4000
    assert release.manifest.rows.dropped == 4000


ENDS = ["\n"] * 6 + ["\r\n", "\r", "\n\n"]
"""What a line may end with."""


def lines_of_text(seed: int) -> str:
    """A csv text with values that may span lines, among them the first of a row, which Arrow can mistake for a row."""
    draw = Random(seed)  # noqa: S311 - not a secret
    breaks, end = draw.choice([0.0, 0.0, 0.05, 0.5]), draw.choice(ENDS)
    text = f"a,b{end}"
    for number in range(draw.randint(1, 60)):
        inside = draw.choice(["\n", "\r", "\r\n"]) if draw.random() < breaks else ""
        text += f'"x{number}{inside}y",{draw.choice([""] * 3 + [chr(34) * 4])}{end}'
    return text if draw.random() < 0.5 else text.removesuffix(end)


READERS: dict[str, Callable[[Path], pa.Table]] = {
    "whole": lambda path: read_table(path)[0],
    "batches": lambda path: pa.concat_tables(files.CsvFile(path).batches(["a", "b"])),
    "verifier": lambda path: pa.concat_tables(raw.open_table(path).batches(["a", "b"])),
}


def differs(folder: Path, seed: int, reader: str) -> bool:
    """Whether a file is read in another way than Python's own parser reads it."""
    path = folder / "lines.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(lines_of_text(seed))
    with path.open(encoding="utf-8", newline="") as file:
        held = [[value.strip() for value in row] for row in csv.reader(file) if row][1:]
    return READERS[reader](path).to_pylist() != [dict(zip("ab", row, strict=True)) for row in held]


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", 100)
    monkeypatch.setattr(raw, "BLOCK", 100)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("reader", READERS)
def test_rows_that_span_lines_are_read_as_python_reads_them(tmp_path: Path, reader: str) -> None:
    assert not any(differs(tmp_path, seed, reader) for seed in range(400))


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    ("reader", "owner", "name", "instead"),
    [
        ("whole", files.CsvFile, "_lines", lambda file: ANY),  # nobody looks whether a line is lost
        ("whole", files, "WholeBreaks", lambda path: path),
        ("batches", files, "WholeBreaks", lambda path: path),
        ("verifier", raw, "_Ended", lambda path: path),
    ],
)
def test_a_reader_that_cuts_breaks_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, owner: object, name: str, instead: object
) -> None:
    monkeypatch.setattr(owner, name, instead)
    assert any(differs(tmp_path, seed, reader) for seed in range(400))


def test_columns_not_described_can_be_dropped_or_released(project: Project) -> None:
    project.edit(project.spec, '[attributes.income]\nkind = "number"\n', "")
    for policy, columns in [("drop", []), ("release", ["income"])]:
        spec = load_spec(project.spec)
        text = project.spec.read_text().replace('class   = "ill"', f'class   = "ill"\nothers = "{policy}"')
        other = project.folder / f"{policy}.toml"
        other.write_text(text)
        release = unveil.publish(other)
        assert release.table.column_names == ["age", "job", "town", *columns, "ill"]
        folder = project.folder / policy
        release.write(folder)
        assert unveil.verify(folder, other) == []
        assert spec.table.others == "refuse"


def test_a_released_column_keeps_its_type_and_its_nulls(project: Project, typed: pa.Table) -> None:
    project.edit(project.spec, '[attributes.income]\nkind = "number"\n', "")
    project.edit(project.spec, 'class   = "ill"', 'class   = "ill"\nothers = "release"')
    gaps = typed.set_column(4, "income", pa.array([None if i % 5 == 0 else i / 2 for i in range(typed.num_rows)]))
    release = unveil.publish(gaps, project.spec)
    assert release.table["income"].type == pa.float64()
    assert release.table["income"].null_count == 10


def test_observed_ranges_are_widened_to_round_numbers(project: Project) -> None:
    project.edit(project.spec, "range = [0, 100]\n", "")
    release = unveil.publish(project.spec, steps=0)
    entry = release.masking["age"]
    assert entry.domain == "observed"
    ages = [20 + (i * 7) % 60 for i in range(48)]
    interval = entry.blocks[0]
    assert interval.from_ < min(ages)
    assert interval.to > max(ages)
    assert interval.from_ % 10 == interval.to % 10 == 0


def test_what_is_not_a_table(project: Project) -> None:
    with pytest.raises(TableError, match="dict is not a table"):
        unveil.publish({"a": [1]}, project.spec)
    with pytest.raises(TableError, match="appears twice"):
        unveil.publish(pd.DataFrame([[1, 2]], columns=["a", "a"]), project.spec)
    with pytest.raises(TableError, match=r"\.csv or \.parquet"):
        unveil.publish(project.spec, project.spec)


def test_nulls_and_nan_are_missing_whatever_the_marks(project: Project, typed: pa.Table) -> None:
    frame = typed.to_pandas()
    frame.loc[3, "income"] = np.nan
    frame.loc[4, "town"] = None
    release = unveil.publish(frame, project.spec)
    assert release.manifest.rows.dropped == 3
