"""What the experiments read of the authors' `.hchy` files, and the package does not: classes and ranges."""

from pathlib import Path

import pytest
from reproduce.hierarchies import Hierarchies, read_hchy

from unveil.errors import TaxonomyError

FILE = """\
classes:discrete		| classes
{Any Class {>50K} {<=50K}}

age:continuous
{15-95 {15-55 {15-35} {35-55}} {55-95}}
sex:discrete
{Any {Female} {Male}}
height:continuous
{0.5-2.5 {ignored}}
balance:continuous
{-100--5 {ignored}}

vid: | Top2
{{{100} {age} {sex}}}
"""


def read(folder: Path, content: str) -> Hierarchies:
    file = folder / "adult.hchy"
    file.write_text(content, encoding="utf-8")
    return read_hchy(file)


def test_a_file_says_all_of_this(tmp_path: Path) -> None:
    found = read(tmp_path, FILE)
    assert found.classes == (">50K", "<=50K")
    assert found.attributes == ["age", "sex", "height", "balance"]
    assert found.ranges == {"age": (15, 95), "height": (0.5, 2.5), "balance": (-100, -5)}
    assert found.trees == {"sex": ("Any", [("Female", []), ("Male", [])])}


@pytest.mark.parametrize("text", ["young", "95-15"])
def test_what_is_not_a_range_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(TaxonomyError, match=f"adult.hchy: age: .*'{text}'"):
        read(tmp_path, f"age:continuous\n{{{text} {{x}}}}\n")
