"""Pages in a real browser, on a laptop, on a phone and in print: nothing overflows, overlaps, fails or is fetched."""

import io
import struct
import zlib
from itertools import pairwise
from pathlib import Path

import pypdf
import pytest

import unveil
from browser import LAPTOP, PHONE, Browser
from project import Project
from report.test_page import hostile_release
from report.wide import wide_project

OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"
HIDDEN = """
return [...document.querySelectorAll('section, article, h1, h2, svg, table')]
  .filter(e => e.getBoundingClientRect().width < 10 || e.getBoundingClientRect().height < 10
    || getComputedStyle(e).visibility !== 'visible')
  .map(e => e.outerHTML.slice(0, 80))
"""
COLLISIONS = """
const found = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
  texts.forEach(([text, box], place) => {
    if (box.left < frame.left - 1 || box.right > frame.right + 1
        || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) found.push('outside: ' + text);
    for (const [other, near] of texts.slice(place + 1)) {
      const across = Math.min(box.right, near.right) - Math.max(box.left, near.left);
      const down = Math.min(box.bottom, near.bottom) - Math.max(box.top, near.top);
      if (across > 0.5 && down > 4) found.push(text + ' on ' + other);
    }
  });
}
return found
"""
# The boxes of two lines of text touch by their leading; letters do only where boxes overlap by more than that.
SPILLED = """
return [...document.querySelectorAll('g')].filter(g => g.querySelector('.pill')).filter(g =>
  g.querySelector('text').getBoundingClientRect().right > g.querySelector('.pill').getBoundingClientRect().right)
  .map(g => g.textContent)
"""
CUT = """
return [...document.querySelectorAll('table, td, th')].filter(e => e.getClientRects().length)
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth
    || e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent.slice(0, 80))
"""
SIZES = {"laptop": LAPTOP, "phone": PHONE}


def wide_release(folder: Path) -> Path:
    """Long names and labels, in two alphabets, a tree with hundreds of leaves, and bounds that crowd together."""
    tops = [f"Fachrichtung Nummer {i} mit einem sehr langen Namen, der nicht passt" for i in range(20)]
    lines = ["Alles"]
    for top in tops:
        lines += [f"  {top}", *(f"    {top[:23]}: {i} 教育课程说明" for i in range(20))]
    (folder / "wide.tree").write_text("\n".join(lines), encoding="utf-8")
    leaves = [line.strip() for line in lines if line.startswith("    ")]
    rows = ["subject,a_column_whose_name_is_so_long_that_it_cannot_stand_in_one_line_of_a_phone,sum,done"]
    for i in range(4000):
        name = "W" * 40 if i % 2 else "m" * 3
        rows.append(f'"{leaves[i * 7 % 400]}",{name},{i % 50 * (1 + i % 50 // 40 * 1000)},{i * 7 % 400 // 20 % 2}')
    (folder / "wide.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    spec = folder / "wide.toml"
    spec.write_text(
        """
table = { source = "wide.csv", class = "done" }
attributes.subject = { kind = "category", taxonomy = "wide.tree" }
attributes.a_column_whose_name_is_so_long_that_it_cannot_stand_in_one_line_of_a_phone = { kind = "category" }
attributes.sum = { kind = "number", range = [0, 50000], whole = true }
require = [
  { kind = "k-anonymity", quasi-identifier = ["subject"], k = 9 },
  { kind = "k-anonymity", quasi-identifier = ["sum"], k = 3 },
  { kind = "k-anonymity", quasi-identifier = [
    "a_column_whose_name_is_so_long_that_it_cannot_stand_in_one_line_of_a_phone"], k = 3 },
]
""",
        encoding="utf-8",
    )
    unveil.publish(spec).write(folder / "wide")
    return folder / "wide"


@pytest.fixture(scope="module")
def pages(bundled: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page, as files."""
    folder = tmp_path_factory.mktemp("pages")
    project = Project(folder)
    unveil.publish(project.spec).write(project.release)
    texts = {name.replace(" ", "-"): unveil.report(release) for name, release in bundled.items()}
    texts["owner"] = unveil.report(project.release, owner=project.spec)
    texts["hostile"] = unveil.report(hostile_release(folder))
    texts["wide"] = unveil.report(wide_release(folder))
    wards = wide_project(folder)
    unveil.publish(wards).write(folder / "wards")
    texts["wards"] = unveil.report(folder / "wards", owner=wards)
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


NAMES = ["k-anonymity", "templates", "differential-privacy", "owner", "hostile", "wide", "wards"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_looks_right(name: str, size: str, pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages[name], SIZES[size])
    assert browser.run(OVERFLOW) <= 0
    assert browser.run(HIDDEN) == []
    assert browser.run(COLLISIONS) == []
    assert browser.run(SPILLED) == []
    assert browser.run(CUT) == []
    assert browser.messages() == []
    assert browser.requests() == [pages[name].as_uri()]
    assert browser.driver.title.startswith(("Report of ", "Private report of "))


def spoiled(pages: dict[str, Path], old: str, new: str) -> Path:
    page = pages["k-anonymity"]
    text = page.read_text(encoding="utf-8")
    assert old in text
    target = page.with_name("spoiled.html")
    target.write_text(text.replace(old, new, 1), encoding="utf-8")
    return target


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("<main>", '<main><div style="width: 2000px">x</div>', OVERFLOW),
        ('<section id="risks">', '<section id="risks" hidden>', HIDDEN),
        ('<text class="label" x="4" y="14">', '<text class="label" x="340" y="14">', COLLISIONS),
        ('<text class="value" x="356" y="14" text-anchor="end">', '<text class="value" x="4" y="14">', COLLISIONS),
        ('<rect class="pill"', '<rect class="pill" style="width: 4px"', SPILLED),
        ("<caption>", '<caption style="overflow: hidden; width: 3000px">', CUT),
        (
            '<td data-name="holds">',
            '<td data-name="holds" style="white-space: nowrap; width: 20px; overflow: auto">',
            CUT,
        ),
    ],
    ids=["overflow", "hidden", "outside", "overlap", "spilled", "cut table", "cut cell"],
)
def test_a_planted_fault_is_seen(old: str, new: str, check: str, pages: dict[str, Path], browser: Browser) -> None:
    browser.open(spoiled(pages, old, new), PHONE)
    assert browser.run(check)


def test_a_planted_request_is_seen_and_stopped(pages: dict[str, Path], browser: Browser) -> None:
    browser.open(spoiled(pages, "<main>", '<main><img src="other.png" alt="x">'))
    assert any("Content Security Policy" in message for message in browser.messages())


def test_a_page_has_landmarks_and_an_order_of_headings(pages: dict[str, Path], browser: Browser) -> None:
    for name in NAMES:
        browser.open(pages[name])
        levels = browser.run("return [...document.querySelectorAll('h1,h2,h3')].map(e => +e.tagName[1])")
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert browser.run("return document.querySelectorAll('main, header, footer, nav').length") == 4
        unnamed = "return [...document.querySelectorAll('svg')].filter(e => !e.getAttribute('aria-label')).length"
        assert browser.run(unnamed) == 0
        assert browser.run("return document.querySelectorAll('th:not([scope])').length") == 0


def pixels(png: bytes) -> tuple[int, int, set[bytes]]:
    """Width, height and the different lines of a picture, unfiltered as they are stored."""
    width, height = struct.unpack(">II", png[16:24])
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += 12 + length
    lines = zlib.decompress(data)
    step = len(lines) // height
    return width, height, {lines[row * step : (row + 1) * step] for row in range(height)}


@pytest.mark.parametrize("size", SIZES)
def test_a_screenshot_shows_something(size: str, pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages["k-anonymity"], SIZES[size])
    width, height, lines = pixels(browser.screenshot(whole=True))
    assert width == SIZES[size][0]
    assert height > 2000
    assert len(lines) > 500
    browser.open(spoiled(pages, "<body>", "<body hidden>"), SIZES[size])
    assert len(pixels(browser.screenshot())[2]) < 5


@pytest.mark.parametrize("name", NAMES)
def test_it_prints(name: str, pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages[name])
    sheets = pypdf.PdfReader(io.BytesIO(browser.pdf())).pages
    assert 2 <= len(sheets) <= 16
    text = " ".join(" ".join(sheet.extract_text() for sheet in sheets).split())
    guarantee = browser.run("return document.querySelector('.lead').textContent")
    assert "".join(guarantee.split()) in text.replace(" ", "")
    for heading in ("What is promised", "What is not promised", "How to use it"):
        assert heading in text
