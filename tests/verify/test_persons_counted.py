"""Persons: what a release shows of them, and their recount in the raw table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import unveil
from commands import Run
from unveil.schema import Taxonomy
from verify.releases import edit_manifest

SPEC = """\
[table]
source  = "visits.csv"
class   = "ill"
person  = ["clinic", "patient"]
others  = "release"
missing = {{ values = ["?"], rows = "drop" }}

[attributes.age]
kind  = "number"
range = [0, 100]
whole = true

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["age"]
k                = 4

[publish]
search = "{search}"
"""


def visits() -> dict[str, list[Any]]:
    """Each of 20 patients has 3 visits; the number alone does not say who they are, and one visit is nobody's."""
    every = [(patient, 20 + 2 * patient + visit) for patient in range(20) for visit in range(3)]
    clinics, patients = [f"c{patient % 2}" for patient, _ in every], [patient // 2 for patient, _ in every]
    ages, ill = [age for _, age in every], ["y" if age >= 40 else "n" for _, age in every]
    return {
        "clinic": [*clinics, "c1"],
        "patient": [*map(str, patients), "?"],
        "age": [*ages, 90],
        "ill": [*ill, "y"],
        "note": ["a", "b"] * 30 + ["a"],
    }


def test_publish_says_how_many_persons_there_are(tmp_path: Path, run: Run) -> None:
    spec, _ = publish(tmp_path, "joint")
    assert "60 records of 20 persons in 60 rows are ready." in run("publish", spec, "--to", tmp_path / "again").out
    assert json.loads(run("publish", spec, "--to", tmp_path / "json", "--json").out)["persons"] == 20


def publish(folder: Path, search: str, columns: dict[str, list[Any]] | None = None) -> tuple[Path, Path]:
    pa_csv.write_csv(pa.table(columns or visits()), folder / "visits.csv")
    spec, release = folder / "visits.toml", folder / "release"
    spec.write_text(SPEC.format(search=search))
    unveil.publish(spec).write(release)
    return spec, release


@pytest.fixture(params=["paper", "joint"])
def released(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    return publish(tmp_path, request.param)


def spoil(release: Path, **changes: Any) -> None:
    manifest = release / "manifest.json"
    manifest.write_text(
        json.dumps(json.loads(manifest.read_text()) | changes, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )


def claims(spec: Path, release: Path) -> list[str]:
    return [finding.claim for finding in unveil.verify(release, raw=spec)]


def test_a_release_of_persons_verifies_and_shows_no_key(released: tuple[Path, Path]) -> None:
    spec, release = released
    findings = unveil.verify(release, raw=spec)
    assert findings == []
    manifest = json.loads((release / "manifest.json").read_text())
    assert manifest["persons"] == 20
    assert manifest["rows"] == {"read": 61, "dropped": 1, "released": 60}
    assert "at least 4 persons." in manifest["guarantee"]
    assert "clinic" not in (release / "manifest.json").read_text()
    assert any("cannot be seen from the release" in note for note in findings.notes)


def test_a_group_of_k_rows_of_one_person_is_caught(released: tuple[Path, Path]) -> None:
    """The files are all that they were; but in the raw table, everybody in the smallest group is one person."""
    spec, release = released
    columns = visits()
    for row, age in enumerate(columns["age"]):
        if age < 40:
            columns["clinic"][row], columns["patient"][row] = "c9", "9"
    pa_csv.write_csv(pa.table(columns), spec.parent / "visits.csv")
    assert unveil.verify(release) == []
    found = [finding for finding in unveil.verify(release, raw=spec) if finding.claim == "persons"]
    assert "records of 1 person in the raw table, but requirement 1 asks for at least 4" in found[-1].message


def test_a_wrong_number_of_persons_is_caught(released: tuple[Path, Path]) -> None:
    spec, release = released
    spoil(release, persons=19)
    assert claims(spec, release) == ["persons"]


def test_more_persons_than_records_are_caught(released: tuple[Path, Path]) -> None:
    _, release = released
    spoil(release, persons=61)
    assert [finding.claim for finding in unveil.verify(release)] == ["persons"]


def test_records_in_the_place_of_persons_are_caught(released: tuple[Path, Path]) -> None:
    """A promise about records, in sentence and requirement alike, is weaker than what the spec asks for."""
    spec, release = released
    manifest = json.loads((release / "manifest.json").read_text())
    del manifest["requirements"][0]["of"]
    spoil(release, requirements=manifest["requirements"], guarantee=manifest["guarantee"].replace("persons", "records"))
    assert [finding.claim for finding in unveil.verify(release)] == ["persons"]
    assert "spec-requirement" in claims(spec, release)


@pytest.mark.parametrize("damage", [{"k": None}, {"k": "many"}, {"quasi-identifier": [["age"]]}])
def test_a_requirement_that_is_not_well_formed_is_a_finding(
    damage: dict[str, Any], released: tuple[Path, Path]
) -> None:
    spec, release = released
    [requirement] = json.loads((release / "manifest.json").read_text())["requirements"]
    spoil(release, requirements=[{key: value for key, value in (requirement | damage).items() if value is not None}])
    assert "requirement" in claims(spec, release)


def test_persons_that_nobody_counted_are_caught(released: tuple[Path, Path]) -> None:
    spec, release = released
    manifest = json.loads((release / "manifest.json").read_text())
    del manifest["persons"]
    (release / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    assert [finding.claim for finding in unveil.verify(release)] == ["persons"]
    assert "spec-columns" in claims(spec, release)


def test_a_column_that_says_whose_row_it_is_must_not_be_released(tmp_path: Path) -> None:
    spec, release = publish(tmp_path, "paper")
    spec.write_text(spec.read_text().replace('["clinic", "patient"]', '["clinic", "patient", "note"]'))
    assert "identifier" in claims(spec, release)


def test_check_says_how_many_persons_have_several_rows(tmp_path: Path) -> None:
    spec, _ = publish(tmp_path, "paper")
    fit = unveil.check(spec)
    assert fit.persons == "20 of 20 persons have several rows, 3 at most."
    assert "60 records of 20 persons can be released" in fit.summary
    assert fit.groups[0].people == 60  # in groups of one age, where nobody has two rows


def test_check_says_of_how_many_persons_records_may_be_left_out(tmp_path: Path) -> None:
    spec, _ = publish(tmp_path, "joint")
    spec.write_text(spec.read_text() + 'leave-out = "12%"\n')
    told = unveil.check(spec).persons
    assert told is not None
    assert told.endswith("3 at most. Records of at most 2 of them may be left out (leave-out = 12%).")


def lone_records(seed: int) -> pa.Table:
    """Persons with several rows on two sets of attributes; the number tells every released row."""
    draw = np.random.default_rng(seed)
    size = 90
    person = draw.integers(0, 40, size)
    return pa.table(
        {
            "number": np.arange(size),
            "who": [f"p{number}" for number in person],
            "age": np.where(draw.random(size) < 0.5, person * 3 % 20, draw.integers(0, 20, size)),
            "town": draw.choice(["a", "b", "c", "d"], size),
            "job": draw.choice(["x", "y", "z"], size),
            "ill": draw.choice(["y", "n"], size),
        }
    )


@pytest.mark.parametrize("recoding", ["global", "local"])
@pytest.mark.parametrize("left_out", ["drop", "mask"])
def test_records_left_out_for_another_set_count_where_they_are(left_out: str, recoding: str, tmp_path: Path) -> None:
    """Each release holds; and if it claimed one person more than its smallest group has, that would be found."""
    for seed in range(6):
        raw = lone_records(seed)
        spec = {
            "table": {"class": "ill", "person": "who", "others": "release"},
            "attributes": {"age": {"kind": "number"}, "town": {"kind": "category"}, "job": {"kind": "category"}},
            "require": [
                {"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3},
                {"kind": "k-anonymity", "quasi-identifier": ["town", "job"], "k": 3},
            ],
            "publish": {"recoding": recoding, "leave-out": "20%", "left-out": left_out},
        }
        release = unveil.publish(raw, spec)
        assert unveil.verify(release, raw=spec, table=raw) == []
        folder = tmp_path / f"release-{seed}"
        release.write(folder)
        whose = dict(zip(raw["number"].to_pylist(), raw["who"].to_pylist(), strict=True))
        persons: dict[tuple[str, str], set[str]] = {}
        for row in release.table.to_pylist():
            persons.setdefault((row["town"], row["job"]), set()).add(whose[row["number"]])
        smallest = min(map(len, persons.values()))
        assert smallest >= 3
        edit_manifest(folder, lambda manifest, k=smallest + 1: manifest["requirements"][1].update(k=k))
        asked = {**spec, "require": [spec["require"][0], {**spec["require"][1], "k": smallest + 1}]}
        found = unveil.verify(folder, raw=asked, table=raw)
        assert any(finding.claim == "persons" and "requirement 2" in finding.message for finding in found)


JOBS = Taxonomy(("Any", [("Clerk", []), ("Judge", [])]))
TOWNS = Taxonomy(("All", [("Mainland", []), ("Islet", [])]))


def few() -> dict[str, list[str]]:
    """Forty clerks, three judges with two records each, of whom one was a clerk once, and two clerks of the islet."""
    rows = [("Clerk", "Mainland", f"c{number}", "y" if number % 3 else "n") for number in range(40)]
    rows += [("Judge", "Mainland", f"j{number}", "n") for number in range(3) for _ in range(2)]
    rows += [("Clerk", "Mainland", "j0", "y"), *(("Clerk", "Islet", f"i{number}", "n") for number in range(2))]
    return {name: [row[place] for row in rows] for place, name in enumerate(("job", "town", "who", "ill"))}


@pytest.fixture(params=["drop", "mask"])
def omitting(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A release that leaves out judges and the islet, 8 of 49 records and 5 of 45 persons, and its spec."""
    spec = {
        "table": {"class": "ill", "person": "who"},
        "attributes": {
            "job": {"kind": "category", "taxonomy": JOBS},
            "town": {"kind": "category", "taxonomy": TOWNS},
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["job", "town"], "k": 4}],
        "publish": {"leave-out": "12%", "left-out": request.param},
    }
    unveil.publish(pa.table(few()), spec).write(tmp_path / "release")
    return tmp_path / "release", spec


def test_persons_left_out_are_stated_and_verify(omitting: tuple[Path, dict[str, Any]]) -> None:
    folder, spec = omitting
    assert unveil.verify(folder, raw=spec, table=pa.table(few())) == []
    manifest = json.loads((folder / "manifest.json").read_text())
    done = "left out" if manifest["leave-out"]["as"] == "drop" else "fully masked"
    assert manifest["guarantee"].endswith(f"8 of 49 records, which belong to 5 of 45 persons, were {done}.")
    assert manifest["persons"] == (41 if done == "left out" else 45)


STATED: dict[str, tuple[dict[str, Any], str]] = {
    "one person too many for the share": ({"share": "11.1%"}, "5 of 45 persons are left out, which is more than 11.1%"),
    "more persons than records": ({"persons": 9, "share": "90%"}, "8 records of 9 persons are left out"),
    "nobody": ({"persons": 0}, "8 records of 0 persons are left out"),
    "too many in all": ({"all-persons": 90}, "which does not fit 90 persons in all"),
    "too few in all": ({"all-persons": 40}, "which does not fit 40 persons in all"),
    "persons not counted": ({"persons": None, "all-persons": None}, "does not say how many persons are left out"),
}


@pytest.mark.parametrize("defect", STATED)
def test_a_wrong_number_of_persons_left_out_is_caught(defect: str, omitting: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = omitting
    changes, words = STATED[defect]
    edit_manifest(folder, lambda manifest: manifest["leave-out"].update(changes))
    found = [finding.message for finding in unveil.verify(folder) if finding.claim == "left-out"]
    assert any(words in message for message in found), found


def test_persons_of_a_table_without_any_are_caught(omitting: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = omitting
    edit_manifest(folder, lambda manifest: manifest.pop("persons"))
    assert "but the records are of no persons" in str(unveil.verify(folder))


def test_one_person_too_many_left_out_is_caught(omitting: tuple[Path, dict[str, Any]]) -> None:
    """The files are all that they were; but in the raw table, one of the records left out is somebody else's."""
    folder, spec = omitting
    columns = few()
    columns["who"][42] = "c1"
    found = [
        finding for finding in unveil.verify(folder, raw=spec, table=pa.table(columns)) if finding.claim == "left-out"
    ]
    assert "records of 6 persons are not released under their labels, but manifest.json says that 5" in found[0].message
    columns["who"][42] = "somebody new"
    found = [
        finding for finding in unveil.verify(folder, raw=spec, table=pa.table(columns)) if finding.claim == "persons"
    ]
    assert any("45 persons in all, but the raw table has 46" in finding.message for finding in found)


def test_a_larger_share_than_the_owner_allows_is_caught(omitting: tuple[Path, dict[str, Any]]) -> None:
    folder, spec = omitting
    asked = {**spec, "publish": {**spec["publish"], "leave-out": "11%"}}
    found = str(unveil.verify(folder, raw=asked, table=pa.table(few())))
    assert "lets 12% of the persons be left out, but the spec 11" in found
