"""What objects show of themselves in a notebook: readable, complete, and nothing that a browser would run."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unveil
from project import Project
from unveil.evaluation.protocol import Holdout
from unveil.schema import Taxonomy
from unveil.workflow.verify import Findings

EVIL = '<script>alert("x")</script>&amp;'
VOID = {"br", "img", "hr", "meta", "link", "input"}
KNOWN = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre"}


class Shown(HTMLParser):
    """Reads HTML as a browser does: which elements there are, whether they close, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.styles: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"style"}
        self.styles += [value or "" for _, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def shown(item: Any) -> Shown:
    page = Shown(item._repr_html_())
    assert page.tags <= KNOWN, page.tags
    return page


@pytest.fixture
def evil(project: Project) -> Project:
    """A project whose labels, values, column and file names try to be HTML."""
    project.edit(project.tree, "clerk", EVIL)
    project.edit(project.spec, '"Cork"', f"'{EVIL}'")
    project.edit(project.spec, "[attributes.income]", "[attributes.'<b>income']")
    text = project.table.read_text().replace("clerk", EVIL.replace('"', '""')).replace("Cork", EVIL.replace('"', '""'))
    rows = [line.split(",") for line in text.replace(",income,", ",<b>income,").splitlines()]
    quoted = [",".join(f'"{cell}"' if "<s" in cell else cell for cell in row) for row in rows]
    project.table.write_text("\n".join(quoted) + "\n")
    return project


def test_the_reader_of_these_tests_sees_what_a_browser_would_run() -> None:
    class Careless:
        def _repr_html_(self) -> str:
            return f"<p>{EVIL}</p>"

    with pytest.raises(AssertionError, match="script"):
        shown(Careless())


def test_a_release_shows_its_promise_its_masking_and_some_rows(project: Project) -> None:
    release = unveil.publish(project.spec)
    page = shown(release)
    assert release.manifest.guarantee in page.text
    assert "5 of 48 rows" in page.text
    assert "discretization" in page.text
    assert repr(release).startswith("Release(48 rows, 5 columns: Every combination")
    assert shown(release.masking).text in page.text


def test_nothing_in_a_table_or_spec_becomes_html(evil: Project) -> None:
    evil.search_as_in_the_paper()
    release = unveil.publish(evil.spec)
    spec = unveil.load_spec(evil.spec)
    assert "<b>income" in shown(spec).text
    assert EVIL in shown(spec.attributes["job"].taxonomy).text
    assert EVIL in shown(unveil.publish(evil.spec, steps=50).masking).text
    assert "<b>income" in shown(release).text
    shown(unveil.evaluate(evil.spec, protocol=Holdout(1 / 3, (0,))))


def test_a_spec_says_what_it_asks_for(project: Project) -> None:
    spec = unveil.load_spec(project.spec)
    page = shown(spec)
    for word in ("never released", "generalization", "suppression", "discretization", "released as it is", "observed"):
        assert word in page.text, word
    assert "is shared by at least 3 records." in page.text
    assert repr(spec).startswith("Spec(people.toml: 4 attributes, class 'ill': Every combination")


def test_a_taxonomy_is_folded(project: Project) -> None:
    tree = unveil.load_spec(project.spec).attributes["job"].taxonomy
    assert isinstance(tree, Taxonomy)
    page = shown(tree)
    assert {"details", "summary", "pre"} <= page.tags
    assert "Any job\n  Office\n    clerk\n" in page.text
    assert repr(tree) == "Taxonomy(job.tree: 4 values below 'Any job')"


def test_findings_are_a_list_that_says_whether_all_is_well(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    fine = unveil.verify(project.release, project.spec)
    assert isinstance(fine, Findings)
    assert fine == []
    assert not fine
    assert shown(fine).text.strip().startswith("Every claim holds. For you to judge:")
    assert all(note in shown(fine).text for note in fine.notes)
    manifest = project.release / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"age"', '"<script>"'))
    broken = unveil.verify(project.release)
    assert broken
    page = shown(broken)
    assert "do not use this release" in page.text
    assert all(finding.message in page.text for finding in broken)


def test_an_evaluation_and_a_comparison_show_every_line_and_every_note(project: Project) -> None:
    found = unveil.evaluate(project.spec, classifiers=("tree", "bayes"), protocol=Holdout(1 / 3, (0, 1)))
    page = shown(found)
    for line in found.lines:
        assert f"{line.error:.2%}" in page.text
        assert line.bounds in page.text
    assert all(note in page.text for note in found.notes)
    assert repr(found).startswith("Evaluation(people.toml: errors on test rows, ")
    comparison = unveil.compare([project.spec], protocol=Holdout(1 / 3, (0, 1)))
    assert found.notes[0] in shown(comparison).text
    assert "k = 3" in shown(comparison).text
    assert repr(comparison).startswith("Comparison(Evaluation(people.toml")


def test_a_private_release_shows_nothing_that_its_folder_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pa.table({"age": [20, 30, 40, 50] * 25, "ill": ["yes", "no"] * 50})
    spec = {
        "table": {"class": "ill", "name": "people"},
        "attributes": {
            "age": {"kind": "number", "range": [0, 100], "whole": True},
            "ill": {"kind": "category", "values": ["yes", "no"]},
        },
        "require": [{"kind": "differential-privacy", "epsilon": 1.0}],
        "publish": {"method": "diffgen", "specializations": 2},
    }
    made = unveil.publish(table, spec)
    made.write(tmp_path / "release")
    assert made._repr_html_() == unveil.open_release(tmp_path / "release")._repr_html_()


def test_text_has_the_colours_of_the_page(project: Project) -> None:
    """A colour or a background of our own would be unreadable in half of all themes."""
    for item in (unveil.publish(project.spec), unveil.load_spec(project.spec), Findings()):
        for style in shown(item).styles:
            names = {part.partition(":")[0].strip() for part in style.split(";")}
            assert names <= {"text-align", "border-left", "padding-left", "overflow-x"}


def test_a_fit_shows_what_can_hold_and_what_the_raw_table_would_give_away(project: Project, evil: Project) -> None:
    fit = unveil.check(project.spec)
    assert repr(fit).startswith(
        "Fit(people.toml fits people.csv: 48 records can be released, 1 row left out; can hold: "
    )
    page = shown(fit)
    assert "48 records can be released, 1 row left out." in page.text
    assert "Can hold: Every combination of released values of" in page.text
    assert "groups below 3" in page.text
    assert "script" not in page.tags
