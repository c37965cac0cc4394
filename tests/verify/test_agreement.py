from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from unveil.schema import KAnonymity, load_spec
from unveil.verifier import Finding
from verdicts import verify_against_raw
from verify.releases import OLD, SPEC, YOUNG, Draft, draft, write_raw

Manifest = dict[str, Any]


def against_spec(folder: Path, planted: Draft, spec: str = SPEC) -> list[Finding]:
    """What the comparison with the spec finds; the rows are another matter."""
    path = write_raw(folder, spec=spec)
    findings = verify_against_raw(planted.write(folder / "release"), load_spec(path))
    return [finding for finding in findings if finding.claim not in {"truth", "raw-rows"}]


def test_a_manifest_that_keeps_to_the_spec(tmp_path: Path) -> None:
    assert against_spec(tmp_path, draft()) == []


def _taller_range(manifest: Manifest) -> None:
    manifest["masking"]["age"]["blocks"][1] = {"label": "[37, 100)", "from": 37, "to": 100}


def _not_whole(manifest: Manifest) -> None:
    manifest["masking"]["age"]["whole"] = False


def _unknown_node(manifest: Manifest) -> None:
    manifest["masking"]["education"]["blocks"][0]["label"] = "Academy"


def _other_leaves(manifest: Manifest) -> None:
    manifest["masking"]["education"]["blocks"][0]["values"] = ["Bachelors", "Masters", "Doctorate"]


def _moved_leaf(manifest: Manifest) -> None:
    manifest["masking"]["education"]["blocks"][1:] = [{"label": "School", "values": ["9th"]}]


def _no_whole_cut(manifest: Manifest) -> None:
    manifest["masking"]["education"]["blocks"].pop()


def _guessed_domain(manifest: Manifest) -> None:
    manifest["masking"]["education"]["domain"] = "observed"


def _other_masking(manifest: Manifest) -> None:
    manifest["masking"]["education"] = {
        "kind": "suppression",
        "domain": "declared",
        "disclosed": [],
        "marker": "⊥",
    }


def _other_type(manifest: Manifest) -> None:
    manifest["masking"]["hours"]["type"] = "category"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_taller_range, "'age' has intervals from 17 to 100, but its declared range is [17, 91)"),
        (_not_whole, "'age' has whole = False, but the spec has True"),
        (_unknown_node, "'education' has the block 'Academy', which is not in its taxonomy"),
        (_other_leaves, "but its leaves are 'Bachelors', 'Masters'"),
        (_moved_leaf, "'School' with '9th', but its leaves are '9th', '10th'"),
        (_no_whole_cut, "'education' has a cut that leaves out '10th'"),
        (_guessed_domain, "'education' has a domain called observed, but by the spec it is declared"),
        (_other_masking, "'education' is masked by suppression, but by the spec it takes generalization"),
        (_other_type, "'hours' is released as a category, but by the spec it is a number"),
    ],
)
def test_a_domain_that_is_not_the_specs_is_found(tmp_path: Path, edit: Callable[[Manifest], None], words: str) -> None:
    planted = draft()
    edit(planted.manifest)
    findings = against_spec(tmp_path, planted)
    assert {finding.claim for finding in findings} == {"spec-domain"}
    assert any(words in finding.message for finding in findings), findings


def test_a_disclosed_value_that_is_not_declared_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["sex"]["domain"] = "declared"
    spec = SPEC.replace(
        '[attributes.sex]\nkind = "category"', '[attributes.sex]\nkind = "category"\nvalues = ["F", "X"]'
    )
    [finding] = against_spec(tmp_path, planted, spec)
    assert finding.claim == "spec-domain"
    assert "'sex' discloses 'M', which is not among its declared values" in finding.message


def test_another_class_is_found(tmp_path: Path) -> None:
    spec = SPEC.replace('class = "income"', 'class = "name"').replace('[attributes.name]\nrole = "identifier"\n', "")
    spec = spec.replace('rows = "drop" }', 'rows = "drop" }\nothers = "release"')
    [finding] = against_spec(tmp_path, draft(), spec)
    assert finding == Finding("spec-columns", "manifest.json has the class 'income', but the spec has 'name'.")


def test_another_weight_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.weigh([1] * 10)
    [finding] = against_spec(tmp_path, planted)
    assert finding == Finding("spec-columns", "manifest.json has the weight 'n', but the spec has None.")


@pytest.mark.parametrize("role", ["attribute", "class"])
def test_a_released_identifier_is_found(tmp_path: Path, role: str) -> None:
    planted = draft()
    if role == "attribute":
        planted.manifest["masking"]["name"] = {"kind": "released", "domain": "observed", "type": "category"}
        planted.rows = [(*row[:4], "Ann", row[4]) for row in planted.rows]
    else:
        planted.manifest["class"] = "name"
    findings = against_spec(tmp_path, planted)
    assert [finding.claim for finding in findings if finding.claim != "spec-columns"] == ["identifier"]


def test_an_attribute_left_out_is_found(tmp_path: Path) -> None:
    planted = draft()
    del planted.manifest["masking"]["hours"]
    planted.rows = [(*row[:3], row[4]) for row in planted.rows]
    [finding] = against_spec(tmp_path, planted)
    assert finding.claim == "spec-columns"
    assert "the spec says 'age', 'education', 'sex', 'hours'" in finding.message


def test_attributes_in_another_order_are_found(tmp_path: Path) -> None:
    planted = draft()
    masking = planted.manifest["masking"]
    planted.manifest["masking"] = {name: masking[name] for name in ["education", "age", "sex", "hours"]}
    planted.rows = [(row[1], row[0], *row[2:]) for row in planted.rows]
    [finding] = against_spec(tmp_path, planted)
    assert finding.claim == "spec-columns"


@pytest.mark.parametrize("others", ["refuse", "drop", "release"])
def test_a_column_that_is_not_described_needs_the_owners_word(tmp_path: Path, others: str) -> None:
    planted = draft()
    planted.manifest["masking"]["zip"] = {"kind": "released", "domain": "observed", "type": "category"}
    planted.rows = [(*row[:4], "1010", row[4]) for row in planted.rows]
    spec = SPEC.replace('class = "income"', f'class = "income"\nothers = "{others}"')
    findings = against_spec(tmp_path, planted, spec)
    assert [finding.claim for finding in findings] == ([] if others == "release" else ["spec-columns"])


def test_a_column_that_is_not_described_cannot_be_masked(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["zip"] = {
        "kind": "suppression",
        "domain": "observed",
        "disclosed": [],
        "marker": "⊥",
    }
    planted.rows = [(*row[:4], "⊥", row[4]) for row in planted.rows]
    spec = SPEC.replace('class = "income"', 'class = "income"\nothers = "release"')
    [finding] = against_spec(tmp_path, planted, spec)
    assert finding.claim == "spec-domain"
    assert "'zip' is masked by suppression" in finding.message


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        ({"kind": "k-anonymity", "quasi-identifier": ["sex", "education", "age"], "k": 3}, True),
        ({"kind": "k-anonymity", "quasi-identifier": ["age", "education", "sex"], "k": 1}, False),
        ({"kind": "k-anonymity", "quasi-identifier": ["age", "education"], "k": 2}, False),
        ({"kind": "k-anonymity", "quasi-identifier": "age", "k": 2}, False),
        ({"kind": "l-diversity", "quasi-identifier": ["age", "education", "sex"], "k": 2}, False),
    ],
)
def test_a_requirement_that_is_left_out_or_weakened_is_found(
    tmp_path: Path, stated: dict[str, Any], kept: bool
) -> None:
    planted = draft()
    planted.manifest["requirements"] = [stated]
    findings = against_spec(tmp_path, planted)
    assert [finding.claim for finding in findings] == ([] if kept else ["spec-requirement"])


def test_every_requirement_of_the_spec_must_be_stated(tmp_path: Path) -> None:
    more = '[[require]]\nkind = "k-anonymity"\nquasi-identifier = ["age"]\nk = 4\n'
    [finding] = against_spec(tmp_path, draft(), SPEC + more)
    assert finding.claim == "spec-requirement"
    assert "requirement 2 of the spec" in finding.message


def test_an_observed_range_may_be_any(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["age"].update(
        domain="observed",
        blocks=[{"label": YOUNG, "from": 17, "to": 37}, {"label": OLD, "from": 37, "to": 91}],
    )
    assert against_spec(tmp_path, planted, SPEC.replace("range = [17, 91]\n", "")) == []


def test_a_requirement_of_a_kind_that_nobody_compares_is_found(tmp_path: Path) -> None:
    class Magic(KAnonymity):
        kind: Literal["magic"] = "magic"

    spec = load_spec(write_raw(tmp_path))
    asked = replace(spec, requirements=(Magic(quasi_identifier=("age",), k=2),))
    [finding] = verify_against_raw(draft().write(tmp_path / "release"), asked)
    assert finding == Finding("spec-requirement", "requirement 1 of the spec (magic) cannot be checked.")
