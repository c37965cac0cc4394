"""Records left out: no more than stated, dropped or fully masked as stated, and counted in the promise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.release import LeaveOut
from unveil.schema import load_spec
from unveil.verifier import Finding
from verdicts import verify_against_raw, verify_release
from verify.local_releases import (
    ALL,
    JOINT,
    LOCAL,
    SHARED,
    dropped_draft,
    leave_out,
    local_draft,
    masked_draft,
    shared_draft,
)
from verify.releases import YOUNG, Draft, draft, omitted, write_raw


def against_raw(release: Draft, tmp_path: Path, spec: str = JOINT) -> list[Finding]:
    folder = release.write(tmp_path / "release")
    assert verify_release(folder) == []
    return verify_against_raw(folder, load_spec(write_raw(tmp_path, spec=spec)))


@pytest.mark.parametrize("make", [local_draft, draft])
def test_records_that_are_dropped_as_stated_hold(make: Callable[[], Draft], tmp_path: Path) -> None:
    release = dropped_draft(make)
    assert against_raw(release, tmp_path) == []
    assert release.manifest["guarantee"].endswith("at least 2 records. 2 of 10 records were left out.")


def test_records_that_are_fully_masked_as_stated_hold(tmp_path: Path) -> None:
    release = masked_draft()
    assert against_raw(release, tmp_path, JOINT + 'left-out = "mask"\n') == []
    assert release.manifest["guarantee"].endswith("at least 2 records. 2 of 10 records were fully masked.")


def test_fully_masked_records_of_a_global_release_hold(tmp_path: Path) -> None:
    assert against_raw(masked_draft(draft), tmp_path, JOINT + 'left-out = "mask"\n') == []


@pytest.mark.parametrize("how", ["drop", "mask"])
@pytest.mark.parametrize("records", [0, 1, 2, 1234])
def test_the_engine_writes_the_sentence_that_is_checked(records: int, how: str) -> None:
    stated = {"share": "20%", "records": records, "as": how}
    manifest = {"records": 5678, "leave-out": stated}
    assert f" {LeaveOut.model_validate(stated).sentence(5678)}".rstrip() == omitted(manifest)


def crossed_draft(dropped: int) -> Draft:
    """Some of the four young are dropped from a release of two trees, of which one asks for three of each age."""
    release = shared_draft()
    release.rows = release.rows[dropped:]
    release.manifest["rows"]["released"] = release.manifest["records"] = 10 - dropped
    leave_out(release, dropped)
    return release


def test_a_record_that_is_dropped_from_all_trees_holds(tmp_path: Path) -> None:
    assert against_raw(crossed_draft(1), tmp_path, SHARED + 'leave-out = "20%"\n') == []


def test_a_record_whose_loss_breaks_another_tree_is_found(tmp_path: Path) -> None:
    [finding] = verify_release(crossed_draft(2).write(tmp_path / "release"))
    assert finding.claim == "group-size"
    assert "University" in finding.message


@pytest.mark.parametrize(("share", "holds"), [("17%", True), ("16%", False)])
def test_with_weights_records_are_counted(share: str, holds: bool, tmp_path: Path) -> None:
    release = dropped_draft()
    release.rows = list(dict.fromkeys(release.rows))
    release.weigh([5] * len(release.rows))
    release.manifest["rows"] = {"read": 14, "dropped": 1, "released": len(release.rows), "left_out": 2}
    release.manifest["leave-out"] |= {"records": 6, "share": share}
    findings = verify_release(release.write(tmp_path / "release"))
    assert ("6 of 36 records are left out, which is more than 16%" in str(findings)) is not holds
    assert len(findings) == (not holds)


Edit = Callable[[dict[str, Any]], Any]
STATED: dict[str, tuple[Edit, str, str]] = {
    "one record too many": (
        lambda manifest: manifest["leave-out"].update(share="19.9%"),
        "left-out",
        "2 of 10 records are left out, which is more than 19.9%",
    ),
    "no share": (lambda manifest: manifest.pop("leave-out"), "left-out", "no share is stated"),
    "no rows": (lambda manifest: manifest["rows"].pop("left_out"), "left-out", "which does not fit"),
    "fewer rows": (lambda manifest: manifest["rows"].update(left_out=1), "left-out", "which does not fit"),
    "rows that do not add up": (
        lambda manifest: [manifest["rows"].update(left_out=1), manifest["leave-out"].update(records=1)],
        "rows",
        "1 dropped, 1 left out and 8 released, which does not add up",
    ),
    "labels of dropped records": (
        lambda manifest: manifest["leave-out"].update(labels={"age": ALL}),
        "left-out",
        "but labels are given",
    ),
    "the paper's search": (lambda manifest: manifest.pop("search"), "left-out", "which leaves nothing out"),
    "a promise that does not say it": (
        lambda manifest: manifest.update(
            guarantee="Every combination of released values of {age, education, sex} is shared by at least 2 records."
        ),
        "guarantee",
        "2 of 10 records were left out",
    ),
}


@pytest.mark.parametrize("defect", STATED)
def test_a_wrong_statement_about_dropped_records_is_found(defect: str, tmp_path: Path) -> None:
    edit, claim, words = STATED[defect]
    release = dropped_draft()
    edit(release.manifest)
    findings = verify_release(release.write(tmp_path / "planted"))
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


LABELS: dict[str, tuple[Edit, str]] = {
    "an interval that is not all": (lambda labels: labels.update(age=YOUNG), "'age' is '[17, 37)'"),
    "a label that is not the root": (lambda labels: labels.update(education="School"), "'education' is 'School'"),
    "a value": (lambda labels: labels.update(sex="M"), "'sex' is 'M'"),
    "a column too few": (lambda labels: labels.pop("sex"), "but masked are 'age', 'education', 'sex'"),
    "a column too many": (lambda labels: labels.update(hours="0"), "but masked are"),
}


@pytest.mark.parametrize("make", [local_draft, draft])
@pytest.mark.parametrize("defect", LABELS)
def test_a_wrong_label_of_fully_masked_records_is_found(make: Callable[[], Draft], defect: str, tmp_path: Path) -> None:
    edit, words = LABELS[defect]
    release = masked_draft(make)
    edit(release.manifest["leave-out"]["labels"])
    if defect == "a label that is not the root" and make is draft:
        release.manifest["leave-out"]["labels"]["education"] = "University"
        words = "'education' is 'University'"
    findings = verify_release(release.write(tmp_path / "planted"))
    assert any(finding.claim == "left-out" and words in finding.message for finding in findings), findings


@pytest.mark.parametrize("make", [local_draft, draft])
def test_one_fully_masked_row_too_many_is_found(make: Callable[[], Draft], tmp_path: Path) -> None:
    release = masked_draft(make)
    release.rows[0] = (ALL, "Any", "⊥", *release.rows[0][3:])
    findings = verify_release(release.write(tmp_path / "planted"))
    assert "3 records are fully masked, but 2 were left out" in " ".join(finding.message for finding in findings)


@pytest.mark.parametrize(("make", "claim"), [(local_draft, "leaf"), (draft, "left-out")])
def test_a_row_that_is_masked_in_part_is_found(make: Callable[[], Draft], claim: str, tmp_path: Path) -> None:
    release = masked_draft(make)
    release.rows = [(ALL, *row[1:]) if row[1] == "University" else row for row in release.rows]
    findings = verify_release(release.write(tmp_path / "planted"))
    assert claim in {finding.claim for finding in findings}


def test_another_row_dropped_than_stated_is_found(tmp_path: Path) -> None:
    """The manifest says one record less was dropped, and the table is said to be smaller."""
    release = dropped_draft()
    leave_out(release, 1)
    release.manifest["rows"]["read"] = 10
    findings = against_raw(release, tmp_path)
    assert [finding.claim for finding in findings] == ["raw-rows", "left-out"]
    assert "2 records of the raw table are not released under their labels" in findings[1].message


def test_a_record_that_was_made_up_is_found(tmp_path: Path) -> None:
    release = dropped_draft()
    release.rows[0] = (*release.rows[0][:3], 41.0, "low")
    findings = against_raw(release, tmp_path)
    assert any("the release gained 1 record" in finding.message for finding in findings)
    assert any("3 records of the raw table" in finding.message for finding in findings)


def test_a_fully_masked_record_with_another_class_is_found(tmp_path: Path) -> None:
    release = masked_draft()
    release.rows[-1] = (*release.rows[-1][:4], "low" if release.rows[-1][4] == "high" else "high")
    findings = against_raw(release, tmp_path, JOINT + 'left-out = "mask"\n')
    assert {finding.claim for finding in findings} == {"truth"}


@pytest.mark.parametrize(
    ("make", "spec", "words"),
    [
        (dropped_draft, JOINT.replace('leave-out = "20%"', ""), "lets 20% of the records be left out, but the spec 0"),
        (dropped_draft, JOINT.replace("20%", "10%"), "lets 20% of the records be left out, but the spec 10"),
        (masked_draft, JOINT, "but by the spec they are dropped"),
        (dropped_draft, JOINT.replace("local", "global"), "has the recoding 'local'"),
    ],
)
def test_more_than_the_owner_allows_is_found(make: Callable[[], Draft], spec: str, words: str, tmp_path: Path) -> None:
    [finding] = against_raw(make(), tmp_path, spec)
    assert finding.claim == "spec-search"
    assert words in finding.message


@pytest.mark.parametrize("share", ["1", "101%", "-1%", "1 %", "1e1%", ".5%", "%"])
def test_a_share_that_cannot_be_read_is_found(share: str, tmp_path: Path) -> None:
    release = dropped_draft()
    release.manifest["leave-out"]["share"] = share
    assert {finding.claim for finding in verify_release(release.write(tmp_path / "planted"))} == {"manifest"}


FINE = LOCAL


@pytest.mark.parametrize(
    ("section", "key", "words"),
    [
        ("age", "finest = 10", "'age' has a bound at 37, between two of 10"),
        ("age", "keep = 10", "coarser than steps of 10"),
        ("education", "finest = 1", "'Bachelors', 'Masters', which is finer than 'University', 'School'"),
        ("education", 'finest = ["University", "9th", "10th"]', "'Bachelors', 'Masters', which is finer"),
        ("education", "finest = 0", "'Any, other'"),
        ("education", "keep = 1", "'Any, other', which is coarser"),
        ("education", "keep = 2", "'Any, other', 'University', which is coarser"),
        ("sex", 'keep = ["M"]', "is hidden, but the spec says to keep it"),
    ],
)
def test_an_attribute_that_is_finer_or_coarser_than_the_owner_says_is_found(
    section: str, key: str, words: str, tmp_path: Path
) -> None:
    spec = FINE.replace(f"[attributes.{section}]", f"[attributes.{section}]\n{key}")
    [finding] = against_raw(local_draft(), tmp_path, spec)
    assert finding.claim == "spec-fineness"
    assert words in finding.message


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("age", "finest = 37"),
        ("age", "keep = 91"),
        ("education", "finest = 2"),
        ("education", "keep = 0"),
    ],
)
def test_an_attribute_that_is_as_fine_as_the_owner_says_holds(section: str, key: str, tmp_path: Path) -> None:
    spec = FINE.replace(f"[attributes.{section}]", f"[attributes.{section}]\n{key}")
    assert against_raw(local_draft(), tmp_path, spec) == []
