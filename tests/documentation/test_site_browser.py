"""The site in a real browser, on a laptop and a phone: nothing overflows, fails, is blank or comes from elsewhere."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import LAPTOP, PHONE, Browser
from sites import served

PAGES = [
    "index.html",
    "tutorial.html",
    "tutorial-census.html",
    "how-to/train.html",
    "how-to/too-coarse.html",
    "taxonomies.html",
    "commands.html",
    "api.html",
    "notebooks/k-anonymity.html",
    "notebooks/differential-privacy.html",
    "how-to/prove.html",
    "results.html",
    "architecture.html",
    "spec.html",
]
SIZES = {"laptop": LAPTOP, "phone": PHONE}
OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"
CLIPPED = """
const scrolls = e => e && (['auto', 'scroll'].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
return [...document.querySelectorAll('.md-content *')]
  .filter(e => e.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(e))
  .map(e => e.outerHTML.slice(0, 80))
"""
BLANK = """
const one = image => {
  if (!image.complete || image.naturalWidth === 0) return true;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 40;
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0, 40, 40);
  const points = new Uint32Array(context.getImageData(0, 0, 40, 40).data.buffer);
  return points.every(point => point === points[0]);
};
return [...document.images].filter(one).map(image => image.src.slice(0, 80))
"""
FURNITURE = """
return ['.md-nav--primary a[href]', '.md-search__input', 'main h1', 'footer'].filter(e => !document.querySelector(e))
"""
EMPTY = """
return [...document.querySelectorAll('.md-content pre, .md-content table, .md-content .output')]
  .filter(e => !e.textContent.trim() || e.getBoundingClientRect().height < 10).map(e => e.outerHTML.slice(0, 80))
"""
CHECKS = {"clipped": CLIPPED, "blank": BLANK, "furniture": FURNITURE, "empty": EMPTY}


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as found:
        yield found


def eventually(browser: Browser, check: str) -> bool:
    """Whether a check holds, once the scripts of a page have had their time."""
    until = time.monotonic() + 30
    while not (found := browser.run(check)) and time.monotonic() < until:
        time.sleep(0.1)
    return bool(found)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_looks_right(page: str, size: str, address: str, browser: Browser) -> None:
    browser.open(f"{address}/{page}", SIZES[size])
    assert browser.run(OVERFLOW) <= 0
    assert {name: found for name, check in CHECKS.items() if (found := browser.run(check))} == {}
    assert browser.messages() == []
    asked = browser.requests()
    assert f"{address}/{page}" in asked
    assert [item for item in asked if not item.startswith((f"{address}/", "data:"))] == []


def test_pages_with_pictures_are_among_them(address: str, browser: Browser) -> None:
    counts = {}
    for page in ("how-to/prove.html", "results.html"):
        browser.open(f"{address}/{page}")
        counts[page] = browser.run("return document.querySelectorAll('.md-content img').length")
    assert counts["how-to/prove.html"] >= 5
    assert counts["results.html"] >= 10


def test_sentences_that_commands_print_wrap_on_a_laptop(address: str, browser: Browser) -> None:
    wide = """
    return [...document.querySelectorAll('.language-console code')].map(e => e.scrollWidth > e.clientWidth + 1)
    """
    browser.open(f"{address}/tutorial-census.html")
    shown = browser.run(wide)
    assert shown
    assert not any(shown)
    browser.run("document.querySelectorAll('.language-console code').forEach(e => { e.style.whiteSpace = 'pre' })")
    assert any(browser.run(wide))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_follows_the_wish_for_light_or_dark(scheme: str, address: str, browser: Browser) -> None:
    # The site keeps what it showed last. It forgets that where none of its scripts run, which might write it again.
    browser.open(f"{address}/search/search_index.json")
    browser.scheme(scheme)
    try:
        browser.run("localStorage.clear()")
        browser.open(f"{address}/index.html")
        wanted = {"light": "default", "dark": "slate"}[scheme]
        assert eventually(browser, f"return document.body.dataset.mdColorScheme === '{wanted}'")
        red = browser.run("return +getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0]")
    finally:
        browser.scheme("")
    assert (red > 128) == (scheme == "light")


def test_the_search_finds_a_page(address: str, browser: Browser) -> None:
    """The index is fetched and searched by a worker, so the answer takes a moment."""
    browser.open(f"{address}/index.html")
    browser.run(
        "const box = document.querySelector('.md-search__input'); box.focus(); box.value = 'taxonomy draft';"
        "box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));"
    )
    links = "[...document.querySelectorAll('.md-search-result__link')].map(e => e.getAttribute('href'))"
    assert eventually(browser, f"return {links}.some(link => link.includes('taxonomies.html'))")


PLANTED = {
    "overflow": ("<body", '<div style="width: 3000px">x</div><body', OVERFLOW),
    "clipped": ("<h1", '<div style="position: relative; left: 2000px; width: 9px">x</div><h1', CLIPPED),
    "lost image": ("<h1", '<img src="nowhere.png"><h1', BLANK),
    "blank image": ("<h1", '<img src="blank.svg" width="40"><h1', BLANK),
    "no search": ("md-search__input", "other", FURNITURE),
    "empty output": ("<h1", '<div class="output"></div><h1', EMPTY),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen(fault: str, site: Path, tmp_path: Path, browser: Browser) -> None:
    old, new, check = PLANTED[fault]
    (tmp_path / "blank.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="red"/></svg>'
    )
    spoiled(site, tmp_path, old, new)
    with served(tmp_path) as address:
        browser.open(f"{address}/glossary.html", PHONE)
        found = browser.run(check)
    assert found
    assert found != -1


def test_a_planted_request_and_a_planted_error_are_seen(site: Path, tmp_path: Path, browser: Browser) -> None:
    other = '<img src="http://localhost:9/x.png"><script>console.error("planted")</script><h1'
    spoiled(site, tmp_path, "<h1", other)
    with served(tmp_path) as address:
        browser.open(f"{address}/glossary.html")
        assert any("planted" in message for message in browser.messages())
        assert "http://localhost:9/x.png" in browser.requests()


def spoiled(site: Path, folder: Path, old: str, new: str) -> None:
    """One page of the site with a fault, and what it needs."""
    text = (site / "glossary.html").read_text(encoding="utf-8")
    assert old in text
    shutil.copytree(site / "assets", folder / "assets")
    (folder / "glossary.html").write_text(text.replace(old, new, 1), encoding="utf-8")
