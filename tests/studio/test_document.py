"""A spec is edited without loss: comments, order and files stay, and every edit can be undone."""

import difflib
import tomllib
from pathlib import Path

import pytest

from project import Project
from studio.conftest import DATA
from unveil.drafts import guess_table, spec_text
from unveil.errors import SpecError, UnveilError
from unveil.studio.document import Document

ADULT = (DATA / "adult.toml").read_text(encoding="utf-8")


def document(text: str = ADULT, path: Path = DATA / "adult.toml") -> Document:
    return Document(text, path)


def changes(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[0] in "+-"]


def test_a_slider_changes_one_line() -> None:
    held = document()
    held.edit({"do": "set", "path": ["require", 1, "k"], "value": 60})
    assert changes(ADULT, held.version.text) == ["- k                = 50", "+ k                = 60"]
    assert held.spec().requirements[1].k == 60


def test_a_gesture_is_undone_at_once() -> None:
    held = document()
    for k in (51, 52, 53):
        held.edit({"do": "set", "path": ["require", 0, "k"], "value": k}, "slide 1")
    held.edit({"do": "set", "path": ["require", 0, "k"], "value": 99}, "slide 2")
    assert held.undoable == 2
    held.undo()
    assert held.spec().requirements[0].k == 53
    held.undo()
    assert held.version.text == ADULT
    held.redo()
    assert held.spec().requirements[0].k == 53
    held.edit({"do": "set", "path": ["require", 0, "k"], "value": 5})
    assert held.redoable == 0


def test_an_edit_takes_the_mark_of_a_guess_and_no_other_comment() -> None:
    guess, origin = guess_table(DATA / "adult.parquet")
    held = document(spec_text(guess, origin, DATA / "adult.parquet", DATA / "first.toml"), DATA / "first.toml")
    assert {"age", "income", "sex"} <= set(held.guesses())
    before = held.version.text
    held.edit({"do": "kind", "column": "age", "word": "category"})
    assert "age" not in held.guesses()
    assert "whole" not in held.content()["attributes"]["age"]
    removed = [line for line in changes(before, held.version.text) if line.startswith("-")]
    assert [line for line in removed if "#" in line and "guess" not in line] == []
    assert held.version.text.startswith(before.splitlines()[0])


@pytest.mark.parametrize(
    ("word", "column", "says"),
    [
        ("class", "race", {"class": "race"}),
        ("weight", "fnlwgt", {"weight": "fnlwgt"}),
        ("person", "fnlwgt", {"person": ["fnlwgt"]}),
    ],
)
def test_a_role_is_named_once(word: str, column: str, says: dict[str, object]) -> None:
    held = document()
    held.edit({"do": "role", "column": column, "word": word, "kind": "category"})
    content = held.content()
    assert {key: content["table"][key] for key in says} == says
    assert not any(column in item["quasi-identifier"] for item in content["require"])
    held.spec()
    held.edit({"do": "role", "column": column, "word": "identifier", "kind": "category"})
    assert "weight" not in held.content()["table"]
    assert "person" not in held.content()["table"]


def test_requirements_are_added_and_removed() -> None:
    held = document()
    held.edit({"do": "require", "requirement": {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 4}})
    held.edit({"do": "known", "column": "sex", "requirement": 3, "on": True})
    assert held.spec().requirements[3].attributes == ("age", "sex")
    held.edit({"do": "known", "column": "age", "requirement": 3, "on": False})
    assert held.spec().requirements[3].attributes == ("sex",)
    held.edit({"do": "unset", "path": ["require", 3]})
    assert changes(ADULT, held.version.text) in ([], ["+ "])


def test_differential_privacy_is_alone_and_undone() -> None:
    held = document()
    held.edit({"do": "method", "word": "diffgen", "settings": {"specializations": 8}, "epsilon": 1.0})
    assert held.spec().plan is not None
    assert len(held.content()["require"]) == 1
    held.undo()
    assert held.version.text == ADULT


def test_inline_specs_are_edited_too(tmp_path: Path) -> None:
    text = """\
table = { source = "people.csv", class = "ill" }  # one line
attributes.age = { kind = "number" }
require = [ { kind = "k-anonymity", quasi-identifier = ["age"], k = 3 } ]
"""
    held = document(text, tmp_path / "s.toml")
    held.edit({"do": "set", "path": ["require", 0, "k"], "value": 4})
    held.edit({"do": "require", "requirement": {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 9}})
    assert [item["k"] for item in held.content()["require"]] == [4, 9]
    assert "# one line" in held.version.text


def test_comments_of_a_tree_stay_where_they_were(tmp_path: Path) -> None:
    project = Project(tmp_path)
    tree = tmp_path / "job.tree"
    said = "# observed: by hand\n# all jobs\nAny job\n  # in a house\n  Office\n    clerk\n    lawyer\n"
    said += "  # on a field\n  Farm\n    farmer\n# the end\n"
    tree.write_text(said, encoding="utf-8")
    held = document(project.spec.read_text(encoding="utf-8"), project.spec)
    branches = [{"label": "lawyer"}, {"label": "Office", "children": [{"label": "clerk"}, {"label": "farmer"}]}]
    held.edit({"do": "taxonomy", "column": "job", "tree": {"label": "Any job", "children": branches}})
    assert held.before()[tree] == said
    assert held.files()[tree] == (
        "# all jobs\nAny job\n  lawyer\n  # in a house\n  Office\n    clerk\n    farmer\n  # on a field\n# the end\n"
    )


def test_a_tree_gets_a_file_that_nothing_else_has(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "town.tree").write_text("somebody else's", encoding="utf-8")
    held = document(project.spec.read_text(encoding="utf-8"), project.spec)
    tree = {
        "label": "Any town",
        "children": [{"label": "North", "children": [{"label": "Bergen"}, {"label": "Aarhus"}]}, {"label": "Cork"}],
    }
    held.edit({"do": "taxonomy", "column": "town", "tree": tree, "observed": "by hand"})
    assert held.content()["attributes"]["town"]["taxonomy"] == "town-2.tree"
    assert "values" not in held.content()["attributes"]["town"]
    assert held.spec().attributes["town"].taxonomy.leaves == ("Bergen", "Aarhus", "Cork")
    assert not held.spec().attributes["town"].declared
    written = held.files()[tmp_path / "town-2.tree"]
    assert written == "# observed: by hand\nAny town\n  North\n    Bergen\n    Aarhus\n  Cork\n"
    held.edit({"do": "taxonomy", "column": "town", "tree": tree, "observed": None})
    assert held.spec().attributes["town"].declared
    held.edit({"do": "taxonomy", "column": "town", "tree": None})
    assert list(held.files()) == [project.spec]


@pytest.mark.parametrize(
    "operation",
    [
        {"do": "set", "path": ["table", "source"], "value": "../../etc/passwd"},
        {"do": "set", "path": ["table", "source"], "value": "/etc/passwd"},
        {"do": "set", "path": ["attributes", "age", "taxonomy"], "value": "../secret.tree"},
        {"do": "labels", "column": "sex", "names": 3},
        {"do": "text", "text": '[table]\nsource = "../other.csv"\nclass = "x"\n'},
        {"do": "set", "path": ["require", 7, "k"], "value": 3},
        {"do": "set", "path": ["require", True, "k"], "value": 3},
        {"do": "set", "path": [], "value": 3},
        {"do": "set", "path": ["table", "class", "deep"], "value": 3},
        {"do": "fly"},
        {"do": "known", "column": "age"},
        {"do": "taxonomy", "column": "age", "tree": {"label": 3}},
        {"do": "kind", "column": "age", "word": "colour"},
    ],
)
def test_an_edit_that_makes_no_sense_changes_nothing(operation: dict[str, object]) -> None:
    held = document()
    with pytest.raises(UnveilError):
        held.edit(operation)
    assert held.version.text == ADULT
    assert held.undoable == 0


def test_a_text_that_is_not_toml_is_kept_and_reported() -> None:
    held = document()
    held.edit({"do": "text", "text": "this is [ not TOML"})
    with pytest.raises(SpecError, match="not TOML"):
        held.spec()
    held.undo()
    assert tomllib.loads(held.version.text) == tomllib.loads(ADULT)
