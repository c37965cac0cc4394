"""Shapes that several figures share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reproduce.figures import Figure
from reproduce.points import Results

SIZE = (7.6, 4.0)


def spaced_lines(axes: Any, lines: Mapping[str, Mapping[Any, float]], levels: Mapping[str, float | None]) -> None:
    """Lines over values that are set side by side, whatever the distance between them, and dashed levels."""
    ticks = sorted({at for line in lines.values() for at in line})
    for label, line in lines.items():
        if line:
            axes.plot([ticks.index(at) for at in line], list(line.values()), marker="o", markersize=3, label=label)
    for number, (label, level) in enumerate(levels.items()):
        if level is not None:
            axes.axhline(level, linestyle=("--", ":", "-.")[number % 3], color="grey", linewidth=1)
            axes.annotate(f"{label} {level:.1f}", (0, level), fontsize=8, va="bottom", color="grey")
    axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks], rotation=45, fontsize=8)


def seconds_over_rows(axes: Any, lines: Mapping[str, Mapping[int, float]]) -> None:
    """Running times."""
    for label, line in lines.items():
        if line:
            axes.plot([rows / 1000 for rows in line], list(line.values()), marker="o", markersize=3, label=label)
    axes.set_xlabel("records (thousands)")
    axes.set_ylabel("seconds")
    axes.set_ylim(bottom=0)


def bars(axes: Any, names: Sequence[str], groups: Mapping[str, Sequence[float | None]]) -> None:
    """Groups of bars side by side."""
    width = 0.8 / max(len(groups), 1)
    for number, (label, heights) in enumerate(groups.items()):
        shown = [(place, height) for place, height in enumerate(heights) if height is not None]
        places = [place + (number - (len(groups) - 1) / 2) * width for place, _ in shown]
        axes.bar(places, [height for _, height in shown], width, label=label)
    axes.set_xticks(range(len(names)), list(names))


def draw(figure: Figure, results: Results, folder: Path) -> Path | None:
    """Writes a figure's picture; None where it has none or nothing was measured."""
    if figure.plot is None or not len(results):
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=SIZE, dpi=110)
    FigureCanvasAgg(canvas)
    axes = canvas.subplots()
    figure.plot(results, axes)
    axes.set_title(figure.title, fontsize=9)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        axes.legend(handles, labels, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    canvas.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{figure.name}.png"
    canvas.savefig(file, metadata={"Software": None})
    return file
