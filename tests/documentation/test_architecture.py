"""The page about the architecture names every layer of the package, and none that is gone."""

import re

from sites import ROOT

SOURCE = ROOT / "src" / "unveil"
PAGE = ROOT / "docs" / "architecture.md"


def differences(text: str) -> list[str]:
    """Layers that the table lacks, and names in it that no layer has."""
    named = {name for row in re.findall(r"^\| (`\w+`[^|]*)\|", text, re.M) for name in re.findall(r"`(\w+)`", row)}
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("__")}
    layers = packages | modules
    return [*(f"{name} is not named" for name in sorted(layers - named)), *sorted(named - layers)]


def test_every_layer_has_a_row() -> None:
    assert differences(PAGE.read_text(encoding="utf-8")) == []


def test_a_forgotten_and_a_lost_layer_are_seen() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("| `workflow` |", "| `wrokflow` |")
    assert differences(text) == ["workflow is not named", "wrokflow"]
