"""The page writer, with points made up; nothing is measured here."""

from pathlib import Path

import pytest
from reproduce.figures import Figure, Statement, at_full_size, below, near
from reproduce.page import write_page
from reproduce.points import Cache, Point, Results
from reproduce.run import figures, measures

SETTINGS = tuple({"measure": "made up", "k": k} for k in (20, 100))


def compare(results: Results) -> list[Statement]:
    found = near("error 10%", 10.0, results.one("error", k=20), "It is off.")
    return found + below("below 3", 3.0, list(results.series("k", "error").values()), "error", "It is above.")


def a_figure() -> Figure:
    return Figure("tdr-x", "TDR", "Fig. X: made up", "A protocol.", SETTINGS, SETTINGS[:1], compare)


def written(folder: Path, cache: Cache, *shown: Figure) -> str:
    page = folder / "docs" / "results.md"
    write_page(page, page.parent / "images", shown, cache, {"adult": "made up"}, {"Python": "3"})
    return page.read_text(encoding="utf-8")


def test_what_was_measured_is_next_to_what_the_paper_says(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "points.jsonl")
    for setting, error in zip(SETTINGS, (10.25, 4.0), strict=True):
        cache.add(Point(setting, {"error": error}, 0.1, "0123abc"))
    text = written(tmp_path, cache, a_figure())
    assert "- ✓ error 10% → 10.25%\n" in text
    assert "- ✗ below 3 → error at most 10.25 points\n" in text
    assert "It is above.\n" in text
    assert "It is off." not in text
    assert "\n1 of 2 statements agree.\n" in text
    assert "2 points at commit 0123abc" in text
    assert "adult: made up" in text


def test_a_figure_of_which_some_points_are_missing_is_said_so(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "points.jsonl")
    cache.add(Point(SETTINGS[0], {"error": 10.25}, 0.1, "0123abc"))
    text = written(tmp_path, cache, a_figure())
    assert "1 of 2 statements agree. Not all points of these were measured: Fig. X." in text


def test_what_was_not_measured_is_said_so(tmp_path: Path) -> None:
    text = written(tmp_path, Cache(tmp_path / "points.jsonl"), a_figure())
    assert "Not measured in this run." in text
    assert "nothing yet" in text


def test_every_figure_writes_its_section_without_points(tmp_path: Path) -> None:
    text = written(tmp_path, Cache(tmp_path / "points.jsonl"), *figures())
    assert text.count("Not measured in this run.") == len(figures())


def test_a_picture_is_drawn_and_linked(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    cache = Cache(tmp_path / "points.jsonl")
    cache.add(Point(SETTINGS[0], {"error": 1.0}, 0.1, "0123abc"))
    drawn = Figure(
        *("tdr-x", "TDR", "Fig. X: made up", "A protocol.", SETTINGS, SETTINGS, compare),
        plot=lambda results, axes: axes.plot(list(results.series("k", "error").values())),
    )
    assert "![Fig. X](images/tdr-x.png)" in written(tmp_path, cache, drawn)
    assert (tmp_path / "docs" / "images" / "tdr-x.png").exists()


def test_quick_points_are_among_all_points_and_every_measure_exists() -> None:
    for figure in figures():
        assert all(setting in figure.settings for setting in figure.quick)
        assert {setting["measure"] for setting in figure.settings} <= set(measures())
    assert len({figure.name for figure in figures()}) == len(figures())


def test_a_time_is_judged_only_at_the_papers_size() -> None:
    assert [item.holds for item in at_full_size("80 s", 80, {200_000: 1.0})] == [None]
    assert [item.holds for item in at_full_size("80 s", 80, {200_000: 1.0, 1_000_000: 3.0})] == [True]
