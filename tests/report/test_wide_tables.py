"""Pages about a table with many columns released as they are and a category of hundreds of codes."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import unveil
from report.reading import read
from report.wide import AS_IS, ROWS, TITLE, wide_project
from unveil.reports import handout_page
from unveil.reports.drawings import Dot, Dots, scale

ALARM = re.compile(r'<p class="banner">On all released columns together, ([^<]*?) of the records')


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wide_project(tmp_path_factory.mktemp("wards"))


@pytest.fixture(scope="module")
def folder(spec: Path) -> Path:
    unveil.publish(spec).write(spec.parent / "release")
    return spec.parent / "release"


@pytest.fixture(scope="module")
def handout(folder: Path) -> str:
    return unveil.report(folder)


@pytest.fixture(scope="module")
def private(folder: Path, spec: Path) -> str:
    return unveil.report(folder, owner=spec)


def test_title_owner_and_date_are_on_the_page(handout: str) -> None:
    text = read(handout).text
    assert f"Report of {TITLE}" in text
    assert "A masked table to predict back from. Released by City Hospital. Date: 2024-05-31." in text
    assert "The release states no" not in text
    assert "<2023>" not in handout


def test_what_the_owner_does_not_state_is_said(folder: Path) -> None:
    release = unveil.open_release(folder)
    about = release.manifest.about.model_copy(update={"title": None, "date": None})
    page = handout_page(unveil.Release(release.table, release.manifest.model_copy(update={"about": about})))
    assert "Released by City Hospital. The release states no title, no date." in read(page).text


def test_columns_released_as_they_are_are_folded(handout: str) -> None:
    """One row of the table and one line for all twenty, and no card without a drawing."""
    cards = re.findall(r'<article class="card">(.*?)</article>', handout.split('id="attributes"')[1], re.DOTALL)
    assert len(cards) == 3
    assert all("<svg" in card for card in cards)
    assert handout.count(", ".join(AS_IS)) == 1
    assert read(handout).text.count("lab 7,") == 3


def test_the_detail_of_a_code_is_a_count_of_labels(handout: str, folder: Path) -> None:
    blocks = {name: len(entry.shown) for name, entry in unveil.open_release(folder).masking.columns.items()}
    assert 1 < blocks["code"] < 717
    text = read(handout).text
    assert f"code: {blocks['code']} of 717" in text
    assert "Information kept" not in text
    share = re.search(
        r'code</text>\s*<text[^>]*>[^<]*</text>\s*<rect class="track"[^>]*/>\s*<rect[^>]*width="([\d.]+)"', handout
    )
    assert share is not None
    assert float(share[1]) / 352 == pytest.approx(blocks["code"] / 717, abs=0.001)


def test_who_is_alone_on_all_columns_is_reported_in_red(handout: str, private: str, folder: Path) -> None:
    held = Counter(tuple(row.values()) for row in unveil.open_release(folder).table.to_pylist())
    alone = sum(count == 1 for count in held.values())
    assert alone / ROWS > 0.95
    assert ALARM.findall(handout) == ["over 95%"]
    assert ALARM.findall(private) == [f"{alone / ROWS:.1%}"]
    row = re.search(r'<tr class="alarm">(.*?)</tr>', private)
    assert row is not None
    assert "all 24 released columns together" in row[1]
    assert f">{alone:,}<" in row[1]
    assert "alarm" not in handout.split("</style>")[1]


def test_where_nobody_is_alone_nothing_is_red(tmp_path: Path) -> None:
    spec = wide_project(tmp_path)
    spec.write_text(spec.read_text(encoding="utf-8").replace('"release"', '"drop"'), encoding="utf-8")
    unveil.publish(spec).write(tmp_path / "release")
    page = unveil.report(tmp_path / "release")
    assert ALARM.findall(page) == []
    assert "On all released columns together, under 5% of the records" in read(page).text


def test_every_measure_is_explained(private: str) -> None:
    kept = private.split('id="kept"')[1].split("</section>")[0]
    names = re.findall(r"<dt>([^<]*)</dt><dd><strong>([^<]*)</strong> <span class=\"note\">([^<]*)</span>", kept)
    assert [name for name, _, _ in names] == [
        "Certainty penalty (NCP)",
        "Precision (Prec)",
        "Mean group",
        "Discernibility (DM)",
        "Class mix (CM)",
    ]
    assert all("keep" in words for _, _, words in names)
    assert f"from {ROWS:,} (all different) to {ROWS**2:,} (all equal)" in kept


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.81, 0.834), (0.6, 0.84), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.5, 0.5), (0.995, 1.0), (0.2, 0.31)],
)
def test_a_scale_is_close_to_its_values(low: float, high: float) -> None:
    ticks = scale(low, high)
    step = ticks[1] - ticks[0]
    assert 3 <= len(ticks) <= 8
    assert 0 <= ticks[0] <= low
    assert high <= ticks[-1] <= 1
    assert low - ticks[0] <= 2 * step + 1e-9
    assert ticks[-1] - high <= 2 * step + 1e-9
    assert [round(tick * 100, 6) for tick in ticks] == [round(tick * 100) for tick in ticks]


def test_close_values_have_places_and_marks_of_their_own() -> None:
    """A point apart, they would be four dots on one spot of a scale from 50% to 100%."""
    settings = {"raw": 0.84, "released": 0.83, "removed": 0.82, "masked": 0.81}
    chart = Dots("t", [Dot(name, name, value, value, value, "") for name, value in settings.items()])
    places = sorted(chart.along(dot.value) for dot in chart.dots)
    assert min(after - before for before, after in pairwise(places)) > 60
    assert len({dot.mark for dot in chart.dots}) == 4


def test_every_setting_has_a_mark(private: str) -> None:
    drawn = re.findall(r'<path class="mark" transform="[^"]*" d="([^"]*)"', private)
    assert len(drawn) == len(set(drawn)) == 3
    assert "points less than with raw data" in private or "points more than with raw data" in private
