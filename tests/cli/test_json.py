"""`--json`: one line on stdout with the keys that docs/exit-codes.md has; of a private release only what it holds."""

import json
from pathlib import Path
from typing import Any

import pytest

import unveil
from commands import Run
from noise.private import PrivateProject
from project import Project

PAGE = Path(__file__).resolve().parents[2] / "docs" / "exit-codes.md"


@pytest.fixture
def facts(run: Run) -> Any:
    def call(*words: object) -> Any:
        outcome = run(*words, "--json")
        assert (outcome.code, outcome.err) == (0, ""), outcome
        assert outcome.out.count("\n") == 1
        return json.loads(outcome.out)

    return call


def documented(command: str) -> set[str]:
    """The keys that the page has for a command, in a section of its own or in a row of the last table."""
    page = PAGE.read_text(encoding="utf-8")
    _, own, section = page.partition(f"\n### `{command}`\n")
    if own:
        rows = [line.split("|")[1] for line in section.split("\n### ")[0].splitlines() if line.startswith("| `")]
    else:
        rows = [line.split("|")[2] for line in page.splitlines() if line.startswith(f"| `{command}` |")]
    return {key.strip().strip("`") for row in rows for key in row.split(",")}


def test_publish(project: Project, facts: Any) -> None:
    found = facts("publish", project.spec, "--to", project.release, "--trace", project.folder / "trace.json")
    assert set(found) | {"cells", "persons"} == documented("publish")
    manifest = json.loads((project.release / "manifest.json").read_text())
    for key in ("method", "guarantee", "requirements", "records", "rows"):
        assert found[key] == manifest[key]
    assert found["files"] == {name: file["sha256"] for name, file in manifest["files"].items()}
    assert found["attributes"]["income"] == {"masking": "released", "blocks": None}
    (groups,) = found["groups"]
    table = unveil.open_release(project.release).table
    sizes = sorted(table.group_by(["age", "job", "town"]).aggregate([([], "count_all")])["count_all"].to_pylist())
    assert groups["attributes"] == ["age", "job", "town"]
    assert (groups["groups"], groups["smallest"], groups["largest"]) == (len(sizes), sizes[0], sizes[-1])


def test_a_private_release_tells_nothing_that_it_does_not_hold(project: Project, facts: Any) -> None:
    private = PrivateProject(project)
    found = facts("publish", private.spec, "--to", private.release)
    assert set(found) == documented("publish") - {"records", "groups", "persons"}
    assert set(found["rows"]) == {"released"}
    manifest = json.loads((private.release / "manifest.json").read_text())
    assert found["cells"] == manifest["cells"]
    assert found["rows"]["released"] == unveil.open_release(private.release).table.num_rows


def test_check(project: Project, facts: Any) -> None:
    project.spec.write_text(
        project.spec.read_text()
        + '[[require]]\nkind = "confidence"\nchannel = ["age"]\nsensitive = "town"\nvalues = ["Cork"]\nlimit = 0.9\n'
    )
    project.edit(project.spec, '["age", "job", "town"]', '["age", "job"]')
    found = facts("check", project.spec)
    assert set(found) | {"persons"} == documented("check")
    assert (found["records"], found["rows"]) == (48, {"read": 49, "dropped": 1, "held_back": 0})
    assert found["groups"][0]["k"] == 3
    assert found["inferences"][0]["worst"][0]["size"] >= 1
    assert found["as_is"] == ["income"]
    assert found["as_is"] == list(unveil.publish(project.spec).manifest.as_is), "check foretells what a release says"


def test_apply_and_report(project: Project, facts: Any) -> None:
    unveil.publish(project.spec).write(project.release)
    later = project.folder / "later.csv"
    found = facts("apply", project.release, project.table, "--to", later, "--unseen", "suppress")
    assert found == {"file": str(later), "rows": 49}
    assert set(found) == documented("apply")
    found = facts("report", project.release, "--to", project.folder / "page.html")
    assert found == {"report": str(project.folder / "page.html"), "private": False}
    assert set(found) | {"broken"} == documented("report")


def test_a_report_on_a_broken_release(project: Project, run: Run) -> None:
    unveil.publish(project.spec).write(project.release)
    project.edit(project.release / "manifest.json", '"k": 3', '"k": 40')
    outcome = run("report", project.release, "--json")
    assert (outcome.code, outcome.err) == (1, "")
    found = json.loads(outcome.out)
    assert found["report"] is None
    assert "40" in found["broken"]


def test_attack(project: Project, facts: Any) -> None:
    found = facts("attack", project.spec)
    assert set(found) == documented("attack")
    assert not project.release.exists()
    unveil.publish(project.spec).write(project.release)
    before = {file: file.read_bytes() for file in project.release.iterdir()}
    assert set(facts("attack", project.release, "--raw", project.spec)) == set(found)
    assert facts("attack", project.release, "--earlier", project.release)["outcomes"]
    assert {file: file.read_bytes() for file in project.release.iterdir()} == before


def test_init(project: Project, facts: Any) -> None:
    assert set(facts("init", project.table)) == documented("init")


@pytest.mark.slow
def test_demo_next_to_the_release_of_an_earlier_one(
    tmp_path: Path, facts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo-release").mkdir()
    found = facts("demo")
    assert set(found) == documented("demo")
    assert {Path(item["release"]).parent for item in found["releases"]} == {Path("demo-release-2")}
    assert [item["name"] for item in found["releases"]] == ["k-anonymity", "templates", "differential privacy"]
    for item in found["releases"]:
        assert unveil.verify(item["release"]) == item["findings"] == []
        assert Path(item["report"]).is_file()
        assert found["accuracy"]["masked"] < item["accuracy"] < 1


def test_what_is_bad_is_not_json(project: Project, run: Run) -> None:
    project.edit(project.spec, "range", "rnage")
    for words in (("check", project.spec), ("publish", project.spec, "--to", project.release)):
        outcome = run(*words, "--json")
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.count("\n") == 1
