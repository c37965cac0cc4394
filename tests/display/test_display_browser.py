"""What objects show of themselves, in a bare page in a real browser: readable in light and dark, nothing overflows."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unveil
from browser import LAPTOP, PHONE, Browser
from project import Project
from unveil.evaluation.protocol import Holdout

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>output</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>:root {{ color-scheme: light dark; background: Canvas }} body {{ font-family: sans-serif }}</style></head>
<body>{}</body></html>
"""
SIZES = {"laptop": LAPTOP, "phone": PHONE}
OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"
FAINT = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgb = (colour, below) => {
  canvas.fillStyle = below; canvas.fillRect(0, 0, 1, 1);
  canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = parts => parts.map(part => part / 255)
  .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
const ground = element => {
  const above = element.parentElement ? ground(element.parentElement) : 'white';
  return `rgb(${rgb(getComputedStyle(element).backgroundColor, above)})`;
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim()) continue;
  const below = ground(element);
  const [a, b] = [light(rgb(getComputedStyle(element).color, below)), light(rgb(below, below))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) found.push(contrast.toFixed(1) + ' ' + walker.currentNode.data.slice(0, 40));
}
return found
"""


def wide() -> unveil.Release:
    """A release of many columns with long values, which no phone has room for."""
    columns = {f"a column with a long name, number {i}": [f"{'value' * 9} {i}"] * 20 for i in range(12)}
    table = pa.table({**columns, "ill": ["yes", "no"] * 10})
    spec = {
        "table": {"class": "ill"},
        "attributes": {name: {"kind": "category"} for name in columns},
        "require": [{"kind": "k-anonymity", "quasi-identifier": list(columns)[:3], "k": 2}],
    }
    return unveil.publish(table, spec)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of object as a page that holds nothing else."""
    folder = tmp_path_factory.mktemp("shown")
    project = Project(folder)
    release = unveil.publish(project.spec)
    release.write(project.release)
    fine = unveil.verify(project.release)
    manifest = project.release / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"k": 3', '"k": 40'), encoding="utf-8")
    spec = unveil.load_spec(project.spec)
    items: dict[str, Any] = {
        "release": release,
        "wide": wide(),
        "masking": release.masking,
        "spec": spec,
        "taxonomy": spec.attributes["job"].taxonomy,
        "findings": fine,
        "broken": unveil.verify(project.release),
        "evaluation": unveil.evaluate(project.spec, protocol=Holdout(1 / 3, (0,))),
    }
    for name, item in items.items():
        (folder / f"{name}.html").write_text(PAGE.format(item._repr_html_()), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in items}


NAMES = ["release", "wide", "masking", "spec", "taxonomy", "findings", "broken", "evaluation"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read(name: str, scheme: str, pages: dict[str, Path], browser: Browser) -> None:
    browser.scheme(scheme)
    try:
        for size in SIZES.values():
            browser.open(pages[name], size)
            browser.run("document.querySelectorAll('details').forEach(e => { e.open = true })")
            assert browser.run(OVERFLOW) <= 0
            assert browser.run(FAINT) == []
            assert browser.run("return document.body.innerText.trim().length") > 10
            assert browser.messages() == []
            assert [item for item in browser.requests() if not item.startswith("data:")] == [pages[name].as_uri()]
    finally:
        browser.scheme("")


@pytest.mark.parametrize(
    ("scheme", "style"), [("light", "color: #bbb"), ("dark", "color: #333"), ("dark", "background: #eee")]
)
def test_faint_text_is_seen(scheme: str, style: str, tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "faint.html"
    page.write_text(PAGE.format(f'<p>fine</p><p style="{style}">faint</p>'), encoding="utf-8")
    browser.scheme(scheme)
    try:
        browser.open(page)
        assert [text.split()[-1] for text in browser.run(FAINT)] == ["faint"]
    finally:
        browser.scheme("")


def test_an_overflow_is_seen(pages: dict[str, Path], tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "wide.html"
    page.write_text(pages["wide"].read_text(encoding="utf-8").replace("overflow-x: auto", ""), encoding="utf-8")
    browser.open(page, PHONE)
    assert browser.run(OVERFLOW) > 0
