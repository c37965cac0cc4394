"""Minimality: on small tables a reader excludes what a full count excludes; without a choice of the search, nothing."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from attacks.people import people, spec
from unveil.attacks import Outcome
from unveil.noise import SeededSource
from unveil.publishers import hardened
from unveil.schema import load_spec

LIMIT = 0.6


def small(seed: int) -> pa.Table:
    drawn = np.random.default_rng(seed)
    return pa.table(
        {
            "age": drawn.integers(20, 40, 5),
            "town": drawn.choice(["Bergen", "Cork"], 5),
            "ill": ["flu", "flu", "gout", "cold", "cold"],
            "rich": drawn.permutation(["no", "no", "no", "yes", "yes"]),
        }
    )


SMALL: dict[str, Any] = {
    "table": {"class": "rich"},
    "attributes": {
        "age": {"kind": "number", "range": [20, 40], "whole": True},
        "town": {"kind": "category", "values": ["Bergen", "Cork"]},
        "ill": {"kind": "category", "values": ["flu", "gout", "cold"]},
    },
    "require": [
        {"kind": "confidence", "channel": ["age", "town"], "sensitive": "ill", "values": ["flu"], "limit": LIMIT}
    ],
    "publish": {"search": "paper", "bounds": "observed"},
}


def found(exposure: unveil.Exposure, attack: str) -> Outcome:
    return next(outcome for outcome in exposure.outcomes if outcome.attack == attack)


def attacked(table: pa.Table) -> Outcome:
    return found(unveil.attack(unveil.publish(table, SMALL), SMALL, table=table), "minimality")


def counted(table: pa.Table) -> tuple[int, int, int]:
    """All tables with the same people and groups, published one by one: how many there are, how many lead to the same
    release, and about how many people a reader is then surer than the limit."""
    rows = table.to_pylist()
    own = unveil.publish(table, SMALL)
    labels = own.masking.labels(table).select(["age", "town"]).to_pylist()
    worlds = set()
    for order in permutations(range(5)):
        if all(labels[place] == labels[giver] for place, giver in enumerate(order)):
            worlds.add(tuple((rows[giver]["ill"], rows[giver]["rich"]) for giver in order))
    sick: Counter[int] = Counter()
    possible = 0
    for world in worlds:
        ill, rich = zip(*world, strict=True)
        guessed = table.set_column(2, "ill", pa.array(ill)).set_column(3, "rich", pa.array(rich))
        try:
            same = unveil.publish(guessed, SMALL).manifest.columns == own.manifest.columns
        except unveil.UnveilError:
            same = False
        possible += same
        sick.update(place for place in range(5) if same and ill[place] == "flu")
    return len(worlds), possible, sum(count / possible > LIMIT + 1e-9 for count in sick.values())


@pytest.mark.parametrize("seed", range(4))
def test_a_small_table_is_counted_out(seed: int) -> None:
    outcome = attacked(small(seed))
    worlds, possible, above = counted(small(seed))
    assert outcome.figures == {"exact": True, "tables": worlds, "possible": possible}
    assert outcome.success.hits == above


def test_some_small_table_lifts_somebody_above_the_limit() -> None:
    outcomes = [attacked(small(seed)) for seed in range(12)]
    lifted = [outcome for outcome in outcomes if outcome.leak]
    assert lifted
    assert all(outcome.control.hits == 0 for outcome in lifted), "the promise itself holds"


@pytest.mark.parametrize(("search", "recoding"), [("paper", "global"), ("joint", "local")])
def test_nothing_is_excluded_where_the_search_has_no_choice(search: str, recoding: str) -> None:
    """Every group is as small as k, so no refinement is valid, whoever has what."""
    exposure = unveil.attack(spec(600, search, recoding), table=people(), tries=6)
    for attack in ("minimality", "downcoding"):
        outcome = found(exposure, attack)
        assert (outcome.success.hits, outcome.success.tries, outcome.leak) == (0, 3, False)


def test_one_record_below_the_bound_is_excluded() -> None:
    """Nine clerks are hidden among the smiths. If one of those were a clerk, ten would be enough to be told apart."""
    table = pa.table(
        {
            "age": [30] * 40,
            "job": ["baker"] * 10 + ["clerk"] * 9 + ["smith"] * 21,
            "town": ["Cork"] * 40,
            "ill": ["yes"] * 10 + ["no", "yes", "no"] * 10,
        }
    )
    release = unveil.publish(table, spec(10))
    assert set(release.table["job"].to_pylist()) == {"baker", "⊥"}
    outcome = found(unveil.attack(release, spec(10), table=table, tries=20), "downcoding")
    assert outcome.leak
    assert outcome.success.hits < outcome.success.tries


def clerks() -> pa.Table:
    """Nine clerks among many: one more, and k = 10 would tell them apart."""
    job = ["baker"] * 40 + ["clerk"] * 9 + ["smith"] * 41
    return pa.table({"job": job, "ill": ["yes"] * 40 + ["no", "yes"] * 25})


JOBS: dict[str, Any] = {
    "table": {"class": "ill"},
    "attributes": {"job": {"kind": "category", "values": ["baker", "clerk", "smith"]}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["job"], "k": 10}],
}


def with_margin(margin: int, held: dict[str, Any]) -> dict[str, Any]:
    return {**held, "publish": {**held.get("publish", {}), "margin": margin}}


def test_a_margin_leaves_a_reader_in_doubt_why_the_search_stopped() -> None:
    outcomes = []
    for held in (JOBS, with_margin(4, JOBS)):
        release = unveil.publish(clerks(), held, unsafe_seed=1)
        assert set(release.table["job"].to_pylist()) == {"baker", "⊥"}
        outcomes.append(found(unveil.attack(release, held, table=clerks(), tries=40), "downcoding").success)
    plain, doubtful = outcomes
    assert plain.hits > 0
    assert (doubtful.hits, doubtful.tries) == (0, plain.tries)


def test_groups_have_the_surplus_that_was_drawn_and_the_release_promises_k() -> None:
    smallest = []
    for seed in range(12):
        release = unveil.publish(people(), with_margin(6, spec(10)), unsafe_seed=seed)
        groups = Counter(zip(*(release.table[name].to_pylist() for name in ("age", "job", "town")), strict=True))
        drawn = hardened(load_spec(with_margin(6, spec(10))), SeededSource(seed)).surplus
        assert min(groups.values()) >= 10 + drawn
        assert "at least 10 records" in release.manifest.guarantee
        assert unveil.verify(release, with_margin(6, spec(10)), table=people()) == []
        smallest.append(drawn)
    assert len(set(smallest)) > 3


def test_a_surplus_is_geometric_with_the_margin_as_its_mean() -> None:
    source, wanted = SeededSource(3), load_spec(with_margin(4, JOBS))
    drawn = [hardened(wanted, source).surplus for _ in range(4000)]
    assert 3.7 < np.mean(drawn) < 4.3
    assert 0.18 < drawn.count(0) / len(drawn) < 0.22


def test_a_surplus_never_asks_for_more_than_the_table_has() -> None:
    table = clerks()
    for seed in range(5):
        release = unveil.publish(
            table, with_margin(1000, {**JOBS, "require": [{**JOBS["require"][0], "k": 90}]}), unsafe_seed=seed
        )
        assert len(set(release.table["job"].to_pylist())) == 1


@pytest.mark.parametrize("margin", [0, -3, 2.5, "5", 1001])
def test_what_is_not_a_margin(margin: Any) -> None:
    with pytest.raises(unveil.SpecError, match="margin"):
        load_spec({**spec(10), "publish": {"margin": margin}})


@pytest.mark.parametrize("seed", range(3))
def test_no_class_is_told_where_other_rows_choose_the_masking(seed: int) -> None:
    """The reader knows these rows. The others are masked by what k-anonymity counts, which is not their class."""
    drawn = np.random.default_rng(seed)
    ages = drawn.integers(20, 60, 60)
    table = pa.table({"age": ages, "ill": np.where(drawn.random(60) < (ages - 20) / 40, "yes", "no")})
    held: dict[str, Any] = {
        "table": {"class": "ill"},
        "attributes": {"age": {"kind": "number", "range": [20, 60], "whole": True}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 4}],
    }
    plain, learned = (
        found(unveil.attack({**held, "publish": publish}, table=table, tries=24), "minimality")
        for publish in ({}, {"learn": "40%"})
    )
    assert plain.success.hits > 0
    if learned.figures["exact"]:  # then a group of one class tells it, without any reasoning
        assert learned.figures["possible"] == learned.figures["tables"]
    else:
        assert learned.success.hits == 0
