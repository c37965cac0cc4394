"""Exact privacy by persons on small domains: the enumeration of `test_exact_privacy.py` and `test_additive_privacy.py`,
on tables that differ by one person with all that this person can have, more rows than are used among them.

Planted defects must be caught: noise for one row, a utility whose sensitivity is its range, and rules that look at
other persons.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from privacy.losses import TOLERANCE, Plant, Structures, loss_charged, worst_release
from privacy.transcripts import LEVEL, compared
from privacy.worlds import Record, Records, World, flat, number, of_person
from unveil.arrays import IntArray
from unveil.counting import contributions as rule
from unveil.counting import memory
from unveil.counting.distinct import SortedRows
from unveil.counting.memory import MemoryEngine
from unveil.errors import BrokenPromiseError
from unveil.publishers.private import publish_diffgen
from unveil.refine import Utility
from unveil.schema import AdditivePlan, Missing, PrivatePlan, SafePlan
from unveil.tables import load_table

ONE = Fraction(1)
SMALL = World((flat("town", "here", "there"), number("age", 3)), person=("who",))
SMALLEST = World((flat("town", "here", "there"), number("age", 2)), person=("who",))
HERE, THERE = ("here", 0, "Y"), ("there", 1, "N")
OTHERS: list[Records] = [
    (),
    of_person("bert", (HERE, HERE)),
    (*of_person("bert", (HERE, HERE, THERE)), *of_person("cleo", (THERE,))),
]
MOST = 2
"""How many rows of a person are used, while anna has up to three."""


def plan_of(steps: int, utility: str = "max", *mode: str) -> PrivatePlan:
    return PrivatePlan(ONE, steps, utility, *mode, contributions=MOST)


@pytest.mark.parametrize(
    ("steps", "utility", "mode"),
    [
        (2, "max", ("permute-and-flip", "full")),
        (1, "infogain", ("permute-and-flip", "full")),
        (1, "max", ("exponential", "paper")),
    ],
)
def test_the_structure_loses_no_more_than_its_charges(steps: int, utility: str, mode: tuple[str, str]) -> None:
    structures = Structures(SMALLEST, plan_of(steps, utility, *mode))
    pairs = list(SMALLEST.person_neighbours(OTHERS, 3))
    shown, charged = structures.worst(pairs), structures.worst(pairs, loss_charged)
    print(f"{shown.loss:.4f} of {shown.share:.4f}, {charged.loss:.4f} of {charged.share:.4f}")
    assert not shown.broken
    assert not charged.broken
    assert charged.tightness > 0.2


def test_a_charge_is_used_up_by_a_person_with_several_rows() -> None:
    charged = Structures(SMALLEST, plan_of(1)).worst(SMALLEST.person_neighbours(OTHERS[:2], 2), loss_charged)
    assert charged.share - charged.loss < TOLERANCE


def test_a_person_with_rows_in_both_halves_of_an_interval_costs_one_charge() -> None:
    """The splits of the halves share a charge, although the person is in both. The range of a utility would not do."""
    world = World((number("age", 6),), person=("who",))
    bert, anna = of_person("bert", ((1, "Y"), (4, "Y"))), of_person("anna", ((0, "N"), (3, "N")))
    pair = [(bert, (*bert, *anna))]
    for utility in ("max", "infogain"):
        assert not Structures(world, plan_of(2, utility)).worst(pair, loss_charged).broken
    planted = Structures(world, plan_of(2, "infogain"), range_as_sensitivity).worst(pair, loss_charged)
    assert planted.broken
    assert planted.where.startswith("splits after specialization 1")


def test_whole_releases_lose_no_more_than_epsilon() -> None:
    """Structure, ledger and counts together, with two rows of a person in different cells."""
    pairs = [((), of_person("anna", rows)) for rows in ((HERE,), (HERE, THERE), (HERE, THERE, ("there", 0, "Y")))]
    verdict = worst_release(SMALLEST, pairs, plan_of(1), 1)
    assert not verdict.broken
    assert verdict.tightness > Decimal("0.6")


def test_counts_alone_lose_all_of_epsilon() -> None:
    verdict = worst_release(SMALLEST, list(SMALLEST.person_neighbours(OTHERS[:2], 2))[::9], plan_of(0), 4)
    assert abs(verdict.loss - 1) < TOLERANCE


def test_the_additive_method_loses_no_more_than_its_charges() -> None:
    pairs = list(SMALLEST.person_neighbours(OTHERS, 3))[::7]
    found, same = compared(SMALLEST, pairs, ONE, LEVEL, contributions=MOST)
    assert not any(verdict.broken for verdict in found.values())
    assert same
    assert found["class totals"].tightness == found["sums of round"].tightness == 1
    assert found["counts of the leaves"].tightness == 1


def noise_for_one_row() -> AbstractContextManager[object]:
    """The sensitivity is 1 and not m, in every draw of every method."""
    return patch.object(PrivatePlan, "apart", 1)


def additive_noise_for_one_row() -> AbstractContextManager[object]:
    """The same for the additive method."""
    return patch.object(AdditivePlan, "apart", 1)


def range_as_sensitivity() -> AbstractContextManager[object]:
    """However many rows a person has, information gain stays in its range; but two halves can both change by it."""
    return patch.object(
        Utility, "rate", lambda utility, epsilon, *, tight: MOST * epsilon / utility.sensitivity / (1 if tight else 2)
    )


def places_of_others(rows: SortedRows, places: Sequence[IntArray], most: int) -> IntArray:
    """Values are hashed by their codes, which count what others hold."""
    return ORIGINAL(rows, [np.arange(len(place)) for place in places], most)


def fewer_in_a_crowd(rows: SortedRows, places: Sequence[IntArray], most: int) -> IntArray:
    """If there are more than two persons, one row of each is used."""
    persons = len(np.unique(rows.columns()[0]))
    return ORIGINAL(rows, places, most if persons <= 2 else 1)


ORIGINAL = rule.used_counts


def of_rule(defect: object) -> Plant:
    return lambda: patch.object(memory, "used_counts", defect)


BOTH_TWICE = [(*of_person("bert", (HERE, HERE)), *of_person("cleo", (HERE, THERE)))]


def test_noise_for_one_row_is_caught_in_the_structure() -> None:
    pairs = SMALLEST.person_neighbours(OTHERS[1:2], 2)
    assert Structures(SMALLEST, plan_of(1), noise_for_one_row).worst(pairs, loss_charged).broken


@pytest.mark.parametrize("plant", [noise_for_one_row, of_rule(fewer_in_a_crowd)])
def test_a_planted_defect_is_caught_in_the_counts(plant: Plant) -> None:
    pairs = list(SMALLEST.person_neighbours(BOTH_TWICE, 2))[::9]
    assert worst_release(SMALLEST, pairs, plan_of(0), 5, plant).broken


@pytest.mark.parametrize("plant", [additive_noise_for_one_row, of_rule(fewer_in_a_crowd)])
def test_a_planted_defect_of_the_additive_method_is_caught(plant: Plant) -> None:
    pairs = list(SMALLEST.person_neighbours(BOTH_TWICE, 2))[::4]
    found, _ = compared(SMALLEST, pairs, ONE, LEVEL, plant, contributions=MOST)
    assert any(verdict.broken for verdict in found.values())


def used(world: World, records: Records, most: int = MOST) -> dict[Record, int]:
    """The rows that are used, by value, without saying whose they are."""
    plan = PrivatePlan(ONE, 1, contributions=most)
    table, _ = MemoryEngine(world.table(records, plan)).bounded(most)
    names = [*table.columns, table.classes]
    found: dict[Record, int] = {}
    for row, weight in zip(zip(*(column.codes for column in names), strict=True), table.weight, strict=True):
        value = tuple(column.values[code] for column, code in zip(names, row, strict=True))
        found[value] = found.get(value, 0) + int(weight)
    return found


def anna_among(others: Records, rows: Records) -> dict[Record, int]:
    """Which rows of anna are used, among others."""
    before, after = used(SMALL, others), used(SMALL, (*others, *of_person("anna", rows)))
    return {row: count - before.get(row, 0) for row, count in after.items() if count != before.get(row, 0)}


CROWD: list[Records] = [
    (),
    of_person("bert", (("there", 2, "N"),)),
    (*of_person("bert", (HERE, HERE, THERE)), *of_person("cleo", (("here", 1, "Y"),) * 4)),
]


@pytest.mark.parametrize("rule_of_others", [places_of_others, fewer_in_a_crowd])
def test_which_rows_of_a_person_are_used_depends_on_that_person_alone(rule_of_others: object) -> None:
    """For every set of four rows, whoever else is there and in whatever order the file has them; not by a bad rule."""
    kinds = [rows for rows in SMALL.people(4) if len(rows) == 4][::60]
    honest, planted = True, True
    for rows in kinds:
        alone = anna_among((), rows)
        assert sum(alone.values()) == MOST
        assert all(0 < count <= rows.count(row) for row, count in alone.items())
        honest &= all(anna_among(others, rows) == alone for others in CROWD)
        honest &= all(anna_among((), order) == alone for order in list(permutations(rows))[::7])
        with patch.object(memory, "used_counts", rule_of_others):
            planted &= all(anna_among(others, rows) == anna_among((), rows) for others in CROWD)
    assert honest
    assert not planted


def test_persons_with_few_rows_keep_all() -> None:
    records = (*of_person("anna", (HERE, HERE)), *of_person("bert", (THERE,)))
    assert used(SMALL, records) == {HERE: 2, THERE: 1}


def test_no_kind_of_row_is_preferred() -> None:
    """Of persons who each have three equal rows and one other, the other one is used by about half of them."""
    records = tuple(row for who in range(400) for row in of_person(f"p{who}", (HERE, HERE, HERE, THERE)))
    assert 160 < used(SMALL, records)[THERE] < 240


def test_a_missing_value_of_somebody_else_changes_nobody() -> None:
    """Pandas turns whole numbers into floats where one is missing."""
    rows = [(7, *row) for row in (HERE, THERE, ("here", 2, "N"), ("there", 2, "Y"))]
    spec = SMALL.spec(PrivatePlan(ONE, 1, contributions=MOST))
    spec = replace(spec, table=replace(spec.table, missing=Missing(("",), "drop")))
    names = ["who", "town", "age", "class"]
    alone, among = (pd.DataFrame(held, columns=names) for held in (rows, [*rows, (None, *HERE)]))
    assert (alone["who"].dtype, among["who"].dtype) == ("int64", "float64")
    first, second = (MemoryEngine(load_table(spec, frame)).bounded(MOST)[0] for frame in (alone, among))
    assert [column.values.tolist() for column in first.columns[1:]] == [
        column.values.tolist() for column in second.columns[1:]
    ]
    assert [column.codes.tolist() for column in first.columns] == [column.codes.tolist() for column in second.columns]


def test_a_bound_that_is_missing_is_not_forgotten() -> None:
    """Nothing is published by persons without a bound, whoever calls the publisher."""
    plan = PrivatePlan(ONE, 1)
    table = SMALLEST.table(of_person("anna", (HERE,)), plan)
    with pytest.raises(BrokenPromiseError, match="needs a bound"):
        publish_diffgen(table, SMALLEST.spec(plan), plan, MemoryEngine(table), None, "test")


def test_every_method_knows_its_bound() -> None:
    assert SafePlan(ONE, Fraction(1, 10**6), contributions=3).cut.apart == 3
    assert AdditivePlan(ONE).apart == 1
