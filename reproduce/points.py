"""Points of figures: what is measured, and a cache of what has been, so that a long run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

Setting = Mapping[str, Any]
"""All that a measurement depends on; `measure` says which one it is."""
Value = dict[str, Any]
Measure = Callable[[Setting], Value]


def key_of(setting: Setting) -> str:
    """The setting as text, the same whatever the order of its entries."""
    return json.dumps(dict(setting), sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True)
class Point:
    """A finished measurement."""

    setting: Setting
    value: Value
    seconds: float
    commit: str

    def __getitem__(self, name: str) -> Any:
        return self.value[name]


class Cache:
    """Finished points, one JSON line each. A line that a crash cut short is measured again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._points: dict[str, Point] = {}
        if file.exists():
            text = file.read_text(encoding="utf-8")
            for line in text.splitlines():
                self._read(line)
            if text and not text.endswith("\n"):
                file.write_text(f"{text}\n", encoding="utf-8")

    def _read(self, line: str) -> None:
        try:
            point = Point(**json.loads(line))
        except (ValueError, TypeError):
            return
        self._points[key_of(point.setting)] = point

    def add(self, point: Point) -> None:
        """Keeps a point, in memory and on disk."""
        self._points[key_of(point.setting)] = point
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(point.__dict__, ensure_ascii=False) + "\n")

    def missing(self, settings: Iterable[Setting]) -> list[Setting]:
        """The settings that are still to be measured, each once."""
        by_key = {key_of(setting): setting for setting in settings}
        return [setting for key, setting in by_key.items() if key not in self._points]

    def results(self, settings: Iterable[Setting]) -> Results:
        """The finished points among these settings, in their order."""
        keys = dict.fromkeys(key_of(setting) for setting in settings)
        return Results([self._points[key] for key in keys if key in self._points])


class Results:
    """Some points of a figure."""

    def __init__(self, points: list[Point]) -> None:
        self.points = points

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def where(self, **wanted: Any) -> Results:
        """The points with these entries in their setting."""
        absent = object()
        return Results(
            [point for point in self if all(point.setting.get(name, absent) == value for name, value in wanted.items())]
        )

    def one(self, name: str, **wanted: Any) -> float | None:
        """The mean of a value over the points with these entries; None if there is none."""
        found = [point[name] for point in self.where(**wanted) if point.value.get(name) is not None]
        return fmean(found) if found else None

    def all(self, name: str) -> list[Any]:
        """The values of an entry of the settings that occur, in order."""
        return list(dict.fromkeys(point.setting[name] for point in self if name in point.setting))

    def series(self, along: str, name: str, **wanted: Any) -> dict[Any, float]:
        """The mean of a value for each entry of the settings, in ascending order."""
        chosen = self.where(**wanted)
        means = {at: chosen.one(name, **{along: at}) for at in sorted(chosen.all(along))}
        return {at: mean for at, mean in means.items() if mean is not None}
