"""The benchmark writes its figures into their places on the page about scale, and leaves the text around them alone."""

import re
from pathlib import Path

import pytest
from parts import PART, fill
from private_page import private_parts

from sites import ROOT

PAGE = "one <!-- bench: a -->1<!-- /bench --> two\n\n<!-- bench: b -->\nold\n<!-- /bench -->\n\nthree\n"


def test_a_part_is_written_into_its_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    fill(page, {"b": "| x |\n| y |"})
    assert page.read_text(encoding="utf-8") == PAGE.replace("old", "| x |\n| y |")
    fill(page, {"a": r"\1", "b": "old"})
    assert page.read_text(encoding="utf-8") == PAGE.replace("1", r"\1")


def test_a_part_without_a_place_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    with pytest.raises(ValueError, match="no place for c"):
        fill(page, {"b": "new", "c": "lost"})
    assert page.read_text(encoding="utf-8") == PAGE


def test_every_place_of_the_page_is_written_by_the_benchmark() -> None:
    places = [found["name"] for found in PART.finditer((ROOT / "docs" / "scale.md").read_text(encoding="utf-8"))]
    writers = ("page.py", "scale_page.py", "verbs.py")
    sources = "".join((ROOT / "bench" / name).read_text(encoding="utf-8") for name in writers)
    assert len(places) > 8
    assert len(set(places)) == len(places)
    assert set(places) == set(re.findall(r'^ +(?:return \{)?"(\w+)": ', sources, re.MULTILINE))


def test_every_place_of_the_page_about_the_additive_method_is_written_by_the_benchmark() -> None:
    places = [found["name"] for found in PART.finditer((ROOT / "docs" / "additive.md").read_text(encoding="utf-8"))]
    scores = {"accuracy": 0.8, "auc": 0.9, "balanced": 0.7}
    found = {"raw@1": [{"tree": scores}], "additive@0.5": [{"tree": scores, "tables": {"one": 0.1, "two": 0.2}}] * 2}
    parts = private_parts({"adult": found, "census": found}, 2, 1)
    assert places == list(parts)
    assert set(private_parts({"adult": found}, 2, 1)) < set(parts)
    assert "| additive | tree | 70.0±0.0 / 90.0 |" in parts["census"]
    assert "| additive | tree | 80.0±0.0 / 90.0 |" in parts["adult"]
    assert "| additive | two columns | 20.0±0.0 |" in parts["tables"]
    assert "| raw records | tree | 80.0 / 90.0 |" in parts["adult"]


def test_a_tool_that_was_stopped_has_no_figures() -> None:
    scores = {"accuracy": 0.8, "auc": 0.9}
    found = {"raw@1": [{"tree": scores}], "additive@1": [{"tree": scores}] * 2, "mst@1": [{}]}
    parts = private_parts({"adult": found}, 2, 1)
    assert "MST (δ = 10⁻⁹)" in parts["runs"].partition("left out: ")[2].partition(".")[0]
    assert "One release" not in parts["runs"]
    assert "MST" not in parts["adult"]
