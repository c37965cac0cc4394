"""What a release keeps of what the owner asked the search for, and what its manifest says about its goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unveil.schema import Domain, Spec, load_spec, stated
from unveil.verifier import Finding
from unveil.verifier.data import read_data
from unveil.verifier.files import open_files, read_manifest
from unveil.verifier.raw.agreement import check_asked
from verdicts import verify_against_raw, verify_release
from verify.local_releases import LOCAL, local_draft
from verify.releases import OLD, YOUNG, Draft, Row, draft, write_raw
from verify.sensitive import Stated, alpha_k, closeness, confidence, diversity, people, release_of

SPEC = """
[table]
source = "raw.csv"
class = "income"

[attributes.age]
kind = "number"
range = [17, 91]
whole = true

[attributes.sex]
kind = "category"

[attributes.disease]
kind = "category"

[attributes.pay]
kind = "number"

[[require]]
kind = "k-anonymity"
quasi-identifier = ["age"]
k = 2
"""
SEX = {"quasi-identifier": ["sex", "age"]}
OTHER: Stated = {"kind": "k-anonymity", "quasi-identifier": ["sex"], "k": 1}


DECLARED = SPEC.replace(
    '[attributes.disease]\nkind = "category"',
    '[attributes.disease]\nkind = "category"\nvalues = ["flu", "mumps", "cold"]',
)
ROWS = [*people(YOUNG, "flu", "cold"), *people(OLD, "flu", "cold")]


def spec_of(folder: Path, *asked: Any, text: str = SPEC) -> Spec:
    return replace(load_spec(write_raw(folder, spec=text)), requirements=asked)


def compared(
    folder: Path, stated: Sequence[Stated], *asked: Any, text: str = SPEC, rows: Sequence[Row] = ROWS
) -> list[Finding]:
    release = release_of(rows, *stated).write(folder / "release")
    manifest = read_manifest(release)
    data, _ = read_data(open_files(release, manifest)[0], manifest)
    return list(check_asked(manifest, data, spec_of(folder, *asked, text=text)))


def describing(entry: Stated) -> Any:
    return SimpleNamespace(describe=lambda: entry)


ORDERED = closeness(0.3, "ordered", order=["flu", "cold"])


@pytest.mark.parametrize(
    ("stated", "asked", "kept"),
    [
        (confidence(0.5), confidence(0.5), True),
        (confidence(0.4), confidence(0.5), True),
        (confidence(0.6), confidence(0.5), False),
        (confidence(0.5, "flu", "cold"), confidence(0.5, "cold"), True),
        (confidence(0.5, "flu"), confidence(0.5, "flu", "cold"), False),
        (confidence(0.5, channel=["sex", "age"]), confidence(0.5, channel=["age", "sex"]), True),
        (confidence(0.5, channel=["sex"]), confidence(0.5, channel=["age", "sex"]), False),
        ({**confidence(0.5), "sensitive": "gender"}, confidence(0.5), False),
        (alpha_k(2, 0.5), confidence(0.5), False),
        (diversity(3), diversity(2), True),
        (diversity(2), diversity(2), True),
        (diversity(1.5), diversity(2), False),
        (diversity(2, "entropy"), diversity(2), False),
        (diversity(2, "distinct"), diversity(2, "entropy"), False),
        ({**diversity(2), **SEX}, diversity(2), False),
        (diversity(2, sensitive="pay"), diversity(2), False),
        (closeness(0.2), closeness(0.3), True),
        (closeness(0.3), closeness(0.3), True),
        (closeness(0.31), closeness(0.3), False),
        (closeness(0.3), ORDERED, False),
        (ORDERED, closeness(0.3), False),
        (ORDERED, ORDERED, True),
        ({**ORDERED, "order": ["cold", "flu"]}, ORDERED, False),
        ({**ORDERED, "order": ["flu", "mumps", "cold"]}, ORDERED, True),
        ({**ORDERED, "order": None}, ORDERED, False),
        (closeness(0.3, "ordered", "pay"), closeness(0.3, "ordered", "pay"), True),
        (alpha_k(2, 0.5), alpha_k(2, 0.5), True),
        (alpha_k(3, 0.4, "flu", "cold"), alpha_k(2, 0.5), True),
        (alpha_k(1, 0.5), alpha_k(2, 0.5), False),
        (alpha_k(2, 0.6), alpha_k(2, 0.5), False),
        (alpha_k(2, 0.5, "cold"), alpha_k(2, 0.5), False),
        ({**alpha_k(2, 0.5), **SEX}, alpha_k(2, 0.5), False),
        ({**alpha_k(2, 0.5), "k": "2"}, alpha_k(2, 0.5), False),
    ],
)
def test_a_requirement_is_kept_by_one_that_is_as_strict(
    tmp_path: Path, stated: Stated, asked: Stated, kept: bool
) -> None:
    findings = compared(tmp_path, [OTHER, stated], describing(asked))
    if kept:
        assert findings == []
    else:
        [finding] = findings
        assert finding.claim == "spec-requirement"
        assert f"requirement 1 of the spec ({asked['kind']}) is not stated in manifest.json" in finding.message


@pytest.mark.parametrize(
    "asked",
    [
        stated({"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 2}),
        stated(confidence(0.5, channel=("age", "sex"))),
        stated(diversity(2)),
        stated(diversity(1.5, "entropy")),
        stated(closeness(0.3)),
        stated(closeness(0.3, "ordered")).resolved(Domain(("flu", "cold"), ("flu", "cold"), category=True)),
        stated(closeness(0.3, "ordered", "pay")),
        stated(alpha_k(2, 0.5, "flu", "cold")),
        stated({"kind": "beta-likeness", "quasi-identifier": ["age"], "sensitive": "disease", "beta": 2.0}),
        stated({"kind": "k-e-anonymity", "quasi-identifier": ["age"], "k": 2, "sensitive": "pay", "e": 1.0}),
    ],
)
def test_every_requirement_of_a_spec_is_kept_by_its_own_entry(tmp_path: Path, asked: Any) -> None:
    assert compared(tmp_path, [asked.describe()], asked) == []
    (tmp_path / "absent").mkdir()
    [finding] = compared(tmp_path / "absent", [OTHER], asked)
    assert finding.claim == "spec-requirement"


@pytest.mark.parametrize(
    ("values", "kept"), [(["flu", "cold"], True), (["flu", "cold", "gout"], True), (["flu"], False)]
)
def test_no_values_are_all_values_that_the_release_holds(tmp_path: Path, values: list[str], kept: bool) -> None:
    asked = [stated({**entry, "values": None}) for entry in (confidence(0.5), alpha_k(2, 0.5))]
    findings = compared(tmp_path, [confidence(0.5, *values), alpha_k(2, 0.5, *values)], *asked)
    assert [finding.claim for finding in findings] == ([] if kept else ["spec-requirement"] * 2)


@pytest.mark.parametrize(
    ("order", "text", "kept"),
    [
        (["flu", "mumps", "cold"], DECLARED, True),
        (["flu", "cold"], DECLARED, True),
        (["cold", "mumps", "flu"], DECLARED, False),
        (["cold", "flu"], SPEC, True),
    ],
)
def test_no_order_is_the_declared_one(tmp_path: Path, order: list[str], text: str, kept: bool) -> None:
    entry = closeness(0.3, "ordered", order=order)
    findings = compared(tmp_path, [entry], stated(closeness(0.3, "ordered")), text=text)
    assert [finding.claim for finding in findings] == ([] if kept else ["spec-requirement"])


@pytest.mark.parametrize(("order", "kept"), [(["9th", "Masters"], False), (["Masters", "9th"], True)])
def test_the_leaves_of_a_taxonomy_are_an_order(tmp_path: Path, order: list[str], kept: bool) -> None:
    text = SPEC.replace(
        '[attributes.disease]\nkind = "category"',
        '[attributes.disease]\nkind = "category"\ntaxonomy = "education.tree"',
    )
    rows = [*people(YOUNG, "9th", "Masters"), *people(OLD, "9th", "Masters")]
    entry = closeness(0.3, "ordered", order=order)
    findings = compared(tmp_path, [entry], stated(closeness(0.3, "ordered")), text=text, rows=rows)
    assert [finding.claim for finding in findings] == ([] if kept else ["spec-requirement"])


@pytest.mark.parametrize("entry", [{"kind": "magic"}, {}, {"kind": ["confidence"]}, {**confidence(0.5), "limit": 2}])
def test_a_requirement_that_nobody_can_compare_is_found(tmp_path: Path, entry: Stated) -> None:
    [finding] = compared(tmp_path, [confidence(0.5)], describing(entry))
    assert finding.claim == "spec-requirement"
    assert "cannot be checked" in finding.message


def test_a_requirement_on_a_column_that_is_not_released_is_found(tmp_path: Path) -> None:
    for number, values in enumerate([["flu"], None]):
        (tmp_path / str(number)).mkdir()
        [finding] = compared(
            tmp_path / str(number),
            [confidence(0.5)],
            stated({**confidence(0.5), "sensitive": "name", "values": values}),
        )
        assert finding.claim == "spec-requirement"


def with_goal(release: Draft, goal: Any) -> Draft:
    """The goal comes before the trees and the files, as the engine writes it."""
    later = {key: release.manifest.pop(key) for key in ("boxes", "files") if key in release.manifest}
    release.manifest |= {"goal": goal, **later}
    return release


@pytest.mark.parametrize("goal", ["statistics", ["income"]])
def test_a_goal_that_the_spec_has_holds(goal: str | list[str], tmp_path: Path) -> None:
    folder = with_goal(local_draft(), goal).write(tmp_path / "release")
    assert verify_release(folder) == []
    spec = LOCAL + f"goal = {goal!r}\n".replace("'", '"')
    assert verify_against_raw(folder, load_spec(write_raw(tmp_path, spec=spec))) == []


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (["sex"], "it names 'sex', which is not a category released as it is."),
        (["hours"], "it names 'hours', which is not a category released as it is."),
        (["town"], "it names 'town', which is not a category released as it is."),
        (["income", "income"], "it names 'income', twice."),
    ],
)
def test_a_goal_that_no_search_has_is_found(goal: list[str], words: str, tmp_path: Path) -> None:
    [finding] = verify_release(with_goal(local_draft(), goal).write(tmp_path / "release"))
    assert finding.claim == "goal"
    assert words in finding.message


def test_the_papers_search_has_no_goal_to_choose(tmp_path: Path) -> None:
    [finding] = verify_release(with_goal(draft(), "statistics").write(tmp_path / "release"))
    assert finding.claim == "goal"


@pytest.mark.parametrize("goal", ["class", "best", [], 3])
def test_a_goal_that_is_not_spelled_as_one_is_found(goal: Any, tmp_path: Path) -> None:
    findings = verify_release(with_goal(local_draft(), goal).write(tmp_path / "release"))
    assert {finding.claim for finding in findings} == {"manifest"}


@pytest.mark.parametrize(
    ("stated", "asked"), [("statistics", ""), ("class", 'goal = "statistics"\n'), (["income"], 'goal = "statistics"\n')]
)
def test_another_goal_than_the_specs_is_found(stated: str | list[str], asked: str, tmp_path: Path) -> None:
    release = local_draft() if stated == "class" else with_goal(local_draft(), stated)
    folder = release.write(tmp_path / "release")
    assert verify_release(folder) == []
    [finding] = verify_against_raw(folder, load_spec(write_raw(tmp_path, spec=LOCAL + asked)))
    assert finding.claim == "spec-search"
    assert "has the goal" in finding.message
