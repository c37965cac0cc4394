"""The oracle on templates and other limits to inference: the paper's examples (ICDM 2005), and the levels."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .blocks import Bottom, Cuts, Disclosed, mask
from .problem import QID, Closeness, Diversity, Generalized, Level, Problem, Record, Requirement, Suppressed, Template
from .strategies import mixed_problems, names_of, template_problems
from .tdr import anonymity, candidates, groups, levels, most_masked, refined, refinements, size, tdr, without_redundant

# ---- Table 1 ----

NAMES = ("Job", "Country", "Child", "Bankruptcy")
ROWS = (  # job, country, child, bankruptcy, number of Good, number of Bad
    ("Cook", "US", "No", "Current", 0, 4),
    ("Artist", "France", "No", "Current", 1, 3),
    ("Doctor", "US", "Yes", "Never", 4, 2),
    ("Trader", "UK", "No", "Discharged", 4, 0),
    ("Trader", "UK", "No", "Never", 1, 0),
    ("Trader", "Canada", "No", "Never", 1, 0),
    ("Clerk", "Canada", "No", "Never", 3, 0),
    ("Clerk", "Canada", "No", "Discharged", 1, 0),
)
JOB_COUNTRY = Template(("Job", "Country"), "Bankruptcy", "Discharged", "0.75")
TABLE_1 = Problem(
    attributes=(
        Suppressed("Job", ("Cook", "Artist", "Doctor", "Trader", "Clerk")),
        Suppressed("Country", ("US", "France", "UK", "Canada")),
        Suppressed("Child", ("No", "Yes")),
    ),
    records=[
        Record(dict(zip(NAMES, row[:4], strict=True)), cls, count)
        for row in ROWS
        for cls, count in (("G", row[4]), ("B", row[5]))
        if count
    ],
    inferences=(JOB_COUNTRY,),
    sensitive={"Bankruptcy": ("Current", "Never", "Discharged")},
)
EXAMPLE_2 = replace(
    TABLE_1,
    inferences=(replace(JOB_COUNTRY, limit="0.5"), replace(JOB_COUNTRY, channel=("Job", "Child"), limit="0.5")),
)
TABLE_2 = {
    ("Cook", "US", "No", "Current"): (0, 4),
    ("Artist", "France", "No", "Current"): (1, 3),
    ("Doctor", "US", "Yes", "Never"): (4, 2),
    ("⊥", "⊥", "No", "Discharged"): (5, 0),
    ("⊥", "⊥", "No", "Never"): (5, 0),
}


def compressed(records: list[Record]) -> dict[tuple[object, ...], tuple[int, int]]:
    counts: Counter[tuple[object, ...]] = Counter()
    for record in records:
        counts[(*(record.values[name] for name in NAMES), record.cls)] += record.weight
    return {key[:-1]: (counts[(*key[:-1], "G")], counts[(*key[:-1], "B")]) for key in counts}


def supports(cuts: Cuts, channel: tuple[str, ...]) -> list[tuple[int, int]]:
    """(s(ic, Discharged), s(ic)) of every ic, sorted."""
    template = replace(JOB_COUNTRY, channel=channel)
    found = groups(mask(TABLE_1.records, cuts), template, TABLE_1.sensitive)
    return sorted((group["Discharged"], sum(group.values())) for group in found)


def disclosed(cuts: Cuts, name: str, value: str) -> Cuts:
    (bottom,) = [block for block in cuts[name] if isinstance(block, Bottom)]
    rest = Bottom(tuple(v for v in bottom.sup if v != value))
    return refined(cuts, name, bottom, (Disclosed(value), rest))


def test_table_1_has_24_records() -> None:
    assert [good + bad for *_, good, bad in ROWS] == [4, 4, 6, 4, 1, 1, 3, 1]
    assert size(TABLE_1.records) == 24


def test_example_1_traders_in_the_uk() -> None:
    uk = [row for row in ROWS if row[:2] == ("Trader", "UK")]
    assert sum(good + bad for *_, good, bad in uk) == 5
    raw = JOB_COUNTRY.level(groups(TABLE_1.records, JOB_COUNTRY, TABLE_1.sensitive))
    assert raw == Fraction(-80, 100)
    assert not JOB_COUNTRY.holds(raw)


def test_example_1_gives_table_2() -> None:
    result = tdr(TABLE_1)
    assert [(step.attribute, step.into[0]) for step in result.steps] == [
        ("Job", "Cook"),
        ("Job", "Artist"),
        ("Job", "Doctor"),
        ("Country", "US"),
        ("Country", "France"),
    ]
    assert compressed(result.records) == TABLE_2
    assert levels(TABLE_1, result.cuts, [JOB_COUNTRY]) == [Fraction(-50, 100)]
    # Trader and Clerk might still be shown, but hold one class only; UK and Canada might not.
    left = {c.children[0].label: (c.valid, c.beneficial) for c in candidates(TABLE_1, result.cuts)}
    assert left == {"Trader": (True, False), "Clerk": (True, False), "UK": (False, False), "Canada": (False, False)}


def test_example_1_score_of_trader_at_the_start() -> None:
    (trader,) = [c for c in candidates(TABLE_1, most_masked(TABLE_1)) if c.children[0].label == "Trader"]
    assert trader.loss == pytest.approx(4 / 6 - 5 / 24, abs=1e-12)
    assert trader.score == pytest.approx(trader.gain / (4 / 6 - 5 / 24 + 1), abs=1e-12)


def test_example_2_gives_table_2_too_at_exactly_the_limit() -> None:
    result = tdr(EXAMPLE_2)
    shown = ["Cook", "Artist", "Doctor", "US", "France", "No", "Yes"]
    assert [step.into[0] for step in result.steps] == shown
    assert compressed(result.records) == TABLE_2
    assert levels(EXAMPLE_2, result.cuts, EXAMPLE_2.inferences) == [Fraction(-1, 2)] * 2


def test_figures_1_and_2_clerk_and_then_canada() -> None:
    ic1, ic2, every = ("Job", "Country"), ("Job", "Child"), ("Job", "Country", "Child")

    def confidences(cuts: Cuts) -> list[Level]:
        return [-level for level in levels(EXAMPLE_2, cuts, EXAMPLE_2.inferences)]

    cuts = most_masked(EXAMPLE_2)
    assert supports(cuts, every) == supports(cuts, ic1) == supports(cuts, ic2) == [(5, 24)]
    assert [round(100 * float(c), 2) for c in confidences(cuts)] == [20.83, 20.83]

    cuts = disclosed(cuts, "Job", "Clerk")
    assert supports(cuts, every) == supports(cuts, ic1) == supports(cuts, ic2) == [(1, 4), (4, 20)]
    assert confidences(cuts) == [Fraction(25, 100)] * 2

    cuts = disclosed(cuts, "Country", "Canada")
    assert supports(cuts, every) == supports(cuts, ic1) == [(0, 1), (1, 4), (4, 19)]
    assert supports(cuts, ic2) == [(1, 4), (4, 20)]
    assert confidences(cuts) == [Fraction(25, 100)] * 2


def test_lemma_3_3_a_limit_below_the_share_in_the_whole_table_is_refused() -> None:
    for limit in ("0.2083", Fraction(5, 24) - Fraction(1, 10**30)):
        with pytest.raises(ValueError, match="no masked table"):
            tdr(replace(TABLE_1, inferences=[replace(JOB_COUNTRY, limit=limit)]))
    assert tdr(replace(TABLE_1, inferences=[replace(JOB_COUNTRY, limit=Fraction(5, 24))])).steps == []


# ---- The levels, by hand ----


def test_template() -> None:
    template = Template("a", "s", "x", "0.3")
    assert template.level([{"x": 1, "y": 9}, {"x": 3, "y": 7}]) == Fraction(-3, 10)
    assert template.holds(Fraction(-3, 10))  # 0.3 as a float is less
    assert not template.holds(Fraction(-3000001, 10**7))


def test_diversity() -> None:
    groups_ = [{"x": 2, "y": 2, "z": 0}, {"x": 1, "y": 2, "z": 7}]
    distinct, entropy = Diversity("a", "s", 2, "distinct"), Diversity("a", "s", 2, "entropy")
    assert distinct.level(groups_) == 2
    assert distinct.holds(2)
    assert not distinct.holds(1)
    assert entropy.level(groups_) == pytest.approx(log(2), abs=1e-12)
    assert entropy.level(groups_[1:]) == pytest.approx(0.1 * log(10) + 0.2 * log(5) + 0.7 * log(10 / 7), abs=1e-12)
    assert entropy.holds(log(2) - 1e-10)
    assert not entropy.holds(log(2) - 1e-8)


SALARIES = ("3k", "4k", "5k", "6k", "7k", "8k", "9k", "10k", "11k")


def salaries(*held: str) -> dict[str, int]:
    return {salary: int(salary in held) for salary in SALARIES}


def test_closeness_as_in_its_paper() -> None:
    # Li, Li and Venkatasubramanian (2007), Section 4.3: 0.375 and 0.167.
    low, mixed, rest = salaries("3k", "4k", "5k"), salaries("6k", "8k", "11k"), salaries("7k", "9k", "10k")
    ordered = Closeness("a", "s", 0.375, "ordered")
    assert ordered.level([low, mixed, rest]) == Fraction(-3, 8)
    assert ordered.holds(Fraction(-3, 8))
    assert not ordered.holds(Fraction(-3751, 10000))
    six = salaries(*SALARIES[:3]), salaries(*SALARIES[3:])
    assert Closeness("a", "s", 1, "equal").level(six) == Fraction(-2, 3)
    twice = {salary: 2 * n for salary, n in mixed.items()}
    other = {salary: 3 - n for salary, n in twice.items()}
    assert ordered.level([twice, other]) == Fraction(-1, 6)


def test_closeness_leaves_out_values_that_nobody_holds() -> None:
    ordered = Closeness("a", "s", 1, "ordered")
    some = [{"x": 1, "y": 0, "none": 0}, {"x": 0, "y": 1, "none": 0}]
    assert ordered.level(some) == Fraction(-1, 2)
    assert ordered.level([{"x": 1, "none": 0}, {"x": 2, "none": 0}]) == 0


def test_redundant_requirements_are_dropped_among_their_kind() -> None:
    ab, a, b = ("A", "B"), ("A",), ("B",)
    kept: list[Requirement] = [
        Template(ab, "s", "x", "0.5"),
        Template(a, "s", "x", "0.4"),  # tighter
        Template(a, "s", "y", "0.5"),  # another value
        Template(a, "r", "x", "0.5"),  # another attribute
        Diversity(ab, "s", 2, "distinct"),
        Diversity(ab, "s", 2, "entropy"),
        Diversity(b, "s", 3, "distinct"),
        Closeness(ab, "s", 0.2, "equal"),
        Closeness(ab, "s", 0.2, "ordered"),
        Closeness(b, "s", 0.1, "equal"),
        QID(ab, 3),
    ]
    dropped: list[Requirement] = [
        Template(("B", "A"), "s", "x", "0.50"),
        Template(b, "s", "x", "0.5"),
        Template(b, "s", "x", "0.9"),
        Diversity(("B", "A"), "s", 2, "distinct"),
        Diversity(a, "s", 2, "entropy"),
        Diversity(b, "s", 2.5, "distinct"),
        Closeness(("B", "A"), "s", 0.2, "ordered"),
        Closeness(b, "s", 0.15, "equal"),
        QID(a, 2),
    ]
    assert without_redundant([*kept, *dropped]) == kept


def test_loss_is_the_mean_over_requirements_of_all_kinds_that_hold_the_attribute() -> None:
    problem = Problem(
        attributes=[Generalized("a", ("any", [("x", []), ("y", [])])), Suppressed("b", ("u", "v"))],
        records=[
            Record({"a": "x", "b": "u", "s": "low"}, "Y", 2),
            Record({"a": "x", "b": "v", "s": "high"}, "N", 1),
            Record({"a": "y", "b": "u", "s": "high"}, "N", 5),
        ],
        qids=[QID(("a", "b"), 1)],
        inferences=[
            Template(("a",), "s", "low", "1"),
            Diversity(("a",), "s", 1, "distinct"),
            Diversity(("a",), "s", 1, "entropy"),
            Closeness(("a",), "s", 1, "equal"),
            Template(("b",), "s", "high", "1"),
        ],
        sensitive={"s": ("low", "high")},
    )
    first, *_ = candidates(problem, most_masked(problem))
    whole = -(0.25 * log(0.25) + 0.75 * log(0.75))
    assert first.loss == pytest.approx(((8 - 3) + (2 / 3 - 1 / 4) + (2 - 1) + whole + (2 / 3 - 1 / 4)) / 5, abs=1e-12)


# ---- Promises, on random problems ----

ANY_PROBLEM = st.one_of(mixed_problems(), template_problems())


def fulfilled(problem: Problem, cuts: Cuts) -> bool:
    found = levels(problem, cuts, problem.requirements)
    return all(r.holds(level) for r, level in zip(problem.requirements, found, strict=True))


def somehow_refined(problem: Problem, cuts: Cuts, random: Random) -> Cuts:
    """By any refinement, valid or not, while there is one."""
    ways = [(n, v, child) for n, cut in cuts.items() for v in cut for child in refinements(problem.records, n, v)]
    return refined(cuts, *random.choice(ways)) if ways else cuts


def every_requirement(problem: Problem) -> list[Requirement]:
    """Of every kind, on every set of attributes."""
    every: list[Requirement] = []
    names = names_of(problem)
    for some in (c for n in range(1, len(names) + 1) for c in combinations(names, n)):
        every.append(QID(some, 1))
        for secret, domain in problem.sensitive.items():
            every.extend(Template(some, secret, value, "1") for value in domain)
            every.extend((Diversity(some, secret, 1, "distinct"), Diversity(some, secret, 1, "entropy")))
            every.extend((Closeness(some, secret, 1, "equal"), Closeness(some, secret, 1, "ordered")))
    return every


@settings(deadline=None)
@given(mixed_problems(), st.randoms(use_true_random=False))
def test_no_refinement_raises_a_level(problem: Problem, random: Random) -> None:
    everything = every_requirement(problem)
    problem = replace(problem, qids=[QID(names_of(problem), 1)], inferences=())
    cuts = most_masked(problem)
    after = levels(problem, cuts, everything)
    for _ in range(5):
        cuts = somehow_refined(problem, cuts, random)
        before, after = after, levels(problem, cuts, everything)
        for high, low in zip(before, after, strict=True):
            assert low <= high + (1e-12 if isinstance(high, float) else 0)  # entropies are floats


@settings(deadline=None)
@given(mixed_problems(), st.randoms(use_true_random=False))
def test_what_a_requirement_implies_has_the_higher_level(problem: Problem, random: Random) -> None:
    cuts = most_masked(problem)
    for _ in range(random.randint(0, 4)):
        cuts = somehow_refined(problem, cuts, random)
    every = problem.requirements
    found = levels(problem, cuts, every)
    for i, j in combinations(range(len(every)), 2):
        for one, other in ((i, j), (j, i)):
            if every[one].implies(every[other]):
                assert found[other] >= found[one] - (1e-12 if isinstance(found[one], float) else 0)
    kept = without_redundant(every)
    assert all(r in kept or any(k.implies(r) for k in kept) for r in every)
    assert fulfilled(problem, cuts) == fulfilled(
        replace(
            problem,
            qids=[r for r in kept if isinstance(r, QID)],
            inferences=[r for r in kept if not isinstance(r, QID)],
        ),
        cuts,
    )


@settings(deadline=None)
@given(ANY_PROBLEM)
def test_every_step_fulfils_all_and_the_last_one_is_maximally_refined(problem: Problem) -> None:
    result = tdr(problem)
    assert not any(c.valid and c.beneficial for c in candidates(problem, result.cuts))
    for n in range(len(result.steps) + 1):
        early = tdr(replace(problem, steps=n))
        assert early.steps == result.steps[:n]
        assert fulfilled(problem, early.cuts)
    assert all(step.loss > -1e-12 for step in result.steps)
    assert result.records == mask(problem.records, result.cuts)


@settings(deadline=None)
@given(ANY_PROBLEM, st.randoms(use_true_random=False))
def test_no_order_matters_nor_does_compression(problem: Problem, random: Random) -> None:
    one_by_one = [replace(r, weight=1) for r in problem.records for _ in range(r.weight)]
    qids, inferences = list(problem.qids), list(problem.inferences)
    for some in (one_by_one, qids, inferences):
        random.shuffle(some)
    result = tdr(problem)
    other = tdr(replace(problem, records=one_by_one, qids=qids, inferences=inferences))
    assert [step[:3] for step in result.steps] == [step[:3] for step in other.steps]
    for step, same in zip(result.steps, other.steps, strict=True):
        assert step[3:] == pytest.approx(same[3:], abs=1e-12)
    assert result.masking == other.masking


@settings(deadline=None)
@given(ANY_PROBLEM)
def test_problems_are_what_they_promise(problem: Problem) -> None:
    names = names_of(problem)
    assert problem.requirements
    assert len({record.cls for record in problem.records}) >= 2
    assert not set(names) & set(problem.sensitive)
    assert fulfilled(problem, most_masked(problem))
    for requirement in problem.requirements:
        assert set(requirement.attributes) <= set(names)
        assert requirement.sensitive is None or requirement.sensitive in problem.sensitive
        if isinstance(requirement, Template):
            assert requirement.value in problem.sensitive[requirement.sensitive]
            assert 0 < Fraction(requirement.limit) <= 1
    for name, domain in problem.sensitive.items():
        assert 2 <= len(set(domain)) == len(domain) <= 4
        assert {record.values[name] for record in problem.records} <= set(domain)


@settings(deadline=None, max_examples=20)
@given(template_problems())
def test_template_problems_are_pure(problem: Problem) -> None:
    assert all(isinstance(attribute, Suppressed) for attribute in problem.attributes)
    assert all(isinstance(requirement, Template) for requirement in problem.requirements)


@settings(deadline=None)
@given(mixed_problems())
def test_alpha_k_is_a_qid_and_templates(problem: Problem) -> None:
    """Straight from its definition (Wong and others, 2006), with α = 1/2 and k = 3."""
    names, (secret, *_) = names_of(problem), problem.sensitive
    alpha, k, domain = Fraction(1, 2), 3, problem.sensitive[secret]
    parts = replace(
        problem, qids=[QID(names, k)], inferences=[Template(names, secret, value, alpha) for value in domain]
    )
    cuts = {**most_masked(parts), **tdr(problem).cuts}
    classes: dict[tuple[object, ...], Counter[object]] = {}
    for record in mask(problem.records, cuts):
        key = tuple(record.values[name] for name in names)
        classes.setdefault(key, Counter())[record.values[secret]] += record.weight
    holds = all(n.total() >= k and all(n[v] <= alpha * n.total() for v in domain) for n in classes.values())
    assert fulfilled(parts, cuts) == holds
    assert anonymity(parts.records, cuts, parts.qids[0]) == min(n.total() for n in classes.values())
