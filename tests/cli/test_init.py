"""A first spec from a table that nobody prepared."""

import json
import tomllib
from pathlib import Path

import pytest

import unveil
from commands import Run
from project import Project


def test_the_draft_fits_its_table_and_can_be_published(project: Project, run: Run) -> None:
    spec = project.folder / "draft.toml"
    assert run("init", project.table, "--to", spec).code == 0
    assert run("check", spec).code == 0
    release = project.folder / "drafted"
    assert run("publish", spec, "--to", release).code == 0
    assert unveil.verify(release, spec) == []


def test_guesses(project: Project, run: Run) -> None:
    draft = tomllib.loads(run("init", project.table).out)
    assert draft["table"]["source"].endswith("people.csv")
    assert draft["table"]["class"] == "ill"
    assert draft["table"]["missing"]["values"] == ["?"]
    assert draft["attributes"]["name"] == {"role": "identifier"}
    assert draft["attributes"]["age"] == {"kind": "number", "whole": True}
    assert draft["attributes"]["income"] == {"kind": "number"}
    assert draft["attributes"]["town"] == {"kind": "category"}
    assert draft["require"][0]["quasi-identifier"] == ["age", "job", "town", "income"]


def test_every_guess_is_marked_and_no_domain_is_declared(project: Project, run: Run) -> None:
    text = run("init", project.table).out
    draft = tomllib.loads(text)
    for section in draft["attributes"].values():
        assert not {"range", "values", "taxonomy"} & set(section)
    guessed = [line for line in text.splitlines() if line.startswith(("[attributes.", "class", "missing", "k "))]
    assert all("# guess" in line for line in guessed)
    assert "# range = [10, 80]" in text


def test_columns_with_any_name_and_all_different_values(project: Project, run: Run) -> None:
    rows = [f"{i:05d}x,{i},word {i % 3},{'ab'[i % 2]}" for i in range(60)]
    project.table.write_text("\n".join(['code,"row, number","größe ""x""",target', *rows]) + "\n", encoding="utf-8")
    spec = project.folder / "draft.toml"
    assert run("init", project.table, "--to", spec).code == 0
    draft = tomllib.loads(spec.read_text(encoding="utf-8"))
    assert draft["attributes"]["code"] == {"role": "identifier"}
    assert draft["attributes"]["row, number"] == {"role": "identifier"}
    assert draft["attributes"]['größe "x"'] == {"kind": "category"}
    assert draft["table"]["class"] == "target"
    assert run("check", spec).code == 0


def test_a_mark_that_is_a_label_of_the_class_is_no_missing_value(run: Run) -> None:
    crx = Path(unveil.__file__).parent / "data" / "crx.parquet"
    draft = tomllib.loads(run("init", crx).out)
    assert draft["table"]["class"] == "class"
    assert draft["table"]["missing"]["values"] == ["?"]


@pytest.mark.parametrize(("share", "marks"), [(3, ["-"]), (30, [""])])
def test_a_doubtful_mark_is_one_where_it_is_rare(share: int, marks: list[str], project: Project, run: Run) -> None:
    rows = [f"{'-' if i < share else 'ab'[i % 2]},{'xy'[i % 2]}" for i in range(100)]
    project.table.write_text("\n".join(["kind,target", *rows]) + "\n", encoding="utf-8")
    draft = tomllib.loads(run("init", project.table).out)
    assert draft["table"]["missing"]["values"] == marks


def test_the_facts_of_a_guess(project: Project, run: Run) -> None:
    spec = project.folder / "draft.toml"
    facts = json.loads(run("init", project.table, "--to", spec, "--json").out)
    assert (facts["spec"], facts["class"], facts["missing"], facts["rows"]) == (str(spec), "ill", ["?"], 49)
    assert facts["columns"][0] == {"name": "name", "role": "identifier", "reason": "by its name"}
    assert tomllib.loads(spec.read_text(encoding="utf-8"))["table"]["class"] == "ill"
    assert json.loads(run("init", project.table, "--json").out) == {**facts, "spec": None}


def test_a_spec_that_exists_is_not_overwritten(project: Project, run: Run) -> None:
    before = project.spec.read_text()
    outcome = run("init", project.table, "--to", project.spec)
    assert outcome.code == 2
    assert "exists already" in outcome.err
    assert project.spec.read_text() == before
