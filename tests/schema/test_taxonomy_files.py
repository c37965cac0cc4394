"""Taxonomy files: ARX csv, the project's indented trees, and a tree out of the authors' `.hchy`."""

from pathlib import Path

import pytest

from schema.sentences import sentence
from unveil.errors import TaxonomyError
from unveil.schema import Taxonomy, read_taxonomy

TREE = """\
Any
  White collar
    Clerk
    Manager
  Farmer
"""


def read(folder: Path, name: str, content: str | bytes) -> Taxonomy:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_taxonomy(file, "job")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("job.tree", TREE),
        ("job.txt", TREE),
        ("job.csv", "Clerk;White collar;Any\nManager;White collar;Any\nFarmer;Farmer;Any\n"),
        ("job.csv", "Clerk,White collar,Any\nManager,White collar,Any\nFarmer,Any\n"),
        ("job.hchy", "job:discrete\n{Any {White collar {Clerk} {Manager}} {Farmer}}\n"),
    ],
    ids=["tree", "any other ending", "ARX csv", "ARX csv with commas and a shorter path", "hchy"],
)
def test_the_same_tree_in_every_format(tmp_path: Path, name: str, content: str) -> None:
    taxonomy = read(tmp_path, name, content)
    assert str(taxonomy) + "\n" == TREE
    assert taxonomy.origin == name


# ---- The project's own format ----


@pytest.mark.parametrize(
    "content",
    [
        "# What people do\n\nAny\n  # in an office\n  White collar\n    Clerk\n\n    Manager\n  Farmer\n",
        "\ufeff" + TREE,
        TREE.replace("\n", "\r\n"),
        TREE.replace("Clerk", "Clerk  ").removesuffix("\n"),
    ],
    ids=["comments and blank lines", "byte order mark", "Windows line ends", "trailing spaces, no last line end"],
)
def test_an_indented_tree_may_be_written_in_these_ways(tmp_path: Path, content: str) -> None:
    assert str(read(tmp_path, "job.tree", content)) + "\n" == TREE


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "job.tree", TREE)
    assert str(read(tmp_path, "copy.tree", str(taxonomy))) == str(taxonomy)


NOT_INDENTED = "is not indented by two spaces per level."


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("Any\n   Clerk\n", f"line 2: 'Clerk' {NOT_INDENTED}"),
        ("Any\n    Clerk\n", f"line 2: 'Clerk' {NOT_INDENTED}"),
        ("Any\n\tClerk\n", f"line 2: 'Clerk' {NOT_INDENTED}"),
        ("Any\n  \tClerk\n", f"line 2: 'Clerk' {NOT_INDENTED}"),
        ("# jobs\n  Any\n    Clerk\n", f"line 2: 'Any' {NOT_INDENTED}"),
        ("Any\n  Clerk\nOther\n  Farmer\n", "there are two roots, 'Any' and 'Other'."),
        ("Any\n  A\n    Clerk\n  B\n    Clerk\n", "the leaf 'Clerk' appears twice."),
        ("Any\n  A\n    B\n      A\n      Clerk\n", "the label 'A' is below itself: a cycle."),
        ("Any\n", "the root 'Any' has nothing below it."),
        ("", "the taxonomy is empty."),
        ("\n  \n# nothing yet\n", "the taxonomy is empty."),
    ],
    ids=[
        "odd number of spaces",
        "two levels at once",
        "tab",
        "spaces and a tab",
        "indented root",
        "two roots",
        "leaf twice",
        "cycle",
        "root only",
        "empty",
        "comments only",
    ],
)
def test_a_bad_tree_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    assert sentence(TaxonomyError, lambda: read(tmp_path, "job.tree", content)) == f"job.tree: {problem}"


# ---- ARX csv ----


def test_repeated_labels_on_an_arx_path_collapse(tmp_path: Path) -> None:
    # ARX gives every value a label on every level; one that is not generalized there stays itself.
    content = "Clerk;Clerk;Office;Office;*;*\nManager;Manager;Office;Office;*;*\nFarmer;Farmer;Farmer;Farmer;*;*\n"
    taxonomy = read(tmp_path, "job.csv", content)
    assert str(taxonomy).splitlines() == ["*", "  Office", "    Clerk", "    Manager", "  Farmer"]


def test_leaves_stand_in_the_order_of_the_lines_as_far_as_the_tree_allows(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "job.csv", "c;X;*\na;Y;*\nb;X;*\n")
    assert taxonomy.leaves == ("c", "b", "a")


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffClerk;*\nFarmer;*\n",
        "Clerk;*\r\nFarmer;*\r\n",
        " Clerk ; *\n\n;;\nFarmer;*",
        '"Clerk";"*"\n"Farmer";"*"\n',
    ],
    ids=["byte order mark", "Windows line ends", "spaces and blank lines", "quotes"],
)
def test_an_arx_csv_may_be_written_in_these_ways(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, "job.csv", content).labels == ("*", "Clerk", "Farmer")


def test_a_quoted_value_may_hold_the_delimiter(tmp_path: Path) -> None:
    assert read(tmp_path, "job.csv", '"Clerk; retired";*\nFarmer;*\n').leaves == ("Clerk; retired", "Farmer")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("Clerk;A;*\nFarmer;A;*\nClerk;B;*\n", "line 3: the leaf 'Clerk' appears twice."),
        ("Clerk;A;*\nFarmer;B;All\n", "there are two roots, '*' and 'All'."),
        ("Clerk;A;Clerk;*\nFarmer;B;*\n", "the label 'Clerk' is below itself: a cycle."),
        ("Clerk\n", "the root 'Clerk' has nothing below it."),
        ("", "the taxonomy is empty."),
        ("\n\n", "the taxonomy is empty."),
        ("Clerk;*\n⊥;*\n", "the label '⊥' is reserved for suppressed values."),
    ],
    ids=["leaf twice", "two roots", "cycle", "no levels", "empty", "blank lines only", "⊥"],
)
def test_a_bad_arx_csv_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    assert sentence(TaxonomyError, lambda: read(tmp_path, "job.csv", content)) == f"job.csv: {problem}"


@pytest.mark.parametrize(
    ("content", "label"),
    [
        ("Clerk;A;B;*\nFarmer;B;A;*\n", "'B'"),
        ("Clerk;A;X;*\nFarmer;A;Y;*\n", "'A'"),
        ("Clerk;A;*\nA;B;*\n", "'A'"),
    ],
    ids=["cycle over two lines", "two parents", "leaf and inner label"],
)
def test_an_arx_label_in_two_places_is_refused(tmp_path: Path, content: str, label: str) -> None:
    message = sentence(TaxonomyError, lambda: read(tmp_path, "job.csv", content))
    assert message.startswith("job.csv: ")
    assert label in message


@pytest.mark.parametrize("content", ["Clerk;;*\nFarmer;A;*\n", ";A;*\nFarmer;A;*\n", "Clerk;*;\nFarmer;*;\n"])
def test_an_arx_line_with_a_gap_is_refused(tmp_path: Path, content: str) -> None:
    message = sentence(TaxonomyError, lambda: read(tmp_path, "job.csv", content))
    assert message.startswith("job.csv: ")
    assert "empty" in message


# ---- Any file ----


@pytest.mark.parametrize("name", ["job.tree", "job.csv", "job.hchy"])
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, name: str) -> None:
    message = sentence(TaxonomyError, lambda: read(tmp_path, name, "Zürich\n".encode("latin-1")))
    assert message.endswith(f"{name}: the taxonomy is not UTF-8 text (byte 1).")


@pytest.mark.parametrize("name", ["job.tree", "job.csv", "job.hchy"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    message = sentence(TaxonomyError, lambda: read_taxonomy(tmp_path / name, "job"))
    assert message.endswith(f"{name}: the taxonomy cannot be read: No such file or directory.")


# ---- Found while writing these tests ----


def test_the_ending_of_a_file_may_be_in_capitals(tmp_path: Path) -> None:
    assert read(tmp_path, "JOB.CSV", "Clerk;*\nFarmer;*\n").leaves == ("Clerk", "Farmer")


def test_a_quote_that_never_closes_is_refused_however_long_the_file(tmp_path: Path) -> None:
    lines = "".join(f"Clerk {number};Clerk;*\n" for number in range(10_000))
    message = sentence(TaxonomyError, lambda: read(tmp_path, "job.csv", '"' + lines))
    assert message.startswith("job.csv: ")


def test_spaces_that_do_not_break_are_not_indentation(tmp_path: Path) -> None:
    # They come with text copied from a web page or a word processor, and nobody sees the difference.
    message = sentence(TaxonomyError, lambda: read(tmp_path, "job.tree", "Any\n\u00a0\u00a0Clerk\n"))
    assert message == f"job.tree: line 2: 'Clerk' {NOT_INDENTED}"
