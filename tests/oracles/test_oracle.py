"""The oracle against the paper's own examples, and against the promises of TDR."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .blocks import Cuts, Node, mask
from .problem import QID, Discretized, Generalized, Problem, Record, Suppressed, Tree
from .strategies import problems
from .tdr import (
    Candidate,
    anonymity,
    candidates,
    held,
    most_masked,
    size,
    tdr,
    without_redundant,
)

NAMES = ("Education", "Sex", "Work_Hrs")
SEX = Generalized("Sex", ("ANY_Sex", [("M", []), ("F", [])]))
WORK_HRS = Discretized("Work_Hrs", 1, 99)


def table(*rows: tuple[str, str, int, int, int]) -> list[Record]:
    """Rows of a compressed table: education, sex, hours, number of Y, number of N."""
    return [
        Record({"Education": education, "Sex": sex, "Work_Hrs": hours}, cls, count)
        for education, sex, hours, yes, no in rows
        for cls, count in (("Y", yes), ("N", no))
        if count
    ]


def compressed(records: list[Record]) -> dict[tuple[object, ...], tuple[int, int]]:
    """⟨education, sex, hours⟩ → (number of Y, number of N)."""
    counts: Counter[tuple[object, ...]] = Counter()
    for record in records:
        counts[(*(record.values[name] for name in NAMES), record.cls)] += record.weight
    return {key[:-1]: (counts[(*key[:-1], "Y")], counts[(*key[:-1], "N")]) for key in counts}


def at_start(problem: Problem) -> dict[str, Candidate]:
    return {c.block.label: c for c in candidates(problem, most_masked(problem))}


# ---- Table I, Figures 1 and 2 ----

EDUCATION: Tree = (
    "ANY_Edu",
    [
        (
            "Secondary",
            [
                ("Junior Sec.", [("9th", []), ("10th", [])]),
                ("Senior Sec.", [("11th", []), ("12th", [])]),
            ],
        ),
        (
            "University",
            [("Bachelors", []), ("Grad School", [("Masters", []), ("Doctorate", [])])],
        ),
    ],
)
TABLE_I = Problem(
    attributes=(Generalized("Education", EDUCATION), SEX, WORK_HRS),
    records=table(
        ("9th", "M", 30, 0, 3),
        ("10th", "M", 32, 0, 4),
        ("11th", "M", 35, 2, 3),
        ("12th", "F", 37, 3, 1),
        ("Bachelors", "F", 42, 4, 2),
        ("Bachelors", "F", 44, 4, 0),
        ("Masters", "M", 44, 4, 0),
        ("Masters", "F", 44, 3, 0),
        ("Doctorate", "F", 44, 1, 0),
    ),
    qids=(QID(("Education", "Sex"), 4), QID(("Sex", "Work_Hrs"), 11)),
)


def test_table_i_has_34_records() -> None:
    y_and_n = Counter({"Y": 21, "N": 13})
    assert sum((Counter({r.cls: r.weight}) for r in TABLE_I.records), Counter()) == y_and_n


def test_example_2_three_groups_of_the_raw_table_are_too_small() -> None:
    a: Counter[tuple[object, ...]] = Counter()
    for record in TABLE_I.records:
        a[record.values["Education"], record.values["Sex"]] += record.weight
    small = {qid for qid, count in a.items() if count < 4}
    assert small == {("9th", "M"), ("Masters", "F"), ("Doctorate", "F")}


def test_example_3_the_cut_of_figure_2_is_maximal() -> None:
    problem = replace(TABLE_I, qids=TABLE_I.qids[:1])
    labels = ("Junior Sec.", "11th", "12th", "Bachelors", "Grad School")
    cuts: Cuts = {"Education": tuple(map(node, labels)), "Sex": (node("M"), node("F"))}
    assert anonymity(problem.records, cuts, problem.qids[0]) == 4
    left = {c.block.label: (c.valid, c.beneficial) for c in candidates(problem, cuts)}
    assert left == {"Junior Sec.": (False, False), "Grad School": (False, False)}


def node(label: str) -> Node:
    found = [Node(EDUCATION), Node(SEX.tree)]
    while found[0].label != label:
        found = [*found[1:], *found[0].children]
    return found[0]


def test_example_4_score_of_any_edu() -> None:
    candidate = at_start(TABLE_I)["ANY_Edu"]
    assert candidate.gain == pytest.approx(0.2716, abs=5e-5)
    assert candidate.loss == 18
    assert candidate.score == pytest.approx(0.0143, abs=5e-5)
    parts = [held(TABLE_I.records, "Education", c) for c in candidate.children]
    assert list(map(size, parts)) == [16, 18]


def test_examples_6_to_8_step_by_step() -> None:
    qid1, qid2 = TABLE_I.qids
    assert all(c.valid and c.beneficial for c in at_start(TABLE_I).values())

    first = tdr(replace(TABLE_I, steps=1))
    assert first.steps[0][:3] == ("Work_Hrs", "[1, 99)", ("[1, 37)", "[37, 99)"))
    assert anonymity(TABLE_I.records, first.cuts, qid1) == 34
    assert anonymity(TABLE_I.records, first.cuts, qid2) == 12

    second = tdr(replace(TABLE_I, steps=2))
    assert second.steps[1][:3] == ("Education", "ANY_Edu", ("Secondary", "University"))
    assert anonymity(TABLE_I.records, second.cuts, qid1) == 16
    assert anonymity(TABLE_I.records, second.cuts, qid2) == 12
    assert {key: sum(n) for key, n in compressed(second.records).items()} == {
        ("Secondary", "ANY_Sex", "[1, 37)"): 12,
        ("Secondary", "ANY_Sex", "[37, 99)"): 4,
        ("University", "ANY_Sex", "[37, 99)"): 18,
    }


def test_example_6_to_the_end() -> None:
    # Not printed in the paper. What is left is invalid: [37, 99) would be cut at 44 and leave 10
    # records below it, Sex would leave ⟨M, [37, 99)⟩ with 4.
    refined = ["[1, 99)", "ANY_Edu", "Secondary", "University", "Senior Sec."]
    assert [step.refined for step in tdr(TABLE_I).steps] == refined
    assert compressed(tdr(TABLE_I).records) == {
        ("Junior Sec.", "ANY_Sex", "[1, 37)"): (0, 7),
        ("11th", "ANY_Sex", "[1, 37)"): (2, 3),
        ("12th", "ANY_Sex", "[37, 99)"): (3, 1),
        ("Bachelors", "ANY_Sex", "[37, 99)"): (8, 2),
        ("Grad School", "ANY_Sex", "[37, 99)"): (8, 0),
    }


# ---- Table II, Example 5 ----

TABLE_II = Problem(
    attributes=(
        Generalized("Education", ("ANY_Edu", [("8th", []), ("9th", []), ("10th", [])])),
        SEX,
        WORK_HRS,
    ),
    records=table(
        ("10th", "M", 40, 20, 0),
        ("10th", "M", 30, 0, 4),
        ("9th", "M", 30, 0, 2),
        ("9th", "F", 30, 0, 4),
        ("9th", "F", 40, 0, 6),
        ("8th", "F", 30, 0, 2),
        ("8th", "F", 40, 0, 2),
    ),
    qids=(QID(NAMES, 4),),
)


@pytest.mark.parametrize(
    ("label", "gain", "loss", "score"),
    [
        ("ANY_Edu", 0.6100, 40 - 4, 0.0165),
        ("ANY_Sex", 0.4934, 40 - 14, 0.0183),
        ("[1, 99)", 0.3958, 40 - 12, 0.0136),
    ],
)
def test_table_ii_b(label: str, gain: float, loss: float, score: float) -> None:
    candidate = at_start(TABLE_II)[label]
    assert candidate.gain == pytest.approx(gain, abs=5e-5)
    assert candidate.loss == loss
    assert candidate.score == pytest.approx(score, abs=5e-5)


def test_table_ii_c_by_info_gain() -> None:
    result = tdr(replace(TABLE_II, criterion="infogain"))
    assert [step.refined for step in result.steps] == ["ANY_Edu"]
    assert compressed(result.records) == {
        ("10th", "ANY_Sex", "[1, 99)"): (20, 4),
        ("9th", "ANY_Sex", "[1, 99)"): (0, 12),
        ("8th", "ANY_Sex", "[1, 99)"): (0, 4),
    }


def test_table_ii_d_and_e_by_score() -> None:
    halfway = tdr(replace(TABLE_II, steps=1))
    assert anonymity(TABLE_II.records, halfway.cuts, TABLE_II.qids[0]) == 14
    assert compressed(halfway.records) == {
        ("ANY_Edu", "M", "[1, 99)"): (20, 6),
        ("ANY_Edu", "F", "[1, 99)"): (0, 14),
    }
    result = tdr(TABLE_II)
    assert [step.into for step in result.steps] == [("M", "F"), ("[1, 40)", "[40, 99)")]
    assert anonymity(TABLE_II.records, result.cuts, TABLE_II.qids[0]) == 6
    assert compressed(result.records) == {
        ("ANY_Edu", "M", "[40, 99)"): (20, 0),
        ("ANY_Edu", "M", "[1, 40)"): (0, 6),
        ("ANY_Edu", "F", "[40, 99)"): (0, 8),
        ("ANY_Edu", "F", "[1, 40)"): (0, 6),
    }


# ---- What the paper leaves open, and this project decided ----


def test_redundant_qids_are_dropped() -> None:
    ab, a, b = ("A", "B"), ("A",), ("B",)
    kept = without_redundant([QID(a, 3), QID(ab, 3), QID(b, 4), QID(("B", "A"), 3), QID(b, 2)])
    assert kept == [QID(ab, 3), QID(b, 4)]


def test_suppression_discloses_values_one_by_one_even_for_nothing() -> None:
    problem = Problem(
        attributes=[Suppressed("city", ["x", "nobody", "y", "z"]), Suppressed("free", ["u"])],
        records=[
            Record({"city": "y", "free": "u"}, "Y"),
            Record({"city": "z", "free": "u"}, "Y", 2),
            Record({"city": "y", "free": "u"}, "N"),
            Record({"city": "z", "free": "u"}, "N", 2),
        ],
        qids=[QID(["city"], 2)],
    )
    result = tdr(problem)
    assert result.steps == [
        ("city", "⊥", ("y", "⊥"), 0.0, 4.0, 0.0),  # y before z: domain order breaks the tie
        ("city", "⊥", ("z", "⊥"), 0.0, 0.0, 0.0),  # the last hidden value held by a record
    ]
    assert result.masking == {"city": {"x": "⊥", "nobody": "⊥", "y": "y", "z": "z"}}
    assert [r.values for r in result.records[:2]] == [
        {"city": "y", "free": "u"},
        {"city": "z", "free": "u"},
    ]


def test_equal_splits_go_to_the_lowest_value_and_whole_bounds_have_no_point() -> None:
    rows = [(0.5, "Y"), (1.0, "N"), (1.5, "N"), (2.0, "Y")]
    problem = Problem(
        attributes=[Discretized("x", 0.25, 3.0)],
        records=[Record({"x": x}, cls) for x, cls in rows],
        qids=[QID(["x"], 1)],
        steps=1,
    )
    assert tdr(problem).steps[0][1:3] == ("[0.25, 3)", ("[0.25, 1)", "[1, 3)"))


def test_a_table_smaller_than_k_is_refused() -> None:
    with pytest.raises(ValueError, match="no masked table"):
        tdr(replace(TABLE_II, qids=[QID(NAMES, 41)]))


# ---- Promises, on random problems ----


@settings(deadline=None)
@given(problems())
def test_every_step_is_anonymous_and_the_last_one_is_maximally_refined(problem: Problem) -> None:
    result = tdr(problem)
    assert all(anonymity(problem.records, result.cuts, q) >= q.k for q in problem.qids)
    assert not any(c.valid and c.beneficial for c in candidates(problem, result.cuts))
    for n in range(len(result.steps)):
        early = tdr(replace(problem, steps=n))
        assert early.steps == result.steps[:n]
        assert all(anonymity(problem.records, early.cuts, q) >= q.k for q in problem.qids)
    assert result.records == mask(problem.records, result.cuts)


@settings(deadline=None)
@given(problems())
def test_what_is_invalid_stays_invalid(problem: Problem) -> None:
    invalid: set[tuple[str, str, str]] = set()
    for n in range(len(tdr(problem).steps) + 1):
        for c in candidates(problem, tdr(replace(problem, steps=n)).cuts):
            refinement = (c.attribute, c.block.label, c.children[0].label)
            assert not (c.valid and refinement in invalid)
            if not c.valid:
                invalid.add(refinement)


@settings(deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_order_of_records_does_not_matter_nor_their_compression(problem: Problem, random: Random) -> None:
    one_by_one = [replace(r, weight=1) for r in problem.records for _ in range(r.weight)]
    random.shuffle(one_by_one)
    result, other = tdr(problem), tdr(replace(problem, records=one_by_one))
    assert [step[:3] for step in result.steps] == [step[:3] for step in other.steps]
    for step, same in zip(result.steps, other.steps, strict=True):
        assert step[3:] == pytest.approx(same[3:], abs=1e-12)
    assert result.masking == other.masking


@settings(deadline=None)
@given(problems())
def test_problems_are_what_they_promise(problem: Problem) -> None:
    names = [attribute.name for attribute in problem.attributes]
    assert len({record.cls for record in problem.records}) >= 2
    assert all(1 <= qid.k <= size(problem.records) for qid in problem.qids)
    assert all(set(qid.attributes) <= set(names) for qid in problem.qids)
    for name, cut in most_masked(problem).items():
        assert held(problem.records, name, cut[0]) == problem.records
    for attribute in problem.attributes:
        labels = own_labels(attribute)
        assert len(labels) == len(set(labels))
        assert not any(label == "⊥" or label.startswith("[") for label in labels)


def own_labels(attribute: object) -> list[str]:
    match attribute:
        case Generalized(tree=tree):
            nodes = [Node(tree)]
            for node_ in nodes:
                nodes.extend(node_.children)
            return [node_.label for node_ in nodes]
        case Suppressed(values=values):
            return list(values)
    return []
