"""Faults planted in local releases: in their trees, their vocabularies and their rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.schema import load_spec
from unveil.verifier import Finding, data, files
from verdicts import verify_against_raw, verify_release
from verify.local_releases import (
    ALL,
    EDUCATIONS,
    LOCAL,
    LOCAL_ROWS,
    SHARED,
    local_draft,
    shared_draft,
    shared_rest_draft,
    split,
)
from verify.releases import OLD, YOUNG, Draft, write_raw

Tree = dict[str, Any]


def written(release: Draft, tmp_path: Path) -> list[Finding]:
    return verify_release(release.write(tmp_path / "planted"))


@pytest.mark.parametrize(("make", "spec"), [(local_draft, LOCAL), (shared_draft, SHARED)])
def test_a_true_local_release_holds(make: Callable[[], Draft], spec: str, tmp_path: Path) -> None:
    release = make().write(tmp_path / "release", with_csv=True)
    assert verify_release(release) == []
    assert verify_against_raw(release, load_spec(write_raw(tmp_path, spec=spec))) == []


def _tree(edit: Callable[[Tree], Any]) -> Callable[[Draft], None]:
    return lambda release: edit(release.manifest["boxes"][0])


def _order(*order: int) -> Callable[[Draft], None]:
    return _tree(lambda tree: tree.update(order=list(order)))


def _split(number: int, **keys: Any) -> Callable[[Draft], None]:
    return _tree(lambda tree: tree["splits"][number].update(keys))


def _entry(name: str, edit: Callable[[Tree], Any]) -> Callable[[Draft], None]:
    return lambda release: edit(release.manifest["masking"][name])


def _swapped(tree: Tree) -> None:
    tree["splits"][0]["into"] = [OLD, YOUNG]


def _again(tree: Tree) -> None:
    """School is separated from a rest that it is not in, because it was separated before."""
    tree["splits"] += [split("education", "Any, other", ["University", "Any, other"])]
    tree["order"][-1:] = [5, -1, -1]


BROKEN_TREES: dict[str, tuple[Callable[[Draft], None], str]] = {
    "children in each other's place": (_tree(_swapped), "do not make up"),
    "a box that overlaps": (_split(0, into=[ALL, OLD]), "do not make up"),
    "a gap between boxes": (_split(0, into=[YOUNG, YOUNG]), "names a part twice"),
    "an interval that is not split": (_split(0, into=[ALL]), "do not make up"),
    "labels in each other's place": (_split(1, into=["School", "University"]), "are not in the order of their values"),
    "a part of another block": (_split(2, into=["Bachelors", "School"]), "is a part of"),
    "a part that is left out": (_split(2, into=["Bachelors"]), "appears in no box"),
    "a part that is unknown": (_split(2, into=["Bachelors", "PhD"]), "nothing says what the label 'PhD' covers"),
    "a block that is unknown": (_split(2, block="College"), "nothing says what the label 'College' covers"),
    "a block that is not held": (_order(0, 2, -1, -1, -1), "in the order of their first use"),
    "a rest of another node": (_split(2, into=["Bachelors", "Any, other"]), "is not what a split of 'University'"),
    "a rest in front": (_split(4, into=["Any, other", "University"]), "is not the last part"),
    "a rest alone": (_split(4, into=["Any, other"]), "separates nothing"),
    "a rest that covers what is separated": (_tree(_again), "that it does not cover"),
    "a disclosed value with nothing hidden": (_split(3, into=["M"]), "leaves nothing hidden"),
    "a hidden value in front": (_split(3, into=["⊥", "M"]), "leaves nothing hidden"),
    "an order that ends early": (_order(*[0, 1, 2, 3, -1, -1, -1, -1, 4, 3, -1]), "not complete"),
    "an order that goes on": (
        _order(*[0, 1, 2, 3, -1, -1, -1, -1, 4, 3, -1, -1, -1, -1]),
        "is the last one of the tree",
    ),
    "an order of one leaf": (_order(-1), "5 splits are not used"),
    "an order that begins with a leaf": (_order(-1, 0, -1, -1), "is the last one of the tree"),
    "an unused split": (_order(0, 1, 2, 3, -1, -1, -1, -1, -1), "1 splits are not used"),
    "a split that there is not": (_order(0, 5, -1, -1, -1), "has the split 5"),
    "splits out of order": (_order(0, 2, -1, -1, -1), "has the split 2"),
    "a split that is its own child": (_order(0, 0, -1, -1, -1), "splits a block of 'age' that it does not hold"),
    "a split twice": (_tree(lambda tree: tree["splits"].append(split("sex", "⊥", ["M", "⊥"]))), "lists a split twice"),
    "an attribute twice": (_tree(lambda tree: tree["attributes"].append("sex")), "names 'sex' twice"),
    "an attribute that is not masked": (_tree(lambda tree: tree["attributes"].append("hours")), "is not masked"),
    "an attribute without a tree": (_tree(lambda tree: tree.update(attributes=["age", "education"])), "in 0 trees"),
    "attributes in another order": (_tree(lambda tree: tree["attributes"].reverse()), "not in the order of columns"),
    "attributes of no requirement": (
        lambda release: release.manifest["requirements"][0]["quasi-identifier"].remove("sex"),
        "no requirement is about the attributes 'age', 'education', 'sex'",
    ),
    "the same tree twice": (lambda release: release.manifest["boxes"].append(release.manifest["boxes"][0]), "2 trees"),
    "trees of a global release": (lambda release: release.manifest.pop("recoding"), "the recoding is global"),
    "no trees": (lambda release: release.manifest.pop("boxes"), "there are 0 trees"),
    "trees of the paper's search": (lambda release: release.manifest.pop("search"), "which makes no trees"),
    "a label too many": (
        _entry("age", lambda entry: entry["blocks"].append({"label": "[50, 91)", "from": 50, "to": 91})),
        "the label '[50, 91)' appears in no box",
    ),
    "a value too many": (
        _entry("sex", lambda entry: entry["disclosed"].append("F")),
        "the label 'F' appears in no box",
    ),
    "a label too few": (
        _entry("education", lambda entry: entry["blocks"].pop()),
        "nothing says what the label 'School'",
    ),
    "a vocabulary in another order": (
        _entry("age", lambda entry: entry["blocks"].insert(1, entry["blocks"].pop())),
        "coarse before fine",
    ),
    "a rest before its node": (
        _entry("education", lambda entry: entry["blocks"].insert(2, entry["blocks"].pop(1))),
        "",
    ),
    "a rest with values of its own": (
        _entry("education", lambda entry: entry["blocks"][1].update(values=["9th", "10th"])),
        "is called a rest",
    ),
    "a rest that is not called one": (_entry("education", lambda entry: entry["blocks"][1].pop("rest")), ""),
    "a label that is called a rest": (
        _entry("education", lambda entry: entry["blocks"][5].update(rest=True)),
        "is called a rest",
    ),
    "values that are not a range": (
        _entry("education", lambda entry: entry["blocks"][2].update(values=["Bachelors", "9th"])),
        "are not a range",
    ),
    "values in another order": (
        _entry("education", lambda entry: entry["blocks"][2].update(values=["Masters", "Bachelors"])),
        "are not a range",
    ),
    "parts that overlap": (
        _entry("education", lambda entry: entry["blocks"][2].update(values=["Bachelors", "Masters", "9th"])),
        "two parts of 'Any' overlap",
    ),
}


@pytest.mark.parametrize("defect", BROKEN_TREES)
def test_a_broken_tree_is_found(defect: str, tmp_path: Path) -> None:
    plant, words = BROKEN_TREES[defect]
    release = local_draft()
    plant(release)
    findings = written(release, tmp_path)
    assert any(finding.claim == "boxes" and words in finding.message for finding in findings), findings


def test_a_rest_that_covers_nothing_is_found(tmp_path: Path) -> None:
    release = local_draft()
    release.manifest["boxes"][0]["splits"][4]["into"] = ["University", "School", "Any, other"]
    release.manifest["boxes"][0]["order"].append(-1)
    assert any("cover more than the node does" in finding.message for finding in written(release, tmp_path))


def test_parts_that_leave_something_without_a_rest_are_found(tmp_path: Path) -> None:
    release = local_draft()
    release.manifest["boxes"][0]["splits"][1]["into"] = ["University"]
    del release.manifest["boxes"][0]["order"][7]
    release.manifest["masking"]["education"]["blocks"].pop()
    assert any("cover less than the node does" in finding.message for finding in written(release, tmp_path))


MOVED = {
    "a leaf of another box": (YOUNG, "University", "M"),
    "a coarser label": (OLD, "Any", "⊥"),
    "the root": (ALL, "Any", "⊥"),
    "a finer label": (OLD, "Bachelors", "M"),
    "a label of another leaf": (OLD, "Any, other", "M"),
}


@pytest.mark.parametrize("labels", MOVED.values(), ids=MOVED)
def test_a_row_outside_its_leaf_is_found(labels: tuple[str, str, str], tmp_path: Path) -> None:
    """Two rows move, so that every group still has k records."""
    release = local_draft()
    release.rows = [(*labels, *row[3:]) if row[:2] == (OLD, "University") else row for row in LOCAL_ROWS]
    findings = written(release, tmp_path)
    assert [finding.claim for finding in findings if finding.claim != "disclosed"] == ["leaf"]
    assert "3 records of (age=" in findings[0].message


def test_a_row_in_another_leaf_is_found_by_the_raw_table(tmp_path: Path) -> None:
    release = local_draft()
    release.rows[2] = (YOUNG, "Bachelors", "M", 40.0, "low")
    release.manifest["requirements"][0]["k"] = 1
    folder = release.write(tmp_path / "planted")
    assert verify_release(folder) == []
    spec = LOCAL.replace("k = 2", "k = 1")
    findings = verify_against_raw(folder, load_spec(write_raw(tmp_path, spec=spec)))
    assert [finding.claim for finding in findings] == ["truth", "truth"]
    assert "the release lost 1 record of (age='[17, 37)', education='Masters'" in findings[0].message


def test_a_group_of_fewer_than_k_is_found(tmp_path: Path) -> None:
    release = local_draft()
    release.manifest["requirements"][0]["k"] = 3
    [finding] = written(release, tmp_path)
    assert finding.claim == "group-size"
    assert "(2 of 4 groups are too small)" in finding.message


def test_a_raw_value_outside_the_tree_is_lost(tmp_path: Path) -> None:
    rows = [("Zoe", "95", "9th", "F", "40", "low")]
    spec = load_spec(write_raw(tmp_path, rows=rows, spec=LOCAL))
    findings = verify_against_raw(local_draft().write(tmp_path / "release"), spec)
    assert any("the raw value age='95' has no place" in finding.message for finding in findings)
    assert not any("raw value education" in finding.message for finding in findings)


def test_a_tree_that_the_raw_table_cannot_be_walked_by_is_said(tmp_path: Path) -> None:
    release = local_draft()
    release.manifest["boxes"][0]["order"].pop()
    findings = verify_against_raw(release.write(tmp_path / "planted"), load_spec(write_raw(tmp_path)))
    assert any("cannot be compared with the raw table" in finding.message for finding in findings)


SHARED_FAULTS: dict[str, tuple[Callable[[Draft], None], str]] = {
    "one tree refines it less": (
        lambda release: release.manifest["boxes"][1].update(
            splits=[split("education", "Any", ["University", "School"])], order=[0, -1, -1]
        ),
        "are in no leaf of the tree about 'age', 'education'",
    ),
    "one tree refines it differently": (
        lambda release: release.manifest["boxes"][1]["splits"][0].update(into=["[17, 40)", "[40, 91)"]),
        "nothing says what the label '[17, 40)' covers",
    ),
    "a label that is not its interval": (
        lambda release: [tree["splits"][0].update(block="[0, 91)") for tree in release.manifest["boxes"]],
        "the label '[0, 91)' is split into parts of '[17, 91)'",
    ),
    "a cut with a block that no tree has": (
        lambda release: release.manifest["masking"]["age"]["blocks"].append(
            {"label": "[91, 99)", "from": 91, "to": 99}
        ),
        "does not cover all blocks",
    ),
    "trees in another order": (lambda release: release.manifest["boxes"].reverse(), "in the order of the requirements"),
    "local labels in two trees": (
        lambda release: release.manifest["masking"]["age"].update(local=True),
        "'age' is refined group by group, but is in 2 trees",
    ),
}


@pytest.mark.parametrize("defect", SHARED_FAULTS)
def test_an_attribute_that_is_not_refined_alike_in_all_trees_is_found(defect: str, tmp_path: Path) -> None:
    plant, words = SHARED_FAULTS[defect]
    release = shared_draft()
    plant(release)
    findings = written(release, tmp_path)
    assert any(words in finding.message for finding in findings), findings


def test_a_rest_may_be_shared_by_all_groups(tmp_path: Path) -> None:
    """Refined everywhere, a rest is a block of the cut with all that it covers."""
    release = shared_rest_draft()
    assert written(release, tmp_path) == []


@pytest.mark.parametrize("values", [["9th"], ["9th", "10th", "11th"], ["Bachelors", "9th", "10th"]])
def test_a_shared_rest_that_covers_too_much_or_too_little_is_found(values: list[str], tmp_path: Path) -> None:
    release = shared_rest_draft()
    release.manifest["masking"]["education"]["blocks"][2]["values"] = values
    folder = release.write(tmp_path / "planted")
    spec = load_spec(write_raw(tmp_path, spec=SHARED.replace('["age", "sex"]', '["education", "sex"]')))
    assert {"cut", "spec-domain"} & {f.claim for f in [*verify_release(folder), *verify_against_raw(folder, spec)]}


@pytest.mark.parametrize("complete", [True, False])
def test_rows_in_a_leaf_whose_rest_covers_more_than_that_of_the_cut_are_found(complete: bool, tmp_path: Path) -> None:
    """The label is the same; but one tree has not told M apart, so its rest may hold rows of M."""
    release = shared_draft()
    manifest = release.manifest
    for number, names in enumerate((["age", "sex"], ["education", "sex"])):
        manifest["requirements"][number] |= {"quasi-identifier": names, "k": 1}
    manifest["masking"]["age"] |= {"local": True, "blocks": [{"label": ALL, "from": 17, "to": 91}]}
    manifest["masking"]["education"] |= {"blocks": [EDUCATIONS[0]]}
    manifest["masking"]["sex"] = {"kind": "suppression", "domain": "observed", "disclosed": ["F", "M"], "marker": "⊥"}
    splits = [split("sex", "⊥", ["F", "⊥"]), split("sex", "⊥", ["M", "⊥"])]
    whole = {"splits": splits, "order": [0, -1, 1, -1, -1]}
    short = whole if complete else {"splits": splits[:1], "order": [0, -1, -1]}
    manifest["boxes"] = [{"attributes": ["age", "sex"], **whole}, {"attributes": ["education", "sex"], **short}]
    release.rows = [(ALL, "Any", sex, 40.0, "low") for sex in (*"FFMMMMMMM", "⊥")]
    findings = written(release, tmp_path)
    assert [finding.claim for finding in findings] == ([] if complete else ["leaf"])
    assert complete or "8 records in all" in findings[0].message


def _chain(nodes: int) -> Draft:
    """A tree as deep as it has nodes: one value after the other is disclosed, each at the end of the chain so far."""
    release = local_draft()
    values = [f"v{number}" for number in range(nodes)]
    masking = release.manifest["masking"]
    masking["age"]["blocks"] = masking["age"]["blocks"][:1]
    masking["education"]["blocks"] = [EDUCATIONS[0]]
    masking["sex"]["disclosed"] = values
    release.manifest["boxes"][0] |= {
        "splits": [split("sex", "⊥", [value, "⊥"]) for value in values],
        "order": [part for number in range(nodes) for part in (number, -1)] + [-1],
    }
    release.rows = [(ALL, "Any", value, 40.0, "low") for value in values]
    release.recount()
    release.manifest["requirements"][0]["k"] = 1
    return release


def test_a_cut_in_place_of_a_vocabulary_is_found(tmp_path: Path) -> None:
    release = local_draft()
    del release.manifest["masking"]["age"]["local"]
    assert any(finding.claim == "cut" and "overlap" in finding.message for finding in written(release, tmp_path))


def test_a_tree_as_deep_as_it_is_long_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 1 << 18)
    monkeypatch.setattr(data, "MERGED", 1 << 18)
    release = _chain(20_000)
    start = time.process_time()
    assert written(release, tmp_path) == []
    assert time.process_time() - start < 20


def test_a_value_disclosed_twice_on_one_path_is_found(tmp_path: Path) -> None:
    release = _chain(50)
    tree = release.manifest["boxes"][0]
    tree["order"][-1:] = [7, -1, -1]
    assert any("that it does not cover" in finding.message for finding in written(release, tmp_path))


def test_a_tree_of_too_many_nodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.verifier.boxes.LEAF_LABELS", 30)
    assert any("too many to be checked" in finding.message for finding in written(local_draft(), tmp_path))


@pytest.mark.parametrize(
    "edit",
    [
        lambda manifest: manifest["boxes"][0].update(order=[]),
        lambda manifest: manifest["boxes"][0].update(order=[-2]),
        lambda manifest: manifest["boxes"][0].update(order=[True]),
        lambda manifest: manifest["boxes"][0].update(note="n"),
        lambda manifest: manifest["boxes"][0]["splits"][0].update(into=[]),
        lambda manifest: manifest["boxes"][0]["splits"][0].update(into=["x" * 1001]),
        lambda manifest: manifest["boxes"][0]["splits"][0].update(gain=1),
        lambda manifest: manifest.update(search="paper"),
        lambda manifest: manifest.update(recoding="global"),
        lambda manifest: manifest["masking"]["age"].update(local=False),
        lambda manifest: manifest["masking"]["education"]["blocks"][0].update(rest=False),
    ],
)
def test_keys_and_values_that_a_manifest_does_not_have_are_found(edit: Callable[[Any], Any], tmp_path: Path) -> None:
    release = local_draft()
    edit(release.manifest)
    assert {finding.claim for finding in written(release, tmp_path)} == {"manifest"}


def test_requirements_that_name_anything_do_not_stop_the_check_of_trees(tmp_path: Path) -> None:
    release = local_draft()
    release.manifest["requirements"] += [
        {"kind": "k-anonymity", "quasi-identifier": names} for names in ([["a"]], 1, {})
    ]
    assert {finding.claim for finding in written(release, tmp_path)} == {"requirement"}


def test_a_hidden_character_in_a_split_is_found(tmp_path: Path) -> None:
    release = shared_draft()
    for tree in release.manifest["boxes"]:
        tree["splits"][0]["block"] = "[17, 91)\u200b"
    assert any(finding.claim == "characters" for finding in written(release, tmp_path))
