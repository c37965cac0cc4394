"""Rows that only choose the masking: which ones they are, what a release says about them, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import unveil
from commands import Run
from verify.releases import edit_manifest

K = 6
ROWS = 240


def people(persons: int | None = None) -> pa.Table:
    drawn = np.random.default_rng(7)
    age, town = drawn.integers(20, 60, ROWS), drawn.choice(["Aarhus", "Bergen", "Cork"], ROWS)
    columns: dict[str, Any] = {
        "age": age,
        "town": town,
        "job": [f"job {number}" for number in drawn.integers(0, 30, ROWS)],
        "ill": np.where(drawn.random(ROWS) < (age - 20) / 40, "yes", "no"),
    }
    if persons is not None:
        columns["who"] = drawn.integers(0, persons, ROWS) if persons < ROWS else np.arange(ROWS)
    return pa.table(columns)


def spec_of(folder: Path, persons: int | None = None, publish: str = "", k: int = K) -> Path:
    """A table of people in a file, and its spec."""
    pa_csv.write_csv(people(persons), folder / "people.csv")
    spec = folder / "people.toml"
    spec.write_text(
        f"""
[table]
source = "people.csv"
class = "ill"
{'person = "who"' if persons else ""}

[attributes.age]
kind = "number"
range = [20, 60]
whole = true

[attributes.town]
kind = "category"

[attributes.job]
kind = "category"

[[require]]
kind = "k-anonymity"
quasi-identifier = ["age", "town"]
k = {k}

[publish]
learn = "20%"
{publish}
"""
    )
    return spec


PAPER = 'search = "paper"\ncriterion = "infogain"'
GLOBAL = 'recoding = "global"'


@pytest.mark.parametrize("publish", ["", PAPER, GLOBAL, "margin = 2"])
@pytest.mark.parametrize("persons", [None, 90])
def test_a_release_lacks_exactly_the_rows_learned_from(publish: str, persons: int | None, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, persons, publish)
    release = unveil.publish(spec)
    release.write(tmp_path / "release")
    rows, learn = release.manifest.rows, release.manifest.learn
    assert rows.read == rows.released + rows.learned == ROWS
    drawn = ROWS if persons is None else len(set(people(persons)["who"].to_pylist()))
    assert (learn.records if persons is None else learn.persons) == drawn // 5
    assert f"{learn.records} of 240 records were set aside at random, only to choose" in release.manifest.guarantee
    assert unveil.verify(tmp_path / "release") == unveil.verify(tmp_path / "release", spec) == []


def test_every_release_draws_other_rows(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    jobs = [sorted(unveil.publish(spec).table["job"].to_pylist()) for _ in range(2)]
    assert jobs[0] != jobs[1]


@pytest.mark.parametrize("persons", [None, 90])
@pytest.mark.parametrize("publish", ["", PAPER])
def test_a_seed_draws_the_same_rows_however_they_are_read(publish: str, persons: int | None, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, persons, publish)
    held, streamed = (unveil.publish(spec, unsafe_seed=3, engine=engine) for engine in ("memory", "stream"))
    assert held.table.equals(streamed.table)
    assert held.manifest == streamed.manifest


def test_all_rows_of_a_person_are_released_or_none() -> None:
    table = people(60).append_column("again", people(60)["who"])
    spec = unveil.load_spec(
        {
            "table": {"class": "ill", "person": "who", "others": "release"},
            "attributes": {"age": {"kind": "number", "range": [20, 60], "whole": True}},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 3}],
            "publish": {"learn": "20%"},
        }
    )
    released = unveil.publish(table, spec).table["again"].value_counts().to_pylist()
    every = {item["values"]: item["counts"] for item in table["again"].value_counts().to_pylist()}
    assert {item["values"]: item["counts"] for item in released}.items() <= every.items()
    assert len(released) == len(every) - len(every) // 5


def test_a_value_that_only_rows_to_learn_from_hold_is_not_named() -> None:
    """Everybody has another job; those who are not released must not show theirs."""
    table = pa.table({"job": [f"job {number}" for number in range(60)], "ill": ["yes", "no"] * 30})
    for publish in ({}, {"recoding": "global"}, {"search": "paper", "criterion": "infogain"}):
        for k in (1, 2):
            spec: dict[str, Any] = {
                "table": {"class": "ill"},
                "attributes": {"job": {"kind": "category"}},
                "require": [{"kind": "k-anonymity", "quasi-identifier": ["job"], "k": k}],
                "publish": {"learn": "50%", **publish},
            }
            release = unveil.publish(table, spec)
            named = set(json.dumps(release.manifest.model_dump(mode="json")).split('"')) & set(table["job"].to_pylist())
            assert named <= set(release.table["job"].to_pylist())


Edit = Callable[[dict[str, Any]], Any]
FAULTS: dict[str, tuple[Edit, str, str]] = {
    "another share": (lambda m: m["learn"].update(share="21%"), "learn", "48 of 240 rows were set aside, which is not"),
    "no share": (lambda m: m.pop("learn"), "learn", "48 rows were set aside, but no share is stated"),
    "other records": (lambda m: m["learn"].update(records=47), "learn", "48 rows and 47 records were set aside"),
    "persons of one part": (lambda m: m["learn"].update(persons=40), "learn", "for one part only"),
    "rows that do not add up": (lambda m: m["rows"].update(learned=47), "rows", "47 learned from and 192 released"),
    "no word about them": (
        lambda m: m.update(guarantee=m["guarantee"].split(" 48 of")[0]),
        "guarantee",
        "48 of 240 records were set aside",
    ),
    "an earlier release": (lambda m: m.update(after=["0" * 64]), "learn", "follow an earlier release"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_false_claim_about_them_is_found(fault: str, tmp_path: Path) -> None:
    unveil.publish(spec_of(tmp_path)).write(tmp_path / "release")
    edit, claim, words = FAULTS[fault]
    edit_manifest(tmp_path / "release", edit)
    findings = unveil.verify(tmp_path / "release")
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def test_rows_that_are_missing_besides_are_found(tmp_path: Path) -> None:
    """The raw table has two rows more, which the manifest says were read and learned from."""
    spec = spec_of(tmp_path)
    unveil.publish(spec).write(tmp_path / "release")

    def edit(manifest: dict[str, Any]) -> None:
        manifest["rows"] |= {"read": 250, "learned": 58}
        manifest["learn"] |= {"share": "23.2%", "records": 58}
        manifest["guarantee"] = manifest["guarantee"].replace("48 of 240", "58 of 250")

    edit_manifest(tmp_path / "release", edit)
    assert unveil.verify(tmp_path / "release") == []
    found = {finding.claim: finding.message for finding in unveil.verify(tmp_path / "release", spec)}
    assert "48 records of the raw table are not released, but manifest.json says that 58" in found["learn"]
    assert "sets 23.200000% aside to choose the masking, but the spec 20.000000%" in found["spec-search"]
    assert "raw-rows" in found


def test_a_row_that_the_raw_table_does_not_have_is_found(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    unveil.publish(spec).write(tmp_path / "release")
    raw = (tmp_path / "people.csv").read_text().replace("job 7", "job 8")
    (tmp_path / "people.csv").write_text(raw)
    found = [finding for finding in unveil.verify(tmp_path / "release", spec) if finding.claim == "truth"]
    assert "the release gained" in found[0].message


def test_a_group_of_too_few_persons_is_found(tmp_path: Path) -> None:
    """Everybody has one row, so the raw table shows how many persons a group has without those learned from."""
    spec = spec_of(tmp_path, ROWS)
    release = unveil.publish(spec)
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", spec) == []
    # Which rows are learned from is drawn, and so is the smallest group.
    sizes = release.table.group_by(["age", "town"]).aggregate([("ill", "count")])["ill_count"].to_pylist()
    k = min(sizes) + 1
    more = spec_of(tmp_path, ROWS, k=k)
    edit_manifest(tmp_path / "release", lambda manifest: manifest["requirements"][0].update(k=k))
    found = [finding.message for finding in unveil.verify(tmp_path / "release", more) if finding.claim == "persons"]
    assert f"has records of {min(sizes)} persons in the raw table" in found[0]


REFUSED = {
    "no share": ('learn = "0%"', "leaves no row to learn from"),
    "everybody": ('learn = "100%"', "must be a percentage below 100%"),
    "rows left out": ('learn = "20%"\nleave-out = "1%"', "cannot be combined with leave-out"),
    "a history": ('learn = "20%"\nhistory = "h"', "cannot be combined with history"),
    "the paper's score": ('learn = "20%"\nsearch = "paper"', "criterion 'score' also counts the anonymity of the rel"),
    "anonymity": ('learn = "20%"\ncriterion = "anonymity"', "criterion 'anonymity' also counts the anonymity"),
    "too few rows": ('learn = "0.1%"', "[publish] learn is 0.1%, which is less than one of the 240 persons of"),
    "a private method": ('learn = "20%"\nmethod = "additive"', "differential-privacy"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    keys, words = REFUSED[case]
    spec = spec_of(tmp_path, ROWS)
    spec.write_text(spec.read_text().replace('learn = "20%"', keys))
    with pytest.raises(unveil.UnveilError) as error:
        unveil.publish(spec)
    assert words in str(error.value)


def test_spark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(unveil.EngineError, match="learn needs the engine 'memory' or 'stream'"):
        unveil.publish(spec_of(tmp_path), engine="spark")


def test_other_verbs_take_it(tmp_path: Path, run: Run) -> None:
    spec = spec_of(tmp_path)
    assert run("check", spec).code == 0
    explained = run("explain", spec, "--no-shadow")
    assert "The reasons are those without learn, by all rows" in " ".join(explained.out.split())
    released = next(line for line in unveil.evaluate(spec).lines if line.setting == "released")
    assert 0.5 < released.scores.accuracy < 1
    found = {outcome.attack for outcome in unveil.attack(spec, tries=4).outcomes}
    assert {"minimality", "downcoding", "membership"} <= found


def test_check_counts_the_rows_that_are_released(tmp_path: Path) -> None:
    """All 240 rows would be enough, but 192 are released."""
    spec = spec_of(tmp_path, k=200)
    for verb in (unveil.check, unveil.publish):
        with pytest.raises(unveil.RequirementError, match="192"):
            verb(spec)
