"""Evaluations of tables that are too large to hold, and what messages call the table."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from commands import Run
from unveil.errors import RequirementError, UnveilError
from unveil.evaluation.protocol import Holdout
from unveil.tables import sources

SPEC = """
[table]
source = "people.csv"
class = "ill"
missing = { values = ["?"], rows = "drop" }

[attributes.age]
kind = "number"

[attributes.town]
kind = "category"

[[require]]
kind = "k-anonymity"
quasi-identifier = ["age", "town"]
k = 3
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    rows = 400
    table = pa.table(
        {
            "age": [str(20 + number % 50) for number in range(rows - 1)] + ["?"],
            "town": [("Cork", "Perth", "Turin")[number % 3] for number in range(rows)],
            "ill": ["yes" if number % 5 else "no" for number in range(rows)],
        }
    )
    pa.csv.write_csv(table, tmp_path / "people.csv")
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path / "spec.toml"


def note(found: unveil.Evaluation | unveil.Comparison) -> str | None:
    return next((note for note in found.notes if "sample" in note), None)


def test_a_small_table_is_evaluated_whole(spec: Path) -> None:
    found = unveil.evaluate(spec, protocol=Holdout(seeds=[0]))
    assert note(found) is None
    assert found.measures is not None
    assert found.measures.loss.records == 399


def test_a_sample_that_was_asked_for_is_reported(spec: Path) -> None:
    found = unveil.evaluate(spec, protocol=Holdout(seeds=[0]), sample=100)
    assert found.measures is not None
    assert found.measures.loss.records in (99, 100)
    assert (note(found) or "").startswith(
        "people.csv has 400 rows; these figures are of a uniform random sample of 100"
    )


def test_a_sample_of_more_rows_than_there_are_is_the_table(spec: Path) -> None:
    protocol = Holdout(seeds=[0])
    found, whole = unveil.evaluate(spec, protocol=protocol, sample=400), unveil.evaluate(spec, protocol=protocol)
    assert found.to_dict() == whole.to_dict()


def test_a_table_that_is_too_large_to_hold_is_sampled(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "HELD", 10)
    monkeypatch.setattr(sources, "SAMPLE", 60)
    found = unveil.evaluate(spec, protocol=Holdout(seeds=[0]))
    assert found.measures is not None
    assert found.measures.loss.records in (59, 60)
    assert "400 rows" in (note(found) or "")
    compared = unveil.compare([spec, spec], protocol=Holdout(seeds=[0]))
    assert [item.lines for item in compared.evaluations] == [found.lines] * 2
    assert note(compared) == note(found)


def test_classifiers_learn_from_part_of_a_long_table(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is that of all training rows; only classifiers see fewer, and all of a sample that was asked for."""
    for name, most in (("LEARNED", 40), ("TESTED", 30)):
        monkeypatch.setattr(sys.modules["unveil.workflow.evaluate"], name, most)
    protocol = Holdout(seeds=[0])
    found, asked = unveil.evaluate(spec, protocol=protocol), unveil.evaluate(spec, protocol=protocol, sample=400)
    words = "Classifiers learned from 40 records of each training part and were tested on 30 rows"
    assert any(words in text for text in found.notes)
    assert not any("Classifiers learned" in text for text in asked.notes)
    assert found.statistics == asked.statistics
    shares = [item.share * 30 for item in found.line("raw", "tree").scores.classes]
    assert shares == pytest.approx([round(share) for share in shares])
    assert found.line("raw", "tree").error != asked.line("raw", "tree").error


def test_a_sample_of_one_row_is_refused(spec: Path) -> None:
    with pytest.raises(UnveilError, match="the sample has 1 rows, but it takes at least 2"):
        unveil.evaluate(spec, sample=1)


def test_the_command_says_that_it_sampled(spec: Path, run: Run) -> None:
    result = run("evaluate", spec, "--sample", "100", "--seeds", "1")
    assert result.code == 0
    assert "uniform random sample of 100" in " ".join(result.out.split())


def test_a_refusal_names_the_file_and_the_rows_that_were_left_out(spec: Path) -> None:
    spec.write_text(SPEC.replace("k = 3", "k = 4000"))
    with pytest.raises(
        RequirementError, match=r"no release of people\.csv can satisfy .*1 row with missing values left"
    ):
        unveil.evaluate(spec)


def test_a_refusal_of_the_training_rows_names_them(spec: Path) -> None:
    spec.write_text(SPEC.replace("k = 3", "k = 380"))
    with pytest.raises(RequirementError, match=r"no release of people\.csv \(training rows\) can satisfy"):
        unveil.evaluate(spec)
