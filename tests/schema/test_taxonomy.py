import pytest

from schema.sentences import sentence
from unveil.errors import TaxonomyError
from unveil.schema import SUPPRESSED, Taxonomy
from unveil.schema.taxonomy import Branch

EDUCATION: Branch = (
    "ANY_Edu",
    [
        ("Secondary", [("9th", []), ("10th", [])]),
        ("Bachelors", []),
        ("Grad School", [("Masters", []), ("Doctorate", [])]),
    ],
)


def test_leaves_are_numbered_in_tree_order_so_that_every_node_is_a_range() -> None:
    taxonomy = Taxonomy(EDUCATION)
    assert taxonomy.leaves == ("9th", "10th", "Bachelors", "Masters", "Doctorate")
    ranges = {node.label: (node.lo, node.hi) for node in taxonomy.root.walk()}
    assert ranges == {
        "ANY_Edu": (0, 5),
        "Secondary": (0, 2),
        "9th": (0, 1),
        "10th": (1, 2),
        "Bachelors": (2, 3),
        "Grad School": (3, 5),
        "Masters": (3, 4),
        "Doctorate": (4, 5),
    }


def test_labels_stand_with_parents_before_children() -> None:
    taxonomy = Taxonomy(EDUCATION)
    assert taxonomy.labels[:3] == ("ANY_Edu", "Secondary", "9th")
    assert taxonomy.inner_labels == {"ANY_Edu", "Secondary", "Grad School"}
    assert "Masters" in taxonomy
    assert "PhD" not in taxonomy


def test_a_label_stands_for_the_leaves_below_it() -> None:
    taxonomy = Taxonomy(EDUCATION)
    assert taxonomy.leaves_of("ANY_Edu") == taxonomy.leaves
    assert taxonomy.leaves_of("Grad School") == ("Masters", "Doctorate")
    assert taxonomy.leaves_of("Bachelors") == ("Bachelors",)
    assert [child.label for child in taxonomy.node("Secondary").children] == ["9th", "10th"]


def test_it_is_written_in_the_project_s_own_format() -> None:
    assert str(Taxonomy(EDUCATION)).splitlines() == [
        "ANY_Edu",
        "  Secondary",
        "    9th",
        "    10th",
        "  Bachelors",
        "  Grad School",
        "    Masters",
        "    Doctorate",
    ]


def test_a_label_that_stays_itself_on_the_next_level_is_one_node() -> None:
    repeated: Branch = ("*", [("*", [("a", [("a", [("a", [])])]), ("B", [("B", [("b", []), ("c", [])])])])])
    assert Taxonomy(repeated).labels == ("*", "a", "B", "b", "c")


@pytest.mark.parametrize(
    ("branch", "problem"),
    [
        (("Any", [("A", [("a", [])]), ("B", [("a", [])])]), "the leaf 'a' appears twice."),
        (("Any", [("A", [("a", [])]), ("A", [("b", [])])]), "the label 'A' appears twice."),
        (("Any", [("A", [("Any", [("a", [])]), ("b", [])])]), "the label 'Any' is below itself: a cycle."),
        (("Any", [("A", [("A", []), ("b", [])])]), "the label 'A' is below itself: a cycle."),
        (("Any", []), "the root 'Any' has nothing below it."),
        (("Any", [("Any", [])]), "the root 'Any' has nothing below it."),
        (("Any", [("", []), ("a", [])]), "a label is empty."),
        (("Any", [(SUPPRESSED, []), ("a", [])]), "the label '⊥' is reserved for suppressed values."),
    ],
    ids=["leaf twice", "inner twice", "cycle", "own child", "no leaf", "no leaf but itself", "empty label", "⊥"],
)
def test_what_is_not_a_tree_of_distinct_labels_is_refused(branch: Branch, problem: str) -> None:
    assert sentence(TaxonomyError, lambda: Taxonomy(branch, "edu.tree")) == f"edu.tree: {problem}"
