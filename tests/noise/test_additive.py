"""The additive method as an owner meets it: what it accepts, what it releases, and that it learns something."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from commands import Run
from noise.private import SPEC
from project import Project
from unveil.counting import binned
from unveil.counting.binned import BinnedRows
from unveil.noise import SeededSource
from unveil.publishers.additive.bins import affordable, block_of_bins, category_levels, number_levels
from unveil.publishers.additive.model import nonnegative, steps
from unveil.publishers.additive.rounds import noise_variance, with_noise, worth
from unveil.reasons.spending import spending_of
from unveil.reports.page import handout_page
from unveil.schema import Attribute, Taxonomy

ADDITIVE = SPEC.replace('method          = "diffgen"\nspecializations = 3\n', 'method = "additive"\n')
TREE = Taxonomy(("any", [("left", [("a", []), ("b", [])]), ("c", [])]))
JOB = Attribute("job", taxonomy=TREE)


@pytest.fixture
def owner(project: Project) -> Iterator[Project]:
    assert ADDITIVE != SPEC
    project.spec.write_text(ADDITIVE, encoding="utf-8")
    return project


def people(count: int = 4000, seed: int = 1) -> pa.Table:
    """Old people are often ill, and those of Cork more often; the rest says nothing."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 80, count)
    town = draw.choice(["Cork", "Kyoto", "Lima"], count)
    ill = draw.random(count) < np.where(age > 50, 0.8, 0.1) + 0.1 * (town == "Cork")
    return pa.table({"age": age, "town": town, "shoe": draw.integers(30, 50, count), "ill": np.where(ill, "yes", "no")})


DECLARED = {
    "table": {"class": "ill"},
    "attributes": {
        "age": {"kind": "number", "range": [20, 80], "whole": True},
        "town": {"kind": "category", "values": ["Cork", "Kyoto", "Lima"]},
        "shoe": {"kind": "number", "range": [30, 50], "whole": True},
        "ill": {"values": ["no", "yes"]},
    },
    "require": [{"kind": "differential-privacy", "epsilon": 1.0}],
    "publish": {"method": "additive"},
}


def released(seed: int = 0, **changed: object) -> unveil.Release:
    return unveil.publish(people(), {**DECLARED, **changed}, unsafe_seed=seed)


def test_a_list_of_columns_is_not_a_goal_of_weights() -> None:
    with pytest.raises(unveil.SpecError, match="goal is a list of columns, but the method 'additive' has the goal"):
        released(publish={"method": "additive", "goal": ["town"]})


def test_weights_for_statistics_say_where_the_budget_went() -> None:
    release = released(publish={"method": "additive", "goal": "statistics"})
    assert release.manifest.method == "statistics"
    spent = " ".join(spending_of([release]).sentences())
    assert "to the tables of the attributes with the class" in spent
    assert "to the counts of the pairs" in spent
    assert "noisy tables of counts make likely" in handout_page(release)


def test_publish_enters_the_ledger_and_writes_a_private_release(run: Run, owner: Project, tmp_path: Path) -> None:
    done = run("publish", owner.spec, "--to", tmp_path / "release")
    assert done.code == 0, done.err
    assert done.out.startswith("Weights of ")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["method"] == "additive"
    assert manifest["private"] is True
    assert "ε-differentially private with ε = 0.5" in manifest["guarantee"]
    assert sum(Fraction(entry["epsilon"]) for entry in manifest["ledger"]) == Fraction(1, 2)
    ledger = json.loads((owner.folder / "unveil-ledger.json").read_text(encoding="utf-8"))
    assert [entry["epsilon"] for entry in ledger] == ["1/2"]
    assert unveil.open_release(tmp_path / "release").manifest.method == "additive"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('method = "additive"', 'method = "additive"\nutility = "max"', "utility belongs to the method 'diffgen'"),
        ('method = "additive"', 'method = "additive"\nbounds = "round"', "bounds belongs to the method 'refinement'"),
        ("epsilon = 0.5", "epsilon = 0.0001", "below 0.001 all is noise"),
        ("[attributes.income]", "[attributes.weight]", "a column is called 'weight'"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(run: Run, owner: Project, old: str, new: str, message: str) -> None:
    assert old in ADDITIVE
    owner.spec.write_text(ADDITIVE.replace(old, new), encoding="utf-8")
    done = run("check", owner.spec)
    assert done.code == 2
    assert message in done.err


def test_check_explain_and_the_page_know_the_method(run: Run, owner: Project, tmp_path: Path) -> None:
    assert run("check", owner.spec).code == 0
    told = run("explain", owner.spec)
    assert told.code == 0, told.err
    assert "to the choice of attributes" in told.out
    assert "to the counts of the leaves" in told.out
    assert run("publish", owner.spec, "--to", tmp_path / "release").code == 0
    told = run("explain", owner.spec, "--release", tmp_path / "release")
    assert told.code == 0, told.err
    assert "3.0% to the class totals" in told.out
    page = handout_page(unveil.open_release(tmp_path / "release"))
    assert "A table of weights" in page
    assert "counts of the leaves" in page


def test_the_cut_tells_apart_what_matters() -> None:
    release = released()
    age, shoe = (len(release.masking[name].shown) for name in ("age", "shoe"))
    assert age > 1
    assert shoe == 1
    assert release.table.column_names == ["age", "town", "shoe", "ill", "weight"]
    weights = release.table["weight"].to_numpy()
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(4000, rel=0.05)
    assert release.to_rows().num_rows == round(weights.sum())


def test_later_rows_are_masked_by_the_cut() -> None:
    release = released()
    masked = release.masking.apply(people(10, seed=2).drop_columns(["ill"]), intervals="text")
    for name in ("age", "town", "shoe"):
        assert set(masked[name].to_pylist()) <= set(release.masking[name].shown)


def test_a_tree_learns_from_the_weights() -> None:
    """Predicting the commoner class is right in about 55%, knowing everything in 84%."""
    found = unveil.evaluate(people(), DECLARED, classifiers=["tree"])
    accuracy = {line.setting: 1 - line.error for line in found.lines}
    assert accuracy["released"] > 0.8


def test_no_row_at_all_is_released_like_any_table() -> None:
    """How many rows there are is private, so none is not an error."""
    release = unveil.publish(people(0), DECLARED, unsafe_seed=1)
    assert sum(Fraction(entry.epsilon) for entry in release.manifest.ledger) == 1


@pytest.mark.parametrize("epsilon", [0.001, 5000.0])
@pytest.mark.parametrize("count", [1, 4000])
def test_any_epsilon_gives_a_release(epsilon: float, count: int) -> None:
    asked = {**DECLARED, "require": [{"kind": "differential-privacy", "epsilon": epsilon}]}
    release = unveil.publish(people(count), asked, unsafe_seed=1)
    assert float(sum(Fraction(entry.epsilon) for entry in release.manifest.ledger)) == epsilon
    assert (release.table["weight"].to_numpy() > 0).all()


def test_much_budget_shows_the_table_as_it_is() -> None:
    """Where noise is negligible, the weights of the cells are those of the people, but for the model."""
    asked = {**DECLARED, "require": [{"kind": "differential-privacy", "epsilon": 500.0}]}
    release, rows = unveil.publish(people(), asked, unsafe_seed=1), people()
    weights, ill = release.table["weight"].to_numpy(), np.array(release.table["ill"].to_pylist()) == "yes"
    assert weights[ill].sum() == pytest.approx(rows["ill"].to_pylist().count("yes"), rel=0.01)
    cork = np.array(release.table["town"].to_pylist()) == "Cork"
    assert weights[cork].sum() == pytest.approx(rows["town"].to_pylist().count("Cork"), rel=0.1)


@pytest.mark.parametrize("seed", range(2))
def test_a_hundred_attributes_of_many_values_are_no_problem(seed: int) -> None:
    """Their product has 10^300 cells."""
    draw = np.random.default_rng(seed)
    names = [f"x{place}" for place in range(100)]
    rows = {name: draw.integers(0, 1000, 300) for name in names}
    table = pa.table({**rows, "y": np.where(rows["x3"] < 500, "a", "b")})
    number = {"kind": "number", "range": [0, 1000], "whole": True}
    spec = {
        **DECLARED,
        "table": {"class": "y"},
        "attributes": {**dict.fromkeys(names, number), "y": {"values": ["a", "b"]}},
    }
    assert unveil.publish(table, spec, unsafe_seed=seed).table.num_rows <= 100_000


def test_levels_of_numbers_grow_finer() -> None:
    levels = number_levels(Attribute("pay", kind="number", range=(0, 100_000), whole=True))
    assert all(set(coarse.thresholds) < set(fine.thresholds) for coarse, fine in pairwise(levels))
    assert {1, 2, 5, 10, 50_000} <= set(levels[0].thresholds)
    assert number_levels(Attribute("x", kind="number", range=(0, 5), whole=True))[0].thresholds == (1, 2, 3, 4)


def test_levels_of_a_taxonomy_are_its_depths() -> None:
    levels = category_levels(JOB)
    assert [[node.label for node in level.nodes] for level in levels] == [["left", "c"], ["a", "b", "c"]]
    assert levels[1].kernel().tolist() == [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]


def test_an_attribute_that_cannot_be_told_apart_is_never_measured() -> None:
    many = Attribute("id", values=tuple(str(number) for number in range(400)))
    assert affordable(many, 1e9) is None
    assert affordable(Attribute("one", values=("x",)), 1e9) is None


@pytest.mark.parametrize(
    ("effects", "blocks"),
    [([0.0, 0.0, 0.0], [0, 0, 0]), ([0.0, 0.1, 1.0], [0, 0, 1]), ([0.0, 1.0, 1.0], [0, 1, 2])],
)
def test_siblings_of_the_same_effect_become_their_parent(effects: list[float], blocks: list[int]) -> None:
    bins = affordable(JOB, 1e9)
    assert bins is not None
    assert block_of_bins(bins, np.array(effects)[:, None]).tolist() == blocks


@pytest.mark.parametrize("seed", range(20))
def test_the_worth_of_a_number_is_that_of_its_best_interval(seed: int) -> None:
    held = np.random.default_rng(seed).integers(0, 50, (7, 2))
    residuals = (held[:, 1] - held[:, 0]).tolist()
    tried = [
        abs(sum(residuals[lo:hi])) + abs(sum(residuals[:lo]) + sum(residuals[hi:]))
        for lo in range(8)
        for hi in range(lo, 8)
    ]
    assert worth(held, ordered=True) == max(tried)
    assert worth(held, ordered=False) == sum(map(abs, residuals))


def test_steps_undo_what_the_model_lacks() -> None:
    """Where one side weighs e times the other, the log-odds are off by one."""
    against = np.array([1000.0, 5000.0])
    found = steps(against, against * np.exp([1.0, -0.5]), np.eye(2), 1.0)
    assert found == pytest.approx([1.0, -0.5], abs=0.05)
    assert not steps(np.array([500.0, 500.0]), np.array([505.0, 497.0]), np.eye(2), 100.0).any()


def test_noisy_sums_become_nonnegative_with_their_total() -> None:
    found = nonnegative(np.array([10.0, -3.0, 5.0]))
    assert found.min() == 0
    assert found.sum() == pytest.approx(12)


def test_noise_of_short_tables_has_its_variance() -> None:
    rate = Fraction(1, 2000)
    drawn = with_noise(np.zeros(20_000, dtype=np.int64), rate, SeededSource(3))
    assert drawn.var() == pytest.approx(noise_variance(rate), rel=0.06)
    assert abs(drawn.mean()) < 5 * np.sqrt(noise_variance(rate) / 20_000)


def test_rows_that_do_not_fit_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    held = released(seed=4)
    monkeypatch.setattr(binned, "HELD_BYTES", 0)
    again: list[int] = []
    chunks = BinnedRows._chunks

    def counted(rows: BinnedRows) -> Iterator[binned.BinnedChunk]:
        again.append(1)
        yield from chunks(rows)

    monkeypatch.setattr(BinnedRows, "_chunks", counted)
    assert released(seed=4).table.equals(held.table)
    assert len(again) == len(held.manifest.rounds)


def only(attribute: dict[str, object], goal: str) -> dict[str, object]:
    """The spec of a table with one attribute."""
    return {
        "table": {"class": "ill"},
        "attributes": {"job": attribute, "ill": {"kind": "category", "values": ["no", "yes"]}},
        "require": [{"kind": "differential-privacy", "epsilon": 1.0}],
        "publish": {"method": "additive", "goal": goal},
    }


@pytest.mark.parametrize("goal", ["class", "statistics"])
@pytest.mark.parametrize("number", [300, 301])
def test_a_table_without_anything_to_measure_is_refused(number: int, goal: str) -> None:
    """Before anything is charged: the only attribute has too many values to be measured one by one."""
    jobs = [f"job {place}" for place in range(number)]
    table = pa.table({"job": jobs * 3, "ill": ["no", "yes", "no"] * number})
    spec = only({"kind": "category", "values": jobs}, goal)
    if number == 300:
        assert unveil.publish(table, spec, unsafe_seed=1).table.num_rows > 2
        return
    with pytest.raises(unveil.SpecError, match="every attribute has more than 300 values and no taxonomy with fewer"):
        unveil.publish(table, spec)


def test_a_taxonomy_with_few_labels_is_measured_however_few_records_there_are() -> None:
    """One label below the root, then 100: too many for few records, but one would tell nothing."""
    leaves: list[tuple[str, list[object]]] = [(f"job {place}", []) for place in range(100)]
    attribute = Attribute("job", taxonomy=Taxonomy(("any", [("work", leaves)])))
    assert [affordable(attribute, records).size for records in (10.0, 1e7)] == [100, 100]
