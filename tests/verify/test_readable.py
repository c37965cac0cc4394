"""Names and values that a reader cannot tell apart: refused where letters are hidden, noted where they look alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unveil
from commands import Run, refused
from project import Project
from unveil.errors import SpecError, TableError
from unveil.verifier import judge_release
from verdicts import verify_release
from verify.private_releases import PrivateDraft, private_draft
from verify.releases import OLD, YOUNG, Draft, draft
from verify.sensitive import confidence, diversity, people, release_of

HIDDEN = ["\u200b", "\u202e", "\u2066", "\u00ad", "\x1b", "\x9b", "\u3164", "\ufe0f", "\U000e0041"]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_the_real_age_next_to_a_masked_twin_is_found(tmp_path: Path, hidden: str) -> None:
    planted: Draft = draft()
    masking = planted.manifest["masking"]
    planted.manifest["masking"] = {
        **masking,
        f"age{hidden}": {"kind": "released", "domain": "observed", "type": "number"},
    }
    planted.rows = [(*row[:4], number, row[4]) for number, row in enumerate(planted.rows)]
    findings = verify_release(planted.write(tmp_path / "release"))
    assert [finding.claim for finding in findings] == ["characters"]
    assert f"U+{ord(hidden):04X}" in findings[0].message


def test_spellings_of_one_value_that_count_as_several_are_found(tmp_path: Path) -> None:
    values = ["flu", "f\u200blu", "fl\u200bu", "flu\u200b"]
    planted = release_of(people(YOUNG, *values), diversity(4, "distinct"))
    findings = verify_release(planted.write(tmp_path / "release"))
    assert [finding.claim for finding in findings] == ["characters"]
    assert "the column 'disease' holds" in findings[0].message


@pytest.mark.parametrize("place", ["label", "value", "disclosed"])
def test_a_label_with_a_hidden_character_is_found(tmp_path: Path, place: str) -> None:
    planted = draft()
    masking: dict[str, Any] = planted.manifest["masking"]
    if place == "label":
        masking["education"]["blocks"][0]["label"] = "Uni\u200bversity"
        planted.rows = [(row[0], row[1].replace("University", "Uni\u200bversity"), *row[2:]) for row in planted.rows]
    elif place == "value":
        masking["education"]["blocks"][0]["values"][0] = "Bachelors\u200b"
    else:
        masking["sex"]["disclosed"] = ["M\u200b"]
        planted.rows = [(*row[:2], row[2].replace("M", "M\u200b"), *row[3:]) for row in planted.rows]
    assert {finding.claim for finding in verify_release(planted.write(tmp_path / "release"))} == {"characters"}


def test_a_class_label_of_a_private_release_is_looked_at(tmp_path: Path) -> None:
    planted: PrivateDraft = private_draft()
    planted.manifest["classes"] = ["low", "high\u200b"]
    planted.rows = [(*row[:5], row[5].replace("high", "high\u200b"), row[6]) for row in planted.rows]
    assert {finding.claim for finding in verify_release(planted.write(tmp_path / "release"))} == {"characters"}


def notes_of(folder: Path, planted: Draft) -> str:
    verdict = judge_release(planted.write(folder / "release"))
    assert verdict.findings == []
    return "\n".join(verdict.notes)


def test_look_alikes_and_other_spellings_are_noted(tmp_path: Path) -> None:
    planted = release_of(people(YOUNG, "flu", "fIu", "Flu", "flu "), diversity(4, "distinct"))
    assert "Some values of 'disease' look alike: 'Flu', 'flu', 'flu '" in notes_of(tmp_path, planted)


def test_a_column_that_looks_like_another_is_noted(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["аge"] = planted.manifest["masking"].pop("hours")
    assert "Some columns look alike: 'age', 'аge'." in notes_of(tmp_path, planted)


def test_a_limit_on_a_value_that_no_row_holds_is_noted(tmp_path: Path) -> None:
    planted = release_of(people(YOUNG, "hiv", "hiv", "flu"), confidence(0.1, "HIV"))
    assert "Requirement 1 limits 'HIV' of 'disease', which no row holds." in notes_of(tmp_path, planted)


def test_what_a_reader_must_judge_is_reported(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, draft())
    assert "the owner's choice: {age, education, sex}." in notes
    assert "Released as they are: 'hours', 'income'." in notes
    assert "On all columns together, 4 of 10 rows (40.0%) are unique" in notes
    assert "Domains read from the data, which disclose something about it: 'sex', 'hours'." in notes
    assert "survey" not in notes


def test_weights_are_for_a_reader_to_judge(tmp_path: Path) -> None:
    planted = draft()
    planted.rows = [(YOUNG, "University", "M", 40.0, "low"), (OLD, "University", "M", 40.0, "low")]
    planted.weigh([5, 1])
    planted.manifest["requirements"][0]["k"] = 1
    notes = notes_of(tmp_path, planted)
    assert "Records are counted by the column 'n'." in notes
    assert "1 of 2 rows (50.0%) is unique" in notes


def test_of_a_private_release_it_is_reported_that_noise_cannot_be_seen(tmp_path: Path) -> None:
    assert "That noise was added cannot be seen from the release" in notes_of(tmp_path, private_draft())


def test_json_has_findings_and_notes(run: Run, tmp_path: Path) -> None:
    folder = draft().write(tmp_path / "release")
    told = json.loads(run("verify", folder, "--json").out)
    assert told["findings"] == []
    assert told["notes"] == judge_release(folder).notes
    assert f"{folder}: every claim holds. For you to judge:\n- What a stranger" in run("verify", folder).out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[attributes.age]", '[attributes."a\u200bge"]', "the column 'a\\u200bge' has the character U+200B"),
        ('class   = "ill"', 'class = "ill\u202e"', "the column 'ill\\u202e' has the character U+202E"),
    ],
)
def test_a_spec_with_a_hidden_character_is_refused(project: Project, run: Run, old: str, new: str, words: str) -> None:
    text = project.spec.read_text(encoding="utf-8")
    assert old in text
    project.spec.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError, match=r"U\+20"):
        unveil.load_spec(project.spec)
    refused(project, run, [words])


def test_a_table_with_a_hidden_character_is_refused() -> None:
    table = {"town": ["Cork", "Cork", "Co\u200brk", "Co\u200brk"], "ill": ["yes", "no", "yes", "no"]}
    spec = {
        "table": {"class": "ill"},
        "attributes": {"town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["town"], "k": 2}],
    }
    with pytest.raises(TableError, match=r"'town' holds 'Co\\u200brk', with the character U\+200B"):
        unveil.publish(pa.table(table), spec)
    with pytest.raises(TableError, match=r"U\+200B"):
        unveil.check(pa.table(table), spec)


BREAKS = ["\n", "\t", "\r\n"]


def towns(break_: str, **columns: list[str]) -> tuple[pa.Table, dict[str, Any]]:
    """Rows whose towns hold a break, and a spec that discloses each of them."""
    held = {"town": [f"Co{break_}rk"] * 4 + ["Bonn"] * 4, "ill": ["yes", "yes", "yes", "no", "no", "no", "no", "yes"]}
    spec = {
        "table": {"class": "ill", "others": "release"},
        "attributes": {"town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["town"], "k": 2}],
    }
    return pa.table({**held, **columns}), spec


@pytest.mark.parametrize("break_", BREAKS)
def test_a_break_in_a_raw_value_is_data(tmp_path: Path, break_: str) -> None:
    table, spec = towns(break_, note=[f"called{break_}twice"] * 8)
    unveil.check(table, spec)
    release = unveil.publish(table, spec)
    assert set(release.table["town"].to_pylist()) == {f"Co{break_}rk", "Bonn"}
    release.write(tmp_path / "release", formats=("parquet", "csv"))
    verdict = judge_release(tmp_path / "release")
    assert verdict.findings == []
    assert "invisible" not in "\n".join(verdict.notes)


@pytest.mark.parametrize("break_", BREAKS)
def test_a_break_in_a_class_or_in_a_name_is_refused(break_: str) -> None:
    named = r"U\+000[9AD]"
    table, spec = towns(break_)
    with pytest.raises(TableError, match=named):
        unveil.publish(table.set_column(1, "ill", [[f"y{break_}s", "no"] * 4]), spec)
    with pytest.raises(TableError, match=named):
        unveil.publish(*towns(break_, **{f"no{break_}te": ["x"] * 8}))


@pytest.mark.parametrize("break_", BREAKS)
def test_a_break_in_a_sensitive_value_is_refused(tmp_path: Path, break_: str) -> None:
    table, spec = towns(" ", disease=["flu", f"f{break_}lu"] * 4)
    spec["attributes"]["disease"] = {"kind": "category"}
    spec["require"] = [{"kind": "l-diversity", "quasi-identifier": ["town"], "sensitive": "disease", "l": 2}]
    with pytest.raises(TableError, match=r"'disease' holds 'f.*U\+000[9AD]"):
        unveil.publish(table, spec)
    planted = release_of(people(YOUNG, "flu", f"f{break_}lu"), diversity(2, "distinct"))
    assert [finding.claim for finding in verify_release(planted.write(tmp_path / "release"))] == ["characters"]


def test_a_break_in_a_label_is_found_and_in_a_disclosed_value_is_not(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["education"]["blocks"][0]["label"] = "Uni\nversity"
    planted.rows = [(row[0], row[1].replace("University", "Uni\nversity"), *row[2:]) for row in planted.rows]
    assert "characters" in {finding.claim for finding in verify_release(planted.write(tmp_path / "label"))}
    planted = draft()
    planted.manifest["masking"]["sex"]["disclosed"] = ["M\nm"]
    planted.rows = [(*row[:2], row[2].replace("M", "M\nm"), *row[3:]) for row in planted.rows]
    assert verify_release(planted.write(tmp_path / "disclosed")) == []


def test_a_break_may_be_declared_in_a_value_but_not_in_a_name() -> None:
    _, spec = towns("\n")
    spec["attributes"]["town"]["values"] = ["Co\nrk", "Bonn"]
    unveil.load_spec(spec)
    with pytest.raises(SpecError, match=r"U\+000A"):
        unveil.load_spec({**spec, "attributes": {"to\nwn": {"kind": "category"}}})
