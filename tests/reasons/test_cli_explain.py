"""`unveil explain` as an owner uses it."""

import json
from pathlib import Path

import pytest

import unveil
from commands import Run
from noise.private import PrivateProject
from project import Project
from unveil.evaluation.protocol import Given


def test_why_no_attribute_is_finer(project: Project, run: Run) -> None:
    project.search_as_in_the_paper()
    before = project.files()
    outcome = run("explain", project.spec, "--no-shadow")
    assert outcome.code == 0, outcome
    assert "Requirement 1: Every combination of released values of {age, job, town}" in outcome.out
    for name in ("age", "job", "town"):
        assert f"  {name}, " in outcome.out
    assert "k asks for 3" in outcome.out
    assert "Keep them private." in outcome.out
    assert "would buy" not in outcome.out
    assert project.files() == before


def test_every_block_is_reported(project: Project, run: Run) -> None:
    short = run("explain", project.spec, "--no-shadow").out.splitlines()
    long = run("explain", project.spec, "--no-shadow", "--all").out.splitlines()
    stops = [stop for cut in unveil.explain(project.spec, shadow=False).cuts for stop in cut.stops]
    assert len(long) == len(short) + len(stops)


def test_prices(project: Project, run: Run) -> None:
    outcome = run("explain", project.spec, "--seeds", 2, "--classifier", "bayes")
    assert outcome.code == 0, outcome
    assert "What relaxing one number would buy" in outcome.out
    assert "k 3 → 2 of requirement 1 on {age, job, town} (the last k that asks for anything) buys" in outcome.out
    assert "33% of the rows held out, 2 times" in outcome.out


def test_what_is_not_priced_is_reported(project: Project, run: Run) -> None:
    project.edit(project.spec, "= 3\n", "= 2\n")
    outcome = run("explain", project.spec, "--seeds", 1)
    assert "Not priced: k = 2 of requirement 1 on {age, job, town}: any less would require nothing." in outcome.out
    assert "would buy" not in outcome.out


def test_a_table_too_small_to_be_parted_still_has_reasons(project: Project, run: Run) -> None:
    private = PrivateProject(project)
    private.table.write_text("name,age,job,town,income,ill\na,30,baker,Cork,9,no\n")
    outcome = run("explain", private.spec)
    assert outcome.code == 0, outcome
    assert "where the budget of ε = 0.5 goes" in outcome.out
    assert "Not priced: no price could be computed: the table has 1 row, too few to split 2 ways." in outcome.out
    with pytest.raises(unveil.TableError, match="no column 'part'"):
        unveil.explain(private.spec, protocol=Given("part"))


def test_json(project: Project, run: Run) -> None:
    project.search_as_in_the_paper()
    found = json.loads(run("explain", project.spec, "--seeds", 1, "--json").out)
    assert [item["attribute"] for item in found["attributes"]] == ["age", "job", "town"]
    broken = [item for cut in found["attributes"] for stop in cut["stops"] for item in stop["breaks"]]
    assert broken
    assert {(item["requirement"], item["asks"], item["bound"]) for item in broken} == {
        (1, "k = 3 on {age, job, town}", 3)
    }
    assert all(item["short"] == item["bound"] - item["level"] > 0 for item in broken)
    assert found["prices"][0]["after"] == 2
    assert found["spending"] is None


def test_a_private_release(project: Project, run: Run) -> None:
    private = PrivateProject(project)
    unveil.publish(private.spec, unsafe_seed=1).write(private.release)
    outcome = run("explain", private.spec, "--release", private.release, "--no-shadow")
    assert outcome.code == 0, outcome
    assert "where the budget of ε = 0.5 goes, by the release." in outcome.out
    assert "read from the release alone" in outcome.out
    private.table.unlink()
    assert run("explain", private.spec, "--release", private.release, "--no-shadow").out == outcome.out
    assert run("explain", private.spec, "--release", private.release).code == 2


def test_a_private_release_has_as_many_blocks_as_its_rows_show(project: Project) -> None:
    """Where all values are disclosed at once, `⊥` hides none and is not a block."""
    private = PrivateProject(project)
    for seed in range(6):
        release = unveil.publish(private.spec, unsafe_seed=seed)
        spending = unveil.explain(private.spec, release=release, shadow=False).spending
        assert spending is not None
        shown = {name: len(set(release.table[name].to_pylist())) for name in release.masking}
        assert spending.blocks == shown
        assert spending.refined == {name: int(count > 1) for name, count in shown.items()}


def test_a_private_release_that_is_drawn_from_seeds(project: Project, run: Run) -> None:
    private = PrivateProject(project)
    seeded = run("explain", private.spec, "--seeds", 2)
    assert "by 5 draws from seeds" in seeded.out
    assert "nothing was charged to the ledger" in seeded.out
    assert json.loads(run("explain", private.spec, "--no-shadow", "--json").out)["spending"]["epsilon"] == "1/2"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--release", "nowhere"), "a release is explained for a private method only"),
        (("--classifier", "oracle"), "there is no classifier 'oracle'"),
    ],
)
def test_bad_options(words: tuple[str, ...], sentence: str, project: Project, run: Run) -> None:
    outcome = run("explain", project.spec, *words)
    assert outcome.code == 2
    assert sentence in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.out == ""


def test_a_release_of_another_spec_is_refused(project: Project, run: Run) -> None:
    unveil.publish(project.spec).write(project.release)
    private = PrivateProject(project)
    outcome = run("explain", private.spec, "--release", project.release)
    assert outcome.code == 2
    assert "this is not a differentially private release by people.toml" in outcome.err
    assert run("explain", private.spec, "--release", project.folder / "none").code == 2


def test_a_requirement_that_cannot_hold(project: Project, run: Run) -> None:
    project.edit(project.spec, "= 3\n", "= 300\n")
    outcome = run("explain", project.spec)
    assert outcome.code == 2
    assert "no release of people.csv can satisfy k = 300" in outcome.err


def test_the_manual_shows_what_is_printed(run: Run) -> None:
    root = Path(__file__).parents[2]
    adult = root / "src" / "unveil" / "data" / "adult.toml"
    block = (root / "docs" / "explain.md").read_text(encoding="utf-8").split("```")[1]
    printed = run("explain", adult, "--no-shadow").out.splitlines()
    shown = [line for line in block.splitlines() if line]
    assert len(shown) == 2
    assert [line for line in shown if line not in printed] == []
