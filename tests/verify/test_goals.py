"""What a manifest says that the search kept information about: checked by itself, and against the spec."""

from pathlib import Path
from typing import Any

import pytest

from unveil.schema import load_spec
from verdicts import verify_against_raw, verify_release
from verify.local_releases import LOCAL, local_draft
from verify.releases import Draft, draft, write_raw


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
