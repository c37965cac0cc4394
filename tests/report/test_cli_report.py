"""The command `report`: where the page goes, what it refuses, and what the owner's page adds."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import unveil
from commands import Run
from project import Project
from report.reading import read
from unveil.evaluation.protocol import Holdout
from unveil.tables import FileSource, Survey


@pytest.fixture
def published(project: Project) -> Project:
    project.search_as_in_the_paper()
    unveil.publish(project.spec).write(project.release)
    return project


def test_a_page_next_to_the_release(published: Project, run: Run) -> None:
    outcome = run("report", published.release)
    assert outcome.code == 0, outcome
    page = published.folder / "release-report.html"
    assert str(page) in outcome.out
    assert "can be shared" in outcome.out
    assert page.read_text(encoding="utf-8") == unveil.report(published.release)
    assert unveil.verify(published.release) == []


def test_a_page_where_it_is_wished(published: Project, run: Run) -> None:
    target = published.folder / "page.html"
    assert run("report", published.release, "--to", target).code == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_owners_page(published: Project, run: Run) -> None:
    outcome = run("report", published.release, "--owner", published.spec)
    assert outcome.code == 0, outcome
    assert "private" in outcome.out
    seen = read((published.folder / "release-report-private.html").read_text(encoding="utf-8"))
    assert "Private. This page holds exact figures of the raw table" in seen.text
    assert {"accuracy", "steps", "risks", "attacks"} <= set(seen.ids())
    assert "attacks found a leak" in seen.text
    trace = unveil.publish(published.spec).trace
    assert f"{len(trace)} refinements, first to last" in seen.text
    for step in trace:
        assert f"{step['attribute']} {step['refined']} {', '.join(step['into'])} {step['gain']:.3g}" in seen.text
    for words in ("Rows read 49", "Rows left out 1,", "everything masked", "raw data", "Any job", "alone"):
        assert words in seen.text


def test_the_owner_says_how_many_holdouts_and_rows(published: Project, run: Run) -> None:
    outcome = run("report", published.release, "--owner", published.spec, "--seeds", 2, "--sample", 40)
    assert outcome.code == 0, outcome
    seen = read((published.folder / "release-report-private.html").read_text(encoding="utf-8")).text
    assert "33% of the rows held out, 2 times" in seen
    assert "a uniform random sample of 40" in seen
    assert "Rows read 49" in seen
    for words in ("How far tables of counts are off", "Means and quantiles", "Other scores", "By class"):
        assert words in seen


@pytest.mark.parametrize("words", [("--seeds", 2), ("--sample", 40)])
def test_a_page_to_hand_out_tries_no_classifiers(words: tuple[object, ...], published: Project, run: Run) -> None:
    outcome = run("report", published.release, *words)
    assert outcome.code == 2
    assert "--seeds and --sample need --owner." in outcome.err
    assert not (published.folder / "release-report.html").exists()


def test_the_raw_table_is_read_and_checked_once(published: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once by the engine; the verifier, which shares no code with it, reads the table by itself."""
    reads, checks = counted(monkeypatch, FileSource, "table"), counted(monkeypatch, Survey, "add")
    unveil.report(published.release, owner=published.spec)
    assert (len(reads), len(checks)) == (1, 1)
    unveil.explain(published.spec, protocol=Holdout(seeds=(0, 1)))
    assert (len(reads), len(checks)) == (2, 2)


def test_a_page_says_from_how_many_records_classifiers_learned(
    published: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "Classifiers learned from 5 records of each training part"
    assert words not in read(unveil.report(published.release, owner=published.spec)).text
    monkeypatch.setattr(sys.modules["unveil.workflow.evaluate"], "VALUES_FOR_PAGE", 20)
    assert words in read(unveil.report(published.release, owner=published.spec)).text


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, method: str) -> list[None]:
    """A list that grows with every call of a method."""
    calls: list[None] = []
    usual = getattr(owner, method)

    def call(*arguments: Any) -> Any:
        calls.append(None)
        return usual(*arguments)

    monkeypatch.setattr(owner, method, call)
    return calls


def test_the_handed_out_page_is_not_marked_private(published: Project) -> None:
    seen = read(unveil.report(published.release))
    assert "Private." not in seen.text
    assert not {"accuracy", "steps"} & set(seen.ids())


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_the_steps_of_a_search_that_was_stopped(steps: int, project: Project) -> None:
    project.search_as_in_the_paper()
    unveil.publish(project.spec, steps=steps).write(project.release)
    text = read(unveil.report(project.release, owner=project.spec)).text
    told = {0: "None: everything is masked.", 1: "1 refinement, first to last", 3: "3 refinements, first to last"}
    assert told[steps] in text


def test_steps_that_do_not_lead_to_the_release_are_not_reported(published: Project) -> None:
    """A release that keeps to a stricter k is true by this spec too, but its search ends elsewhere."""
    other = published.folder / "other.toml"
    text = published.spec.read_text(encoding="utf-8")
    other.write_text(text.replace("k                = 3", "k                = 2"), encoding="utf-8")
    seen = read(unveil.report(published.release, owner=other))
    assert "do not lead to this release" in seen.text


def test_a_release_that_does_not_verify_is_refused(published: Project, run: Run) -> None:
    path = published.release / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["requirements"][0]["k"] = 40
    manifest["guarantee"] = manifest["guarantee"].replace("3 records", "40 records")
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    before = published.files()
    outcome = run("report", published.release)
    assert outcome.code == 1
    assert "group-size" in outcome.out
    assert published.files() == before
    with pytest.raises(unveil.UnveilError, match="group-size"):
        unveil.report(published.release)


@pytest.mark.parametrize("broken", [True, False])
def test_a_claim_that_does_not_hold_comes_before_rows_that_cannot_be_tried(
    published: Project, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    """The release is verified while classifiers learn from the rows."""

    def tried(*args: object, **named: object) -> None:
        raise unveil.UnveilError("the rows cannot be tried.")

    monkeypatch.setattr("unveil.workflow.evaluate.evaluate_rows", tried)
    if broken:
        (published.release / "notes.txt").write_text("who is who", encoding="utf-8")
    with pytest.raises(unveil.UnveilError, match="notes.txt" if broken else "cannot be tried"):
        unveil.report(published.release, owner=published.spec)


def test_an_owners_page_of_another_table_is_refused(published: Project, run: Run) -> None:
    published.edit(published.table, "p0,20,clerk", "p0,21,clerk")
    published.edit(published.table, "p1,27,lawyer", "p1,79,smith")
    before = published.files()
    outcome = run("report", published.release, "--owner", published.spec)
    assert outcome.code == 1
    assert "truth" in outcome.out
    assert published.files() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to", "{release}/page.html"], "a report cannot be written into the release"),
        (["--to", "{folder}/people.csv.html"], None),
        (["--to", "{folder}/page.pdf"], "ends in neither .html nor .htm"),
        (["--to", "{folder}/nowhere/page.html"], "there is no folder 'nowhere'"),
        (["--to", "{folder}/taken.html"], "the report exists already"),
        (["--owner", "{folder}/no.toml"], "no.toml"),
    ],
)
def test_what_cannot_be_written_is_reported_first(
    words: list[str], sentence: str | None, published: Project, run: Run
) -> None:
    (published.folder / "taken.html").write_text("mine", encoding="utf-8")
    before = published.files()
    filled = [word.format(release=published.release, folder=published.folder) for word in words]
    outcome = run("report", published.release, *filled)
    if sentence is None:
        assert outcome.code == 0
        return
    assert outcome.code == 2
    assert sentence in " ".join(outcome.err.replace("│", " ").split())  # some are in a frame
    assert "Traceback" not in outcome.err
    assert published.files() == before
    assert (published.folder / "taken.html").read_text() == "mine"


def test_a_folder_that_is_not_a_release(tmp_path: Path, run: Run) -> None:
    outcome = run("report", tmp_path)
    assert outcome.code == 2
    assert "manifest.json" in outcome.err


def test_a_weighted_release(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,n,ill\n20,3,yes\n30,4,no\n40,2,no\n50,9,yes\n", encoding="utf-8")
    spec = tmp_path / "t.toml"
    spec.write_text(
        'table = { source = "t.csv", class = "ill", weight = "n" }\n'
        'attributes.age = { kind = "number", range = [0, 90], whole = true }\n'
        'require = [{ kind = "k-anonymity", quasi-identifier = ["age"], k = 2 }]\n',
        encoding="utf-8",
    )
    unveil.publish(spec).write(tmp_path / "release")
    assert "as many records as its column n says" in read(unveil.report(tmp_path / "release")).text
