"""What is on a page: every section, every requirement in plain words, nothing from elsewhere, nothing unescaped."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from project import Project
from report.reading import read
from unveil.reports.attributes import Branch, cut_tree
from unveil.reports.drawings import WIDTH, fitted, text_width
from unveil.reports.figures import about, coarse, size_classes
from unveil.reports.guarantee import promise

SCRIPT = "<script>document.title='broken'</script>"
IMAGE = '"><img src=x onerror="document.title=1">'
SECTIONS = ["contents", "promise", "limits", "attributes", "groups", "kept", "risks", "use"]


def hostile_release(folder: Path) -> Path:
    """A release whose names, labels, sensitive values and classes are HTML."""
    branches = f"root {IMAGE}\n  </svg>{SCRIPT}\n    <b>a\n    b&amp;\n  c' onload='x\n"
    (folder / "hostile.tree").write_text(branches, encoding="utf-8")
    spec = {
        "table": {"class": "</title>" + SCRIPT},
        "attributes": {
            SCRIPT: {"kind": "number", "whole": True},
            IMAGE: {"kind": "category"},
            "tree": {"kind": "category", "taxonomy": str(folder / "hostile.tree")},
            "secret": {"kind": "category"},
            "free<b>": {"kind": "category"},
        },
        "require": [
            {"kind": "k-anonymity", "quasi-identifier": [SCRIPT, IMAGE, "tree"], "k": 2},
            {"kind": "confidence", "channel": [SCRIPT, IMAGE], "sensitive": "secret", "values": [SCRIPT], "limit": 0.9},
        ],
    }
    rows = 60
    table: dict[str, Any] = {
        SCRIPT: [20 + i % 30 for i in range(rows)],
        IMAGE: [(SCRIPT, IMAGE, "</text></svg>" + SCRIPT)[i % 3] for i in range(rows)],
        "tree": [("<b>a", "b&amp;", "c' onload='x")[i // 3 % 3] for i in range(rows)],
        "secret": [(SCRIPT, "x", "y", "z")[i % 4] for i in range(rows)],
        "free<b>": ["<i>" for _ in range(rows)],
        "</title>" + SCRIPT: [("<b>yes", "no")[i % 30 > 12] for i in range(rows)],
    }
    unveil.publish(pa.table(table), spec).write(folder / "hostile")
    return folder / "hostile"


def test_sections_and_links(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    seen = read(unveil.report(project.release))
    assert [name for name in seen.ids() if name in SECTIONS] == SECTIONS
    assert {address.removeprefix("#") for address in seen.addresses()} <= set(seen.ids())
    for sentence in ("finds at least 3 records that match, or none", "In no requirement", "unveil verify DIR"):
        assert sentence.lower().replace("in no", "are in no") in seen.text.lower()


def outside(page: str) -> list[str]:
    """Whatever would make a browser ask for something else than the page."""
    seen = read(page)
    loading = {"script", "link", "img", "iframe", "object", "embed", "video", "audio", "source", "base", "form", "use"}
    tags = [tag for tag, _ in seen.tags if tag in loading]
    handlers = [name for _, attributes in seen.tags for name in attributes if name.startswith("on")]
    refresh = [value for _, attributes in seen.tags if (value := attributes.get("http-equiv")) == "refresh"]
    addresses = [address for address in seen.addresses() if not address.startswith(("#", "data:"))]
    return [*tags, *handlers, *refresh, *addresses, *re.findall(r"url\(|@import", seen.styles)]


def test_nothing_is_loaded_from_elsewhere(bundled: dict[str, Path]) -> None:
    for folder in bundled.values():
        page = unveil.report(folder)
        assert outside(page) == []
        assert "default-src 'none'" in page
        assert not re.search(r"https?:", page)


@pytest.mark.parametrize(
    "planted",
    ['<img src="x.png">', "<script></script>", '<a href="https://example.org">x</a>', '<p onclick="x()">', "<link>"],
)
def test_a_planted_address_is_found(planted: str, project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    assert outside(unveil.report(project.release).replace("</main>", planted + "</main>")) != []


def test_names_and_labels_are_text(tmp_path: Path) -> None:
    page = unveil.report(hostile_release(tmp_path))
    assert outside(page) == []
    seen = read(page)
    assert SCRIPT in seen.text
    assert not {tag for tag, _ in seen.tags} & {"b", "i"}
    assert [tag for tag, _ in seen.tags].count("title") == page.count("<title>")


def test_escaping_is_what_holds_this(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the same check fails."""
    import jinja2

    folder = hostile_release(tmp_path)
    careless = jinja2.Environment
    monkeypatch.setattr(jinja2, "Environment", lambda **options: careless(**{**options, "autoescape": False}))
    assert outside(unveil.report(folder)) != []


QID = {"quasi-identifier": ["age", "job"]}
SENSITIVE = {"sensitive": "illness"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"kind": "k-anonymity", **QID, "k": 1200}, "a person's age and job, however exactly, finds at least 1,200"),
        (
            {"kind": "confidence", "channel": ["age"], **SENSITIVE, "values": ["flu", "cold"], "limit": 0.125},
            "At most 12.5% of them hold “flu” or “cold” as illness, each taken by itself.",
        ),
        ({"kind": "l-diversity", **QID, **SENSITIVE, "l": 2.5, "variant": "entropy"}, "at least 2.5 different values"),
        (
            {"kind": "t-closeness", **QID, **SENSITIVE, "t": 0.2, "distance": "equal", "order": None},
            "illness is distributed as in the whole release, up to a distance of 0.2",
        ),
        (
            {"kind": "alpha-k-anonymity", **QID, **SENSITIVE, "k": 4, "values": ["flu"], "alpha": 0.5},
            "finds at least 4 records that match, or none.",
        ),
    ],
)
def test_every_kind_of_requirement_is_reported(entry: dict[str, Any], words: str) -> None:
    told = promise(entry)
    assert words in told.promise
    assert told.cannot
    assert told.can


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "k-anonymity", **QID, "k": 1},
        {"kind": "l-diversity", **QID, **SENSITIVE, "l": 1, "variant": "distinct"},
        {"kind": "t-closeness", **QID, **SENSITIVE, "t": 1, "distance": "equal", "order": None},
        {"kind": "confidence", "channel": ["age"], **SENSITIVE, "values": ["flu"], "limit": 1},
    ],
)
def test_a_bound_that_bounds_nothing_is_not_a_promise(entry: dict[str, Any]) -> None:
    told = promise(entry)
    assert told.headline == "Nothing is promised"
    assert told.cannot == ""


def test_classes_of_sizes() -> None:
    sizes = np.array([20, 39, 40, 99, 100, 802])
    shares = size_classes(sizes, 20)
    assert list(shares) == [
        "20 to 39 records",
        "40 to 99 records",
        "100 to 199 records",
        "200 to 399 records",
        "400 or more records",
    ]
    assert list(shares.values()) == pytest.approx([59 / 1100, 139 / 1100, 100 / 1100, 0, 802 / 1100])
    assert list(size_classes(np.array([1, 3, 7]), 1)) == ["fewer than 5 records", "5 or more records"]
    assert sum(size_classes(np.array([50, 10**7]), 50).values()) == pytest.approx(1)


def test_coarse_figures() -> None:
    assert [coarse(share).text for share in (0, 0.049, 0.05, 0.52, 0.53, 0.95, 0.951, 1)] == [
        "under 5%",
        "under 5%",
        "about 5%",
        "about 50%",
        "about 55%",
        "about 95%",
        "over 95%",
        "over 95%",
    ]
    assert coarse(0.001).drawn == coarse(0.04).drawn
    assert [about(count) for count in (12, 137, 30162, 45222, 1000)] == [
        "fewer than 100",
        "about 100",
        "about 30,000",
        "about 45,000",
        "about 1,000",
    ]


def test_a_large_tree_is_drawn_in_part() -> None:
    leaves = tuple(Branch(f"leaf {i}", "below") for i in range(400))
    tops = tuple(Branch(f"top {i}", "released", leaves[i * 10 : i * 10 + 10]) for i in range(40))
    tree = cut_tree("t", Branch("all", "above", tops), {})
    assert len(tree.rows) <= 60
    assert "… and 28 more" in [row.label for row in tree.rows] or "… and 34 more" in [row.label for row in tree.rows]


def test_the_cut_goes_around_what_a_label_stands_for() -> None:
    root = Branch("all", "above", (Branch("top", "released", (Branch("a", "below"),)), Branch("b", "released")))
    tree = cut_tree("t", root, {})
    right = f"{WIDTH - 2:g}"
    x = tree.rows[2].x
    path = re.findall(r"([MHV])([\d.]+)", tree.cut)
    across = [float(at) for move, at in path if move == "H"]
    assert tree.cut.startswith(f"M{right} 0V22V44H")
    assert tree.rows[1].x < across[0] < x
    assert across[1] == float(right)


def test_texts_are_cut_to_their_room() -> None:
    text = fitted("Wide label " * 20, 100)
    assert text.endswith("…")
    assert text_width(text) <= 100
    assert fitted("short", 100) == "short"
    assert fitted("x" * 1_000_000, 100) == fitted("x" * 100, 100)  # in a second, and not in hours


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_stands_out_from_its_ground(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    styles = read(unveil.report(project.release)).styles
    inks = re.findall(r"(?:[ {;]color|text[\w., ]*\{[^}]*fill): #([0-9a-f]{3,6})", styles)
    assert len(inks) > 6
    for ink in inks:
        ground = "1d5fa8" if ink == "fff" else "fff"
        assert contrast(ink, ground) >= 4.5, ink


def test_the_pictures_of_the_docs_are_there_and_small() -> None:
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "how-to" / "prove.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\(\.\./(images/report-[\w-]+\.png)\)", page)
    assert len(pictures) == len(list((docs / "images").glob("report-*.png")))
    assert all((docs / picture).stat().st_size < 300_000 for picture in pictures)
