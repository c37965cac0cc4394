"""The authors' `.hchy` files."""

from pathlib import Path

import pytest

from schema.sentences import sentence
from unveil.errors import TaxonomyError
from unveil.schema import Taxonomy, read_taxonomy

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


def read(folder: Path, content: str, attribute: str | None = None) -> Taxonomy:
    file = folder / "adult.hchy"
    file.write_bytes(content.encode())
    return read_taxonomy(file, attribute)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_trees_of_a_file_that_says_more(tmp_path: Path, line_end: str) -> None:
    content = FILE.replace("\n", line_end)
    labels = read(tmp_path, content, "work-class").labels
    assert labels == ("Any", "With-Pay", "Private", "Self-emp", "Without-pay")
    assert read(tmp_path, content, "sex").leaves == ("Female", "Male")


def test_a_tree_may_run_over_lines(tmp_path: Path) -> None:
    found = read(tmp_path, "sex:discrete\n{Any\n  {Female}  | the first\n  {Male}\n}\n")
    assert found.leaves == ("Female", "Male")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("sex:discrete\n{Any {Female} {Male}\n", "the braces of '{Any {Female} {Male}' do not make one tree."),
        (
            "sex:discrete\n{Any {Female}}}\n",
            "a closing brace has no opening one, in '{Any {Female}}}'.",
        ),
        (
            "sex:discrete\n{Any {Female}} {Other {Male}}\n",
            "the braces of '{Any {Female}} {Other {Male}}' do not make one tree.",
        ),
        ("sex:discrete\n{Any {Female} Male}\n", "'Male' is not in its own braces."),
        ("sex:discrete\nAny {Female}\n", "'Any' is not in its own braces."),
        ("{Any {Female}}\n", "line 1: '{Any {Female}}' comes before the first attribute."),
    ],
    ids=[
        "open brace",
        "close brace",
        "two roots",
        "label without braces",
        "root without braces",
        "no header",
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    assert sentence(TaxonomyError, lambda: read(tmp_path, content)) == f"adult.hchy: {problem}"


@pytest.mark.parametrize(
    ("attribute", "content", "problem"),
    [
        ("sexe", "sex:discrete\n{Any {F} {M}}\n", "it has no tree for the attribute 'sexe'; did you mean 'sex'?"),
        ("age", "age:continuous\n{15-95 {x}}\n", "it has no tree for the attribute 'age'."),
        ("sex", "sex:discrete\n{Any {F} {F}}\n", "the leaf 'F' appears twice."),
        ("sex", "sex:discrete\n{Any {Person {Any {F} {M}}}}\n", "the label 'Any' is below itself: a cycle."),
        ("sex", "sex:discrete\n{Any {} {M}}\n", "a label is empty."),
        ("sex", "", "it has no tree for the attribute 'sex'."),
    ],
    ids=["another name", "a number", "leaf twice", "cycle", "empty label", "empty file"],
)
def test_the_tree_of_an_attribute(tmp_path: Path, attribute: str, content: str, problem: str) -> None:
    (tmp_path / "adult.hchy").write_text(content)
    message = sentence(TaxonomyError, lambda: read_taxonomy(tmp_path / "adult.hchy", attribute))
    assert message == f"adult.hchy: {problem}"


def test_an_attribute_that_appears_twice_is_refused(tmp_path: Path) -> None:
    content = "sex:discrete\n{Any {Female} {Male}}\nsex:discrete\n{Any {F} {M}}\n"
    message = sentence(TaxonomyError, lambda: read(tmp_path, content))
    assert message == "adult.hchy: the attribute 'sex' appears twice."
