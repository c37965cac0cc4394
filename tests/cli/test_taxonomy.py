"""The commands `taxonomy draft`, `show` and `convert`, and what a drafted taxonomy may be used for."""

import json
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

import unveil
from commands import Run
from project import TREE, Project
from unveil.schema import Taxonomy, drawn, read_taxonomy

HCHY = "job:discrete\n{Any {a} {b}}\nsex:discrete\n{Any sex {F} {M}}\n"


@pytest.fixture
def long_tree(tmp_path: Path) -> Path:
    file = tmp_path / "long.tree"
    parts = (f"  part {i}\n" + "".join(f"    value {i}.{j}\n" for j in range(30)) for i in range(20))
    file.write_text("Any\n" + "".join(parts))
    return file


# ---- Draft ----


def test_a_draft_is_printed_as_a_tree_and_the_guess_next_to_it(project: Project, run: Run) -> None:
    outcome = run("taxonomy", "draft", project.table, "town")
    assert outcome.code == 0
    (project.folder / "town.tree").write_text(outcome.out)
    taxonomy = read_taxonomy(project.folder / "town.tree")
    assert set(taxonomy.leaves) == {"Aarhus", "Bergen", "Cork"}
    assert taxonomy.observed is not None
    assert "people.csv: 'town' is drafted by frequency" in outcome.err


@pytest.mark.parametrize("ending", [".tree", ".csv", ".hchy"])
def test_a_draft_is_written_in_the_format_of_its_ending(project: Project, run: Run, ending: str) -> None:
    file = project.folder / f"age{ending}"
    outcome = run("taxonomy", "draft", project.table, "age", "--to", file, "--declare")
    assert outcome.code == 0
    assert "drafted by numbers" in outcome.out
    assert "Left out as missing: 1 row ('?')." in outcome.out
    taxonomy = read_taxonomy(file, "age")
    assert taxonomy.observed is None
    assert "[20, 30)" in taxonomy


def test_a_draft_keeps_its_mark_or_is_not_written(project: Project, run: Run) -> None:
    before = project.files()
    outcome = run("taxonomy", "draft", project.table, "age", "--to", project.folder / "age.csv")
    assert outcome.code == 2
    assert "--declare" in outcome.err
    assert project.files() == before
    for name in ("age.tree", "age.hchy"):
        assert run("taxonomy", "draft", project.table, "age", "--to", project.folder / name).code == 0
        assert read_taxonomy(project.folder / name, "age").observed is not None


def test_the_facts_of_a_draft(project: Project, run: Run) -> None:
    facts = json.loads(run("taxonomy", "draft", project.table, "age", "--json").out)
    assert (facts["by"], facts["missing"], facts["missing_rows"], facts["values"]) == ("numbers", ["?"], 1, 48)
    assert facts["tree"]["label"] == "Any age"
    assert facts["tree"]["values"] == 48


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["people.csv", "towm"], ["people.csv", "'towm'", "did you mean 'town'"]),
        (["people.csv", "town", "--by", "dates"], ["people.csv", "'town'", "dates", "'Aarhus'"]),
        (
            ["people.csv", "town", "--by", "magic"],
            ["'magic'", "dates, bands, diagnoses, countries, prefix, numbers, frequency"],
        ),
        (["people.csv", "town", "--to", "job.tree"], ["job.tree", "exists already"]),
        (["people.csv", "town", "--to", "x.xlsx"], ["x.xlsx", ".tree, .csv, .hchy"]),
        (["people.csv", "town", "--to", "no/x.tree"], ["x.tree", "'no'"]),
        (["nobody.csv", "town"], ["nobody.csv", "no such file"]),
    ],
)
def test_a_draft_that_cannot_be_made(
    project: Project, run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], parts: list[str]
) -> None:
    monkeypatch.chdir(project.folder)
    before = project.files()
    outcome = run("taxonomy", "draft", *words)
    assert outcome.code == 2
    assert all(part in outcome.err for part in parts), outcome.err
    assert "Traceback" not in outcome.err
    assert project.files() == before


# ---- What a drafted taxonomy is good for ----


def drafted(project: Project, run: Run) -> Path:
    file = project.folder / "town.tree"
    assert run("taxonomy", "draft", project.table, "town", "--to", file).code == 0
    project.edit(project.spec, 'values = ["Aarhus", "Bergen", "Cork"]', 'taxonomy = "town.tree"')
    return file


def test_a_release_says_that_the_domain_is_observed(project: Project, run: Run) -> None:
    drafted(project, run)
    assert "Domains taken from the data, not declared: 'town'" in run("check", project.spec).out
    assert run("publish", project.spec, "--to", project.release).code == 0
    manifest = json.loads((project.release / "manifest.json").read_text())
    assert (manifest["masking"]["town"]["kind"], manifest["masking"]["town"]["domain"]) == (
        "generalization",
        "observed",
    )
    assert unveil.verify(project.release, project.spec) == []


def test_a_release_that_calls_a_draft_declared_is_found_out(project: Project, run: Run) -> None:
    file = drafted(project, run)
    marked = file.read_text()
    file.write_text(marked.partition("\n")[2])
    assert run("publish", project.spec, "--to", project.release).code == 0
    assert unveil.verify(project.release, project.spec) == []
    file.write_text(marked)
    assert [finding.claim for finding in unveil.verify(project.release, project.spec)] == ["spec-domain"]


PRIVATE = """
[table]
source = "people.csv"
class = "ill"
others = "drop"
missing = { values = ["?"], rows = "drop" }

[attributes.town]
kind = "category"
taxonomy = "town.tree"

[attributes.ill]
values = ["yes", "no"]

[[require]]
kind = "differential-privacy"
epsilon = 1.0

[publish]
method = "diffgen"
specializations = 1
"""


def test_differential_privacy_refuses_a_draft_until_its_mark_is_removed(project: Project, run: Run) -> None:
    file = drafted(project, run)
    project.spec.write_text(PRIVATE)
    for command in (["check", project.spec], ["publish", project.spec, "--to", project.release]):
        outcome = run(*command)
        assert outcome.code == 2
        assert "[attributes.town]" in outcome.err
        assert "remove the mark 'observed:' from town.tree" in outcome.err
    assert not project.release.exists()
    file.write_text(file.read_text().partition("\n")[2])
    assert run("publish", project.spec, "--to", project.release).code == 0


def test_the_hint_of_a_first_spec_is_a_command_that_works(project: Project, run: Run) -> None:
    table = project.folder / "the people.csv"
    project.table.rename(table)
    spec = project.folder / "first.toml"
    assert run("init", table, "--to", spec).code == 0
    lines = spec.read_text().splitlines()
    hints = [line.removeprefix("# drafted by: ") for line in lines if line.startswith("# drafted by: ")]
    assert len(hints) == 2
    project.tree.unlink()
    for hint in hints:
        name, *words = shlex.split(hint)
        assert name == "unveil"
        assert run(*words).code == 0
    spec.write_text(spec.read_text().replace("# taxonomy =", "taxonomy ="))
    assert run("check", spec).code == 0
    assert unveil.load_spec(spec).attributes["town"].masking == "generalization"


def test_the_hint_for_a_column_with_an_odd_name(project: Project, run: Run) -> None:
    project.table.write_text('"-a/b c",y\nred,1\nblue,2\nred,1\ngray,1\n')
    out = run("init", project.table, "--to", project.folder / "first.toml").code
    assert out == 0
    hint = next(line for line in (project.folder / "first.toml").read_text().splitlines() if "drafted by" in line)
    assert run(*shlex.split(hint.removeprefix("# drafted by: "))[1:]).code == 0
    assert set(read_taxonomy(project.folder / "-a_b_c.tree").leaves) == {"red", "blue", "gray"}


# ---- Show ----


def test_a_tree_is_drawn_with_counts(project: Project, run: Run) -> None:
    assert run("taxonomy", "show", project.tree).out.splitlines() == [
        "Any job  (4)",
        "├── Office  (2)",
        "│   ├── clerk",
        "│   └── lawyer",
        "└── Craft  (2)",
        "    ├── baker",
        "    └── smith",
        "job.tree: 4 values under 3 labels, 3 levels.",
    ]


def test_a_long_tree_is_cut_and_counted(long_tree: Path, run: Run) -> None:
    lines = run("taxonomy", "show", long_tree).out.splitlines()
    assert lines[:2] == ["Any  (600)", "├── part 0  (30) …"]
    assert lines[-3] == "└── … 8 more with 240 values"
    assert lines[-2] == "13 of 621 labels shown; `unveil taxonomy show --all` draws all of them."
    assert lines[-1] == "long.tree: 600 values under 21 labels, 3 levels."
    whole = run("taxonomy", "show", long_tree, "--all").out.splitlines()
    assert len(whole) == 622


def test_a_cut_drawing_counts_every_value_once(long_tree: Path) -> None:
    flat = Taxonomy(("Any", [(str(i), []) for i in range(100)]))
    for taxonomy in (flat, read_taxonomy(long_tree)):
        lines = list(drawn(taxonomy, whole=False))
        assert len(lines) <= 60
        left = sum(int(count.split()[-2]) for _, label, count in lines if not label)
        shown = sum(1 for _, label, count in lines if label and not count)
        cut = sum(int(count[1 : count.index(")")]) for _, _, count in lines if count.endswith(") …"))
        assert left + shown + cut == len(taxonomy.leaves)


def test_show_as_json(project: Project, run: Run) -> None:
    facts = json.loads(run("taxonomy", "show", project.tree, "--json").out)
    assert (facts["values"], facts["labels"], facts["levels"], facts["observed"]) == (4, 7, 3, None)
    assert [child["label"] for child in facts["tree"]["children"]] == ["Office", "Craft"]


def test_a_label_cannot_move_the_cursor(tmp_path: Path, run: Run) -> None:
    (tmp_path / "x.tree").write_text('Any\n  "a\\u001b[2Jb"\n  "c\\nd"\n')
    out = run("taxonomy", "show", tmp_path / "x.tree").out
    assert "\x1b" not in out
    assert "a\\u001b[2Jb" in out
    assert "c\\u000ad" in out


def test_a_tree_of_a_file_with_several(tmp_path: Path, run: Run) -> None:
    (tmp_path / "x.hchy").write_text(HCHY)
    assert run("taxonomy", "show", tmp_path / "x.hchy", "sex").out.startswith("Any sex  (2)")
    outcome = run("taxonomy", "show", tmp_path / "x.hchy")
    assert outcome.code == 2
    assert outcome.err == "unveil: x.hchy: it has trees for 'job', 'sex'; name one of these attributes.\n"


# ---- Convert ----


def test_there_and_back_again(project: Project, run: Run) -> None:
    files = [project.tree, *(project.folder / name for name in ("a.csv", "b.hchy", "job2.tree"))]
    for source, target in pairwise(files):
        assert run("taxonomy", "convert", source, target).code == 0
    assert files[-1].read_text() == TREE.partition("\n")[2]
    assert files[2].read_text().startswith("a:discrete\n")


def test_convert_takes_one_tree_of_several(tmp_path: Path, run: Run) -> None:
    (tmp_path / "x.hchy").write_text(HCHY)
    assert run("taxonomy", "convert", tmp_path / "x.hchy", tmp_path / "sex.csv", "--attribute", "sex").code == 0
    assert (tmp_path / "sex.csv").read_text() == "F;Any sex\nM;Any sex\n"
    outcome = run("taxonomy", "convert", tmp_path / "sex.csv", tmp_path / "y.hchy", "--attribute", "gender")
    assert "as the attribute 'gender'" in outcome.out
    assert (tmp_path / "y.hchy").read_text() == "gender:discrete\n{Any sex {F} {M}}\n"


@pytest.mark.parametrize(
    ("content", "target", "problem"),
    [
        ("Any\n  a{\n", "y.hchy", "the label 'a{' cannot be written"),
        ('Any\n  " a"\n', "y.csv", "the label ' a' cannot be written"),
        ("# observed: drafted\nAny\n  a\n", "y.csv", "cannot hold the mark"),
        ("Any\n  a\n", "y.txt", "end in one of .tree, .csv, .hchy"),
        ("Any\n  a\n", "x.tree", "exists already"),
    ],
)
def test_what_cannot_be_converted_is_not_written(
    tmp_path: Path, run: Run, content: str, target: str, problem: str
) -> None:
    (tmp_path / "x.tree").write_text(content)
    outcome = run("taxonomy", "convert", tmp_path / "x.tree", tmp_path / target)
    assert outcome.code == 2
    assert problem in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["x.tree"]
    assert (tmp_path / "x.tree").read_text() == content


def test_declare_drops_the_mark(tmp_path: Path, run: Run) -> None:
    (tmp_path / "x.tree").write_text("# observed: drafted\nAny\n  a\n  b\n")
    assert run("taxonomy", "convert", tmp_path / "x.tree", tmp_path / "y.csv", "--declare").code == 0
    assert read_taxonomy(tmp_path / "y.csv").observed is None
    assert run("taxonomy", "convert", tmp_path / "x.tree", tmp_path / "y.tree").code == 0
    assert read_taxonomy(tmp_path / "y.tree").observed == "drafted"
