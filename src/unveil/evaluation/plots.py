"""The plot of a comparison: accuracy against what is asked of a release, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.evaluation.classifiers import CLASSIFIERS
from unveil.evaluation.evaluation import SETTINGS, Comparison, Evaluation, Line, Setting, guarantee, guarantee_text
from unveil.release import check_absent, write_whole

PLOTS = (".png", ".svg")
STYLES: dict[Setting, str] = {"raw": "--", "released": "-", "masked": ":"}
"""The settings that are drawn, and how."""
MARKS = ("o", "s", "^", "D")
"""What each classifier has at its releases."""
SIZE = (7.0, 4.0)
"""Width and height in inches, without the legend."""
LEGEND_LINE = 0.2
SIDE_BY_SIDE = 3
"""Names of more specs than these are slanted, so that they do not run into each other."""


def check_plot(path: Path) -> None:
    """Refuses a plot that could not be written in the end, before anything is computed for it."""
    if path.suffix not in PLOTS:
        raise UnveilError(f"{path}: a plot ends in {' or '.join(PLOTS)}.")
    check_absent(path, "plot")
    _figure()


def plot(comparison: Comparison, path: Path) -> None:
    """Draws accuracy against k, limit or ε; specs that differ in something else are side by side by name."""
    check_plot(path)
    figure = drawn(comparison)
    write_whole(path, lambda draft: figure.savefig(draft, dpi=150), "plot")


def drawn(comparison: Comparison) -> Any:
    """The plot as a figure of matplotlib."""
    names = comparison.evaluations[0].classifiers
    height = SIZE[1] + LEGEND_LINE * (len(names) + len(STYLES))
    figure = _figure()(figsize=(SIZE[0], height), layout="constrained")
    axes = figure.subplots()
    places, label = _places(comparison.evaluations)
    for number, name in enumerate(names):
        _draw(axes, comparison.evaluations, places, name, f"C{number}", MARKS[number % len(MARKS)])
    _mark_places(axes, comparison, places, label)
    axes.set_ylabel("accuracy on rows held out, %")
    axes.grid(visible=True, alpha=0.3)
    _explain(figure, axes, names)
    return figure


def _mark_places(axes: Any, comparison: Comparison, places: Sequence[float], label: str | None) -> None:
    if label is None:
        texts = [f"{item.spec.origin}\n{guarantee_text(item.spec)}" for item in comparison.evaluations]
        slanted = {"rotation": 30, "ha": "right"} if len(texts) > SIDE_BY_SIDE else {}
        axes.set_xticks(places, texts, **slanted)
        return
    axes.set_xlabel(label)
    if max(places) / min(places) >= 10:
        axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.set_xticks([], minor=True)


def _explain(figure: Any, axes: Any, names: Sequence[str]) -> None:
    """The legend: marks are classifiers, lines are what they learned from. One entry a line, so that all of it fits."""
    for number, name in enumerate(names):
        mark = MARKS[number % len(MARKS)]
        axes.plot([], [], mark, color=f"C{number}", label=CLASSIFIERS[name].label)
    for setting, style in STYLES.items():
        axes.plot([], [], style, color="0.3", label=f"learned from {SETTINGS[setting]}")
    figure.legend(loc="outside lower left", ncols=1, fontsize="small", frameon=False)


def _draw(
    axes: Any, evaluations: Sequence[Evaluation], places: Sequence[float], name: str, color: str, mark: str
) -> None:
    """One classifier: the release with its interval, and raw data and full masking as lines without."""
    order = sorted(range(len(places)), key=places.__getitem__)
    across = [places[place] for place in order]
    for setting, style in STYLES.items():
        lines = [evaluations[place].line(setting, name) for place in order]
        heights = [100 * line.accuracy for line in lines]
        axes.plot(across, heights, style, color=color, marker=mark if setting == "released" else None)
        if setting == "released":
            axes.errorbar(across, heights, yerr=_reach(lines), fmt="none", ecolor=color, capsize=3)


def _reach(lines: Sequence[Line]) -> tuple[list[float], list[float]]:
    """How far the interval of each line reaches below and above it; no accuracy is below 0% or above 100%."""
    down = [0.0 if line.high is None else min(line.high - line.error, line.accuracy) for line in lines]
    up = [0.0 if line.low is None else min(line.error - line.low, line.error) for line in lines]
    return [100 * share for share in down], [100 * share for share in up]


def _places(evaluations: Sequence[Evaluation]) -> tuple[list[float], str | None]:
    """Where each spec is drawn: at the first number in which all differ, or side by side if there is none."""
    numbers = [guarantee(item.spec) for item in evaluations]
    if all(list(item) == list(numbers[0]) for item in numbers):
        for name in numbers[0]:
            places = [item[name] for item in numbers]
            if len(set(places)) == len(places):
                return places, name
    return [float(place) for place in range(len(evaluations))], None


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnveilError("a plot needs matplotlib: install unveil[report].") from error
    return Figure
