"""The authors' `.hchy` files."""

from pathlib import Path

import pytest

from schema.sentences import sentence
from unveil.errors import TaxonomyError
from unveil.schema import Hierarchies, Taxonomy, read_hchy, read_taxonomy

FILE = """\
| A comment that takes up a line.

classes:discrete		| classes
{Any Class {>50K} {<=50K}}

age:continuous
{15-95 {15-55 {15-35} {35-55}} {55-95}}
work-class:discrete:suppression
{Any {With-Pay {Private} {Self-emp}} {Without-pay}}
sex:discrete
{Any {Female} {Male}}
height:continuous
{0.5-2.5 {ignored}}
balance:continuous
{-100--5 {ignored}}

vid: | Top2
{{{100} {age} {sex}} {{20} {work-class}}}
| vid: | Top3
| {{{100} {age} {sex} {work-class}}}
"""


def read(folder: Path, content: str) -> Hierarchies:
    file = folder / "adult.hchy"
    file.write_bytes(content.encode())
    return read_hchy(file)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_says_all_of_this(tmp_path: Path, line_end: str) -> None:
    found = read(tmp_path, FILE.replace("\n", line_end))
    assert found.classes == (">50K", "<=50K")
    assert found.attributes == ["age", "work-class", "sex", "height", "balance"]
    assert found.ranges == {"age": (15, 95), "height": (0.5, 2.5), "balance": (-100, -5)}
    assert list(found.trees) == ["work-class", "sex"]
    assert Taxonomy(found.trees["work-class"]).labels == (
        "Any",
        "With-Pay",
        "Private",
        "Self-emp",
        "Without-pay",
    )
    assert found.suppressed == {"work-class"}
    assert found.quasi_identifiers == [(("age", "sex"), 100), (("work-class",), 20)]


def test_a_tree_may_run_over_lines(tmp_path: Path) -> None:
    found = read(tmp_path, "sex:discrete\n{Any\n  {Female}  | the first\n  {Male}\n}\n")
    assert Taxonomy(found.trees["sex"]).leaves == ("Female", "Male")


def test_an_attribute_that_a_quasi_identifier_names_twice_counts_once(tmp_path: Path) -> None:
    # The authors' Random5 names education twice.
    assert read(tmp_path, "vid:\n{{{5} {age} {sex} {age}}}\n").quasi_identifiers == [(("age", "sex"), 5)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("sex:discrete\n{Any {Female} {Male}\n", "the braces of '{Any {Female} {Male}' do not make one tree."),
        (
            "sex:discrete\n{Any {Female}}}\n",
            "a brace closes that was never opened, in '{Any {Female}}}'.",
        ),
        (
            "sex:discrete\n{Any {Female}} {Other {Male}}\n",
            "the braces of '{Any {Female}} {Other {Male}}' do not make one tree.",
        ),
        ("sex:discrete\n{Any {Female} Male}\n", "'Male' stands outside of braces of its own."),
        ("sex:discrete\nAny {Female}\n", "'Any' stands outside of braces of its own."),
        ("{Any {Female}}\n", "line 1: '{Any {Female}}' stands before the first attribute."),
        ("age:continuous\n{young {x}}\n", "age: 'young' is not a range such as '17-91'."),
        ("vid:\n{{{age} {sex}}}\n", "vid: ['age', 'sex'] does not give k and then attributes."),
        ("vid:\n{{{5}}}\n", "vid: ['5'] does not give k and then attributes."),
    ],
    ids=[
        "open brace",
        "close brace",
        "two roots",
        "label without braces",
        "root without braces",
        "no header",
        "not a range",
        "no k",
        "no attributes",
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    assert sentence(TaxonomyError, lambda: read(tmp_path, content)) == f"adult.hchy: {problem}"


@pytest.mark.parametrize(
    ("attribute", "content", "problem"),
    [
        ("sexe", "sex:discrete\n{Any {F} {M}}\n", "it has no tree for the attribute 'sexe'; did you mean 'sex'?"),
        ("age", "age:continuous\n{15-95 {x}}\n", "it has no tree for the attribute 'age'."),
        ("sex", "sex:discrete\n{Any {F} {F}}\n", "the leaf 'F' stands twice."),
        ("sex", "sex:discrete\n{Any {Person {Any {F} {M}}}}\n", "the label 'Any' lies below itself: a cycle."),
        ("sex", "sex:discrete\n{Any {} {M}}\n", "a label is empty."),
        ("sex", "", "it has no tree for the attribute 'sex'."),
    ],
    ids=["another name", "a number", "leaf twice", "cycle", "empty label", "empty file"],
)
def test_the_tree_of_an_attribute(tmp_path: Path, attribute: str, content: str, problem: str) -> None:
    (tmp_path / "adult.hchy").write_text(content)
    message = sentence(TaxonomyError, lambda: read_taxonomy(tmp_path / "adult.hchy", attribute))
    assert message == f"adult.hchy: {problem}"


# ---- Found while writing these tests ----


def test_a_range_that_is_reversed_is_refused(tmp_path: Path) -> None:
    message = sentence(TaxonomyError, lambda: read(tmp_path, "age:continuous\n{95-15 {x}}\n"))
    assert "age" in message
    assert "95-15" in message


def test_an_attribute_that_stands_twice_is_refused(tmp_path: Path) -> None:
    content = "sex:discrete\n{Any {Female} {Male}}\nsex:discrete\n{Any {F} {M}}\n"
    message = sentence(TaxonomyError, lambda: read(tmp_path, content))
    assert "'sex'" in message
