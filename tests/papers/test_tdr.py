"""The worked examples of TDR (Fung, Wang and Yu, TKDE 2007, Sections I to IV), in the order of the paper.

Intervals read `[1, 37)` here where the paper prints `[1-37)`.
"""

import math
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

import unveil
from unveil.counting.engine import open_engine
from unveil.publishers import start_search
from unveil.refine import Search
from unveil.release import Release
from unveil.schema import Attribute, KAnonymity, Spec, TableSpec, Taxonomy

pytestmark = pytest.mark.engines

EDUCATION, SEX, WORK_HRS = NAMES = ("Education", "Sex", "Work_Hrs")
RECORDS = "# of Recs."

Qid = tuple[str, ...]


# ---- Table I, and Figure 1: the taxonomy trees and the QIDs ----


def compressed(*rows: tuple[str, str, int, str]) -> pd.DataFrame:
    """A compressed table as the paper prints it, a row for each class that a printed row holds."""
    records = []
    for education, sex, hours, frequency in rows:
        yes, no = frequency.removesuffix("N").split("Y")
        records += [(education, sex, hours, "Y", int(yes)), (education, sex, hours, "N", int(no))]
    table = pd.DataFrame(records, columns=[*NAMES, "Class", RECORDS])
    return table[table[RECORDS] > 0]


ROWS_OF_TABLE_I = (
    ("9th", "M", 30, "0Y3N"),
    ("10th", "M", 32, "0Y4N"),
    ("11th", "M", 35, "2Y3N"),
    ("12th", "F", 37, "3Y1N"),
    ("Bachelors", "F", 42, "4Y2N"),
    ("Bachelors", "F", 44, "4Y0N"),
    ("Masters", "M", 44, "4Y0N"),
    ("Masters", "F", 44, "3Y0N"),
    ("Doctorate", "F", 44, "1Y0N"),
)
TABLE_I = compressed(*ROWS_OF_TABLE_I)

EDUCATION_TREE = """\
ANY_Edu
  Secondary
    Junior Sec.
      9th
      10th
    Senior Sec.
      11th
      12th
  University
    Bachelors
    Grad School
      Masters
      Doctorate
"""
SEX_TREE = """\
ANY_Sex
  M
  F
"""


def anonymous(names: tuple[str, ...], k: int) -> KAnonymity:
    return KAnonymity(quasi_identifier=names, k=k)


QID_1 = anonymous((EDUCATION, SEX), 4)
QID_2 = anonymous((SEX, WORK_HRS), 11)

TAXONOMY_OF_EDUCATION = Taxonomy(
    (
        "ANY_Edu",
        [
            (
                "Secondary",
                [("Junior Sec.", [("9th", []), ("10th", [])]), ("Senior Sec.", [("11th", []), ("12th", [])])],
            ),
            ("University", [("Bachelors", []), ("Grad School", [("Masters", []), ("Doctorate", [])])]),
        ],
    )
)
TAXONOMY_OF_SEX = Taxonomy(("ANY_Sex", [("M", []), ("F", [])]))
WORK_HRS_RANGE = Attribute(WORK_HRS, kind="number", range=(1, 99), whole=True)


def spec_of(education: Attribute, sex: Attribute, *requirements: KAnonymity, criterion: str = "score") -> Spec:
    attributes = {attribute.name: attribute for attribute in (education, sex, WORK_HRS_RANGE)}
    table = TableSpec(class_="Class", weight=RECORDS)
    # The paper prints the values that it splits at.
    return Spec(
        table,
        attributes,
        requirements,
        search="paper",
        recoding="global",
        criterion=criterion,  # type: ignore[arg-type]
        bounds="observed",
    )


def with_trees(*requirements: KAnonymity, criterion: str = "score") -> Spec:
    """Figure 1: Education and Sex are generalized, Work_Hrs is discretized."""
    education = Attribute(EDUCATION, taxonomy=TAXONOMY_OF_EDUCATION)
    sex = Attribute(SEX, taxonomy=TAXONOMY_OF_SEX)
    return spec_of(education, sex, *requirements, criterion=criterion)


def without_trees(*requirements: KAnonymity) -> Spec:
    """Education and Sex have no taxonomy, so their values are suppressed."""
    education = Attribute(EDUCATION, values=TAXONOMY_OF_EDUCATION.leaves)
    return spec_of(education, Attribute(SEX, values=("M", "F")), *requirements)


# ---- What the paper reads off a table ----


def printed(table: pd.DataFrame) -> dict[Qid, str]:
    """⟨education, sex, hours⟩ → class frequency, the way the paper prints a compressed table."""
    counts = table.groupby([*NAMES, "Class"], observed=True)[RECORDS].sum().unstack("Class", fill_value=0)
    return {masked: f"{row['Y']}Y{row['N']}N" for masked, row in counts.iterrows()}


def a(table: pd.DataFrame, *qid: str) -> dict[Qid, int]:
    """a(qid) for every qid on the QID: how many records share it."""
    sizes: dict[Qid, int] = table.groupby(list(qid), observed=True)[RECORDS].sum().to_dict()
    return sizes


def anonymity(table: pd.DataFrame, requirement: KAnonymity) -> int:
    """A(QID): the smallest a(qid)."""
    return min(a(table, *requirement.quasi_identifier).values())


def cut(table: pd.DataFrame, name: str) -> set[str]:
    return set(table[name])


def refined(release: Release) -> list[str]:
    return [step["refined"] for step in release.trace]


# ---- What the paper computes for the candidates ----


class Printed(NamedTuple):
    gain: float
    loss: float
    score: float

    def __eq__(self, other: object) -> bool:
        """Equal in the four digits that the paper prints."""
        return isinstance(other, tuple) and list(self) == pytest.approx(list(other), abs=0.00005)

    __hash__ = None  # type: ignore[assignment]


def search(table: pd.DataFrame, spec: Spec) -> Search:
    outline, counts = open_engine(spec, table)
    return start_search(outline, spec, counts)


def candidates(found: Search) -> dict[str, Printed]:
    """The candidates by their label; for suppression by the value that would be disclosed."""
    listed = {}
    for step in found.candidates():
        label = step.refinement.block.label
        disclosed = step.refinement.children[0].label
        listed[disclosed if label == "⊥" else label] = Printed(step.gain, step.loss, step.score)
    return listed


# ---- Section I ----


def test_example_1_the_table_has_34_records() -> None:
    assert a(TABLE_I, "Class") == {"Y": 21, "N": 13}
    assert a(TABLE_I, *NAMES)["11th", "M", 35] == 5

    # "There is only one record for 'female doctor'"; in Grad School she is "one of the four females".
    assert a(TABLE_I, EDUCATION, SEX)["Doctorate", "F"] == 1
    released = unveil.publish(TABLE_I, with_trees(QID_1)).to_pandas(intervals="text")
    assert a(released, EDUCATION, SEX)["Grad School", "F"] == 4

    # "19 out of 22 persons having Work_Hrs ≥ 37 are in the class Y"
    assert a(TABLE_I[TABLE_I[WORK_HRS] >= 37], "Class") == {"Y": 19, "N": 3}


# ---- Section II: the anonymity requirement ----


def test_example_2_the_raw_table_violates_the_requirement() -> None:
    too_small = {qid for qid, count in a(TABLE_I, EDUCATION, SEX).items() if count < 4}
    assert too_small == {("9th", "M"), ("Masters", "F"), ("Doctorate", "F")}


@pytest.mark.parametrize(
    "requirements",
    [(QID_1,), (QID_1, QID_2), (anonymous(NAMES, 4),), (anonymous(NAMES, 11),)],
    ids=["one QID", "the two QIDs of Figure 1", "any combination, k = 4", "any combination, k = 11"],
)
def test_example_2_the_released_tables_satisfy_it(requirements: tuple[KAnonymity, ...]) -> None:
    released = unveil.publish(TABLE_I, with_trees(*requirements)).to_pandas(intervals="text")
    for requirement in requirements:
        assert anonymity(released, requirement) >= requirement.k


@pytest.mark.parametrize("weaker", [anonymous((EDUCATION,), 4), anonymous((SEX,), 3)])
def test_a_qid_that_another_one_implies_is_removed(weaker: KAnonymity) -> None:
    # It would otherwise enter the average of AnonyLoss and change the scores.
    release = unveil.publish(TABLE_I, with_trees(weaker, QID_1))
    assert release.trace == unveil.publish(TABLE_I, with_trees(QID_1)).trace
    assert anonymity(release.to_pandas(intervals="text"), weaker) >= weaker.k


def test_a_subset_with_a_larger_k_is_not_removed() -> None:
    education = anonymous((EDUCATION,), 5)
    released = unveil.publish(TABLE_I, with_trees(QID_1, education)).to_pandas(intervals="text")
    assert anonymity(released, education) >= 5
    assert anonymity(unveil.publish(TABLE_I, with_trees(QID_1)).to_pandas(intervals="text"), education) == 4


def test_several_qids_do_not_imply_their_union_but_the_union_implies_them() -> None:
    union = anonymous(NAMES, max(QID_1.k, QID_2.k))
    several = unveil.publish(TABLE_I, with_trees(QID_1, QID_2)).to_pandas(intervals="text")
    assert anonymity(several, union) == 4

    # "enforcing the k-anonymity on [the union] will distort the data more than what is necessary"
    single = unveil.publish(TABLE_I, with_trees(union)).to_pandas(intervals="text")
    assert anonymity(single, QID_1) >= QID_1.k
    assert anonymity(single, QID_2) >= QID_2.k
    assert printed(single) == {
        ("ANY_Edu", "ANY_Sex", "[1, 37)"): "2Y10N",
        ("ANY_Edu", "ANY_Sex", "[37, 99)"): "19Y3N",
    }


# ---- Section III-A: refinement ----

FIGURE_2 = {"Junior Sec.", "11th", "12th", "Bachelors", "Grad School"}


def test_example_3_the_search_ends_at_the_cut_of_figure_2() -> None:
    released = unveil.publish(TABLE_I, with_trees(QID_1)).to_pandas(intervals="text")
    assert cut(released, EDUCATION) == FIGURE_2
    assert cut(released, SEX) == {"M", "F"}
    assert anonymity(released, QID_1) == 4


@pytest.mark.parametrize(
    ("label", "leaf", "frequency"), [("Junior Sec.", "9th", "2Y1N"), ("Grad School", "Masters", "2Y2N")]
)
def test_example_3_a_refinement_below_it_is_invalid(label: str, leaf: str, frequency: str) -> None:
    # Shown on a table where it would be beneficial: some men with this leaf are put into the other class.
    table = compressed(*((*row[:3], frequency) if row[:2] == (leaf, "M") else row for row in ROWS_OF_TABLE_I))
    assert a(table, EDUCATION, SEX) == a(TABLE_I, EDUCATION, SEX)

    assert label in cut(unveil.publish(table, with_trees(QID_1)).to_pandas(intervals="text"), EDUCATION)
    assert leaf in cut(
        unveil.publish(table, with_trees(anonymous((EDUCATION, SEX), 1))).to_pandas(intervals="text"),
        EDUCATION,
    )


def test_example_3_a_refinement_below_it_is_not_beneficial() -> None:
    # "none of them refines data records in different classes", so not even 1-anonymity leads further down.
    released = unveil.publish(TABLE_I, with_trees(anonymous((EDUCATION, SEX), 1))).to_pandas(intervals="text")
    assert cut(released, EDUCATION) == FIGURE_2


# ---- Section III-B: the selection criterion ----


def entropy(table: pd.DataFrame, label: str) -> float:
    """Equation 3: I(R_x) of the records masked to a value of Education."""
    sizes = a(table[table[EDUCATION] == label], "Class").values()
    return -sum(size / sum(sizes) * math.log2(size / sum(sizes)) for size in sizes)


def test_example_4_the_score_of_any_edu() -> None:
    before = unveil.publish(TABLE_I, with_trees(QID_1), steps=0).to_pandas(intervals="text")
    after = unveil.publish(TABLE_I, with_trees(QID_1), steps=1).to_pandas(intervals="text")
    assert a(after, EDUCATION) == {"Secondary": 16, "University": 18}
    assert entropy(before, "ANY_Edu") == pytest.approx(0.9597, abs=0.00005)
    assert entropy(after, "Secondary") == pytest.approx(0.8960, abs=0.00005)
    assert entropy(after, "University") == pytest.approx(0.5033, abs=0.00005)

    any_edu = candidates(search(TABLE_I, with_trees(QID_1)))["ANY_Edu"]
    assert any_edu == Printed(gain=0.2716, loss=34 - 16, score=0.0143)


def test_equation_5_the_score_of_disclosing_a_value() -> None:
    # Masters: 7Y0N of 21Y13N, which leaves 14Y13N hidden. InfoGain = 0.9597 − 7/34 × 0 − 27/34 × 0.9990 = 0.1664.
    found = candidates(search(TABLE_I, without_trees(QID_1)))
    assert found["Masters"] == Printed(gain=0.1664, loss=34 - 7, score=0.1664 / (27 + 1))
    # Bachelors: 8Y2N, which leaves 13Y11N. InfoGain = 0.9597 − 10/34 × 0.7219 − 24/34 × 0.9950 = 0.0450.
    assert found["Bachelors"] == Printed(gain=0.0450, loss=34 - 10, score=0.0450 / (24 + 1))
    # Disclosing M leaves F alone under ⊥, so that both are distinguished: the same as refining ANY_Sex.
    assert found["M"] == found["F"] == candidates(search(TABLE_I, with_trees(QID_1)))["ANY_Sex"]
    # 9th and Doctorate have fewer than 4 records: disclosing one of them is invalid.
    assert found.keys() == {"10th", "11th", "12th", "Bachelors", "Masters", "M", "F"}


# ---- Section III-C: InfoGain against Score, on Table II ----

TABLE_II = compressed(
    ("10th", "M", 40, "20Y0N"),
    ("10th", "M", 30, "0Y4N"),
    ("9th", "M", 30, "0Y2N"),
    ("9th", "F", 30, "0Y4N"),
    ("9th", "F", 40, "0Y6N"),
    ("8th", "F", 30, "0Y2N"),
    ("8th", "F", 40, "0Y2N"),
)


def example_5(criterion: str) -> Spec:
    flat = Taxonomy(("ANY_Edu", [("8th", []), ("9th", []), ("10th", [])]))
    education, sex = Attribute(EDUCATION, taxonomy=flat), Attribute(SEX, taxonomy=TAXONOMY_OF_SEX)
    return spec_of(education, sex, anonymous(NAMES, 4), criterion=criterion)


def test_example_5_the_most_masked_table_has_one_row() -> None:
    for criterion in ("score", "infogain"):
        most_masked = unveil.publish(TABLE_II, example_5(criterion), steps=0).to_pandas(intervals="text")
        assert printed(most_masked) == {("ANY_Edu", "ANY_Sex", "[1, 99)"): "20Y20N"}


def test_table_ii_b_statistics_for_the_most_masked_table() -> None:
    assert candidates(search(TABLE_II, example_5("score"))) == {
        "ANY_Edu": Printed(gain=0.6100, loss=40 - 4, score=0.0165),
        "ANY_Sex": Printed(gain=0.4934, loss=40 - 14, score=0.0183),
        "[1, 99)": Printed(gain=0.3958, loss=40 - 12, score=0.0136),
    }


def test_table_ii_c_by_infogain() -> None:
    release = unveil.publish(TABLE_II, example_5("infogain"))
    assert refined(release) == ["ANY_Edu"]
    assert printed(release.to_pandas(intervals="text")) == {
        ("10th", "ANY_Sex", "[1, 99)"): "20Y4N",
        ("9th", "ANY_Sex", "[1, 99)"): "0Y12N",
        ("8th", "ANY_Sex", "[1, 99)"): "0Y4N",
    }


def test_table_ii_d_after_one_step_by_score() -> None:
    by_score = search(TABLE_II, example_5("score"))
    next(by_score.steps())
    # "further refinement on ANY_Edu is invalid because it will result in a(⟨9th, M, [1-99)⟩) = 2"
    assert candidates(by_score).keys() == {"[1, 99)"}

    intermediate = unveil.publish(TABLE_II, example_5("score"), steps=1).to_pandas(intervals="text")
    assert anonymity(intermediate, anonymous(NAMES, 4)) == 14
    assert printed(intermediate) == {
        ("ANY_Edu", "M", "[1, 99)"): "20Y6N",
        ("ANY_Edu", "F", "[1, 99)"): "0Y14N",
    }


def test_table_ii_e_by_score() -> None:
    release = unveil.publish(TABLE_II, example_5("score"))
    assert refined(release) == ["ANY_Sex", "[1, 99)"]
    final = release.to_pandas(intervals="text")
    assert anonymity(final, anonymous(NAMES, 4)) == 6
    assert printed(final) == {
        ("ANY_Edu", "M", "[40, 99)"): "20Y0N",
        ("ANY_Edu", "M", "[1, 40)"): "0Y6N",
        ("ANY_Edu", "F", "[40, 99)"): "0Y8N",
        ("ANY_Edu", "F", "[1, 40)"): "0Y6N",
    }


# ---- Section IV: top-down refinement ----

EXAMPLE_6 = with_trees(QID_1, QID_2)


def test_example_6_the_candidates_of_the_most_masked_table() -> None:
    most_masked = unveil.publish(TABLE_I, EXAMPLE_6, steps=0).to_pandas(intervals="text")
    assert printed(most_masked) == {("ANY_Edu", "ANY_Sex", "[1, 99)"): "21Y13N"}

    # "All refinements are candidates." ANY_Edu is in QID_1 alone, [1, 99) in QID_2 alone, ANY_Sex in both.
    assert candidates(search(TABLE_I, EXAMPLE_6)) == {
        "ANY_Edu": Printed(gain=0.2716, loss=34 - 16, score=0.0143),
        "ANY_Sex": Printed(gain=0.1664, loss=((34 - 16) + (34 - 16)) / 2, score=0.0088),
        "[1, 99)": Printed(gain=0.3584, loss=34 - 12, score=0.0156),
    }


def test_example_6_the_first_two_refinements() -> None:
    first, second = unveil.publish(TABLE_I, EXAMPLE_6, steps=2).trace
    assert (first["attribute"], first["refined"], first["into"]) == (WORK_HRS, "[1, 99)", ["[1, 37)", "[37, 99)"])
    assert Printed(first["gain"], first["loss"], first["score"]) == Printed(0.3584, 22, 0.0156)
    assert (second["attribute"], second["refined"]) == (EDUCATION, "ANY_Edu")
    assert second["into"] == ["Secondary", "University"]
    assert Printed(second["gain"], second["loss"], second["score"]) == Printed(0.2716, 18, 0.0143)


def test_example_6_to_the_end() -> None:
    # Not printed in the paper. The rest is invalid: [37, 99) would be cut at 44, which leaves 10 records below;
    # M with [37, 99) would have 4.
    release = unveil.publish(TABLE_I, EXAMPLE_6)
    assert refined(release) == ["[1, 99)", "ANY_Edu", "Secondary", "University", "Senior Sec."]
    assert printed(release.to_pandas(intervals="text")) == {
        ("Junior Sec.", "ANY_Sex", "[1, 37)"): "0Y7N",
        ("11th", "ANY_Sex", "[1, 37)"): "2Y3N",
        ("12th", "ANY_Sex", "[37, 99)"): "3Y1N",
        ("Bachelors", "ANY_Sex", "[37, 99)"): "8Y2N",
        ("Grad School", "ANY_Sex", "[37, 99)"): "8Y0N",
    }


@pytest.mark.parametrize(
    ("steps", "leaf_partitions"),
    [
        (0, {("ANY_Edu", "ANY_Sex", "[1, 99)"): 34}),
        (1, {("ANY_Edu", "ANY_Sex", "[1, 37)"): 12, ("ANY_Edu", "ANY_Sex", "[37, 99)"): 22}),
        (
            2,
            {
                ("Secondary", "ANY_Sex", "[1, 37)"): 12,
                ("Secondary", "ANY_Sex", "[37, 99)"): 4,
                ("University", "ANY_Sex", "[37, 99)"): 18,
            },
        ),
    ],
)
def test_example_7_the_leaf_partitions_of_figure_3(steps: int, leaf_partitions: dict[Qid, int]) -> None:
    assert a(unveil.publish(TABLE_I, EXAMPLE_6, steps=steps).to_pandas(intervals="text"), *NAMES) == leaf_partitions


@pytest.mark.parametrize(
    ("steps", "qit_1", "qit_2"),
    [
        (0, {("ANY_Edu", "ANY_Sex"): 34}, {("ANY_Sex", "[1, 99)"): 34}),
        (1, {("ANY_Edu", "ANY_Sex"): 34}, {("ANY_Sex", "[1, 37)"): 12, ("ANY_Sex", "[37, 99)"): 22}),
        (
            2,
            {("Secondary", "ANY_Sex"): 12 + 4, ("University", "ANY_Sex"): 18},
            {("ANY_Sex", "[1, 37)"): 12, ("ANY_Sex", "[37, 99)"): 22},
        ),
    ],
)
def test_example_8_the_trees_of_figure_4(steps: int, qit_1: dict[Qid, int], qit_2: dict[Qid, int]) -> None:
    released = unveil.publish(TABLE_I, EXAMPLE_6, steps=steps).to_pandas(intervals="text")
    assert a(released, *QID_1.quasi_identifier) == qit_1
    assert a(released, *QID_2.quasi_identifier) == qit_2
    assert (anonymity(released, QID_1), anonymity(released, QID_2)) == [(34, 34), (34, 12), (16, 12)][steps]


def test_examples_6_to_8_with_suppression_in_place_of_generalization() -> None:
    # Not in the paper: its requirement on its table, with Case 2 of Section IV for Education and Sex.
    release = unveil.publish(TABLE_I, without_trees(QID_1, QID_2))
    assert [step["into"] for step in release.trace] == [
        ["[1, 37)", "[37, 99)"],
        ["Masters", "⊥"],
        ["Bachelors", "⊥"],
        ["10th", "⊥"],
        ["12th", "⊥"],
        ["11th", "⊥"],
    ]
    assert a(release.to_pandas(intervals="text"), EDUCATION, SEX) == {
        ("10th", "⊥"): 4,
        ("11th", "⊥"): 5,
        ("12th", "⊥"): 4,
        ("Bachelors", "⊥"): 10,
        ("Masters", "⊥"): 7,
        ("⊥", "⊥"): 3 + 1,  # 9th and Doctorate
    }


# ---- From files to a release ----

SPEC = """[table]
source = "table-i.csv"
class  = "Class"
weight = "# of Recs."

[attributes.Education]
kind     = "category"
taxonomy = "trees/education.tree"

[attributes.Sex]
kind     = "category"
taxonomy = "trees/sex.tree"

[attributes.Work_Hrs]
kind  = "number"
range = [1, 99]
whole = true

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["Education", "Sex"]
k                = 4

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["Sex", "Work_Hrs"]
k                = 11

[publish]
search = "paper"
bounds = "observed"
"""


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    """The owner's folder: the table, its trees, and the spec of Example 6."""
    folder = tmp_path / "owner"
    (folder / "trees").mkdir(parents=True)
    (folder / "trees" / "education.tree").write_text(EDUCATION_TREE)
    (folder / "trees" / "sex.tree").write_text(SEX_TREE)
    TABLE_I.to_csv(folder / "table-i.csv", index=False)
    (folder / "example-6.toml").write_text(SPEC)
    return folder / "example-6.toml"


def test_example_6_from_files(spec_file: Path) -> None:
    release, same = unveil.publish(spec_file), unveil.publish(TABLE_I, EXAMPLE_6)
    assert release.trace == same.trace
    assert release.manifest == same.manifest
    assert printed(release.to_pandas(intervals="text")) == printed(same.to_pandas(intervals="text"))


def test_example_5_from_files(spec_file: Path) -> None:
    # The same trees but for Education, the other table, one QID, and InfoGain as the owner's choice.
    (spec_file.parent / "trees" / "education.tree").write_text("ANY_Edu\n  8th\n  9th\n  10th\n")
    one_qid = SPEC[: SPEC.index("[[require]]")] + (
        "[[require]]\n"
        'kind = "k-anonymity"\n'
        'quasi-identifier = ["Education", "Sex", "Work_Hrs"]\n'
        "k = 4\n"
        "[publish]\n"
        'search = "paper"\n'
        'bounds = "observed"\n'
        'criterion = "infogain"\n'
    )
    spec_file.write_text(one_qid)
    assert refined(unveil.publish(TABLE_II, spec_file)) == ["ANY_Edu"]
