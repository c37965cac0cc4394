"""`unveil evaluate` and `unveil compare` as an owner uses them."""

import json
from statistics import fmean

import pytest

from commands import Run
from project import Project


def test_evaluate(project: Project, run: Run) -> None:
    outcome = run("evaluate", project.spec, "--classifier", "tree", "--classifier", "bayes", "--seeds", 2)
    assert outcome.code == 0, outcome
    for words in ("raw data (BE)", "the release (AE, SE)", "everything masked (UE)", "not C4.5", "naive Bayes"):
        assert words in outcome.out
    assert "33% of the rows held out, 2 times" in outcome.out
    assert "Re-identification on {age, job, town}" in outcome.out
    assert "0 records alone in their group." in outcome.out
    for words in ("Certainty penalty (NCP): ", "Discernibility (DM): ", "Class mix (CM): ", "lower keeps more"):
        assert words in outcome.out
    for words in ("balanced accuracy  AUC    log loss", "recall: raw", "one-way  with class  two-way", "mean: raw"):
        assert words in outcome.out
    assert "What statistics keep in the release of all records" in outcome.out
    assert "computed from the raw rows; no guarantee covers them" in outcome.out


def test_people_who_are_unique_on_all_columns_are_counted(project: Project, run: Run) -> None:
    """Groups of three and more on the quasi-identifier; a different income each makes every record unique."""
    lines = project.table.read_text().splitlines()
    people = [line.split(",") for line in lines[1:]]
    own = [",".join([*row[:4], str(place), row[5]]) for place, row in enumerate(people)]
    project.table.write_text("\n".join([lines[0], *own]) + "\n")
    outcome = run("evaluate", project.spec, "--seeds", 1)
    assert "0 records alone in their group." in outcome.out
    assert "on all 5 released columns together: 48 of 48 records (100.0%) are unique." in outcome.out
    found = json.loads(run("evaluate", project.spec, "--seeds", 1, "--json").out)["measures"]
    assert [risk["uniques"] for risk in found["risks"]] == [0]
    assert found["whole_row"]["uniques"] == 48
    assert found["whole_row"]["quasi_identifier"] == ["age", "job", "town", "income", "ill"]


def test_attacks_next_to_what_is_learned(project: Project, run: Run) -> None:
    outcome = run("evaluate", project.spec, "--seeds", 1, "--attack")
    assert "attacks found a leak" in outcome.out
    found = json.loads(run("evaluate", project.spec, "--seeds", 1, "--attack", "--json").out)
    assert {"singling out", "membership"} <= {one["attack"] for one in found["attacks"]}


def test_figures_as_json(project: Project, run: Run) -> None:
    found = json.loads(run("evaluate", project.spec, "--folds", 4, "--together", "--json").out)
    assert found["protocol"] == "4-fold cross-validation"
    assert {line["setting"]: line["n"] for line in found["lines"]} == {"raw": 4, "released": 4, "masked": 4}
    assert found["measures"]["loss"]["records"] == 48
    scores = found["lines"][0]["scores"]
    assert scores["accuracy"] == pytest.approx(1 - found["lines"][0]["error"])
    assert {item["label"] for item in scores["classes"]} == {"no", "yes"}
    kept = found["statistics"]
    assert set(kept["attributes"]) == {"age", "job", "town"}
    assert kept["coarseness"] == pytest.approx(fmean(found["measures"]["loss"]["penalties"].values()))
    assert kept["attributes"]["job"]["number"] is None
    assert len(kept["attributes"]["age"]["number"]["released_quantiles"]) == len(kept["quantiles"])


def test_compare(project: Project, run: Run) -> None:
    other = project.folder / "stricter.toml"
    other.write_text(project.spec.read_text().replace("= 3", "= 12"))
    outcome = run("compare", project.spec, other, "--test", 0.4, "--seeds", 1, "--classifier", "bayes")
    assert outcome.code == 0, outcome
    for words in ("people.toml", "stricter.toml", "k = 3", "k = 12", "40% of the rows held out, once", "coarseness"):
        assert words in outcome.out
    assert json.loads(run("compare", project.spec, "--seeds", 1, "--json").out)[0]["guarantee"] == {"k": 3}


def test_compare_draws(project: Project, run: Run) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (unveil[report])")
    target = project.folder / "cost.svg"
    outcome = run("compare", project.spec, "--seeds", 1, "--classifier", "bayes", "--plot", target)
    assert outcome.code == 0, outcome
    assert f"The plot is in {target}." in outcome.out
    assert target.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--classifier", "c46"], "there is no classifier 'c46'; did you mean 'c45'?"),
        (["--folds", 3, "--test", 0.5], "only one of --folds, --test and --split"),
        (["--test", 1.5], "the share to test on is 1.5"),
        (["--split", "par"], "no column 'par'"),
    ],
)
def test_a_wish_that_cannot_be_met(words: list[object], sentence: str, project: Project, run: Run) -> None:
    outcome = run("evaluate", project.spec, *words)
    assert outcome.code == 2
    assert sentence in outcome.err
    assert outcome.out == ""


def test_a_plot_is_refused_before_anything_is_computed(project: Project, run: Run) -> None:
    outcome = run("compare", project.folder / "no.toml", "--plot", project.folder / "cost.gif")
    assert outcome.code == 2
    assert "a plot ends in .png or .svg" in outcome.err
