"""Singling out: a unique number is found at once, and where groups are large on all columns nobody is."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import unveil
from attacks.people import QUASI, people, spec
from unveil.attacks import Outcome
from unveil.attacks.linkage import unique_people, worst_columns
from unveil.attacks.scene import Records
from unveil.progress import unwatched
from unveil.schema import load_spec
from unveil.tables import load_table
from unveil.workflow.attack import AGAIN, attack_rows
from unveil.workflow.evaluate import Rows

SEARCHES = pytest.mark.parametrize(
    ("search", "recoding"), [("paper", "global"), ("joint", "global"), ("joint", "local")]
)
NUMBER = {"kind": "number", "whole": True}


def singled(found: unveil.Exposure) -> list[Outcome]:
    return [outcome for outcome in found.outcomes if outcome.attack == "singling out"]


@SEARCHES
def test_a_unique_number_released_as_it_is_gives_everybody_away(search: str, recoding: str) -> None:
    table = people(number=np.arange(600))
    worst, *_ = singled(unveil.attack(spec(search=search, recoding=recoding, number=NUMBER), table=table))
    assert worst.figures["columns"] == ["number"]
    assert worst.leak
    assert (worst.success.hits, worst.success.tries) == (120, 120)
    assert worst.control.hits == 0
    assert worst.risk == 1
    assert worst.sentence.startswith("480 of 480 records are unique on {number}.")


def learning(k: int = 10, **more: Any) -> dict[str, Any]:
    """A spec by which 240 of 600 people choose the masking and are not released."""
    asked = spec(k, "joint", **more)
    return {**asked, "publish": {**asked["publish"], "learn": "40%"}}


@pytest.mark.parametrize("k", [10, 360])
@pytest.mark.parametrize("published", [False, True])
def test_only_people_in_the_release_count_as_such(published: bool, k: int) -> None:
    """By their number all of them are found; nobody whose row chose the masking is. With k = 360 nobody can miss."""
    table, asked = people(number=np.arange(600)), load_spec(learning(k, number=NUMBER))
    release = unveil.publish(table, asked)
    rows = Rows(asked, load_table(asked, table))
    found = attack_rows(rows, release, unwatched, complete=True) if published else unveil.attack(asked, table=table)
    worst, *_ = singled(found)
    assert worst.success.hits == worst.success.tries > 50
    assert (AGAIN in found.notes) == published
    assert (worst.control is None) == (k == 360)


@SEARCHES
def test_nobody_is_alone_where_groups_are_large_on_all_columns(search: str, recoding: str) -> None:
    """The class has two labels, and groups of forty hardly leave one of them to one record."""
    for outcome in singled(unveil.attack(spec(40, search, recoding), table=people())):
        alone = outcome.figures["alone"]
        assert outcome.leak == (alone > 0)
        assert outcome.figures["columns"] != QUASI or alone == 0
        assert not outcome.success.exceeds(outcome.control)


@SEARCHES
def test_the_worst_columns_are_those_of_a_full_count(search: str, recoding: str) -> None:
    table = people(shoe=np.random.default_rng(2).integers(30, 50, 600))
    release = unveil.publish(table, spec(search=search, recoding=recoding, shoe=NUMBER))
    rows = release.table.to_pylist()
    names = release.table.column_names

    def alone(chosen: tuple[str, ...]) -> int:
        counts = Counter(tuple(row[name] for name in chosen) for row in rows)
        return sum(count == 1 for count in counts.values())

    for found in worst_columns(Records(release)):
        assert found.alone == alone(found.names)
        assert found.alone == max(alone(chosen) for chosen in combinations(names, len(found.names)))


@SEARCHES
def test_records_that_fit_are_those_whose_labels_cover_what_is_known(search: str, recoding: str) -> None:
    """Of people in the table, what fits on all columns is their group; on fewer columns it is more."""
    table = people()
    release = unveil.publish(table, spec(search=search, recoding=recoding))
    records = Records(release)
    masked = release.masking.rows(table.slice(0, 40)).to_pylist()
    rows = release.table.to_pylist()
    whole = records.fitting(table.slice(0, 40), [*QUASI, "ill"])
    assert [fit.records for fit in whole] == [sum(row == person for row in rows) for person in masked]
    for known in combinations(QUASI, 2):
        fits = records.fitting(table.slice(0, 40), known)
        equal = [sum(all(row[name] == person[name] for name in known) for row in rows) for person in masked]
        assert all(fit.records >= least for fit, least in zip(fits, equal, strict=True))
        if recoding == "global":
            assert [fit.records for fit in fits] == equal


def test_a_reader_counts_without_the_raw_table() -> None:
    release = unveil.publish(people(number=np.arange(600)), spec(number=NUMBER))
    worst = unveil.attack(release).outcomes[0]
    assert (worst.success.hits, worst.control) == (600, None)


def test_uniqueness_in_the_population_is_estimated_from_a_sample() -> None:
    """A tenth of people whose places are spread as places are: a few large, very many small."""
    drawn = np.random.default_rng(5)
    population = np.minimum(drawn.zipf(1.6, 50_000), 10**9)
    true = sum(count == 1 for count in Counter(population.tolist()).values())
    sample = Counter(Counter(population[:5_000].tolist()).values())
    assert 0.7 * true < unique_people(sample, 50_000) < 1.4 * true
    assert unique_people({1: 3, 2: 1}, 5) == 3


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda table: unveil.attack(spec(), table=table, people=1), "people is 1, but it must be a whole number"),
        (lambda table: unveil.attack(spec(), spec(), table=table), "the raw table is for attacks on a release"),
        (
            lambda table: unveil.attack(unveil.publish(table, spec()), table=table),
            "judged by a raw table with the owner's spec",
        ),
        (
            lambda table: unveil.attack(unveil.publish(table, learning()), learning(), table=table),
            "the release: rows set aside at random chose its masking.* run unveil attack spec instead",
        ),
    ],
)
def test_a_wrong_call_is_a_sentence(call: object, sentence: str) -> None:
    with pytest.raises(unveil.UnveilError, match=sentence):
        call(people())
