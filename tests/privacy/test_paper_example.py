"""The example of the DiffGen paper (Table 1, Figures 1 and 2) with injected randomness, and the ledger of its draws.

The draws are answered here; all else is the publisher as it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from privacy.worlds import Records, World
from unveil.arrays import IntArray
from unveil.counting.engine import open_engine
from unveil.errors import BudgetError
from unveil.noise import Entry, Ledger, SeededSource, Source, TwoSidedGeometric
from unveil.noise.ledger import Composition
from unveil.publishers import private
from unveil.publishers.private import publish_diffgen
from unveil.release import DiffGenManifest, Release
from unveil.schema import Attribute, PrivatePlan, Taxonomy

pytestmark = pytest.mark.engines

JOB = Taxonomy(
    (
        "Any_Job",
        [
            ("Professional", [("Engineer", []), ("Lawyer", [])]),
            ("Artist", [("Dancer", []), ("Writer", [])]),
        ],
    )
)
PAPER = World((Attribute("Job", taxonomy=JOB), Attribute("Age", kind="number", range=(18, 65), whole=True)))
TABLE_1A: Records = (
    ("Engineer", 34, "Y"),
    ("Lawyer", 50, "N"),
    ("Engineer", 38, "N"),
    ("Lawyer", 33, "Y"),
    ("Dancer", 20, "Y"),
    ("Writer", 37, "N"),
    ("Writer", 32, "Y"),
    ("Dancer", 25, "N"),
)
SPLITS = range(19, 65)
"""Where [18, 65) can be split."""


@dataclass
class Answers:
    """Answers every draw: Age is split at 40, and candidates are chosen by their place."""

    candidates: list[int]
    splits: list[tuple[list[int], list[int], Fraction]] = field(default_factory=list)
    """Scores, sizes and rate of every split that was drawn."""
    selections: list[tuple[list[int], Fraction]] = field(default_factory=list)
    """Scores and rate of every selection."""
    _offset: int = 0

    def exponential_choice(self, scores: IntArray, rate: Fraction, sizes: IntArray, source: Source) -> int:
        """A selection has one outcome per option; no split of this table does."""
        if sizes.sum() == len(sizes):
            return self.permute_and_flip(scores, rate, source)
        first = not self.splits
        self.splits.append((scores.tolist(), sizes.tolist(), rate))
        place = SPLITS.index(40) if first else 0
        ends = np.cumsum(sizes)
        option = int(np.searchsorted(ends, place, side="right"))
        self._offset = place - int(ends[option] - sizes[option])
        return option

    def permute_and_flip(self, scores: IntArray, rate: Fraction, source: Source) -> int:
        self.selections.append((scores.tolist(), rate))
        return self.candidates[len(self.selections) - 1]

    def below(self, source: Source, bound: int) -> int:
        assert 0 <= self._offset < bound
        return self._offset


def answered(monkeypatch: pytest.MonkeyPatch, plan: PrivatePlan) -> tuple[Release, Answers]:
    """The release of Table 1(a) without noise: first Any_Job is specialized, then Age."""
    answers = Answers(candidates=[0, 2])
    monkeypatch.setattr(private, "exponential_choice", answers.exponential_choice)
    monkeypatch.setattr(private, "permute_and_flip", answers.permute_and_flip)
    monkeypatch.setattr(private, "below", answers.below)
    monkeypatch.setattr(TwoSidedGeometric, "draw", lambda noise, count: np.zeros(count, dtype=np.int64))
    return published(plan, SeededSource(0)), answers


def published(plan: PrivatePlan, source: Source) -> Release:
    spec = PAPER.spec(plan)
    outline, counts = open_engine(spec, PAPER.raw(TABLE_1A))
    return publish_diffgen(outline, spec, plan, counts, source, "test")


def contingency(release: Release) -> dict[tuple[str, str], int]:
    """Counts of the released groups, summed over the classes."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in release.table.to_pylist():
        counts[row["Job"], row["Age"]] += row["count"]
    return dict(counts)


def entries(release: Release) -> list[tuple[str, Fraction, str]]:
    assert isinstance(release.manifest, DiffGenManifest)
    return [(entry.purpose, Fraction(entry.epsilon), entry.composition) for entry in release.manifest.ledger]


def paper_plan(specializations: int = 2) -> PrivatePlan:
    return PrivatePlan(Fraction(1), specializations, choice="exponential", budget="paper")


def full_plan(specializations: int = 2) -> PrivatePlan:
    return PrivatePlan(Fraction(1), specializations)


@pytest.mark.parametrize("plan", [paper_plan(), full_plan()], ids=["paper", "full"])
def test_two_specializations_give_table_1d(monkeypatch: pytest.MonkeyPatch, plan: PrivatePlan) -> None:
    release, _ = answered(monkeypatch, plan)
    assert contingency(release) == {
        ("Professional", "[18, 40)"): 3,
        ("Professional", "[40, 65)"): 1,
        ("Artist", "[18, 40)"): 4,
        ("Artist", "[40, 65)"): 0,
    }


def test_every_class_of_every_group_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    release, _ = answered(monkeypatch, full_plan())
    rows = {(row["Job"], row["Age"], row["class"]): row["count"] for row in release.table.to_pylist()}
    assert len(rows) == release.table.num_rows == 8
    assert rows["Professional", "[18, 40)", "Y"] == 2
    assert rows["Professional", "[40, 65)", "Y"] == 0
    assert rows["Artist", "[40, 65)", "Y"] == rows["Artist", "[40, 65)", "N"] == 0


@pytest.mark.parametrize(
    ("specializations", "groups"),
    [
        (0, {("Any_Job", "[18, 65)"): 8}),
        (1, {("Professional", "[18, 65)"): 4, ("Artist", "[18, 65)"): 4}),
    ],
)
def test_the_upper_levels_of_figure_2(
    monkeypatch: pytest.MonkeyPatch, specializations: int, groups: dict[tuple[str, str], int]
) -> None:
    release, _ = answered(monkeypatch, paper_plan(specializations))
    assert contingency(release) == groups


def test_candidates_score_as_in_equation_4(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any_Job: 2 of 4 and 2 of 4. Age at 40: 4 of 7 and 1 of 1. Professional and Artist: 1 of 2, twice."""
    _, answers = answered(monkeypatch, paper_plan())
    assert [scores for scores, _ in answers.selections] == [[4, 5], [2, 2, 5]]


def test_a_split_is_drawn_from_the_whole_declared_range_as_in_equation_6(monkeypatch: pytest.MonkeyPatch) -> None:
    _, answers = answered(monkeypatch, paper_plan())
    scores, sizes, _ = answers.splits[0]
    assert np.repeat(scores, sizes).tolist() == [largest_classes(split) for split in SPLITS]


def largest_classes(split: int) -> int:
    """Max(D, [18, 65)), counted record by record."""
    sides = Counter((age < split, label) for _, age, label in TABLE_1A)
    return sum(max(sides[side, "Y"], sides[side, "N"]) for side in (True, False))


def test_rates_are_those_of_line_4_and_7_or_twice_as_high_for_a_monotone_utility(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for plan, rate in ((paper_plan(), Fraction(1, 20)), (full_plan(), Fraction(1, 10))):
        _, answers = answered(monkeypatch, plan)
        assert {used for *_, used in (*answers.splits, *answers.selections)} == {rate}


def test_the_ledger_of_paper_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """ε' = ε / (2(|A_n| + 2h)) = 1/10. The categorical winner draws no split, and paper mode lets that lapse."""
    release, answers = answered(monkeypatch, paper_plan())
    assert entries(release) == [
        ("first split of Age", Fraction(1, 10), "sequential"),
        ("specialization 1", Fraction(1, 10), "sequential"),
        ("specialization 2", Fraction(1, 10), "sequential"),
        ("splits after specialization 2", Fraction(1, 10), "parallel"),
        ("counts of all cells", Fraction(1, 2), "sequential"),
    ]
    assert len(answers.splits) == 3
    assert sum(epsilon for _, epsilon, _ in entries(release)) == Fraction(9, 10)


def test_the_ledger_with_the_full_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits that nothing can use any more are not drawn, and the counts get all that is left."""
    release, answers = answered(monkeypatch, full_plan())
    assert entries(release) == [
        ("first split of Age", Fraction(1, 10), "sequential"),
        ("specialization 1", Fraction(1, 10), "sequential"),
        ("specialization 2", Fraction(1, 10), "sequential"),
        ("counts of all cells", Fraction(7, 10), "sequential"),
    ]
    assert len(answers.splits) == 1
    assert sum(epsilon for _, epsilon, _ in entries(release)) == 1


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10), Fraction(3, 7), Fraction(str(0.3))])
@pytest.mark.parametrize("budget", ["paper", "full"])
def test_no_ledger_passes_epsilon(epsilon: Fraction, budget: str) -> None:
    for specializations in range(6):
        plan = PrivatePlan(epsilon, specializations, choice="exponential", budget=budget)
        spent = [amount for _, amount, _ in entries(published(plan, SeededSource(specializations)))]
        assert all(amount > 0 for amount in spent)
        assert sum(spent) == epsilon if budget == "full" else sum(spent) <= epsilon
        if budget == "paper":
            assert set(spent[:-1]) <= {epsilon / (2 * (1 + 2 * specializations))}
            assert spent[-1] == epsilon / 2


class Diary:
    """A source and a ledger that write into one book."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, enough: Fraction | None = None) -> None:
        self.book: list[str] = []
        book = self.book

        class Noted(Ledger):
            def charge(self, purpose: str, epsilon: Fraction, composition: Composition = "sequential") -> None:
                super().charge(purpose, epsilon, composition)
                book.append(purpose)

        class NotedSource(SeededSource):
            def bytes(self, count: int) -> bytes:
                if not book or book[-1] != "draw":
                    book.append("draw")
                return super().bytes(count)

        monkeypatch.setattr(private, "Ledger", lambda total: Noted(total if enough is None else enough))
        self.source = NotedSource(7)


@pytest.mark.parametrize("plan", [paper_plan(3), full_plan(3)], ids=["paper", "full"])
def test_every_draw_is_charged_before_it_happens(monkeypatch: pytest.MonkeyPatch, plan: PrivatePlan) -> None:
    diary = Diary(monkeypatch)
    charges = [purpose for purpose, *_ in entries(published(plan, diary.source))]
    assert diary.book == [word for purpose in charges for word in (purpose, "draw")]


def test_nothing_is_drawn_where_the_first_charge_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary(monkeypatch, enough=Fraction(1, 100))
    with pytest.raises(BudgetError, match="first split of Age: a charge of 1/10 exceeds"):
        published(paper_plan(), diary.source)
    assert diary.book == []


def test_no_noise_is_drawn_where_the_counts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary(monkeypatch, enough=Fraction(1, 2))
    with pytest.raises(BudgetError, match="counts of all cells: a charge of 1/2 exceeds"):
        published(paper_plan(0), diary.source)
    assert diary.book == ["first split of Age", "draw"]


def test_a_ledger_refuses_what_exceeds_it_by_the_smallest_amount() -> None:
    ledger = Ledger(Fraction(1))
    ledger.charge("a third", Fraction(1, 3))
    with pytest.raises(BudgetError):
        ledger.charge("a hair more than two thirds", Fraction(2, 3) + Fraction(1, 10**40))
    ledger.charge("two thirds", Fraction(2, 3))
    assert ledger.entries == [Entry("a third", Fraction(1, 3)), Entry("two thirds", Fraction(2, 3))]
    assert ledger.left == 0
