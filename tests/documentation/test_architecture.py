"""The page about the architecture names every module in the row of its layer, and none that is gone."""

import re
from pathlib import Path

from sites import ROOT

SOURCE = ROOT / "src" / "unveil"
PAGE = ROOT / "docs" / "architecture.md"


def rows(text: str) -> dict[str, str]:
    """The row of each layer in the table."""
    return {
        name: row for row in re.findall(r"^\| `.*$", text, re.M) for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }


def differences(text: str) -> list[str]:
    """Modules that a row lacks, and names in it that no module has."""
    found = []
    table = rows(text)
    for layer in (path for path in sorted(SOURCE.iterdir()) if path.is_dir() and (path / "__init__.py").exists()):
        modules = {path.name for path in layer.rglob("*.py") if path.name != "__init__.py"}
        named = {Path(name).name for name in re.findall(r"`([\w/]+\.py)`", table.get(layer.name, ""))}
        found += [f"{layer.name}: {name} is not named" for name in sorted(modules - named)]
        found += [f"{layer.name}: {name} is gone" for name in sorted(named - modules)]
    return found


def test_every_module_stands_in_the_row_of_its_layer() -> None:
    assert differences(PAGE.read_text(encoding="utf-8")) == []


def test_a_forgotten_and_a_lost_module_are_seen() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("`budget.py`", "`bugdet.py`")
    assert differences(text) == ["workflow: budget.py is not named", "workflow: bugdet.py is gone"]
