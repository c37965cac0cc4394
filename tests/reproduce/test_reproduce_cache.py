"""The cache of finished points."""

from pathlib import Path

from reproduce.points import Cache, Point, key_of


def point(value: float | None, **setting: object) -> Point:
    return Point(setting, {"error": value}, seconds=0.1, commit="abc")


def test_the_order_of_entries_does_not_matter() -> None:
    assert key_of({"k": 5, "top": 7}) == key_of({"top": 7, "k": 5})


def test_points_outlive_the_process(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "points.jsonl"
    Cache(file).add(point(1.5, k=5, top=7))
    again = Cache(file)
    assert again.missing([{"k": 5, "top": 7}, {"k": 6, "top": 7}, {"top": 7, "k": 6}]) == [{"k": 6, "top": 7}]
    assert [found["error"] for found in again.results([{"top": 7, "k": 5}, {"k": 6}])] == [1.5]


def test_a_line_cut_short_is_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "points.jsonl"
    cache = Cache(file)
    cache.add(point(1.0, k=5))
    cache.add(point(2.0, k=6))
    file.write_text(file.read_text()[:-10])
    assert Cache(file).missing([{"k": 5}, {"k": 6}]) == [{"k": 6}]


def test_a_point_added_after_a_cut_line_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "points.jsonl"
    Cache(file).add(point(1.0, k=5))
    file.write_text(file.read_text()[:-10])
    Cache(file).add(point(3.0, k=5))
    assert [found["error"] for found in Cache(file).results([{"k": 5}])] == [3.0]


def test_means_and_series(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "points.jsonl")
    runs = [point(float(k + run), k=k, run=run) for k in (10, 2) for run in (0, 1)]
    for item in [*runs, point(None, k=7, run=0)]:
        cache.add(item)
    results = cache.results(item.setting for item in [*runs, point(None, k=7, run=0)])
    assert results.series("k", "error") == {2: 2.5, 10: 10.5}
    assert results.one("error", k=2, run=1) == 3.0
    assert results.one("error", k=99) is None
    assert results.all("k") == [10, 2, 7]
