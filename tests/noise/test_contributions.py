"""Contributions: what the owner and readers learn about the rows of a person that are used, and the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unveil
from commands import Run
from noise.private import SPEC, PrivateProject
from unveil.errors import BudgetError
from unveil.publishers.budget import LEDGER


def by_name(
    folder: Path, *, budget: str = "", person: str = 'person = "name"', rows: str = "contributions = 2"
) -> Path:
    """A private spec of the small table of the tests, in which the name says whose row it is."""
    path = folder / "people.toml"
    text = SPEC.replace("[table]", f"[table]\n{person}\n{budget}").replace("epsilon = 0.5", f"epsilon = 0.5\n{rows}")
    path.write_text(text, encoding="utf-8")
    return path


def test_check_and_explain_say_what_the_bound_leaves_out(private: PrivateProject, run: Run) -> None:
    spec = by_name(private.folder, rows="contributions = 1")
    lines = private.table.read_text().splitlines()
    private.table.write_text("\n".join([*lines, *lines[1:6]]) + "\n")
    said = run("check", spec).out
    assert (
        "5 of 48 persons have several rows, 2 at most. With contributions = 1, at most 1 row of a person is used"
        in said
    )
    assert "so 5 of 53 rows are left out" in said
    facts = json.loads(run("check", spec, "--json").out)
    assert facts["persons"] == {"count": 48, "several": 5, "most": 2, "left_out": 5}
    assert "so 5 of 53 rows are left out" in run("explain", spec, "--no-shadow").out.replace("\n", " ")


def test_the_guarantee_is_about_one_person(private: PrivateProject) -> None:
    release = unveil.publish(by_name(private.folder))
    assert "adding or removing one person (at most 2 rows are used of each)" in release.manifest.guarantee
    page = str(unveil.report(release))
    assert "Think of any one person" in page
    assert "at most 2 rows are used" in page


def test_the_ledger_says_whose_epsilon_it_is(private: PrivateProject) -> None:
    unveil.publish(by_name(private.folder))
    assert json.loads((private.folder / LEDGER).read_text())[0]["person"] == ["name"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"person": "", "rows": ""}, {}),
        ({}, {"person": "", "rows": ""}),
    ],
)
def test_a_budget_is_for_persons_or_for_records(
    private: PrivateProject, first: dict[str, str], second: dict[str, str]
) -> None:
    unveil.publish(by_name(private.folder, budget="budget = 5", **first))
    with pytest.raises(BudgetError, match=r"does not add up with ε for one (person by 'name'|record)"):
        unveil.publish(by_name(private.folder, budget="budget = 5", **second))


def test_persons_share_a_budget(private: PrivateProject) -> None:
    spec = by_name(private.folder, budget="budget = 0.8")
    unveil.publish(spec)
    with pytest.raises(BudgetError, match=r"0\.3 is left"):
        unveil.publish(spec)
