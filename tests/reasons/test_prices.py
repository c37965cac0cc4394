"""What relaxing buys: the same as publishing and evaluating both specs by hand."""

from dataclasses import replace

import pytest

import unveil
from project import Project
from unveil.evaluation.information import information_loss
from unveil.evaluation.protocol import Holdout, Interval, interval
from unveil.reasons import Price, Relaxation, Run, ranked_prices
from unveil.reasons.prices import within_noise
from unveil.schema import KAnonymity, load_spec
from unveil.tables import load_table

TWICE = Holdout(seeds=(0, 1))


def test_prices_are_those_of_a_run(project: Project) -> None:
    spec = load_spec(project.spec)
    seen: list[tuple[str, int, int | None]] = []
    found = unveil.explain(project.spec, protocol=TWICE, progress=lambda *told: seen.append(told))
    (price,) = found.prices
    relaxed = replace(spec, requirements=(KAnonymity(quasi_identifier=("age", "job", "town"), k=2),))
    before, after = (unveil.publish(project.table, item) for item in (spec, relaxed))
    count = {name: len(getattr(entry, "blocks", ())) for name, entry in before.masking.columns.items()}
    more = {name: len(getattr(entry, "blocks", ())) - count[name] for name, entry in after.masking.columns.items()}
    assert {name: price.blocks.get(name, 0) for name in ("age", "job")} == {name: more[name] for name in ("age", "job")}
    for run, release, item in ((price.before, before, spec), (price.after, after, relaxed)):
        loss = information_loss(release, item, table=load_table(item, project.table))
        assert run.kept == pytest.approx(1 - loss.global_penalty)
        mean = unveil.evaluate(project.table, item, protocol=TWICE).line("released", "tree").error
        assert sum(run.errors["tree"]) / 2 == pytest.approx(mean)
    assert price.accuracy["tree"] == interval(
        [old - new for old, new in zip(price.before.errors["tree"], price.after.errors["tree"], strict=True)]
    )
    assert [told[1:] for told in seen if told[0] == "trying relaxed requirements"] == [(done, 4) for done in range(5)]
    assert found.protocol == str(TWICE)


def test_a_part_too_small_for_the_requirement_is_reported(project: Project) -> None:
    project.edit(project.spec, "= 3\n", "= 40\n")
    found = unveil.explain(project.spec, protocol=TWICE)
    assert found.prices
    assert all(not price.accuracy for price in found.prices)
    (line,) = found.unpriced
    assert line.startswith("Accuracy was not measured: people.toml: no release of")


def run(blocks: int, kept: float | None, *errors: float, cells: float | None = None) -> Run:
    return Run({"age": tuple(map(str, range(blocks)))}, kept, {"tree": errors}, cells)


def price(before: Run, after: Run) -> Price:
    spec = load_spec(
        {
            "table": {"class": "c"},
            "attributes": {"age": {"kind": "number"}},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 50}],
        }
    )
    return Price(Relaxation(1, "k", 50, 45, " on {age}", spec), before, after)


@pytest.mark.parametrize(
    ("after", "bought"),
    [
        (run(2, 0.5, 0.2, 0.3), "buys nothing: the release stays the same."),
        (run(2, 0.5, 0.1, 0.3), "buys nothing: the release stays the same; +5.00 points of accuracy (tree, "),
        (
            run(3, 0.6, 0.2, 0.3),
            "buys 1 block of age more; 50.00% → 60.00% of the domains kept; no change in accuracy.",
        ),
        (
            run(1, 0.4, 0.1, 0.2),
            "buys no more blocks, for 1 block of age fewer; 50.00% → 40.00% of the domains kept; +10",
        ),
        (run(4, 0.6, 0.3, 0.1), "± 190.59: within noise)."),
    ],
)
def test_one_sentence(after: Run, bought: str) -> None:
    assert bought in price(run(2, 0.5, 0.2, 0.3), after).sentence()


def test_blocks_that_only_move_are_not_called_nothing() -> None:
    moved = replace(run(2, 0.5, 0.2, 0.3), blocks={"age": ("0", "7")})
    assert "buys other blocks" in price(run(2, 0.5, 0.2, 0.3), moved).sentence()


def test_a_single_run_tells_nothing_from_noise() -> None:
    single = price(run(2, 0.5, 0.2), run(3, 0.6, 0.1))
    assert "one run: it may be noise" in single.sentence()
    assert single.to_dict()["accuracy"]["tree"]["within-noise"] is True


@pytest.mark.parametrize(
    ("low", "high", "noise"), [(0.1, 0.3, False), (-0.1, 0.1, True), (0.0, 0.1, True), (-0.3, -0.1, False)]
)
def test_noise(low: float, high: float, noise: bool) -> None:
    assert within_noise(Interval((low + high) / 2, low, high, 5)) is noise


def test_what_buys_most_stands_first() -> None:
    base = run(2, 0.5, 0.2, 0.3)
    sure = price(base, run(2, 0.5, 0.1, 0.2))
    noisy = price(base, run(9, 0.9, 0.0, 0.4))
    little = price(base, run(3, 0.6, 0.2, 0.3))
    assert ranked_prices([little, noisy, sure]) == (sure, noisy, little)


def test_draws_are_ranked_by_what_they_gain_on_average() -> None:
    base = Run({}, None, {"tree": (0.2, 0.3)}, 100)
    good, bad = (price(base, Run({}, None, {"tree": errors}, 50)) for errors in ((0.0, 0.4), (0.3, 0.4)))
    assert ranked_prices([bad, good]) == (good, bad)
    assert "gives 100 → 50 cells on average; +5.00 points" in good.sentence()
