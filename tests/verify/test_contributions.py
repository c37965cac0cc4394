"""Private releases by persons: honest ones pass, also next to the raw table, and planted faults are found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import unveil
from unveil.counting import contributions, memory
from unveil.schema import AdditivePlan, PrivatePlan
from verify.releases import edit_manifest

SPEC = """\
[table]
source  = "{source}"
class   = "ill"
person  = ["clinic", "patient"]
missing = {{ values = ["?", ""], rows = "drop" }}
invalid = "{invalid}"
others  = "drop"

[attributes.age]
kind    = "number"
range   = [20, 60]
whole   = true
outside = "clamp"

[attributes.paid]
kind    = "number"
range   = [-1, 3]
step    = 0.1
missing = "keep"

[attributes.seen]
kind  = "date"
range = [2019-01-01, 2021-01-01]

[attributes.town]
kind   = "category"
values = ["1", "2"]

[attributes.ill]
values = ["no", "yes"]

[[require]]
kind          = "differential-privacy"
epsilon       = {epsilon}
contributions = {most}

[publish]
{method}
"""
BATCH = 97
"""There are two thousand rows, so that they fall into many batches of this size too."""
DIFFGEN = 'method = "diffgen"\nspecializations = 7'
METHODS = {"diffgen": DIFFGEN, "additive": 'method = "additive"', "safe": 'method = "safe"\ndelta = 1e-3'}


def visits(*, invalid: bool) -> dict[str, list[Any]]:
    """Rows of 300 patients with up to 30 rows each, of whom some are nobody's and some have values that are wrong."""
    rng = np.random.default_rng(3)
    who = np.concatenate([np.full(rows, person) for person, rows in enumerate(rng.geometric(0.15, 300))])
    rng.shuffle(who)
    rows = len(who)
    ages = rng.integers(10, 70, rows).astype(str)
    if invalid:
        ages[::17] = "old"
    return {
        "clinic": [f"c{person % 2}" for person in who],
        "patient": ["" if row % 50 == 0 else str(person // 2) for row, person in enumerate(who)],
        "age": ages.tolist(),
        "paid": ["?" if number > 29 else f"{number / 10}" for number in rng.integers(-10, 33, rows)],
        "seen": [str(np.datetime64("2019-01-01") + int(day)) for day in rng.integers(0, 700, rows)],
        "town": rng.choice(["1", "2"], rows).tolist(),
        "ill": rng.choice(["no", "yes"], rows).tolist(),
    }


def publish(folder: Path, method: str, plant: Any = nullcontext, **settings: Any) -> tuple[Path, Path]:
    """A release and its spec, made while something is planted."""
    settings = {"source": "visits.csv", "invalid": "refuse", "epsilon": 2, "most": 4, **settings}
    table = pa.table(visits(invalid=settings["invalid"] == "drop"))
    if settings["source"].endswith(".parquet"):
        numbers = table["patient"].to_pandas().replace("", None).astype("float")
        table = table.set_column(1, "patient", pa.array(numbers, from_pandas=True))
        pyarrow.parquet.write_table(table, folder / settings["source"])
    else:
        pyarrow.csv.write_csv(table, folder / settings["source"])
    spec, release = folder / "visits.toml", folder / "release"
    spec.write_text(SPEC.format(method=METHODS[method], **settings), encoding="utf-8")
    with plant():
        unveil.publish(spec).write(release)
    return spec, release


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "invalid"), [("visits.csv", "drop"), ("visits.parquet", "refuse")])
def test_an_honest_release_holds(tmp_path: Path, method: str, source: str, invalid: str) -> None:
    spec, release = publish(tmp_path, method, source=source, invalid=invalid)
    assert unveil.verify(release) == []
    assert unveil.verify(release, spec) == []


@contextmanager
def noise_for_one_row() -> Iterator[None]:
    """Less noise than a person with several rows needs."""
    with patch.object(PrivatePlan, "apart", 1), patch.object(AdditivePlan, "apart", 1):
        yield


def every_row() -> Any:
    """All rows of a person are counted."""
    return patch.object(memory, "used_counts", lambda rows, places, most: rows.weight)


def two_rows_more() -> Any:
    """More rows of a person than are promised."""
    rule = contributions.used_counts
    return patch.object(memory, "used_counts", lambda rows, places, most: rule(rows, places, most + 2))


@pytest.mark.parametrize("method", ["diffgen", "additive"])
@pytest.mark.parametrize(
    ("plant", "words"),
    [(every_row, "too many records were added"), (two_rows_more, "too many records were added")],
)
def test_rows_beyond_the_bound_are_found(tmp_path: Path, method: str, plant: Any, words: str) -> None:
    spec, release = publish(tmp_path, method, plant, epsilon=20)
    assert unveil.verify(release) == []
    findings = unveil.verify(release, spec)
    assert findings
    assert {finding.claim for finding in findings} == {"noise"}
    assert any(words in finding.message or "off by" in finding.message for finding in findings)


def test_noise_for_one_row_is_found(tmp_path: Path) -> None:
    spec, release = publish(tmp_path, "diffgen", noise_for_one_row, most=12)
    assert unveil.verify(release) == []
    findings = unveil.verify(release, spec)
    assert any("the noise in it is too small" in finding.message for finding in findings)


def test_rows_of_more_than_the_table_has_are_found(tmp_path: Path) -> None:
    spec, release = publish(tmp_path, "safe", every_row, most=1, epsilon=4)
    assert any(finding.claim in ("truth", "noise") for finding in unveil.verify(release, spec))


def of_records(manifest: dict[str, Any]) -> None:
    del manifest["requirements"][0]["contributions"]


def of_fewer(manifest: dict[str, Any]) -> None:
    manifest["requirements"][0]["contributions"] = 2
    manifest["guarantee"] = manifest["guarantee"].replace("4 rows", "2 rows")


def of_none(manifest: dict[str, Any]) -> None:
    manifest["requirements"][0]["contributions"] = 0


def test_another_unit_than_the_guarantee_says_is_found(tmp_path: Path) -> None:
    _, release = publish(tmp_path, "diffgen")
    edit_manifest(release, of_records)
    assert {finding.claim for finding in unveil.verify(release)} == {"guarantee"}


def test_a_bound_that_the_spec_does_not_have_is_found(tmp_path: Path) -> None:
    spec, release = publish(tmp_path, "diffgen")
    edit_manifest(release, of_fewer)
    assert unveil.verify(release) == []
    (finding,) = unveil.verify(release, spec)
    assert finding.claim == "spec-requirement"
    assert "one person with contributions = 2, but the spec asks for one person with contributions = 4" in str(finding)


def test_a_bound_of_no_rows_is_not_a_claim(tmp_path: Path) -> None:
    _, release = publish(tmp_path, "diffgen")
    edit_manifest(release, of_none)
    assert any("contributions" in finding.message for finding in unveil.verify(release))


def test_sampling_that_is_worth_epsilon_for_a_record_only_is_found(tmp_path: Path) -> None:
    def one(manifest: dict[str, Any]) -> None:
        manifest["requirements"][0]["contributions"] = 9
        manifest["guarantee"] = manifest["guarantee"].replace("4 rows", "9 rows")

    _, release = publish(tmp_path, "safe")
    edit_manifest(release, one)
    assert {finding.claim for finding in unveil.verify(release)} == {"delta"}
